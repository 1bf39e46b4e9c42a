// SPDX-License-Identifier: Apache-2.0
// Learns two objects and finds them in a depth map.
// Usage: find_objects [folder]

#include <cstdio>
#include <filesystem>

#include "sextant/learn/learn.h"
#include "sextant/recognize/recognizer.h"
#include "sextant/synth/sensor_noise.h"
#include "sextant/synth/table_scene.h"

using namespace sextant;

namespace {

void find_objects(const Context& context, const std::filesystem::path& library_file,
                  const Image<float>& depth_m, const Camera& camera) {
  std::vector<LearnedObject> objects;
  Library(library_file, LibraryAccess::kRead)
      .load_all(context, {}, {{}, [&](std::int64_t, LearnedObject object) {
                                objects.push_back(std::move(object));
                              }});
  const Recognizer recognizer(context, objects);  // once for all frames
  for (const Detection& found : recognizer.recognize(depth_m, camera).detections) {
    const Vec3d& at = found.camera_from_object.translation;
    std::printf("%s: score %.2f at (%.3f, %.3f, %.3f) m, %.0f %% seen\n", found.object.c_str(),
                found.score, at.x, at.y, at.z, 100 * found.visible);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::filesystem::path folder = argc > 1 ? argv[1] : "out/examples/find_objects";
  std::filesystem::create_directories(folder);
  const Context context = Context::cpu();
  {
    Library library(folder / "objects.sxt");
    LearnMeshOptions options;
    options.views = 6;
    for (const char* name : {"tortoise", "mask"}) {
      learn(context, library, name, make_object(name), options);
    }
  }
  const TableScene scene = make_table_scene(context, {.objects = 8}, 3);
  const Rendering exact = render_table_scene(context, scene, {.normals = true});
  const Image<float> depth_m =
      add_sensor_noise(context, exact.depth_m_of(0), exact.normals_of(0), scene.camera);
  find_objects(context, folder / "objects.sxt", depth_m, scene.camera);
  std::printf("%s: the library\n", (folder / "objects.sxt").c_str());
} catch (const std::exception& error) {
  std::fprintf(stderr, "find_objects: %s\n", error.what());
  return 1;
}
