// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numbers>

#include "apps/sextant/experiments/experiments.h"
#include "sextant/depth/bilateral.h"
#include "sextant/depth/deproject.h"
#include "sextant/surface/normals.h"
#include "sextant/synth/analytic_frame.h"
#include "sextant/synth/sensor_noise.h"

namespace sextant::app {

namespace {

struct AngleError {
  double mean_deg = 0;
  double rms_deg = 0;
};

/// Over the pixels that have a normal, away from the border where windows are cut.
AngleError compare(const Image<Vec3f>& normals, const Image<Vec3f>& truth) {
  constexpr int kBorder = 10;
  double sum = 0, square = 0, count = 0;
  for (int v = kBorder; v < normals.height() - kBorder; ++v) {
    for (int u = kBorder; u < normals.width() - kBorder; ++u) {
      const Vec3d n = cast<double>(normals(u, v));
      if (!is_finite(n)) continue;
      const Vec3d t = cast<double>(truth(u, v));
      const double angle = std::atan2(norm(cross(n, t)), dot(n, t)) * 180 / std::numbers::pi;
      sum += angle;
      square += angle * angle;
      count += 1;
    }
  }
  return {sum / count, std::sqrt(square / count)};
}

Image<Vec3f> normals_of(const Context& context, const Image<float>& depth_m, const Camera& camera) {
  const Cloud cloud = deproject(context, depth_m, camera);
  const ImageView<const Vec3f> points{cloud.points.data(), camera.width, camera.height,
                                      camera.width, context.device()};
  return to_host(context, estimate_normals(context, points, {.method = NormalsMethod::kPca}));
}

struct PaperRow {
  double distance_m;
  AngleError raw, filtered;
};

void add_rows(const Context& context, const PaperRow& paper, SensorModel model,
              const std::string& suffix, std::vector<measure::Row>& rows) {
  const Camera camera{640, 480, 525, 525, 319.5, 239.5, {}};
  Rigid3d pose;
  pose.translation = {0, 0, paper.distance_m};
  const AnalyticShape plane = AnalyticShape::plane(pose);
  const AnalyticFrame truth = render_analytic(Context::cpu(), camera, {&plane, 1});
  const Image<float> noisy =
      copy(context, add_sensor_noise(Context::cpu(), truth.depth_m, truth.normals, camera,
                                     sensor_noise(model), 1));
  const AngleError raw = compare(normals_of(context, noisy, camera), truth.normals);
  const AngleError filtered =
      compare(normals_of(context, bilateral_filter(context, noisy), camera), truth.normals);
  const std::string at = "at " + std::to_string(paper.distance_m).substr(0, 3) + " m" + suffix;
  const auto add = [&](const std::string& what, double ours, std::optional<double> goal,
                       double paper_deg) {
    std::optional<bool> met;
    if (goal) met = ours <= *goal;
    rows.push_back({what + at, "deg", {}, ours, goal, met, paper_deg});
  };
  add("mean error, raw, ", raw.mean_deg, {}, paper.raw.mean_deg);
  add("RMS error, raw, ", raw.rms_deg, {}, paper.raw.rms_deg);
  add("mean error, filtered, ", filtered.mean_deg, raw.mean_deg / 2, paper.filtered.mean_deg);
  add("RMS error, filtered, ", filtered.rms_deg, {}, paper.filtered.rms_deg);
}

}  // namespace

/// A plane that stands across the line of sight, as a Kinect sees it: by the model that was fitted
/// to real frames, and by independent noise of 1.425e-3 z² m. Both have steps of 2.85e-3 z² m.
/// Normals by PCA over 7 × 7, as in the paper.
std::vector<measure::Row> normals_bilateral(const Context& context) {
  constexpr PaperRow kPaper[] = {{1.5, {11.00, 12.36}, {4.84, 5.53}},
                                 {3.5, {27.85, 31.42}, {13.89, 16.56}}};
  std::vector<measure::Row> rows;
  for (const PaperRow& paper : kPaper) add_rows(context, paper, SensorModel::kKinect, "", rows);
  for (const PaperRow& paper : kPaper) {
    add_rows(context, paper, SensorModel::kIndependent, ", independent noise", rows);
  }
  return rows;
}

}  // namespace sextant::app
