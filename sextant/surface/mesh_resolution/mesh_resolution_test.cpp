// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/mesh_resolution.h"

#include <gtest/gtest.h>

#include "tests/devices.h"

namespace sextant {
namespace {

TEST(MeshResolution, IsTheMeanEdge) {
  const std::vector<Vec3f> vertices{{0, 0, 0}, {3, 0, 0}, {0, 4, 0}, {NAN, 0, 0}};
  for (const Context& context : testing::all_contexts()) {
    const Buffer<Vec3f> points = copy(context, vertices);
    const auto resolution = [&](const std::vector<Vec3i>& triangles) {
      return mesh_resolution(context, points, copy(context, triangles));
    };
    EXPECT_FLOAT_EQ(resolution({{0, 1, 2}}), 4.0f);
    EXPECT_FLOAT_EQ(resolution({{0, 1, 2}, {0, 1, 3}, {0, 1, 9}, {-1, 0, 1}}), 4.0f);
    EXPECT_TRUE(std::isnan(resolution({})));
    EXPECT_TRUE(std::isnan(resolution({{0, 1, 3}})));
  }
}

}  // namespace
}  // namespace sextant
