// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "sextant/library/learned_object.h"

namespace sextant::testing {

namespace learned {

template <class T>
void expect_same_bits(const Buffer<T>& a, const Buffer<T>& b, const char* what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  if (a.empty()) return;
  EXPECT_EQ(std::memcmp(a.host().data(), b.host().data(), a.host().size_bytes()), 0) << what;
}

inline void expect_same(const Rigid3d& a, const Rigid3d& b) {
  EXPECT_EQ(a.translation, b.translation);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(a.rotation.row[i], b.rotation.row[i]);
}

inline void expect_same(const Symmetries& a, const Symmetries& b) {
  ASSERT_EQ(a.discrete.size(), b.discrete.size());
  for (std::size_t i = 0; i < a.discrete.size(); ++i) expect_same(a.discrete[i], b.discrete[i]);
  ASSERT_EQ(a.continuous.size(), b.continuous.size());
  for (std::size_t i = 0; i < a.continuous.size(); ++i) {
    EXPECT_EQ(a.continuous[i].axis, b.continuous[i].axis);
    EXPECT_EQ(a.continuous[i].point_m, b.continuous[i].point_m);
  }
}

inline void expect_same(const std::vector<LearnedView>& a, const std::vector<LearnedView>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Camera &c = a[i].camera, &d = b[i].camera;
    EXPECT_EQ(std::memcmp(&c, &d, sizeof(Camera)), 0) << "camera " << i;
    expect_same(a[i].camera_from_object, b[i].camera_from_object);
  }
}

inline void expect_same(const TriangleMesh& a, const TriangleMesh& b) {
  EXPECT_EQ(a.vertices.origin_m, b.vertices.origin_m);
  expect_same_bits(a.vertices.points, b.vertices.points, "points");
  expect_same_bits(a.vertices.normals, b.vertices.normals, "normals");
  expect_same_bits(a.vertices.colors, b.vertices.colors, "colors");
  expect_same_bits(a.triangles, b.triangles, "triangles");
  expect_same_bits(a.texture_coordinates, b.texture_coordinates, "texture coordinates");
  expect_same_bits(a.texture_triangles, b.texture_triangles, "texture triangles");
  expect_same_bits(a.corner_normals, b.corner_normals, "corner normals");
  expect_same_bits(a.normal_triangles, b.normal_triangles, "normal triangles");
  expect_same_bits(a.triangle_materials, b.triangle_materials, "triangle materials");
  ASSERT_EQ(a.materials.size(), b.materials.size());
  for (std::size_t i = 0; i < a.materials.size(); ++i) {
    EXPECT_EQ(a.materials[i].name, b.materials[i].name);
    EXPECT_EQ(a.materials[i].diffuse, b.materials[i].diffuse);
    EXPECT_EQ(a.materials[i].texture_file, b.materials[i].texture_file);
    EXPECT_EQ(a.materials[i].texture.width(), b.materials[i].texture.width());
    expect_same_bits(a.materials[i].texture.pixels(), b.materials[i].texture.pixels(), "texture");
  }
}

inline void expect_same(const LearnedTensors& a, const LearnedTensors& b) {
  EXPECT_EQ(a.resolution_m, b.resolution_m);
  EXPECT_EQ(a.set.bins, b.set.bins);
  expect_same_bits(a.views, b.views, "views of tensors");
  expect_same_bits(a.set.count, b.set.count, "count of tensors");
  expect_same_bits(a.set.frames, b.set.frames, "frames of tensors");
  expect_same_bits(a.set.masks, b.set.masks, "masks");
  expect_same_bits(a.set.sizes, b.set.sizes, "sizes");
  expect_same_bits(a.set.first, b.set.first, "first");
  expect_same_bits(a.set.indices, b.set.indices, "indices");
  expect_same_bits(a.set.values, b.set.values, "values of tensors");
}

}  // namespace learned

/// Everything that a library keeps is the same to the last bit.
inline void expect_same_object(const LearnedObject& a, const LearnedObject& b) {
  SCOPED_TRACE(a.name);
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.bop_id, b.bop_id);
  EXPECT_EQ(a.source.kind, b.source.kind);
  EXPECT_EQ(a.source.file, b.source.file);
  EXPECT_EQ(a.source.sha256, b.source.sha256);
  EXPECT_EQ(a.source.unit_m, b.source.unit_m);
  EXPECT_EQ(a.source.options, b.source.options);
  EXPECT_EQ(a.source.remarks, b.source.remarks);
  EXPECT_EQ(a.diameter_m, b.diameter_m);
  learned::expect_same(a.mesh, b.mesh);
  learned::expect_same(a.shape_symmetries, b.shape_symmetries);
  learned::expect_same(a.appearance_symmetries, b.appearance_symmetries);
  learned::expect_same(a.views, b.views);
  EXPECT_EQ(a.samples.leaf_m, b.samples.leaf_m);
  learned::expect_same_bits(a.samples.points, b.samples.points, "samples");
  learned::expect_same_bits(a.samples.normals, b.samples.normals, "normals of samples");
  EXPECT_EQ(a.shot.radius_m, b.shot.radius_m);
  EXPECT_EQ(a.shot.length, b.shot.length);
  learned::expect_same_bits(a.shot.points, b.shot.points, "points of SHOT");
  learned::expect_same_bits(a.shot.frames, b.shot.frames, "frames of SHOT");
  learned::expect_same_bits(a.shot.values, b.shot.values, "values of SHOT");
  learned::expect_same(a.tensors, b.tensors);
  learned::expect_same_bits(a.appearance.points, b.appearance.points, "features");
  learned::expect_same_bits(a.appearance.descriptors, b.appearance.descriptors, "descriptors");
  EXPECT_EQ(a.lookalikes.length, b.lookalikes.length);
  EXPECT_EQ(a.lookalikes.frame_poses, b.lookalikes.frame_poses);
  learned::expect_same_bits(a.lookalikes.terms, b.lookalikes.terms, "lookalikes");
}

}  // namespace sextant::testing
