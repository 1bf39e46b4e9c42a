// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstring>

#include "sextant/render/rasterize.h"

namespace sextant::testing {

/// A rendering on the host.
struct Pictures {
  int width = 0;
  int height = 0;
  int views = 0;
  std::vector<float> depth_m;
  std::vector<Vec3f> normals;
  std::vector<Rgb8> colors;
  std::vector<std::int32_t> object_ids;

  std::size_t at(int u, int v, int view = 0) const {
    return (static_cast<std::size_t>(view) * height + v) * width + u;
  }
};

inline Pictures pictures(const Context& context, const Rendering& rendering) {
  return {rendering.width,
          rendering.height,
          rendering.views,
          to_host(context, rendering.depth_m),
          to_host(context, rendering.normals),
          to_host(context, rendering.colors),
          to_host(context, rendering.object_ids)};
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

inline void expect_same_bits(const Pictures& a, const Pictures& b) {
  EXPECT_EQ(a.width, b.width);
  EXPECT_EQ(a.height, b.height);
  EXPECT_EQ(a.views, b.views);
  EXPECT_TRUE(same_bits(a.depth_m, b.depth_m));
  EXPECT_TRUE(same_bits(a.normals, b.normals));
  EXPECT_TRUE(same_bits(a.colors, b.colors));
  EXPECT_TRUE(same_bits(a.object_ids, b.object_ids));
}

/// Depth, normals, colours and object ids.
inline RenderOptions everything() {
  RenderOptions options;
  options.normals = options.colors = options.object_ids = true;
  return options;
}

}  // namespace sextant::testing
