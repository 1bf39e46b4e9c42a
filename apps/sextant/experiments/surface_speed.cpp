// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include "apps/sextant/experiments/experiments.h"
#include "measure/surface_chain.h"
#include "measure/time_graph.h"
#include "sextant/synth/analytic_frame.h"
#include "sextant/synth/sensor_noise.h"

namespace sextant::app {

namespace {

/// A sphere and a box before a wall, with independent noise of a Kinect's size, with which all
/// stored times were measured.
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
  return add_sensor_noise(Context::cpu(), truth.depth_m, truth.normals, camera,
                          sensor_noise(SensorModel::kIndependent), 1);
}

}  // namespace

std::vector<measure::Row> surface_speed(const Context& context) {
  const Camera camera = measure::vga_camera();
  measure::SurfaceChain chain(context, camera, kinect_frame(camera), NormalsMethod::kPca);
  chain.make_surface();  // fills every buffer, so that each step alone has its input
  context.synchronize();

  // Milliseconds on a GTX 480, and on the CPU of the paper.
  struct Step {
    const char* what;
    double gpu_ms, cpu_ms;
    std::function<void()> work;
  };
  const Step steps[] = {{"bilateral filter 11 x 11", 5, 1008, [&] { chain.filter(); }},
                        {"projection to points", 1, 50, [&] { chain.project(); }},
                        {"normals 7 x 7", 1, 190, [&] { chain.estimate(); }},
                        {"triangulation", 2, 121, [&] { chain.mesh(); }},
                        {"resolution and limits", 4, 330, [&] { chain.gather_statistics(); }}};
  std::vector<measure::Row> rows;
  for (const Step& step : steps) {
    const double paper = context.is_cuda() ? step.gpu_ms : step.cpu_ms;
    rows.push_back({step.what, "ms", {}, measure::graph_ms(context, step.work), {}, {}, paper});
  }
  // The paper's normals are those by the covariance; the default and its relative take their place.
  const std::pair<const char*, NormalsMethod> others[] = {
      {"normals 7 x 7, by rays", NormalsMethod::kRay},
      {"normals 7 x 7, curved", NormalsMethod::kCurved}};
  for (const auto& [what, method] : others) {
    chain.method = method;
    rows.push_back({what, "ms", {}, measure::graph_ms(context, [&] { chain.estimate(); }), {}, {}});
  }
  chain.method = NormalsMethod::kPca;
  const double all_ms = measure::graph_ms(context, [&] { chain.make_surface(); });
  measure::Row all{"all five as one sequence", "ms", {}, all_ms, {}, {}, {}};
  all.paper = context.is_cuda() ? 13.0 : 1699.0;
  if (context.is_cuda()) {
    all.goal = 0.15;
    all.met = all.ours <= *all.goal;
  }
  rows.push_back(all);
  return rows;
}

}  // namespace sextant::app
