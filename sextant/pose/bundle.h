// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sextant/core/options.h"
#include "sextant/core/rigid3.h"
#include "sextant/geometry/camera.h"

namespace sextant {

/// A photograph: which of the cameras took it, and from where.
struct BundleView {
  std::int32_t camera = 0;
  Rigid3d camera_from_world;
};

/// A point of the world. What is known of it stays; the other points are adjusted.
struct BundlePoint {
  Vec3d at_m;
  bool known = false;
};

/// Where a photograph, as the lens took it, shows a point.
struct BundleObservation {
  std::int32_t view = 0;
  std::int32_t point = 0;
  Vec2d at_px;
};

/// Photographs of points.
struct Bundle {
  std::vector<Camera> cameras;
  std::vector<BundleView> views;
  std::vector<BundlePoint> points;
  std::vector<BundleObservation> observations;
};

/// What is adjusted beside the points, and how.
struct BundleOptions {
  int iterations = 50;
  double outlier_px = 2;  ///< farther off counts by the distance, not by its square (Huber)
  bool poses = true;
  bool focal = false;       ///< of each camera; fx and fy keep their ratio
  bool centre = false;      ///< the principal point of each camera
  bool distortion = false;  ///< k1 of each camera
  /// How exact the poses given are, as deviations about the camera's own axes; 0 says nothing. One
  /// pixel of reprojection weighs as much as one of these.
  double pose_m = 0;
  double pose_rad = 0;
  /// How far from where it was a principal point is thought to lie; 0 says nothing.
  double centre_px = 0;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("iterations", self.iterations, "steps at most", Range{0, 10000});
    visit("outlier_px", self.outlier_px, "farther off counts less", Range{1e-3, 1e6});
    visit("poses", self.poses, "adjust poses");
    visit("focal", self.focal, "adjust focal lengths");
    visit("centre", self.centre, "adjust principal points");
    visit("distortion", self.distortion, "adjust k1");
    visit("pose_m", self.pose_m, "how exact places of cameras are, 0 for unknown", Range{0, 1e6});
    visit("pose_rad", self.pose_rad, "how exact their turns are, 0 for unknown", Range{0, 1e6});
    visit("centre_px", self.centre_px, "how exact principal points are, 0 for unknown",
          Range{0, 1e6});
  }
};

struct BundleResult {
  int iterations = 0;
  bool converged = false;
  double cost_before = 0, cost = 0;  ///< Σ of Huber's function, px²
  double rms_px = 0;                 ///< of the distances of observations, those far off counted
  /// Of each camera, the deviation of its focal length that follows from the residuals; infinite
  /// where the photographs do not determine it, empty unless it was adjusted.
  std::vector<double> focal_deviation_px;
};

/// Bundle adjustment: moves points, poses and, if asked to, what is common to a camera's
/// photographs, until points are seen where they were (Triggs et al., 1999). Levenberg and
/// Marquardt's method with analytic derivatives; points are eliminated by Schur's complement, and
/// the dense system of views and cameras is solved by Cholesky.
///
/// Where neither known points nor `pose_m` and `pose_rad` say where the world is, its place, turn
/// and size stay about where they were. The start must see all points in front of the cameras;
/// steps that put one behind are not taken. Runs on one thread of the host, with the same bits
/// every time. A step costs, for each point, the square of the number of views that see it, and the
/// cube of the number of views. Throws Error for an observation of a view or point that is not
/// there.
BundleResult adjust_bundle(Bundle& bundle, const BundleOptions& options = {});

/// The distance of each observation from where the bundle projects its point, in pixels; infinite
/// behind the camera.
std::vector<double> bundle_errors_px(const Bundle& bundle);

}  // namespace sextant
