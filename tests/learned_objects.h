// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <numbers>
#include <string>

#include "sextant/core/random.h"
#include "sextant/library/learned_object.h"

namespace sextant::testing {

/// How much is known of an object that a test makes up.
struct LearnedSizes {
  int rings = 24;  ///< of the mesh, each with twice as many vertices
  int views = 8;
  int samples = 200;
  int shot = 40;
  int tensors = 60;
  int bins_per_tensor = 100;
  int appearance = 20;
};

namespace learned {

/// Draws numbers that belong to one object.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : random_{seed} {}
  float uniform() { return random_.uniform(next_++); }
  int below(int end) {
    return static_cast<int>(random_.below(static_cast<std::uint32_t>(end), next_++));
  }
  Vec3f direction() {
    const float z = 2 * uniform() - 1, a = 2 * std::numbers::pi_v<float> * uniform();
    const float r = std::sqrt(1 - z * z);
    return {r * std::cos(a), r * std::sin(a), z};
  }

 private:
  Random random_;
  std::uint64_t next_ = 0;
};

template <class T>
Buffer<T> buffer_of(const std::vector<T>& elements) {
  return copy(Context::cpu(), elements);
}

/// A ball with bumps, in metres.
inline TriangleMesh make_mesh(int rings, Draws& draws) {
  const int around = 2 * rings;
  const float wave = 2 + 4 * draws.uniform(), depth_m = 0.01f * draws.uniform();
  std::vector<Vec3f> points, normals;
  std::vector<Rgb8> colors;
  for (int i = 0; i <= rings; ++i) {
    for (int j = 0; j < around; ++j) {
      const float polar = std::numbers::pi_v<float> * float(i) / float(rings);
      const float turn = 2 * std::numbers::pi_v<float> * float(j) / float(around);
      const Vec3f n{std::sin(polar) * std::cos(turn), std::sin(polar) * std::sin(turn),
                    std::cos(polar)};
      points.push_back(n * (0.05f + depth_m * std::sin(wave * turn) * std::sin(polar)));
      normals.push_back(n);
      colors.push_back({static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(j), 128});
    }
  }
  std::vector<Vec3i> triangles;
  for (int i = 0; i < rings; ++i) {
    for (int j = 0; j < around; ++j) {
      const int a = i * around + j, b = i * around + (j + 1) % around;
      triangles.push_back({a, a + around, b});
      triangles.push_back({b, a + around, b + around});
    }
  }
  TriangleMesh mesh;
  mesh.vertices.points = buffer_of(points);
  mesh.vertices.normals = buffer_of(normals);
  mesh.vertices.colors = buffer_of(colors);
  mesh.triangles = buffer_of(triangles);
  return mesh;
}

inline LearnedTensors make_tensors(const LearnedSizes& sizes, Draws& draws) {
  constexpr int kBins = 10;
  LearnedTensors tensors;
  tensors.resolution_m = 0.001f;
  TensorSet& set = tensors.set;
  set.bins = kBins;
  std::vector<TensorFrame> frames;
  std::vector<TensorMask> masks;
  std::vector<std::int32_t> counts, views;
  std::vector<std::int64_t> first;
  std::vector<std::uint16_t> indices;
  std::vector<float> values;
  for (int t = 0; t < sizes.tensors; ++t) {
    TensorFrame frame;
    const Vec3f z = draws.direction(), x = normalized(cross(z, draws.direction()));
    frame.axes = {{x, cross(z, x), z}};
    frame.origin_m = draws.direction() * 0.05f;
    frame.angle_rad = 0.3f + draws.uniform();
    frame.bin_m = 0.002f;
    frame.pair = {draws.below(300000), draws.below(300000)};
    frames.push_back(frame);
    TensorMask mask{};
    first.push_back(static_cast<std::int64_t>(indices.size()));
    const float share = float(sizes.bins_per_tensor) / float(kBins * kBins * kBins);
    for (int bin = 0; bin < kBins * kBins * kBins; ++bin) {
      if (draws.uniform() >= share) continue;
      mask.words[bin / 64] |= std::uint64_t{1} << (bin % 64);
      indices.push_back(static_cast<std::uint16_t>(bin));
      values.push_back(std::round(1.5f * draws.uniform() * 1048576.0f) / 1048576.0f);
    }
    masks.push_back(mask);
    counts.push_back(static_cast<std::int32_t>(indices.size()) -
                     static_cast<std::int32_t>(first.back()));
    views.push_back(draws.below(sizes.views));
  }
  set.count = buffer_of(std::vector<std::int32_t>{sizes.tensors});
  set.frames = buffer_of(frames);
  set.masks = buffer_of(masks);
  set.sizes = buffer_of(counts);
  set.first = buffer_of(first);
  set.indices = buffer_of(indices);
  set.values = buffer_of(values);
  tensors.views = buffer_of(views);
  return tensors;
}

/// Of unit length, two thirds of the numbers zero.
inline LearnedShot make_shot(int count, Draws& draws) {
  constexpr int kLength = 352;
  LearnedShot shot;
  shot.radius_m = 0.015f;
  shot.length = kLength;
  std::vector<Vec3f> points, frames;
  std::vector<float> values;
  for (int i = 0; i < count; ++i) {
    points.push_back(draws.direction() * 0.05f);
    const Vec3f z = draws.direction(), x = normalized(cross(z, draws.direction()));
    frames.insert(frames.end(), {x, cross(z, x), z});
    const std::size_t row = values.size();
    float sum = 0;
    for (int j = 0; j < kLength; ++j) {
      const float value = draws.uniform() < 0.67f ? 0.0f : draws.uniform();
      values.push_back(value);
      sum += value * value;
    }
    for (std::size_t j = row; j < values.size(); ++j) values[j] /= std::sqrt(sum);
  }
  shot.points = buffer_of(points);
  shot.frames = buffer_of(frames);
  shot.values = buffer_of(values);
  return shot;
}

}  // namespace learned

/// An object as learning leaves it, made up; the same seed gives the same object.
inline LearnedObject make_learned_object(const std::string& name, std::uint64_t seed,
                                         const LearnedSizes& sizes = {}) {
  learned::Draws draws(seed);
  LearnedObject object;
  object.name = name;
  object.bop_id = 7;
  object.source = {"mesh", name + ".ply",     std::string(64, 'a'),
                   0.001,  R"({"views": 8})", {"3 faces turned over"}};
  object.mesh = learned::make_mesh(sizes.rings, draws);
  object.diameter_m = 0.1 + 0.01 * draws.uniform();
  object.shape_symmetries.continuous.push_back({{0, 0, 1}, {0, 0, 0.1 / 3}});
  object.shape_symmetries.discrete.push_back({{{{-1, 0, 0}, {0, -1, 0}, {0, 0, 1}}}, {0.1, 0, 0}});
  object.appearance_symmetries.discrete = object.shape_symmetries.discrete;
  for (int i = 0; i < sizes.views; ++i) {
    const Vec3d omega = cast<double>(draws.direction()) * (3.0 * draws.uniform());
    object.views.push_back({{640, 480, 525.0, 525.5, 319.5, 239.5, {0.1, -0.2, 1e-3, 1e-4, 0.01}},
                            {exp_rotation(omega), {0.01, 0.02, 0.8}}});
  }
  std::vector<Vec3f> points, normals;
  for (int i = 0; i < sizes.samples; ++i) {
    normals.push_back(draws.direction());
    points.push_back(normals.back() * 0.05f);
  }
  object.samples.leaf_m = 0.004f;
  object.samples.points = learned::buffer_of(points);
  object.samples.normals = learned::buffer_of(normals);
  object.shot = learned::make_shot(sizes.shot, draws);
  object.tensors = learned::make_tensors(sizes, draws);
  std::vector<Vec3f> features;
  std::vector<std::uint8_t> descriptors;
  for (int i = 0; i < sizes.appearance; ++i) {
    features.push_back(draws.direction() * 0.05f);
    for (int j = 0; j < 128; ++j)
      descriptors.push_back(static_cast<std::uint8_t>(draws.below(256)));
  }
  object.appearance.points = learned::buffer_of(features);
  object.appearance.descriptors = learned::buffer_of(descriptors);
  object.lookalikes = {5, 2, learned::buffer_of(std::vector<float>(3 * 2 * 5, 0.25f))};
  return object;
}

}  // namespace sextant::testing
