// SPDX-License-Identifier: Apache-2.0
#include "sextant/pose/pose_graph.h"

#include <gtest/gtest.h>

#include <numbers>

#include "sextant/core/random.h"
#include "tests/devices.h"

namespace sextant {
namespace {

constexpr int kViews = 12;

/// Cameras around a turntable.
std::vector<Rigid3d> ring() {
  std::vector<Rigid3d> poses;
  for (int i = 0; i < kViews; ++i) {
    const double angle = 2 * std::numbers::pi * i / kViews;
    const Rigid3d turn{exp_rotation(Vec3d{0, angle, 0}), {}};
    poses.push_back(turn * Rigid3d{exp_rotation(Vec3d{0.4, 0, 0}), {0, 0.2, -0.6}});
  }
  return poses;
}

Rigid3d nudge(std::uint64_t item, double size) {
  const Random random{testing::seed_of_test(), item};
  const auto n = [&](std::uint64_t i) { return size * random.normal(i); };
  return exp(Twist3<double>{{5 * n(0), 5 * n(1), 5 * n(2)}, {n(3), n(4), n(5)}});
}

PoseEdge edge_between(const std::vector<Rigid3d>& poses, int a, int b, const Rigid3d& off) {
  PoseEdge edge{
      a,
      b,
      off * (inverse(poses[static_cast<std::size_t>(a)]) * poses[static_cast<std::size_t>(b)]),
      {},
      {0, 0, 0.6}};
  for (int i = 0; i < 6; ++i) edge.information.at(i, i) = i < 3 ? 0.01 : 1.0;
  return edge;
}

double worst(const std::vector<Rigid3d>& a, const std::vector<Rigid3d>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Rigid3d to_first_a = inverse(a[0]) * a[i], to_first_b = inverse(b[0]) * b[i];
    const Vec3d p{0, 0, 0.6};
    most = std::max(most, norm(to_first_a * p - to_first_b * p));
    most =
        std::max(most, 0.1 * rotation_angle(transpose(to_first_a.rotation) * to_first_b.rotation));
  }
  return most;
}

TEST(PoseGraph, ExactEdgesGiveExactPoses) {
  const std::vector<Rigid3d> truth = ring();
  std::vector<PoseEdge> edges;
  std::vector<Rigid3d> start{truth[0]};
  for (int i = 0; i < kViews; ++i) {
    edges.push_back(edge_between(truth, i, (i + 1) % kViews, {}));
    if (i > 0)
      start.push_back(nudge(static_cast<std::uint64_t>(i), 0.001) *
                      truth[static_cast<std::size_t>(i)]);
  }
  const PoseGraphResult result = relax_poses(start, edges);
  EXPECT_TRUE(result.converged);
  EXPECT_LT(worst(result.world_from_view, truth), 1e-8);
}

TEST(PoseGraph, ALoopSpreadsItsErrorAndAWrongEdgeHasNoSay) {
  const std::vector<Rigid3d> truth = ring();
  std::vector<PoseEdge> edges;
  std::vector<Rigid3d> chain{truth[0]};
  for (int i = 0; i < kViews; ++i) {
    edges.push_back(
        edge_between(truth, i, (i + 1) % kViews, nudge(static_cast<std::uint64_t>(i), 3e-4)));
    edges.push_back(
        edge_between(truth, i, (i + 2) % kViews, nudge(static_cast<std::uint64_t>(100 + i), 3e-4)));
    if (i + 1 < kViews) chain.push_back(chain.back() * edges[edges.size() - 2].a_from_b);
  }
  const double drift = worst(chain, truth);
  const PoseGraphResult clean = relax_poses(chain, edges);
  EXPECT_TRUE(clean.converged);
  EXPECT_LT(worst(clean.world_from_view, truth), drift);
  edges.push_back(edge_between(truth, 0, 6, exp(Twist3<double>{{0.5, 0, 0.3}, {0.1, 0, 0}})));
  const PoseGraphResult robust = relax_poses(chain, edges);
  // Its weight is below 1e-4 of the others, so it moves views by less than a tenth of the noise.
  EXPECT_LT(worst(robust.world_from_view, clean.world_from_view), 3e-5);
  EXPECT_GT(robust.edge_error_m.back(), 0.1);
}

TEST(PoseGraph, ViewsThatNothingJoinsStay) {
  const std::vector<Rigid3d> truth = ring();
  const std::vector<PoseEdge> edges{edge_between(truth, 0, 1, {})};
  const PoseGraphResult result = relax_poses(truth, edges);
  EXPECT_LT(worst(result.world_from_view, truth), 1e-9);
  EXPECT_TRUE(relax_poses({}, {}).world_from_view.empty());
  const std::vector<PoseEdge> wrong{edge_between(truth, 0, 11, {})};
  EXPECT_THROW(relax_poses(std::span(truth).first(5), wrong), Error);
}

}  // namespace
}  // namespace sextant
