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

/// The patch of a pixel is, by default, as large as the sensor's noise asks for: its radius is the
/// smallest at which k1 and k2 deviate by aim_deviation_per_m, between least_radius_m (or
/// radius_samples pixels) and most_radius_m. stride_px or radius_m fix it instead.
struct CurvatureOptions {
  PatchShape shape = PatchShape::kSparseDisc;
  int radius_samples = 5;  ///< samples from the middle of the patch to its rim
  /// Pixels between samples, the same at every distance, less where the rim would pass 128 px.
  /// 0 for patches in metres.
  int stride_px = 0;
  /// The patch is what lies within this distance of the point, whatever its depth; the samples are
  /// as far apart as radius_samples asks for, but no closer than the pixels. 0 to follow the noise.
  float radius_m = 0.0f;
  float aim_deviation_per_m = 1.0f;   ///< of k1 and k2, that the radius is chosen for
  float most_deviation_per_m = 3.0f;  ///< where more is to be expected there is no curvature; or 0
  float least_radius_m = 0.01f;       ///< of a patch that follows the noise
  float most_radius_m = 0.15f;
  /// The sensor's noise: deviation of 1/z of a pixel, and the side of the square of pixels that err
  /// together. 0 takes both from the frame.
  float depth_noise_per_m = 0.0f;
  float noise_grain_px = 8.0f;
  /// Each sample is the mean of the 3 × 3 pixels around it that lie within relative_cell_gate of
  /// their median depth: the noise of a dense patch at the cost of a sparse one, and single wild
  /// pixels are gone.
  bool average_cells = true;
  float relative_cell_gate = 0.01f;  ///< share of the depth; 0.01 suits surfaces up to 80° oblique
  /// Gauss-Newton steps. 0 goes on until the fit has settled and gives no curvature where it does
  /// not; with weights other than kRobust, or remove_bias = false, 0 is 5.
  int iterations = 0;
  CurvatureWeights weights = CurvatureWeights::kRobust;
  /// k = its square. With a number of iterations, the least s of kRobust (times the depth's square
  /// in m² beyond 1 m); until it has settled, s follows the noise instead.
  float weight_scale_m = 0.001f;
  bool first_unweighted = false;  ///< least squares in the first iteration
  /// Leave out samples beyond the depth gates of the middle and, where the noise is asked for,
  /// those within half its grain of a depth edge.
  bool cut_at_edges = true;
  float depth_gate_m = 0.03f;
  float relative_depth_gate = 0.05f;  ///< as a share of the depth; the larger gate counts
  bool remove_bias = true;  ///< fit a surface that contains spheres and cylinders, not paraboloids
  int least_samples = 12;
  float least_share = 0.2f;  ///< of the patch that must have samples
  float clamp_per_m = 0.0f;  ///< limit of |k1| and |k2|; 0 for none

  /// Whether the radius of patches follows the noise.
  constexpr bool follows_noise() const { return stride_px == 0 && !(radius_m > 0.0f); }
  /// Whether steps are taken until the fit has settled.
  constexpr bool settles() const {
    return iterations == 0 && weights == CurvatureWeights::kRobust && remove_bias;
  }

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("shape", self.shape, "samples of the patch: a sparse disc, or every pixel", kPatchShapes);
    visit("radius_samples", self.radius_samples, "samples from the middle of the patch to its rim",
          Range{2, 32});
    visit("stride_px", self.stride_px, "pixels between samples; 0 for patches in metres",
          Range{0, 16});
    visit("radius_m", self.radius_m,
          "radius of the patch in metres, the same at every distance; 0 to follow the noise",
          Range{0, 1e3});
    visit("aim_deviation_per_m", self.aim_deviation_per_m,
          "deviation of the curvatures that the radius is chosen for", Range{1e-3, 1e6});
    visit("most_deviation_per_m", self.most_deviation_per_m,
          "no curvature where a larger deviation is to be expected; 0 for no limit", Range{0, 1e9});
    visit("least_radius_m", self.least_radius_m, "smallest radius that follows the noise",
          Range{1e-6, 1e3});
    visit("most_radius_m", self.most_radius_m, "largest radius that follows the noise",
          Range{1e-6, 1e3});
    visit("depth_noise_per_m", self.depth_noise_per_m,
          "deviation of 1/z of a pixel; 0 takes it from the frame", Range{0, 1});
    visit("noise_grain_px", self.noise_grain_px,
          "side of the square of pixels that err together, with depth_noise_per_m", Range{1, 64});
    visit("average_cells", self.average_cells, "each sample is the mean of 3 x 3 pixels");
    visit("relative_cell_gate", self.relative_cell_gate,
          "pixels of a cell farther from its median are left out, as a share of the depth",
          Range{0, 1});
    visit("iterations", self.iterations, "Gauss-Newton steps; 0 until the fit has settled",
          Range{0, 50});
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

/// Our fit on patches of 37 × 37 pixels at every distance: what the noise is, is not asked.
inline CurvatureOptions pixel_curvature() {
  CurvatureOptions options;
  options.radius_samples = 6;
  options.stride_px = 3;
  options.iterations = 5;
  return options;
}

/// The method of the paper (Spek, Li, Drummond, ACRA 2015) without our additions.
inline CurvatureOptions paper_curvature() {
  CurvatureOptions options = pixel_curvature();
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
  /// What k1 and k2 are expected to err by because of the sensor's noise, and because samples that
  /// lie to one side know less; NaN with a given number of iterations, which does not ask for the
  /// noise.
  Image<float> deviation_per_m = {};
};

/// Where estimate_curvature_into writes; empty views are not written.
struct CurvatureViews {
  ImageView<float> k1_per_m;
  ImageView<float> k2_per_m;
  ImageView<Vec3f> direction1;
  ImageView<Vec3f> normals;
  ImageView<Vec3f> points;
  ImageView<std::uint8_t> valid;
  ImageView<float> deviation_per_m = {};
};

/// Principal curvatures of an organised cloud seen from the origin, in 1/m, and what comes with
/// them, by fitting a quadric to the samples of a patch around each pixel. `normals` are where the
/// fit starts (estimate_normals); where they are NaN it starts from the line of sight.
///
/// Not valid are pixels without a point (or with z <= 0), with fewer than least_samples samples or
/// less than least_share of the patch, whose samples determine no quadric (on a line, say), and,
/// with kRobust, where most samples disagree with what was found or its radius is below a quarter
/// of the patch's. Samples beyond twice the depth of the middle never count. Until it has settled
/// (iterations = 0), a fit is also not valid where it does not settle, where it leaves more than
/// the sensor's noise, where the surface bends more than the patch can follow or fills little more
/// than half of it, and where k1 and k2 would deviate by more than most_deviation_per_m + 0.1 k. A
/// patch that follows the noise is then tried once more with 0.7 of its radius.
///
/// Accuracy: exact on spheres and cylinders wider than the patch (0.1 % with single pixels; means
/// of cells bend by 1 % a sphere that is 56 pixels wide, and by 5 % one of 14). With the noise of a
/// Kinect, k1 and k2 of a wall err by 1 /m up to 3 m; of what is valid on balls, cans and a torus
/// of 20 to 60 mm from 0.5 to 1.5 m, nine of ten lie within three of their own deviations. On
/// patches of 37 × 37 pixels (pixel_curvature) with 1 and 3 mm of noise that is independent from
/// pixel to pixel, k1 and k2 of a sphere of 0.1 m at 1 m err by 0.25, 0.22 and 0.73, 0.66 /m (560
/// px focal length). The CPU gives the same bits for every number of threads and every instruction
/// set; k of CUDA and of the CPU agree with double precision within 0.01 /m (and 0.1 % of k)
/// for 99.9 % of the pixels unless weights jump (kPaperRejecting, kCode). Cost: a sample is about
/// 115 flop, a patch has 81 of them and settles in 4 to 6 steps; frames with many edges cost twice
/// of that.
Curvature estimate_curvature(const Context& context, ImageView<const Vec3f> points,
                             ImageView<const Vec3f> normals, const CurvatureOptions& options = {});

/// Does not wait for the device; the noise and the means of the cells lie in the workspace. Not in
/// place.
void estimate_curvature_into(const Context& context, ImageView<const Vec3f> points,
                             ImageView<const Vec3f> normals, const CurvatureOptions& options,
                             const CurvatureViews& out, Workspace& workspace);

}  // namespace sextant
