// SPDX-License-Identifier: Apache-2.0
// Reads a cloud, describes it with SHOT at one point a voxel and writes the rows for NumPy.
// Usage: describe_cloud [folder]

#include <cstdio>
#include <filesystem>

#include "sextant/descriptor/keypoints.h"
#include "sextant/descriptor/shot.h"
#include "sextant/io/npy.h"
#include "sextant/io/ply.h"
#include "sextant/surface/cloud_normals.h"
#include "sextant/synth/catalogue.h"

using namespace sextant;

namespace {

void describe_cloud(const std::filesystem::path& cloud_file, const std::filesystem::path& npy) {
  const Context context = Context::best();  // a GPU if there is one, else the CPU
  const Cloud cloud = copy(context, read_ply(cloud_file).vertices);
  const Buffer<Vec3f> normals =
      estimate_cloud_normals(context, cloud.points, {.viewpoint_m = {0, 0, 1}});
  const Buffer<std::int32_t> keypoints =
      uniform_keypoints(context, cloud.points, {.leaf_m = 0.01f});
  const ShotDescriptors shot =
      compute_shot(context, {cloud.points, normals}, keypoints, {.radius_m = 0.025f});
  const std::vector<std::int64_t> shape{keypoints.size(), shot.length};
  write_npy<float>(npy, to_host(context, shot.values), shape);
  std::printf("%ld of %ld keypoints described with %d numbers each\n", long(shot.counts.described),
              long(keypoints.size()), shot.length);
}

/// The vertices of a toy, as a scanner would give them: points alone.
void write_scan(const std::filesystem::path& file) {
  TriangleMesh scan;
  scan.vertices.points = std::move(make_object("tortoise").vertices.points);
  write_ply(file, scan);
}

}  // namespace

int main(int argc, char** argv) try {
  const std::filesystem::path folder = argc > 1 ? argv[1] : "out/examples/describe_cloud";
  std::filesystem::create_directories(folder);
  write_scan(folder / "scan.ply");
  describe_cloud(folder / "scan.ply", folder / "shot.npy");
  std::printf("%s: numpy.load reads it\n", (folder / "shot.npy").c_str());
} catch (const std::exception& error) {
  std::fprintf(stderr, "describe_cloud: %s\n", error.what());
  return 1;
}
