// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include "apps/sextant/experiments/experiments.h"
#include "measure/time_graph.h"
#include "sextant/depth/bilateral.h"
#include "sextant/depth/deproject.h"
#include "sextant/surface/normals.h"
#include "sextant/surface/resolution.h"
#include "sextant/surface/triangulate.h"
#include "sextant/synth/analytic_frame.h"
#include "sextant/synth/kinect_noise.h"

namespace sextant::app {

namespace {

/// A sphere and a box before a wall, as Kinect sees them.
Image<float> kinect_frame(const Camera& camera) {
  const auto at = [](double x, double y, double z) {
    Rigid3d pose;
    pose.translation = {x, y, z};
    return pose;
  };
  Rigid3d turned = at(-0.3, 0.1, 1.3);
  turned.rotation = exp_rotation(Vec3d{0.4, 0.6, 0.2});
  const AnalyticShape shapes[] = {AnalyticShape::plane(at(0, 0, 1.8)),
                                  AnalyticShape::sphere(0.2, at(0.25, 0, 1.2)),
                                  AnalyticShape::box({0.3, 0.3, 0.3}, turned)};
  const AnalyticFrame truth = render_analytic(Context::cpu(), camera, shapes);
  return add_kinect_noise(Context::cpu(), truth.depth_m, truth.normals, camera, {}, 1);
}

/// The buffers of one frame from depth to triangles.
struct Frame {
  Image<float> depth_m, filtered_m;
  Buffer<Vec3f> points;
  Image<Vec3f> normals;
  Buffer<SurfaceStatistics> statistics;
  StatisticsWorkspace workspace;
  Image<std::uint8_t> cells;
};

}  // namespace

std::vector<measure::Row> surface_speed(const Context& context) {
  const Camera camera{640, 480, 525, 525, 319.5, 239.5, {}};
  Frame f{copy(context, kinect_frame(camera)),
          Image<float>(context, camera.width, camera.height),
          Buffer<Vec3f>(context, std::int64_t{camera.width} * camera.height),
          Image<Vec3f>(context, camera.width, camera.height),
          Buffer<SurfaceStatistics>(context, 1),
          {},
          Image<std::uint8_t>(context, camera.width - 1, camera.height - 1)};
  const ImageView<const Vec3f> points{f.points.data(), camera.width, camera.height, camera.width,
                                      context.device()};
  const NormalsOptions pca{.method = NormalsMethod::kPca};
  const auto filter = [&] { bilateral_filter_into(context, f.depth_m, {}, f.filtered_m); };
  const auto project = [&] { deproject_into(context, f.filtered_m, camera, f.points); };
  const auto normals = [&] { estimate_normals_into(context, points, pca, f.normals); };
  const auto statistics = [&] {
    surface_statistics_into(context, points, f.normals, {}, f.statistics, f.workspace);
  };
  const auto triangles = [&] {
    triangulate_into(context, points, f.normals, f.statistics, {}, f.cells);
  };
  const auto chain = [&] {
    filter();
    project();
    normals();
    statistics();
    triangles();
  };
  chain();  // fills every buffer, so that each step alone has its input
  context.synchronize();

  // Milliseconds on a GTX 480, and on the CPU of the paper.
  struct Step {
    const char* what;
    double gpu_ms, cpu_ms;
    std::function<void()> work;
  };
  const Step steps[] = {{"bilateral filter 11 x 11", 5, 1008, filter},
                        {"projection to points", 1, 50, project},
                        {"normals 7 x 7", 1, 190, normals},
                        {"triangulation", 2, 121, triangles},
                        {"resolution and limits", 4, 330, statistics}};
  std::vector<measure::Row> rows;
  for (const Step& step : steps) {
    const double paper = context.is_cuda() ? step.gpu_ms : step.cpu_ms;
    rows.push_back({step.what, "ms", {}, measure::graph_ms(context, step.work), {}, {}, paper});
  }
  measure::Row all{"all five as one sequence",        "ms", {},
                   measure::graph_ms(context, chain), {},   {},
                   context.is_cuda() ? 13.0 : 1699.0};
  if (context.is_cuda()) {
    all.goal = 0.15;
    all.met = all.ours <= *all.goal;
  }
  rows.push_back(all);
  return rows;
}

}  // namespace sextant::app
