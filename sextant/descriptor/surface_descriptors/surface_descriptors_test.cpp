// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/surface_descriptors.h"

#include <gtest/gtest.h>

#include "sextant/depth/surface_from_depth.h"
#include "sextant/descriptor/mesh_tensor.h"
#include "sextant/surface/surface_operations.h"
#include "tests/devices.h"
#include "tests/error_message.h"

namespace sextant {
namespace {

constexpr int kWidth = 128;
constexpr int kHeight = 96;
const Camera kCamera{kWidth, kHeight, 525, 525, 63.5, 47.5, {}};

/// A wavy wall at one metre, as a depth map.
Surface waves(const Context& context) {
  std::vector<float> depth_m;
  for (int i = 0; i < kWidth * kHeight; ++i) {
    const auto u = static_cast<float>(i % kWidth), v = static_cast<float>(i / kWidth);
    depth_m.push_back(1.0f + 0.01f * std::sin(0.15f * u) * std::cos(0.11f * v));
  }
  const Image<float> image(copy(context, depth_m), kWidth, kHeight);
  Surface surface = surface_from_depth(context, image, kCamera);
  estimate_normals(context, surface);
  return surface;
}

TEST(SurfaceDescriptors, TakeTheirLengthsFromTheResolution) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    Surface surface = waves(context);
    EXPECT_NE(testing::error_message([&] {
                uniform_keypoints(context, surface);
              }).find("estimate_resolution"),
              std::string::npos);
    estimate_resolution(context, surface);
    const Buffer<std::int32_t> keypoints = uniform_keypoints(context, surface);
    EXPECT_EQ(to_host(context, keypoints),
              to_host(context, uniform_keypoints(context, surface.points,
                                                 {.leaf_m = 5 * surface.resolution_m})));
    const ShotDescriptors found = compute_shot(context, surface, keypoints);
    const ShotDescriptors same = compute_shot(context, {surface.points, surface.normals}, keypoints,
                                              {.radius_m = 15 * surface.resolution_m});
    EXPECT_GT(found.counts.described, keypoints.size() / 2);
    EXPECT_EQ(to_host(context, found.status), to_host(context, same.status));
    EXPECT_FALSE(iss_keypoints(context, surface).empty());
  }
}

TEST(SurfaceDescriptors, TensorsNeedTriangles) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    Surface surface = waves(context);
    triangulate(context, surface);
    const Buffer<PointPair> pairs = find_pairs(context, surface);
    ASSERT_GT(pairs.size(), 0);
    const TensorSet tensors = to_host(context, compute_tensors(context, surface, pairs));
    EXPECT_EQ(tensors.count.host()[0], pairs.size());
    surface.width = surface.height = 0;
    surface.cells = {};
    EXPECT_THROW(compute_tensors(context, surface, pairs), Error);
  }
}

/// The device is waited for only to learn how dense the points are, how many keypoints there are,
/// and for the results.
TEST(SurfaceDescriptors, KeypointsAndTensorsComeInOneDownloadEach) {
  for (const Context& context : testing::all_contexts()) {
    if (!context.is_cuda()) continue;
    Surface surface = waves(context);
    const auto downloads = [&](const auto& work) {
      const std::int64_t before = context.counters().downloads;
      work();
      return context.counters().downloads - before;
    };
    EXPECT_EQ(downloads([&] { estimate_resolution(context, surface); }), 1);
    EXPECT_EQ(downloads([&] { uniform_keypoints(context, surface); }), 1);
    triangulate(context, surface);
    const Buffer<PointPair> pairs = find_pairs(context, surface);
    const TensorSet tensors = compute_tensors(context, surface, pairs);
    EXPECT_EQ(downloads([&] { to_host(context, tensors); }), 1);
  }
}

}  // namespace
}  // namespace sextant
