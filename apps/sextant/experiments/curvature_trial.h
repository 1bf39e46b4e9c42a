// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>

#include "apps/sextant/experiments/curvature_methods.h"
#include "measure/report.h"
#include "sextant/synth/analytic_frame.h"
#include "sextant/synth/sensor_noise.h"

// What the experiments on curvature share: frames with known curvature, the pixels that count, and
// the error of each method.

namespace sextant::app {

/// A frame as a sensor gives it, with the truth; on the host.
struct CurvatureFrame {
  AnalyticFrame truth;
  Image<Vec3f> points;
  Image<Vec3f> normals;  ///< by estimate_normals

  /// The points as an organised cloud, those that `kept` says; the rest are holes.
  Cloud cloud(const std::vector<char>& kept) const;
  std::size_t pixels() const { return static_cast<std::size_t>(points.pixels().size()); }
};

/// The sensor's errors: those of a model, and normal noise along z with this deviation.
struct SensorErrors {
  std::optional<SensorModel> model = {};
  double sigma_m = 0;
  std::uint64_t seed = 1;
};

CurvatureFrame make_frame(const Camera& camera, std::span<const AnalyticShape> shapes,
                          const SensorErrors& errors);

/// 1 for pixels of the shape `id` on its curved part that lie at least `margin_px` inside its
/// outline: the papers leave edges and corners out.
std::vector<char> inside_of(const CurvatureFrame& frame, std::int32_t id, int margin_px);
/// 1 for pixels of the shape that face the camera within the angle.
std::vector<char> facing(const CurvatureFrame& frame, std::int32_t id, double most_rad);

/// Errors over both curvatures of the pixels, and the mean curvatures found; in 1/m.
struct CurvatureError {
  double rms = 0;
  double rms_k1 = 0;
  double rms_k2 = 0;
  double sigma = 0;  ///< deviation of the errors about their mean
  double mean_k1 = 0;
  double mean_k2 = 0;
};
CurvatureError error_of(const PrincipalCurvatures& found, const CurvatureFrame& frame,
                        const std::vector<char>& counted);

/// What every method makes of one frame, on the pixels where all have an answer.
struct MethodErrors {
  CurvatureError douros, besl, paper, paper_rejecting, ours;
  CurvatureError paper_plane_form;    ///< the paper's method from plane_form_normals
  CurvatureError covariance;          ///< of normals: PCL's formula by our hand, calibrated
  CurvatureError raw_covariance;      ///< the same taken for a curvature in 1/mm, as in the paper
  std::optional<CurvatureError> pcl;  ///< PCL's own program, calibrated
  double answered_share = 0;          ///< of the wanted pixels that are no holes, by ours
  CurvatureError default_patch;       ///< ours where the patch follows the noise, where it is valid
  double default_share = 0;           ///< of the wanted pixels that are no holes

  /// The least RMS of the others.
  double best_other() const;
};

struct Comparison {
  float pcl_radius_m = 0.02f;                 ///< of PCL's curvatures, and of its normals
  CurvatureOptions ours = pixel_curvature();  ///< the paper's patch
};
/// PCL is asked for every third point, to save its time, and gets those of the wanted shape alone:
/// the others must be farther from it than its radius.
MethodErrors compare_methods(const Context& context, const CurvatureFrame& frame,
                             const std::vector<char>& wanted, const Comparison& comparison);

/// One row for our RMS with PCL's beside it and the best of the others as the goal, then one for
/// each other method.
void add_method_rows(std::vector<measure::Row>& rows, const std::string& what,
                     const MethodErrors& errors, std::optional<double> paper_rms_per_m);

/// A pose without rotation.
Rigid3d at(double x, double y, double z);
/// The paper's camera for synthetic scenes, cut to a square around its middle.
Camera synthetic_camera(int size_px);

}  // namespace sextant::app
