// SPDX-License-Identifier: Apache-2.0
// Touches each kind of header: plain mathematics, compiled core, threads, cameras and readers.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "sextant/core/context.h"
#include "sextant/core/reduce.h"
#include "sextant/geometry/camera.h"
#include "sextant/io/ply.h"

int main() {
  using namespace sextant;
  const Context context = Context::cpu(2);
  const Vec3f normal = normalized(Vec3f{0, 3, 4});

  const Camera camera{
      .width = 640, .height = 480, .fx_px = 500, .fy_px = 500, .cx_px = 320, .cy_px = 240};
  const Vec2d pixel = project(camera, Vec3d{0.1, 0.2, 1.0});

  const std::filesystem::path file = "consumer.ply";
  std::ofstream(file) << "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\n"
                         "property float y\nproperty float z\nend_header\n0 0 1\n2 0 1\n";
  const TriangleMesh mesh = read_ply(file);
  const Bounds box = bounds(context, mesh.vertices.points);

  std::printf("sextant %s on %s: pixel %g %g, %lld points, %g m\n", list_devices().version.c_str(),
              to_string(context.device()).c_str(), pixel.x, pixel.y,
              static_cast<long long>(mesh.vertices.size()), box.diagonal_m());
  const bool right = normal == Vec3f{0, 0.6f, 0.8f} && pixel == Vec2d{370, 340} &&
                     mesh.vertices.size() == 2 && box.diagonal_m() == 2.0f;
  return right ? 0 : 1;
}
