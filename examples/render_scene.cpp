// SPDX-License-Identifier: Apache-2.0
// Renders a few things on a mat: colour, depth, normals, object ids and the cloud that a depth
// camera would see. Usage: render_scene [folder]

#include <cstdio>
#include <filesystem>

#include "photograph.h"
#include "pictures.h"
#include "sextant/io/ply.h"
#include "sextant/io/png.h"
#include "sextant/render/color_map.h"
#include "tabletop.h"

using namespace sextant;

int main(int argc, char** argv) try {
  const std::filesystem::path folder = argc > 1 ? argv[1] : "out/demo";
  std::filesystem::create_directories(folder);
  const Context context = Context::best();

  const Camera camera{640, 480, 640, 640, 319.5, 239.5, {}};
  const Rigid3f camera_from_world = shapes::look_at({0.10f, -0.58f, 0.36f}, {0.005f, 0, 0.05f});
  const std::vector<tabletop::Thing> things = tabletop::things();
  std::vector<const TriangleMesh*> meshes;
  std::vector<Instance> instances;
  for (const tabletop::Thing& thing : things) {
    Instance& instance = instances.emplace_back();
    instance.mesh = instance.object_id = static_cast<std::int32_t>(meshes.size());
    instance.camera_from_object = camera_from_world * thing.world_from_object;
    meshes.push_back(&thing.mesh);
  }

  const RenderScene scene(context, meshes);
  RenderOptions options;
  options.normals = options.object_ids = true;
  const Rendering seen = to_host(context, render(context, scene, camera, instances, options));
  const Image<Rgb8> picture =
      photograph::take(context, scene, camera, instances, tabletop::studio(camera_from_world));

  const auto file = [&](const char* name, const char* content) {
    std::printf("%s: %s\n", (folder / name).string().c_str(), content);
    return folder / name;
  };
  const auto depth_m = seen.depth_m_of(0);
  const auto normals = seen.normals_of(0);
  const auto ids = seen.object_ids_of(0);
  write_png(file("color.png", "what a camera sees"), picture.view());
  write_depth_png(file("depth.png", "depth in millimetres, 16 bits"), depth_m);
  write_png(file("normals.png", "red right, green up, blue towards the camera"),
            normal_map(normals).view());
  write_png(file("objects.png", "a colour for each object"), pictures::of_ids(ids).view());
  write_ply(file("scene.ply", "the visible points, with colours and normals"),
            pictures::cloud_of(camera, depth_m, normals, picture.view()));
} catch (const std::exception& error) {
  std::fprintf(stderr, "render_scene: %s\n", error.what());
  return 1;
}
