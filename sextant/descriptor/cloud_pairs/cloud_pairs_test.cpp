// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/cloud_pairs.h"

#include <gtest/gtest.h>

#include "tests/devices.h"
#include "tests/pair_scenes.h"
#include "tests/recorded_frame.h"

namespace sextant {
namespace {

using testing::ball;
using testing::comes_before;
using testing::kBallResolution_m;
using testing::Naive;
using testing::naive_pairs;
using testing::normals_of;
using testing::OrganisedScene;

TEST(CloudPairs, AreThoseOfANaiveSearch) {
  const OrganisedScene scene = ball(50, 40);
  // Any order, so that the image is gone.
  std::vector<Vec3f> points, normals;
  const std::vector<Vec3f> in_order = normals_of(scene);
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    const std::size_t from = i * 1237 % in_order.size();
    points.push_back(scene.points[from]);
    normals.push_back(in_order[from]);
  }
  const Naive naive = naive_pairs(points, normals, 1, -1, kBallResolution_m, {});
  std::vector<PointPair> first_answer;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Buffer<Vec3f> p = copy(context, points);
    const Buffer<Vec3f> n = copy(context, normals);
    std::vector<PointPair> pairs =
        to_host(context, find_cloud_pairs(context, p, n, kBallResolution_m));
    if (first_answer.empty()) first_answer = pairs;
    EXPECT_EQ(pairs, first_answer);
    const std::vector<PointPair> some =
        to_host(context, find_cloud_pairs(context, p, n, kBallResolution_m, {.samples = 100}));
    std::sort(pairs.begin(), pairs.end(), comes_before);
    EXPECT_EQ(pairs, naive.pairs);
    EXPECT_GT(some.size(), 100u);
    for (const PointPair& pair : some) {
      EXPECT_TRUE(std::binary_search(pairs.begin(), pairs.end(), pair, comes_before));
    }
  }
}

TEST(CloudPairs, AreRecordedWithoutWaiting) {
  const OrganisedScene scene = ball(50, 40);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Buffer<Vec3f> points = copy(context, scene.points);
    const Buffer<Vec3f> normals = copy(context, normals_of(scene));
    const PairsOptions options;
    const NeighbourGrid grid = build_neighbour_grid(
        context, points,
        NeighbourGridOptions::for_radius(options.most_resolutions * kBallResolution_m));
    const std::vector<PointPair> all =
        to_host(context, find_cloud_pairs(context, points, normals, kBallResolution_m));
    Buffer<PointPair> pairs(context, static_cast<std::int64_t>(all.size()) / 2);
    Buffer<std::int32_t> count(context, 1);
    Workspace workspace;
    const auto frame = [&] {
      find_cloud_pairs_into(context, grid, points, normals, kBallResolution_m, options, pairs,
                            count, workspace);
    };
    testing::launch_recorded(context, frame);
    // What has no room is left out.
    EXPECT_EQ(to_host(context, count)[0], pairs.size());
    const std::vector<PointPair> listed = to_host(context, pairs);
    EXPECT_TRUE(std::equal(listed.begin(), listed.end(), all.begin()));
  }
}

TEST(CloudPairs, BadInput) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Vec3f hole{NAN, NAN, NAN};
    for (const Vec3f& p : {hole, Vec3f{INFINITY, 0, 1}, Vec3f{1, 2, 3}}) {
      for (const Vec3f& n : {hole, Vec3f{0, 0, -1}, Vec3f{}}) {
        for (const std::size_t size : {0, 1, 400}) {
          const Buffer<Vec3f> points = copy(context, std::vector<Vec3f>(size, p));
          const Buffer<Vec3f> normals = copy(context, std::vector<Vec3f>(size, n));
          for (const float resolution_m : {0.001f, 0.0f, NAN, INFINITY}) {
            for (const int samples : {0, 3}) {
              EXPECT_EQ(
                  find_cloud_pairs(context, points, normals, resolution_m, {.samples = samples})
                      .size(),
                  0);
            }
          }
        }
      }
    }
    const Buffer<Vec3f> points = copy(context, std::vector<Vec3f>(64));
    const Buffer<Vec3f> fewer = copy(context, std::vector<Vec3f>(56));
    EXPECT_THROW(find_cloud_pairs(context, points, fewer, 1.0f), Error);
  }
}

}  // namespace
}  // namespace sextant
