// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sextant/descriptor/keypoints.h"
#include "sextant/descriptor/local_frame.h"
#include "sextant/surface/cloud_curvature.h"
#include "sextant/surface/cloud_normals.h"
#include "sextant/surface/normals.h"
#include "sextant/surface/resolution.h"
#include "sextant/surface/triangulate.h"
#include "sextant/surface/voting.h"
#include "tests/devices.h"
#include "tests/instruction_sets.h"
#include "tests/organised_scene.h"
#include "tests/shot_scene.h"

// Operations that promise the same bits on every instruction set. Bilateral filter, curvature of
// images and pairs are tested beside their sources.

namespace sextant {
namespace {

using testing::expect_same_bits_on_every_set;

/// A ball before a wall, with noise, in an image whose width is no multiple of a pack's.
testing::OrganisedScene ball_before_wall() {
  const auto surface = [](const Vec3d& ray) -> std::optional<testing::Hit> {
    const double b = ray.z * 0.9;
    const double a = dot(ray, ray);
    const double inside = b * b - a * (0.81 - 0.04);
    if (inside < 0) return testing::Hit{1.5, {0, 0, -1}};
    const double t = (b - std::sqrt(inside)) / a;
    const Vec3d normal{ray.x * t / 0.2, ray.y * t / 0.2, (ray.z * t - 0.9) / 0.2};
    return testing::Hit{t, normal};
  };
  return testing::look_at(surface, {.width = 149,
                                    .height = 70,
                                    .focal_px = 120,
                                    .noise_m = 0.001,
                                    .seed = testing::seed_of_test()});
}

const Context& host() {
  static const Context context = Context::cpu(2);
  return context;
}

TEST(InstructionSets, NormalsStatisticsAndTrianglesAreTheSame) {
  const Image<Vec3f> points = ball_before_wall().on(host());
  for (const NormalsMethod method :
       {NormalsMethod::kRay, NormalsMethod::kPca, NormalsMethod::kCurved}) {
    for (const int radius_px : {3, 5}) {
      expect_same_bits_on_every_set([&] {
        const NormalsOptions options{.method = method, .radius_px = radius_px};
        return to_host(host(), estimate_normals(host(), points, options).pixels());
      });
    }
  }
  const Image<Vec3f> normals = estimate_normals(host(), points);
  expect_same_bits_on_every_set(
      [&] { return std::vector{surface_statistics(host(), points, normals)}; });
  const SurfaceStatistics statistics = surface_statistics(host(), points, normals);
  expect_same_bits_on_every_set(
      [&] { return to_host(host(), triangulate(host(), points, normals, statistics).pixels()); });
}

TEST(InstructionSets, NeighboursNormalsVotesAndCurvaturesOfACloudAreTheSame) {
  const testing::ShotScene scene = testing::random_shot_scene(testing::seed_of_test(), 3000, 100);
  const Buffer<Vec3f> points = copy(host(), scene.points);
  const NeighbourGrid grid =
      build_neighbour_grid(host(), points, NeighbourGridOptions::for_nearest(20));
  expect_same_bits_on_every_set(
      [&] { return to_host(host(), k_nearest(host(), grid, 20).indices); });
  expect_same_bits_on_every_set([&] {
    return to_host(host(),
                   neighbours_within(host(), grid, 0.2f, NeighbourOrder::kDistance).indices);
  });
  for (const CloudNormalsOptions& options :
       {CloudNormalsOptions{.k = 15}, CloudNormalsOptions{.radius_m = 0.2f},
        CloudNormalsOptions{.method = CloudNormalsMethod::kWeighted, .sigma_m = 0.1f}}) {
    expect_same_bits_on_every_set(
        [&] { return to_host(host(), estimate_cloud_normals(host(), points, options)); });
  }
  for (const VotingOptions& options :
       {VotingOptions{.sigma_m = 0.1f}, VotingOptions{.sigma_m = 0.1f, .second_pass = true},
        VotingOptions{.sigma_m = 0.1f, .decay = VoteDecay::kSmooth}}) {
    expect_same_bits_on_every_set(
        [&] { return to_host(host(), vote(host(), points, options).tensors); });
  }
  expect_same_bits_on_every_set([&] {
    return to_host(host(), estimate_cloud_curvature(host(), points, {}, {.radius_m = 0.3f}).points);
  });
}

TEST(InstructionSets, FramesKeypointsAndDescriptorsAreTheSame) {
  const testing::ShotScene scene = testing::random_shot_scene(testing::seed_of_test(), 3000, 100);
  const Buffer<Vec3f> points = copy(host(), scene.points);
  expect_same_bits_on_every_set(
      [&] { return to_host(host(), compute_local_frames(host(), points, {.radius_m = 0.3f})); });
  expect_same_bits_on_every_set([&] {
    return to_host(host(), iss_keypoints(host(), points,
                                         {.salient_radius_m = 0.3f, .non_max_radius_m = 0.2f}));
  });
  for (const ShotMode mode : {ShotMode::kExact, ShotMode::kApprox}) {
    expect_same_bits_on_every_set([&] {
      const ShotOptions options{
          .radius_m = 0.4f, .mode = mode, .most_neighbours = mode == ShotMode::kExact ? 65536 : 20};
      return to_host(host(), testing::shot_of(host(), scene, options, false).values);
    });
  }
}

}  // namespace
}  // namespace sextant
