// SPDX-License-Identifier: Apache-2.0
// From a depth map to SHOT descriptors: the whole way in six lines.
// Usage: depth_to_shot [folder]

#include <cstdio>
#include <filesystem>

#include "sextant/depth/surface_from_depth.h"
#include "sextant/descriptor/surface_descriptors.h"
#include "sextant/io/depth_file.h"
#include "sextant/io/npy.h"
#include "sextant/io/png.h"
#include "sextant/surface/surface_operations.h"
#include "sextant/synth/table_scene.h"

using namespace sextant;

namespace {

ShotDescriptors describe_depth(const Context& context, const std::filesystem::path& depth_file,
                               const Camera& camera) {
  const Image<float> depth_m = copy(context, read_depth(depth_file));
  Surface surface = surface_from_depth(context, depth_m, camera);
  estimate_normals(context, surface);
  estimate_resolution(context, surface);
  const Buffer<std::int32_t> keypoints = uniform_keypoints(context, surface);
  return compute_shot(context, surface, keypoints);
}

}  // namespace

int main(int argc, char** argv) try {
  const std::filesystem::path folder = argc > 1 ? argv[1] : "out/examples/depth_to_shot";
  std::filesystem::create_directories(folder);
  const Context context = Context::best();  // a GPU if there is one, else the CPU
  const TableScene scene = make_table_scene(context, {}, 3);
  const Rendering seen = to_host(context, render_table_scene(context, scene, {}));
  write_depth_png(folder / "depth.png", seen.depth_m_of(0));

  const ShotDescriptors shot = describe_depth(context, folder / "depth.png", scene.camera);
  const std::vector<std::int64_t> shape{shot.status.size(), shot.length};
  write_npy<float>(folder / "shot.npy", to_host(context, shot.values), shape);
  std::printf("%s: %ld descriptors of %d numbers\n", (folder / "shot.npy").c_str(),
              long(shot.counts.described), shot.length);
} catch (const std::exception& error) {
  std::fprintf(stderr, "depth_to_shot: %s\n", error.what());
  return 1;
}
