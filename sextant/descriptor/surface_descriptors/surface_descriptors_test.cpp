// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/surface_descriptors.h"

#include <gtest/gtest.h>

#include <algorithm>

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

TEST(SurfaceDescriptors, DrawnPairsAreThoseOfSelectPairs) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    Surface image = waves(context);
    triangulate(context, image);
    Surface mesh;
    mesh.points = copy(context, image.points);
    mesh.normals = copy(context, image.normals);
    mesh.triangles = triangles_of(context, image);
    mesh.resolution_m = image.resolution_m;
    for (const Surface* surface : {&image, &mesh}) {
      const Buffer<PointPair> all = find_pairs(context, *surface);
      ASSERT_GT(all.size(), 5000);
      // 40 of them, more than a draw without waiting takes, more than there are, and all.
      for (const std::int64_t amount :
           {std::int64_t{40}, std::int64_t{5000}, all.size() + 9, std::int64_t{0}}) {
        const Buffer<PointPair> chosen =
            select_pairs(context, all, amount == 0 ? all.size() : amount, 7);
        const DrawnPairs drawn = draw_pairs(context, *surface, amount, 7);
        EXPECT_EQ(to_host(context, drawn.found)[0], all.size());
        EXPECT_EQ(to_host(context, drawn.count)[0], chosen.size());
        EXPECT_EQ(to_host(context, drawn.pairs.view().subview(0, chosen.size())),
                  to_host(context, chosen));
        if (amount != 40) continue;  // the tensors of all would take most of a minute
        const TensorSet expected = to_host(context, compute_tensors(context, *surface, chosen));
        const TensorSet tensors = to_host(context, compute_tensors(context, *surface, drawn));
        EXPECT_EQ(to_host(context, tensors.sizes), to_host(context, expected.sizes));
        EXPECT_EQ(to_host(context, tensors.values), to_host(context, expected.values));
      }
    }
    EXPECT_THROW(draw_pairs(context, image, -1), Error);
  }
}

/// Where there are fewer pairs than wanted, the count says so.
TEST(SurfaceDescriptors, DrawnPairsMayBeFewerThanWanted) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    Surface surface = waves(context);
    triangulate(context, surface);
    const PairsOptions options{.samples = 5, .seed = 3};
    const std::int64_t there = find_pairs(context, surface, options).size();
    ASSERT_LE(there, 15);
    const DrawnPairs drawn = draw_pairs(context, surface, 100, 0, options);
    EXPECT_EQ(to_host(context, drawn.count)[0], there);
    EXPECT_EQ(compute_tensors(context, surface, drawn).frames.size(), there);
  }
}

/// Beside a loop over all triangles in double precision. A centre within rounding of a face may
/// count or not: few do.
TEST(SurfaceDescriptors, TrianglesOfACubeAreCounted) {
  constexpr int kStep = 3;
  std::vector<std::int32_t> first_answer;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    Surface image = waves(context);
    triangulate(context, image);
    const TensorOptions options{.bins = 8};
    const TensorSet tensors =
        compute_tensors(context, image, draw_pairs(context, image, 40), options);
    Buffer<TensorFrame> frames = to_host_buffer(context, tensors.frames);
    frames.host()[kStep].angle_rad = NAN;
    const Buffer<TensorFrame> given = copy(context, frames);
    const std::vector<std::int32_t> counts =
        to_host(context, count_triangles(context, image, given, options, kStep));
    ASSERT_EQ(counts.size(), 14u);
    EXPECT_EQ(counts[1], -1);
    Surface mesh;
    mesh.points = copy(context, image.points);
    mesh.triangles = triangles_of(context, image);
    mesh.resolution_m = image.resolution_m;
    EXPECT_EQ(to_host(context, count_triangles(context, mesh, given, options, kStep)), counts);
    if (!first_answer.empty()) {
      EXPECT_EQ(counts, first_answer);
    }
    first_answer = counts;
    const std::vector<Vec3f> points = to_host(context, mesh.points);
    const auto corner = [&](std::int32_t i) {
      return cast<double>(points[static_cast<std::size_t>(i)]);
    };
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (i == 1) continue;
      const TensorFrame& frame = frames.host()[i * kStep];
      const double half_m = 0.5 * 8 * static_cast<double>(frame.bin_m);
      int inside = 0, uncertain = 0;
      for (const Vec3i& t : to_host(context, mesh.triangles)) {
        const Vec3d centre = (corner(t.x) + corner(t.y) + corner(t.z)) / 3.0;
        const Vec3d v = cast<double>(frame.axes) * (centre - cast<double>(frame.origin_m));
        const double farthest = std::max({std::abs(v.x), std::abs(v.y), std::abs(v.z)});
        inside += farthest < half_m;
        uncertain += std::abs(farthest - half_m) < 1e-6;  // float at one metre
      }
      EXPECT_GT(inside, 50);
      EXPECT_NEAR(counts[i], inside, uncertain);
      EXPECT_LT(uncertain, 5);
    }
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
    DrawnPairs drawn;
    EXPECT_EQ(downloads([&] { drawn = draw_pairs(context, surface, 20); }), 0);
    EXPECT_EQ(downloads([&] { compute_tensors(context, surface, drawn); }), 1);
    EXPECT_EQ(downloads([&] { count_triangles(context, surface, tensors.frames, {}); }), 0);
  }
}

}  // namespace
}  // namespace sextant
