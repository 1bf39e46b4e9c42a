// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/scale/scale.h"

#include <gtest/gtest.h>

#include <cstring>

#include "sextant/descriptor/keypoints.h"
#include "sextant/descriptor/local_frame.h"
#include "sextant/descriptor/shot.h"
#include "tests/devices.h"
#include "tests/neighbour_clouds.h"

namespace sextant {
namespace {

TEST(Scale, ZeroStandsForAMultipleOfTheResolution) {
  EXPECT_FLOAT_EQ(resolved(ShotOptions{}, 0.002f).radius_m, 0.03f);
  EXPECT_FLOAT_EQ(resolved(LocalFrameOptions{.radius_resolutions = 8}, 0.01f).radius_m, 0.08f);
  EXPECT_FLOAT_EQ(resolved(UniformKeypointOptions{}, 0.01f).leaf_m, 0.05f);
  const IssOptions iss = resolved(IssOptions{.non_max_radius_m = 0.5f}, 0.01f);
  EXPECT_FLOAT_EQ(iss.salient_radius_m, 0.06f);
  EXPECT_FLOAT_EQ(iss.non_max_radius_m, 0.5f);
}

TEST(Scale, AGivenLengthNeedsNoResolution) {
  EXPECT_EQ(resolved(ShotOptions{.radius_m = 0.1f}, NAN).radius_m, 0.1f);
  for (const float none : {0.0f, -1.0f, NAN, INFINITY}) {
    EXPECT_THROW(resolved(ShotOptions{}, none), Error);
    EXPECT_THROW(resolved(LocalFrameOptions{}, none), Error);
    EXPECT_THROW(resolved(UniformKeypointOptions{}, none), Error);
    EXPECT_THROW(resolved(IssOptions{.salient_radius_m = 0.1f}, none), Error);
  }
}

template <class T>
void expect_same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  ASSERT_EQ(a.size(), b.size());
  EXPECT_FALSE(a.empty());
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(T)), 0);
}

TEST(Scale, FunctionsOfPointsTakeTheResolutionOfThese) {
  std::vector<Vec3f> cloud = testing::organised_cloud(testing::seed_of_test()).points;
  const std::vector<Vec3f> up(cloud.size(), Vec3f{0, 0, 1});
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Buffer<Vec3f> points = copy(context, cloud), normals = copy(context, up);
    const float resolution_m = cloud_resolution_m(context, points);
    ASSERT_GT(resolution_m, 0.0f);
    const auto compute = [&](float resolutions_m) {
      const ShotOptions shot{.radius_m = 15 * resolutions_m};
      return to_host(context, compute_shot(context, {points, normals}, shot).values);
    };
    expect_same_bits(compute(0), compute(resolution_m));
    const auto frames = [&](float radius_m) {
      const LocalFrameOptions options{.radius_m = radius_m};
      return to_host(context, compute_local_frames(context, points, options));
    };
    expect_same_bits(frames(0), frames(15 * resolution_m));
    const auto uniform = [&](float leaf_m) {
      return to_host(context, uniform_keypoints(context, points, {.leaf_m = leaf_m}));
    };
    expect_same_bits(uniform(0), uniform(5 * resolution_m));
    const auto iss = [&](float salient_m, float non_max_m) {
      return to_host(context,
                     iss_keypoints(context, points,
                                   {.salient_radius_m = salient_m, .non_max_radius_m = non_max_m}));
    };
    expect_same_bits(iss(0, 0), iss(6 * resolution_m, 4 * resolution_m));
  }
}

TEST(Scale, WithoutTwoPointsAnyLengthWillDo) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Buffer<Vec3f> none(context, 0);
    const Buffer<Vec3f> one = copy(context, std::vector<Vec3f>{{1, 2, 3}});
    for (const Buffer<Vec3f>* points : {&none, &one}) {
      EXPECT_EQ(compute_shot(context, {*points, *points}).counts.described, 0);
      EXPECT_EQ(compute_local_frames(context, *points).size(), 3 * points->size());
      EXPECT_EQ(uniform_keypoints(context, *points).size(), points->size());
      EXPECT_EQ(iss_keypoints(context, *points).size(), 0);
    }
  }
}

}  // namespace
}  // namespace sextant
