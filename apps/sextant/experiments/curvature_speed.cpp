// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "apps/sextant/experiments/curvature_trial.h"
#include "apps/sextant/experiments/experiments.h"
#include "apps/sextant/experiments/peer.h"
#include "measure/time_graph.h"
#include "sextant/surface/cloud_curvature.h"
#include "sextant/surface/normals.h"

namespace sextant::app {

namespace {

/// A ball, a rod and a box before a wall, with independent noise of a Kinect's size, with which all
/// stored times were measured.
CurvatureFrame table_frame(int width, int height) {
  Rigid3d turned = at(-0.25, 0.1, 1.0);
  turned.rotation = exp_rotation(Vec3d{0.4, 0.6, 0.2});
  Rigid3d across = at(0.0, -0.15, 1.0);
  across.rotation = exp_rotation(Vec3d{0.2, 1.4, 0});
  const AnalyticShape shapes[] = {
      AnalyticShape::plane(at(0, 0, 1.2)), AnalyticShape::sphere(0.12, at(0.25, 0.1, 1.0)),
      AnalyticShape::cylinder(0.06, 0.3, across), AnalyticShape::box({0.2, 0.2, 0.2}, turned)};
  const double focal_px = 525.0 * width / 640;
  const Camera camera{width, height, focal_px, focal_px, (width - 1) / 2.0, (height - 1) / 2.0, {}};
  return make_frame(camera, shapes, {.model = SensorModel::kIndependent});
}

struct Patch {
  const char* name;
  int radius_samples, stride_px;
};

/// Normals and curvature, all outputs, warm and without transfers.
double curvature_ms(const Context& context, const CurvatureFrame& frame,
                    const CurvatureOptions& options) {
  const Image<Vec3f> points = copy(context, frame.points);
  Image<Vec3f> normals = estimate_normals(context, points);
  Curvature out = estimate_curvature(context, points, normals, options);
  Workspace workspace;
  return measure::graph_ms(context, [&] {
    estimate_normals_into(context, points, {}, normals);
    estimate_curvature_into(
        context, points, normals, options,
        {out.k1_per_m, out.k2_per_m, out.direction1, out.normals, out.points, out.valid},
        workspace);
  });
}

/// The same points in no rows: normals and curvature by neighbours, the grid included.
double cloud_curvature_ms(const Context& context, const CurvatureFrame& frame, float radius_m) {
  const Buffer<Vec3f> points = copy(context, frame.points.pixels());
  const CloudCurvatureOptions options{.radius_m = radius_m};
  CloudCurvature out = estimate_cloud_curvature(context, points, {}, options);
  NeighbourGrid grid(context, points.size());
  return measure::graph_ms(context, [&] {
    build_neighbour_grid_into(context, points, grid_options(options), grid);
    estimate_cloud_curvature_into(
        context, grid, {}, options,
        {out.k1_per_m, out.k2_per_m, out.direction1, out.normals, out.points, out.valid});
  });
}

/// PCL's normals on all threads and its curvatures.
std::optional<double> pcl_ms(const CurvatureFrame& frame, float radius_m) {
  const std::vector<char> everything(frame.pixels(), 1);
  const std::optional<PeerResult> peer = run_pcl(
      "curvatures", frame.cloud(everything), {fmt::format("radius_m={}", radius_m), "every=16"});
  if (!peer) return std::nullopt;
  return peer->times_ms.at("normals").get<double>() + peer->times_ms.at("curvatures").get<double>();
}

}  // namespace

/// The paper's milliseconds are of a K40c. PCL computes the curvature of every 16th point, and its
/// time for all is taken in proportion.
std::vector<measure::Row> curvature_speed(const Context& context) {
  constexpr Patch kPatches[] = {{"9 x 9", 4, 1}, {"21 x 21", 5, 2}, {"37 x 37", 6, 3}};
  struct Size {
    int width, height;
    double paper_ms[3];
  };
  constexpr Size kSizes[] = {
      {640, 480, {10.2, 16.1, 19.3}}, {512, 424, {6.7, 12.2, 13.2}}, {320, 240, {2.5, 4.5, 5.0}}};
  constexpr float kRadius_m = 0.02f;
  std::vector<measure::Row> rows;
  double largest_ms = 0;
  for (const Size& size : kSizes) {
    const CurvatureFrame frame = table_frame(size.width, size.height);
    for (int p = 0; p < 3; ++p) {
      CurvatureOptions options = pixel_curvature();
      options.radius_samples = kPatches[p].radius_samples;
      options.stride_px = kPatches[p].stride_px;
      const bool largest = size.width == 640 && p == 2;
      measure::Row row{fmt::format("{} x {}, patch {}", size.width, size.height, kPatches[p].name),
                       "ms",
                       {},
                       curvature_ms(context, frame, options),
                       {},
                       {}};
      row.paper = size.paper_ms[p];
      if (largest) {
        largest_ms = row.ours;
        row.goal = context.is_cuda() ? 0.8 : 500.0;
        row.met = row.ours <= *row.goal;
      }
      rows.push_back(row);
    }
    const auto beside_pcl = [&](const std::string& what, double ours_ms) {
      const std::optional<double> peer = pcl_ms(frame, kRadius_m);
      measure::Row row{what, "ms", peer, ours_ms, {}, {}};
      if (peer) {
        row.goal = *peer / 5;
        row.met = ours_ms <= *row.goal;
      }
      rows.push_back(row);
    };
    rows.push_back({fmt::format("{} x {}, the default patch", size.width, size.height),
                    "ms",
                    {},
                    curvature_ms(context, frame, {}),
                    {},
                    {}});
    if (size.width == 640) beside_pcl("640 x 480, patch 37 x 37 beside PCL at 20 mm", largest_ms);
    if (size.width == 320) {
      beside_pcl("320 x 240 points in any order, radius 20 mm for both",
                 cloud_curvature_ms(context, frame, kRadius_m));
    }
  }
  return rows;
}

}  // namespace sextant::app
