// SPDX-License-Identifier: Apache-2.0
// How fast the rasteriser draws one large frame and a batch of pose hypotheses, on the CPU and,
// where there is one, on the GPU, which must give the same bits. Usage: render_bench [RESULT.json]
#include <chrono>
#include <cmath>
#include <cstring>
#include <numbers>

#include "measure/report.h"
#include "sextant/core/random.h"
#include "sextant/render/rasterize.h"

namespace sextant::measure {
namespace {

/// A bumpy sphere of radius 0.1 m with 2 · rings · rings triangles.
TriangleMesh bumpy_sphere(int rings) {
  const int columns = rings;
  std::vector<Vec3f> points;
  std::vector<Vec3i> triangles;
  for (int r = 0; r <= rings; ++r) {
    for (int c = 0; c <= columns; ++c) {
      const double theta = std::numbers::pi * r / rings;
      const double phi = 2 * std::numbers::pi * c / columns;
      const double radius = 0.1 + 0.01 * std::sin(7 * theta) * std::cos(5 * phi);
      points.push_back(
          cast<float>(Vec3d{radius * std::sin(theta) * std::cos(phi),
                            radius * std::sin(theta) * std::sin(phi), radius * std::cos(theta)}));
    }
  }
  for (int r = 0; r < rings; ++r) {
    for (int c = 0; c < columns; ++c) {
      const int a = r * (columns + 1) + c;
      const int b = a + columns + 1;
      triangles.push_back({a, b, a + 1});
      triangles.push_back({a + 1, b, b + 1});
    }
  }
  const Context cpu = Context::cpu();
  TriangleMesh mesh;
  mesh.vertices.points = copy(cpu, points);
  mesh.triangles = copy(cpu, triangles);
  return mesh;
}

struct Workload {
  std::string what;
  TriangleMesh mesh;
  Camera camera;
  std::vector<Instance> instances;
  RenderOptions options;
};

/// Poses around (0, 0, distance), one per view.
std::vector<Instance> hypotheses(int count, double distance_m) {
  std::vector<Instance> instances;
  for (int i = 0; i < count; ++i) {
    const Random random{1, static_cast<std::uint64_t>(i)};
    Instance instance;
    instance.view = i;
    instance.object_id = i;
    instance.camera_from_object.rotation =
        exp_rotation(Vec3f{random.uniform(0), random.uniform(1), random.uniform(2)} * 3.0f);
    instance.camera_from_object.translation =
        Vec3f{random.uniform(3) * 0.02f, random.uniform(4) * 0.02f, float(distance_m)};
    instances.push_back(instance);
  }
  return instances;
}

std::vector<Workload> workloads() {
  std::vector<Workload> all;
  RenderOptions everything;
  everything.normals = everything.colors = everything.object_ids = true;
  all.push_back({"1 view 640x480, 500 k triangles, depth+normals+colour+id", bumpy_sphere(500),
                 Camera{640, 480, 525, 525, 319.5, 239.5, {}}, hypotheses(1, 0.3), everything});
  all.push_back({"1000 views 160x120, 5 k triangles each, depth",
                 bumpy_sphere(50),
                 Camera{160, 120, 131, 131, 79.5, 59.5, {}},
                 hypotheses(1000, 0.35),
                 {}});
  return all;
}

struct Timed {
  Spread milliseconds;
  std::vector<float> depth_m;
};

Timed time_on(const Context& context, const Workload& work) {
  const RenderScene scene(context, work.mesh);
  const Buffer<Camera> camera = copy(context, std::vector<Camera>{work.camera});
  const Buffer<Instance> instances = copy(context, work.instances);
  Rendering rendering;
  rendering.width = work.camera.width;
  rendering.height = work.camera.height;
  rendering.views = static_cast<int>(work.instances.size());
  Workspace workspace;
  const auto draw = [&] {
    render_into(context, scene, camera, instances, work.options, rendering, workspace);
    context.synchronize();
  };
  draw();
  const int samples = context.is_cuda() ? 60 : 5;
  std::vector<double> sample;
  for (int i = 0; i < samples; ++i) {
    const auto start = std::chrono::steady_clock::now();
    draw();
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    sample.push_back(time.count());
  }
  return {spread_of(sample), to_host(context, rendering.depth_m)};
}

int run(const std::string& file) {
  std::vector<Context> contexts{Context::cpu()};
  if (Context::best().is_cuda()) contexts.push_back(Context::best());
  std::vector<Row> rows;
  for (const Workload& work : workloads()) {
    std::vector<float> on_cpu;
    for (const Context& context : contexts) {
      const Timed timed = time_on(context, work);
      if (context.is_cpu()) {
        on_cpu = timed.depth_m;
      } else {
        const bool same =
            timed.depth_m.size() == on_cpu.size() &&
            std::memcmp(timed.depth_m.data(), on_cpu.data(), on_cpu.size() * sizeof(float)) == 0;
        require(same, work.what, ": the GPU's depth differs from the CPU's");
      }
      const std::string where = context.is_cpu()
                                    ? "cpu " + std::to_string(context.threads()) + " threads"
                                    : to_string(context.device());
      rows.push_back({work.what + " (" + where + ")", "ms", {}, timed.milliseconds.median, {}, {}});
    }
  }
  publish("render", list_devices().devices.back().name, rows, file);
  return 0;
}

}  // namespace
}  // namespace sextant::measure

int main(int argc, char** argv) {
  return sextant::measure::run_main(argc, argv, sextant::measure::run);
}
