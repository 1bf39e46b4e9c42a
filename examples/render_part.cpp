// SPDX-License-Identifier: Apache-2.0
// Reads a part that was drawn in millimetres and renders its depth half a metre before a camera.
// Usage: render_part [folder]

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "sextant/io/geometry_file.h"
#include "sextant/io/png.h"
#include "sextant/render/rasterize.h"

using namespace sextant;

namespace {

void render_part(const std::filesystem::path& part_file, const std::filesystem::path& depth_file) {
  const Context context = Context::best();  // a GPU if there is one, else the CPU
  const TriangleMesh part = read_geometry(part_file, {.unit_m = 0.001});
  const RenderScene scene(context, part);
  const Camera camera{640, 480, 525, 525, 319.5, 239.5, {}};
  Instance instance;
  instance.camera_from_object = {exp_rotation(Vec3f{0.4f, 0.6f, 0}), {0, 0, 0.5f}};
  const Rendering seen = to_host(context, render(context, scene, camera, {&instance, 1}));
  write_depth_png(depth_file, seen.depth_m_of(0));
}

/// A wedge of 120 x 80 x 60 mm, as a CAD program would export it.
void write_wedge(const std::filesystem::path& file) {
  std::ofstream(file) << "v -60 -40 -30\nv 60 -40 -30\nv 60 40 -30\nv -60 40 -30\n"
                         "v -60 -40 30\nv -60 40 30\n"
                         "f 4 3 2 1\nf 1 2 5\nf 4 6 3\nf 1 5 6 4\nf 2 3 6 5\n";
}

}  // namespace

int main(int argc, char** argv) try {
  const std::filesystem::path folder = argc > 1 ? argv[1] : "out/examples/render_part";
  std::filesystem::create_directories(folder);
  write_wedge(folder / "part.obj");
  render_part(folder / "part.obj", folder / "depth.png");
  std::printf("%s: depth of the part in millimetres\n", (folder / "depth.png").c_str());
} catch (const std::exception& error) {
  std::fprintf(stderr, "render_part: %s\n", error.what());
  return 1;
}
