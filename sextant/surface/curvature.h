// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/image.h"
#include "sextant/core/options.h"
#include "sextant/core/vec.h"
#include "sextant/core/workspace.h"

namespace sextant {

/// Which pixels around a pixel are its patch.
enum class PatchShape : std::int32_t {
  kSparseDisc,  ///< a disc of samples stride_px apart: 129 samples that span 37 × 37 pixels
  kDenseDisc,   ///< every pixel of the same disc: 1041
  kDenseSquare  ///< every pixel of the square around it: 1369
};
inline constexpr Choice<PatchShape> kPatchShapes[] = {{"sparse", PatchShape::kSparseDisc},
                                                      {"disc", PatchShape::kDenseDisc},
                                                      {"square", PatchShape::kDenseSquare}};

/// How much a sample counts that lies off the fitted quadric by e; k is weight_scale_m squared.
enum class CurvatureWeights : std::int32_t {
  kRobust,          ///< 1 / (1 + e²/s²)², where s follows the patch's own noise
  kPaper,           ///< k / (k + e²)
  kPaperRejecting,  ///< the same, 0 where e² is at least twice the patch's mean square ("Ours+R")
  kCode,            ///< 16 / (16 + d² + e²) in mm, 0 for e² > 200 mm²: the authors' program
  kNone             ///< 1: least squares
};
inline constexpr Choice<CurvatureWeights> kCurvatureWeights[] = {
    {"robust", CurvatureWeights::kRobust},
    {"paper", CurvatureWeights::kPaper},
    {"paper+R", CurvatureWeights::kPaperRejecting},
    {"code", CurvatureWeights::kCode},
    {"none", CurvatureWeights::kNone}};

struct CurvatureOptions {
  PatchShape shape = PatchShape::kSparseDisc;
  int radius_samples = 6;  ///< samples from the middle of the patch to its rim
  int stride_px = 3;       ///< pixels between samples, less where the rim would pass 128 px
  /// The patch is what lies within this distance of the point, whatever its depth; the samples are
  /// as far apart as radius_samples asks for, but no closer than the pixels. 0 for pixels.
  float radius_m = 0.0f;
  /// Each sample is the mean of the 3 × 3 pixels around it that lie within relative_cell_gate of
  /// their median depth: the noise of a dense patch at the cost of a sparse one, and single wild
  /// pixels are gone.
  bool average_cells = true;
  float relative_cell_gate = 0.01f;  ///< share of the depth; 0.01 suits surfaces up to 80° oblique
  int iterations = 5;
  CurvatureWeights weights = CurvatureWeights::kRobust;
  /// k = its square; the least s of kRobust (times the depth's square in m² beyond 1 m).
  float weight_scale_m = 0.001f;
  bool first_unweighted = false;  ///< least squares in the first iteration
  bool cut_at_edges = true;       ///< leave out samples beyond the depth gates of the middle
  float depth_gate_m = 0.03f;
  float relative_depth_gate = 0.05f;  ///< as a share of the depth; the larger gate counts
  bool remove_bias = true;  ///< fit a surface that contains spheres and cylinders, not paraboloids
  int least_samples = 12;
  float least_share = 0.2f;  ///< of the patch that must have samples
  float clamp_per_m = 0.0f;  ///< limit of |k1| and |k2|; 0 for none

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("shape", self.shape, "samples of the patch: a sparse disc, or every pixel", kPatchShapes);
    visit("radius_samples", self.radius_samples, "samples from the middle of the patch to its rim",
          Range{2, 32});
    visit("stride_px", self.stride_px, "pixels between samples", Range{1, 16});
    visit("radius_m", self.radius_m,
          "radius of the patch in metres, the same at every distance; 0 for stride_px instead",
          Range{0, 1e3});
    visit("average_cells", self.average_cells, "each sample is the mean of 3 x 3 pixels");
    visit("relative_cell_gate", self.relative_cell_gate,
          "pixels of a cell farther from its median are left out, as a share of the depth",
          Range{0, 1});
    visit("iterations", self.iterations, "Gauss-Newton steps", Range{1, 50});
    visit("weights", self.weights, "what counts how much", kCurvatureWeights);
    visit("weight_scale_m", self.weight_scale_m, "distance from the quadric that halves the weight",
          Range{1e-9, 1e3});
    visit("first_unweighted", self.first_unweighted, "least squares in the first iteration");
    visit("cut_at_edges", self.cut_at_edges, "leave out what lies beyond a depth edge");
    visit("depth_gate_m", self.depth_gate_m,
          "an edge: samples farther in depth from the middle than this", Range{0, 1e6});
    visit("relative_depth_gate", self.relative_depth_gate,
          "the same as a share of the middle's depth; the larger gate counts", Range{0, 1});
    visit("remove_bias", self.remove_bias, "exact on spheres and cylinders of any radius");
    visit("least_samples", self.least_samples, "fewer samples give no curvature", Range{6, 1e6});
    visit("least_share", self.least_share, "nor does a smaller share of the patch", Range{0, 1});
    visit("clamp_per_m", self.clamp_per_m, "limit of the curvatures' size in 1/m; 0 for none",
          Range{0, 1e9});
  }
};

/// The method of the paper (Spek, Li, Drummond, ACRA 2015) without our additions.
inline CurvatureOptions paper_curvature() {
  CurvatureOptions options;
  options.average_cells = false;
  options.iterations = 3;
  options.weights = CurvatureWeights::kPaper;
  options.cut_at_edges = false;
  options.remove_bias = false;
  options.least_share = 0.0f;
  return options;
}

/// One of each for every pixel; NaN where `valid` is 0.
struct Curvature {
  Image<float> k1_per_m;      ///< the larger principal curvature; positive on what is convex seen
  Image<float> k2_per_m;      ///< from the sensor
  Image<Vec3f> direction1;    ///< unit tangent along which the curvature is k1, of either sign
  Image<Vec3f> normals;       ///< unit, of the fitted quadric, towards the sensor
  Image<Vec3f> points;        ///< on the fitted quadric: the measured ones without their noise
  Image<std::uint8_t> valid;  ///< 1 or 0
};

/// Where estimate_curvature_into writes; empty views are not written.
struct CurvatureViews {
  ImageView<float> k1_per_m;
  ImageView<float> k2_per_m;
  ImageView<Vec3f> direction1;
  ImageView<Vec3f> normals;
  ImageView<Vec3f> points;
  ImageView<std::uint8_t> valid;
};

/// Principal curvatures of an organised cloud seen from the origin, in 1/m, and what comes with
/// them, by fitting a quadric to the samples of a patch around each pixel. `normals` are where the
/// fit starts (estimate_normals); where they are NaN it starts from the line of sight.
///
/// Not valid are pixels without a point (or with z <= 0), with fewer than least_samples samples or
/// less than least_share of the patch, whose samples determine no quadric (on a line, say), and,
/// with kRobust, where most samples disagree with what was found or its radius is below a quarter
/// of the patch's. Samples beyond twice the depth of the middle never count.
///
/// Accuracy: exact on spheres and cylinders wider than the patch (0.1 % with single pixels, 0.5 %
/// with average_cells down to R = 40 mm at 1 m), 1e-3 /m on planes. On a sphere of 0.1 m at 1 m
/// (560 px focal length) with 1 and 3 mm of depth noise the RMS errors of k1 and k2 are 0.25, 0.22
/// and 0.73, 0.66 /m with the 37 × 37 patch; 0.14, 0.13 and 0.39, 0.42 with radius_m = 0.04 and
/// radius_samples = 8. A quarter of the pixels off by 60 mm leaves 0.30, 0.27 at 1 mm.
/// The CPU gives the same bits for every number of threads and every instruction set; k of CUDA and
/// of the CPU agree with double precision within 0.01 /m (and 0.1 % of k) for 99.9 % of the pixels
/// unless weights jump (kPaperRejecting, kCode). Cost: 129 samples and 5 iterations are about
/// 70 thousand flop a pixel; 640 × 480 takes 0.5 s of one core with AVX-512.
Curvature estimate_curvature(const Context& context, ImageView<const Vec3f> points,
                             ImageView<const Vec3f> normals, const CurvatureOptions& options = {});

/// Does not wait for the device; the means of the cells lie in the workspace. Not in place.
void estimate_curvature_into(const Context& context, ImageView<const Vec3f> points,
                             ImageView<const Vec3f> normals, const CurvatureOptions& options,
                             const CurvatureViews& out, Workspace& workspace);

}  // namespace sextant
