// SPDX-License-Identifier: Apache-2.0
// Learns an object from a file and others from meshes, and says what the library knows of them.
// Usage: learn_objects [folder]

#include <cstdio>
#include <filesystem>

#include "sextant/io/geometry_file.h"
#include "sextant/io/ply.h"
#include "sextant/learn/learn.h"
#include "sextant/synth/catalogue.h"

using namespace sextant;

namespace {

void learn_objects(const std::filesystem::path& part_file,
                   const std::filesystem::path& library_file) {
  const Context context = Context::cpu();
  Library library(library_file);
  learn(context, library, "part", read_geometry(part_file, {.unit_m = 0.001}));

  LearnMeshOptions options;
  options.views = 12;  // quicker; the default is better for recognition
  for (const char* name : {"apple", "tortoise"}) {
    learn(context, library, name, make_object(name), options,
          [&](std::string_view step, std::int64_t done, std::int64_t total) {
            if (done == total) std::printf("%s: %s\n", name, std::string(step).c_str());
            return true;  // false stops, and the library stays as it was
          });
  }
  for (const ObjectEntry& object : library.list()) {
    std::printf("%s: %.0f mm, %d views, %d tensors, %d SHOT descriptors, %d samples\n",
                object.name.c_str(), 1000 * object.diameter_m, static_cast<int>(object.views),
                static_cast<int>(object.tensors), static_cast<int>(object.shot),
                static_cast<int>(object.samples));
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::filesystem::path folder = argc > 1 ? argv[1] : "out/examples/learn_objects";
  std::filesystem::create_directories(folder);
  TriangleMesh part = make_object("pyramid");
  for (Vec3f& p : part.vertices.points.host()) p = p * 1000.0f;  // in millimetres, as CAD has it
  write_ply(folder / "part.ply", part);
  learn_objects(folder / "part.ply", folder / "objects.sxt");
  std::printf("%s: the library\n", (folder / "objects.sxt").c_str());
} catch (const std::exception& error) {
  std::fprintf(stderr, "learn_objects: %s\n", error.what());
  return 1;
}
