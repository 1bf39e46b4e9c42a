// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "apps/sextant/experiments/curvature_trial.h"
#include "apps/sextant/experiments/experiments.h"
#include "apps/sextant/experiments/peer.h"
#include "sextant/surface/normals.h"

namespace sextant::app {

namespace {

constexpr double kNoises_mm[] = {0, 0.5, 1, 2, 3};

/// The paper's sphere of 100 mm, here at 1 m.
CurvatureFrame sphere_frame(double noise_mm) {
  const AnalyticShape sphere = AnalyticShape::sphere(0.1, at(0, 0, 1));
  return make_frame(synthetic_camera(150), {&sphere, 1}, {.sigma_m = noise_mm / 1000});
}

/// Within 40°: no patch of 32 mm sees the outline.
std::vector<char> counted_pixels(const CurvatureFrame& frame) {
  return facing(frame, 0, 40 * std::numbers::pi / 180);
}

/// Mean angle to the truth over the pixels.
template <class NormalAt>
double mean_angle_deg(const CurvatureFrame& frame, const std::vector<char>& counted,
                      const NormalAt& normal_at) {
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < counted.size(); ++i) {
    if (!counted[i]) continue;
    const Vec3d n = cast<double>(normal_at(i));
    const Vec3d truth = cast<double>(frame.truth.normals.pixels().host()[i]);
    if (!is_finite(n)) continue;
    sum += std::atan2(norm(cross(n, truth)), dot(n, truth));
    count += 1;
  }
  return sum / count * 180 / std::numbers::pi;
}

std::optional<double> pca_angle_deg(const CurvatureFrame& frame, const std::vector<char>& counted,
                                    float radius_m) {
  const std::vector<char> everything(frame.pixels(), 1);
  const std::optional<PeerResult> peer =
      run_pcl("normals", frame.cloud(everything), {fmt::format("radius_m={}", radius_m)});
  if (!peer) return std::nullopt;
  return mean_angle_deg(frame, counted, [&](std::size_t i) {
    return Vec3f{peer->value(i, 0), peer->value(i, 1), peer->value(i, 2)};
  });
}

/// k1 and k2 apart, beside PCL with this radius for normals and for their covariance, which thus
/// reads points up to twice as far.
void same_support(const Context& context, const CurvatureFrame& frame, double noise_mm,
                  float pcl_radius_m, std::vector<measure::Row>& rows) {
  constexpr int kEvery = 3;
  const std::vector<char> everything(frame.pixels(), 1);
  const std::optional<PrincipalCurvatures> pcl =
      pcl_covariance(frame.cloud(everything), pcl_radius_m, kEvery);
  std::vector<char> counted = counted_pixels(frame);
  for (std::size_t i = 0; i < counted.size(); ++i) counted[i] &= !pcl || pcl->has(i);
  std::optional<CurvatureError> peer;
  if (pcl) peer = error_of(calibrated(*pcl, pcl_radius_m), frame, counted);
  const Image<Vec3f> points = copy(context, frame.points);
  for (const float radius_m : {2 * pcl_radius_m, pcl_radius_m}) {
    CurvatureOptions options = five_steps(radius_m);
    // Three pixels apart, so that the means of 3 x 3 leave none out.
    options.radius_samples = static_cast<int>(std::lround(radius_m / 0.005f));
    const CurvatureError ours =
        error_of(quadric_curvature(context, points, options), frame, counted);
    const auto add = [&](const char* which, double error, std::optional<double> theirs) {
      measure::Row row{
          fmt::format("noise {} mm, {}, {:.0f} mm beside {:.0f} + {:.0f} mm, RMS error", noise_mm,
                      which, 1000 * radius_m, 1000 * pcl_radius_m, 1000 * pcl_radius_m),
          "1/m",
          theirs,
          error,
          {},
          {}};
      // Half of PCL's support is shown, but no contest.
      if (theirs && radius_m > pcl_radius_m) {
        row.goal = theirs;
        row.met = error <= *theirs;
      }
      rows.push_back(row);
    };
    add("k1", ours.rms_k1, peer ? std::optional(peer->rms_k1) : std::nullopt);
    add("k2", ours.rms_k2, peer ? std::optional(peer->rms_k2) : std::nullopt);
  }
}

void compare_normals(const Context& context, const CurvatureFrame& frame, double noise_mm,
                     std::vector<measure::Row>& rows) {
  const std::vector<char> counted = counted_pixels(frame);
  const Image<Vec3f> points = copy(context, frame.points);
  for (const float radius_m : {0.01f, 0.02f, 0.03f}) {
    const CurvatureOptions options = five_steps(radius_m);
    const Curvature found =
        estimate_curvature(context, points, estimate_normals(context, points), options);
    const std::vector<Vec3f> normals = to_host(context, found.normals.pixels());
    const double ours = mean_angle_deg(frame, counted, [&](std::size_t i) { return normals[i]; });
    const std::optional<double> pca = pca_angle_deg(frame, counted, radius_m);
    measure::Row row{fmt::format("noise {} mm, radius {:.0f} mm, mean error of normals", noise_mm,
                                 1000 * radius_m),
                     "deg",
                     pca,
                     ours,
                     {},
                     {}};
    if (pca && noise_mm >= 0.5) {
      row.goal = pca;
      row.met = ours <= *pca;
    }
    rows.push_back(row);
  }
}

}  // namespace

/// Figs. 8 and 10, of which the paper has no numbers. PCL's columns are its calibrated curvature
/// and its PCA normals.
std::vector<measure::Row> curvature_noise(const Context& context) {
  std::vector<measure::Row> rows;
  for (const double noise_mm : kNoises_mm) {
    const CurvatureFrame frame = sphere_frame(noise_mm);
    add_method_rows(rows, fmt::format("noise {} mm, patch 37 x 37, PCL 20 mm", noise_mm),
                    compare_methods(context, frame, counted_pixels(frame), {.pcl_radius_m = 0.02f}),
                    {});
  }
  for (const double noise_mm : kNoises_mm) {
    const CurvatureFrame frame = sphere_frame(noise_mm);
    for (const float radius_m : {0.02f, 0.03f}) {
      same_support(context, frame, noise_mm, radius_m, rows);
    }
  }
  for (const double noise_mm : kNoises_mm) {
    compare_normals(context, sphere_frame(noise_mm), noise_mm, rows);
  }
  return rows;
}

}  // namespace sextant::app
