// SPDX-License-Identifier: Apache-2.0
#include "corpus.h"
#include "sextant/library/library/parts.h"

namespace sextant::fuzz {

namespace {

/// A little of everything that a part can hold.
LearnedObject small_object() {
  const Context cpu = Context::cpu();
  LearnedObject object;
  object.name = "seed";
  object.mesh.vertices.points = copy(cpu, std::vector<Vec3f>{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}});
  object.mesh.vertices.colors = copy(cpu, std::vector<Rgb8>{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}});
  object.mesh.triangles = copy(cpu, std::vector<Vec3i>{{0, 1, 2}});
  object.mesh.materials.push_back({"m", {1, 1, 1}, "m.png", Image<Rgb8>(cpu, 1, 1)});
  object.mesh.materials[0].texture(0, 0) = {9, 9, 9};
  object.views.push_back({{64, 48, 50, 50, 31.5, 23.5, {}}, {}});
  object.samples.leaf_m = 0.01f;
  object.samples.points = copy(cpu, std::vector<Vec3f>(3));
  object.samples.normals = copy(cpu, std::vector<Vec3f>(3));
  object.shot.radius_m = 0.02f;
  object.shot.length = 4;
  object.shot.points = copy(cpu, std::vector<Vec3f>(2));
  object.shot.frames = copy(cpu, std::vector<Vec3f>(6));
  object.shot.values = copy(cpu, std::vector<float>{0, 1, 0, 0, 2, 0, 0, 3});
  LearnedTensors& tensors = object.tensors;
  tensors.resolution_m = 0.001f;
  tensors.views = copy(cpu, std::vector<std::int32_t>{0});
  tensors.set.bins = 2;
  tensors.set.count = copy(cpu, std::vector<std::int32_t>{1});
  tensors.set.frames = copy(cpu, std::vector<TensorFrame>(1));
  tensors.set.masks = copy(cpu, std::vector<TensorMask>{{{6}}});
  tensors.set.sizes = copy(cpu, std::vector<std::int32_t>{2});
  tensors.set.first = copy(cpu, std::vector<std::int64_t>{0});
  tensors.set.indices = copy(cpu, std::vector<std::uint16_t>{1, 2});
  tensors.set.values = copy(cpu, std::vector<float>{0.5f, 0.25f});
  object.appearance.points = copy(cpu, std::vector<Vec3f>(1));
  object.appearance.descriptors = copy(cpu, std::vector<std::uint8_t>(128, 7));
  object.lookalikes = {2, 1, copy(cpu, std::vector<float>{0.5f, NAN})};
  return object;
}

}  // namespace

void write_library_corpus(const std::filesystem::path& root) {
  using namespace detail::library;
  for (const StoredPart& part : encode_parts(small_object())) {
    std::vector<std::byte> seed{static_cast<std::byte>(part.kind)};
    seed.insert(seed.end(), part.blob.begin(), part.blob.end());
    write_seeds(root / "library_part", name_of(part.kind), seed);
  }
}

}  // namespace sextant::fuzz
