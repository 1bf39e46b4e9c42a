// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/experiments/curvature_trial.h"

#include <algorithm>
#include <cmath>

#include "sextant/core/random.h"
#include "sextant/depth/deproject.h"
#include "sextant/surface/cloud_normals.h"
#include "sextant/surface/normals.h"

namespace sextant::app {

Cloud CurvatureFrame::cloud(const std::vector<char>& kept) const {
  Cloud cloud;
  cloud.points = copy(Context::cpu(), points.pixels());
  cloud.width = points.width();
  cloud.height = points.height();
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (!kept[i]) cloud.points.host()[i] = {NAN, NAN, NAN};
  }
  return cloud;
}

CurvatureFrame make_frame(const Camera& camera, std::span<const AnalyticShape> shapes,
                          const SensorErrors& errors) {
  const Context context = Context::cpu();
  CurvatureFrame frame;
  frame.truth = render_analytic(context, camera, shapes);
  Image<float> depth_m = copy(context, frame.truth.depth_m);
  if (errors.model) {
    depth_m = add_sensor_noise(context, depth_m, frame.truth.normals, camera,
                               sensor_noise(*errors.model), errors.seed);
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(depth_m.pixels().size()); ++i) {
    const double noise_m = errors.sigma_m * Random{errors.seed, i}.normal(0);
    depth_m.pixels().host()[i] += static_cast<float>(noise_m);
  }
  frame.points =
      Image<Vec3f>(deproject(context, depth_m, camera).points, camera.width, camera.height);
  frame.normals = estimate_normals(context, frame.points);
  return frame;
}

std::vector<char> inside_of(const CurvatureFrame& frame, std::int32_t id, int margin_px) {
  const int width = frame.points.width();
  const int height = frame.points.height();
  const auto on_shape = [&](int u, int v) {
    return u >= 0 && v >= 0 && u < width && v < height && frame.truth.ids(u, v) == id &&
           frame.truth.k1_per_m(u, v) > 0;
  };
  std::vector<char> inside(frame.pixels(), 0);
  for (int v = 0; v < height; ++v) {
    for (int u = 0; u < width; ++u) {
      bool all = true;
      for (int dv = -margin_px; dv <= margin_px && all; ++dv) {
        for (int du = -margin_px; du <= margin_px && all; ++du) all = on_shape(u + du, v + dv);
      }
      inside[static_cast<std::size_t>(v * width + u)] = all;
    }
  }
  return inside;
}

std::vector<char> facing(const CurvatureFrame& frame, std::int32_t id, double most_rad) {
  std::vector<char> chosen(frame.pixels(), 0);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (frame.truth.ids.pixels().host()[i] != id) continue;
    const Vec3f ray = normalized(frame.points.pixels().host()[i]);
    chosen[i] =
        -dot(frame.truth.normals.pixels().host()[i], ray) > static_cast<float>(std::cos(most_rad));
  }
  return chosen;
}

CurvatureError error_of(const PrincipalCurvatures& found, const CurvatureFrame& frame,
                        const std::vector<char>& counted) {
  double count = 0;
  double sum[2] = {}, square[2] = {}, value[2] = {};
  for (std::size_t i = 0; i < counted.size(); ++i) {
    if (!counted[i]) continue;
    const double k[2] = {found.k1_per_m[i], found.k2_per_m[i]};
    const double truth[2] = {frame.truth.k1_per_m.pixels().host()[i],
                             frame.truth.k2_per_m.pixels().host()[i]};
    for (int j = 0; j < 2; ++j) {
      sum[j] += k[j] - truth[j];
      square[j] += (k[j] - truth[j]) * (k[j] - truth[j]);
      value[j] += k[j];
    }
    count += 1;
  }
  const double mean = (sum[0] + sum[1]) / (2 * count);
  const double mean_square = (square[0] + square[1]) / (2 * count);
  return {std::sqrt(mean_square),
          std::sqrt(square[0] / count),
          std::sqrt(square[1] / count),
          std::sqrt(std::max(0.0, mean_square - mean * mean)),
          value[0] / count,
          value[1] / count};
}

namespace {

/// 1 for all pixels of the shapes that some wanted pixel belongs to.
std::vector<char> same_shape(const CurvatureFrame& frame, const std::vector<char>& wanted) {
  const auto ids = frame.truth.ids.pixels().host();
  std::vector<std::int32_t> shapes;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] && std::find(shapes.begin(), shapes.end(), ids[i]) == shapes.end()) {
      shapes.push_back(ids[i]);
    }
  }
  std::vector<char> same(wanted.size(), 0);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    same[i] = std::find(shapes.begin(), shapes.end(), ids[i]) != shapes.end();
  }
  return same;
}

}  // namespace

double MethodErrors::best_other() const {
  const double best = std::min({douros.rms, besl.rms, paper.rms, paper_rejecting.rms,
                                paper_plane_form.rms, covariance.rms, raw_covariance.rms});
  return pcl ? std::min(best, pcl->rms) : best;
}

MethodErrors compare_methods(const Context& context, const CurvatureFrame& frame,
                             const std::vector<char>& wanted, const Comparison& comparison) {
  constexpr int kEvery = 3;
  const float radius_m = comparison.pcl_radius_m;
  const Image<Vec3f> points = copy(context, frame.points);
  CurvatureOptions rejecting = paper_curvature();
  rejecting.weights = CurvatureWeights::kPaperRejecting;
  const PrincipalCurvatures ours = quadric_curvature(context, points, comparison.ours);
  const PrincipalCurvatures paper = quadric_curvature(context, points, paper_curvature());
  const PrincipalCurvatures paper_rejecting = quadric_curvature(context, points, rejecting);
  const PrincipalCurvatures paper_plane_form = quadric_curvature(
      context, points, copy(context, plane_form_normals(frame.points)), paper_curvature());
  const PrincipalCurvatures douros = douros_curvature(frame.points, frame.normals, wanted);
  const PrincipalCurvatures besl = besl_curvature(frame.points, frame.normals, wanted);
  const Cloud shape = frame.cloud(same_shape(frame, wanted));
  const PrincipalCurvatures covariance = covariance_of_normals(
      shape.points, estimate_cloud_normals(Context::cpu(), shape.points, {.radius_m = radius_m}),
      radius_m, wanted);
  const std::optional<PrincipalCurvatures> pcl = pcl_covariance(shape, radius_m, kEvery);
  const PrincipalCurvatures by_default = quadric_curvature(context, points, CurvatureOptions{});
  std::vector<char> counted(wanted.size(), 0), counted_default(wanted.size(), 0);
  double measured = 0, answered = 0, answered_default = 0;
  for (std::size_t i = 0; i < counted.size(); ++i) {
    if (!wanted[i] || !is_finite(frame.points.pixels().host()[i])) continue;
    measured += 1;
    answered += ours.has(i);
    answered_default += by_default.has(i);
    counted_default[i] = by_default.has(i);
    counted[i] = ours.has(i) && paper.has(i) && paper_rejecting.has(i) && douros.has(i) &&
                 paper_plane_form.has(i) && besl.has(i) && covariance.has(i) &&
                 (!pcl || pcl->has(i));
  }
  MethodErrors errors;
  errors.douros = error_of(douros, frame, counted);
  errors.besl = error_of(besl, frame, counted);
  errors.paper = error_of(paper, frame, counted);
  errors.paper_rejecting = error_of(paper_rejecting, frame, counted);
  errors.paper_plane_form = error_of(paper_plane_form, frame, counted);
  errors.ours = error_of(ours, frame, counted);
  errors.covariance = error_of(calibrated(covariance, radius_m), frame, counted);
  PrincipalCurvatures raw = covariance;
  for (float& pc : raw.k1_per_m) pc *= 1000;
  for (float& pc : raw.k2_per_m) pc *= 1000;
  errors.raw_covariance = error_of(raw, frame, counted);
  if (pcl) errors.pcl = error_of(calibrated(*pcl, radius_m), frame, counted);
  errors.answered_share = measured > 0 ? answered / measured : 0;
  errors.default_share = measured > 0 ? answered_default / measured : 0;
  if (answered_default > 0) errors.default_patch = error_of(by_default, frame, counted_default);
  return errors;
}

void add_method_rows(std::vector<measure::Row>& rows, const std::string& what,
                     const MethodErrors& errors, std::optional<double> paper_rms_per_m) {
  const double goal = errors.best_other();
  measure::Row row{what + ", RMS error", "1/m", {}, errors.ours.rms, goal, errors.ours.rms <= goal};
  row.paper = paper_rms_per_m;
  if (errors.pcl) row.peer = errors.pcl->rms;
  rows.push_back(row);
  const auto add = [&](const char* method, double rms) {
    rows.push_back({what + ", by " + method, "1/m", {}, rms, {}, {}});
  };
  if (errors.default_share > 0) add("the default patch, where valid", errors.default_patch.rms);
  rows.push_back({what + ", valid by default", "%", {}, 100 * errors.default_share, {}, {}});
  add("Douros' least squares", errors.douros.rms);
  add("Besl's weighted least squares", errors.besl.rms);
  add("the paper's method", errors.paper.rms);
  add("the paper's method with rejection", errors.paper_rejecting.rms);
  add("the paper's method from planes z = ax + by + c", errors.paper_plane_form.rms);
  add("the covariance of normals, calibrated", errors.covariance.rms);
  add("the covariance of normals taken for 1/mm", errors.raw_covariance.rms);
}

Rigid3d at(double x, double y, double z) {
  Rigid3d pose;
  pose.translation = {x, y, z};
  return pose;
}

Camera synthetic_camera(int size_px) {
  const double middle = (size_px - 1) / 2.0;
  return {size_px, size_px, 560, 560, middle, middle, {}};
}

}  // namespace sextant::app
