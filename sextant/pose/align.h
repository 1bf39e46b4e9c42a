// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sextant/geometry/surface.h"
#include "sextant/pose/point_to_plane.h"

namespace sextant {

/// How a moved point of the source finds its partner.
enum class AlignAssociation : std::int32_t {
  kNearest,    ///< the nearest point of the target
  kProjected,  ///< the nearest within a pixel of where the target's camera sees it: faster
};
inline constexpr Choice<AlignAssociation> kAlignAssociations[] = {
    {"nearest", AlignAssociation::kNearest}, {"projected", AlignAssociation::kProjected}};

/// Lengths of 0 are taken from the points.
struct AlignOptions {
  AlignAssociation association = AlignAssociation::kNearest;
  int levels = 4;       ///< coarse to fine: voxels of 2, 4, 8 … spacings, then all points
  int iterations = 30;  ///< the most at a level
  /// Of a larger source every second, third … point is taken: noise, not their number, limits the
  /// accuracy. 0 takes all.
  int most_points = 40000;
  /// Partners farther apart count for nothing, at the coarsest level: as far as the first guess may
  /// be off. 0 takes a tenth of the diagonal of the source's box.
  float max_distance_m = 0.0f;
  /// The same at the finest level. 0 takes 4 spacings of the target or a hundredth of the source's
  /// diagonal, whichever is more.
  float fine_distance_m = 0.0f;
  float max_angle_rad = 0.8f;  ///< between the normals of partners, where the source has some
  /// A direction of which a residual tells less than this on average (PoseDirections) is
  /// degenerate: the surfaces slide in it. It is not moved and is reported.
  float least_information = 2e-3f;
  float stop_m = 0.0f;        ///< a step that moves points less ends the level; 0: spacing / 1000
  int least_pairs = 20;       ///< fewer determine nothing
  float shared_error = 1.0f;  ///< residuals that err together; 12 to 15 for Kinects, 30 for stereo

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("association", self.association, "how points find their partners", kAlignAssociations);
    visit("levels", self.levels, "coarse to fine: voxels of 2, 4, 8 ... spacings, then all points",
          Range{1, 12});
    visit("iterations", self.iterations, "the most at a level", Range{1, 1e6});
    visit("most_points", self.most_points, "of the source, evenly chosen; 0 takes all",
          Range{0, 2e9});
    visit("max_distance_m", self.max_distance_m,
          "partners farther apart do not count, at first; 0: a tenth of the source's diagonal",
          Range{0, 1e9});
    visit("fine_distance_m", self.fine_distance_m,
          "the same in the end; 0: 4 spacings or a hundredth of the source's diagonal",
          Range{0, 1e9});
    visit("max_angle_rad", self.max_angle_rad, "largest angle between the normals of partners",
          Range{0, 3.15});
    visit("least_information", self.least_information,
          "directions that residuals tell less of are left alone and reported", Range{0, 1});
    visit("stop_m", self.stop_m, "steps that move points less end a level; 0: spacing / 1000",
          Range{0, 1e9});
    visit("least_pairs", self.least_pairs, "fewer partners determine nothing", Range{6, 1e9});
    visit("shared_error", self.shared_error, "neighbouring residuals that err together",
          Range{1, 1e6});
  }
};

/// Why an alignment ended.
enum class AlignStop : std::int32_t {
  kConverged,
  kIterations,  ///< the finest level was still moving
  kTooFew,      ///< fewer than least_pairs partners: the surfaces do not meet from this guess
};
inline constexpr Choice<AlignStop> kAlignStops[] = {{"converged", AlignStop::kConverged},
                                                    {"iterations", AlignStop::kIterations},
                                                    {"too few partners", AlignStop::kTooFew}};

struct Alignment {
  Rigid3d target_from_source;
  double rms_m = NAN;       ///< of the residuals along the normals, of a Gaussian without outliers
  double inlier_share = 0;  ///< of the source's points that have a partner and count
  std::int64_t pairs = 0;   ///< how many that are
  Vec3d centre_m;           ///< in the target's frame: what the covariance is about
  SymN<double, 6> covariance;  ///< of (rotation in radians, translation in metres) about centre_m
  PoseDirections directions;   ///< about centre_m; the first `degenerate` of them slide
  int degenerate = 0;
  int iterations = 0;  ///< of all levels
  AlignStop stop = AlignStop::kTooFew;
};

namespace detail::alignment {
struct Level;
}

/// A surface with its coarser levels and neighbour grids: made once, aligned with any number of
/// others, as source and as target.
class AlignSurface {
 public:
  AlignSurface() = default;
  /// Copies what it needs to the context's device, where the surface lies. A target needs normals;
  /// points without one are nobody's partner. Only a surface with a camera can be the target of
  /// projected partners. Waits for the device.
  AlignSurface(const Context& context, const Surface& surface, const AlignOptions& options = {});

  float spacing_m() const { return spacing_m_; }    ///< cloud_spacing_m; NaN without two points
  float diagonal_m() const { return diagonal_m_; }  ///< of the box around the points
  std::int64_t points() const { return points_; }   ///< without holes
  bool has_normals() const { return has_normals_; }
  bool has_camera() const { return camera_.has_value(); }

 private:
  friend Alignment align(const Context&, const AlignSurface&, const AlignSurface&, const Rigid3d&,
                         const AlignOptions&);
  float spacing_m_ = NAN;
  float diagonal_m_ = 0;
  std::int64_t points_ = 0;
  bool has_normals_ = false;
  Device device_;
  std::vector<std::shared_ptr<detail::alignment::Level>>
      levels_;  ///< all points first, then coarser
  std::optional<Camera> camera_;
  Image<Vec3f> image_, image_normals_;  ///< in the rows of the camera
};

/// Moves the source onto the target by point-to-plane alignment (Chen and Medioni, 1991), coarse to
/// fine. Every point of the source that finds a partner within the distance and angle of the
/// options adds its distance along the partner's normal; residuals are weighted by Tukey's biweight
/// at 4.685 deviations, and the deviation is that of the residuals themselves. Directions that the
/// surfaces do not determine stay as they were given.
///
/// The guess should put the source within max_distance_m and some 20° of its place. Where that is
/// not known, match descriptors first (ransac_alignment.h); the alignment of surfaces that hardly
/// overlap may converge to a wrong pose, so look at inlier_share and rms_m.
///
/// The result is the same from run to run and for any number of threads. CPU and CUDA find the same
/// partners and differ by rounding: less than a thousandth of a spacing where nothing is
/// degenerate. On CUDA an iteration takes two launches and one wait. Waits for the device.
Alignment align(const Context& context, const AlignSurface& source, const AlignSurface& target,
                const Rigid3d& guess_target_from_source = {}, const AlignOptions& options = {});
Alignment align(const Context& context, const Surface& source, const Surface& target,
                const Rigid3d& guess_target_from_source = {}, const AlignOptions& options = {});

}  // namespace sextant
