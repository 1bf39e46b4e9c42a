// SPDX-License-Identifier: Apache-2.0
// Every operation on neighbours, on a cloud with what sensors leave in theirs: a hundred thousand
// points at (0, 0, 0), where the scene goes on, and points far off. The results of the other points
// are those without; searching among pairs of equal points would take minutes.
#include <gtest/gtest.h>

#include "sextant/descriptor/keypoints.h"
#include "sextant/descriptor/local_frame.h"
#include "sextant/descriptor/shot.h"
#include "sextant/surface/cloud_curvature.h"
#include "sextant/surface/cloud_normals.h"
#include "sextant/surface/cloud_resolution.h"
#include "sextant/surface/cloud_segment.h"
#include "sextant/surface/voting.h"
#include "tests/devices.h"
#include "tests/neighbour_clouds.h"

namespace sextant {
namespace {

/// Two slopes that meet in a ridge; the origin lies in the middle of one.
std::vector<Vec3f> plain_cloud(std::uint64_t seed) {
  std::vector<Vec3f> points;
  for (int i = 0; i < 20'000; ++i) {
    const Vec3f p = testing::uniform_point(seed, i);
    const float x = 2 * p.x - 0.5f;
    const float bump = 0.02f * std::sin(12 * p.x) * std::cos(9 * p.y);
    points.push_back({x, p.y - 0.5f, 0.0005f * p.z + bump - 1.5f * std::abs(x - 0.5f) + 0.75f});
  }
  return points;
}

constexpr std::size_t kCopies = 100'000;
const std::vector<Vec3f> kFar{{1e6f, 0, 0}, {-3e5f, 2e7f, 5}, {0, 0, -4000}};

struct Clouds {
  std::vector<Vec3f> plain, littered;
  /// One point at the origin stays, so the plain cloud has it too.
  explicit Clouds(std::uint64_t seed) : plain(plain_cloud(seed)) {
    littered = plain;
    plain.push_back({});
    littered.insert(littered.end(), kCopies, Vec3f{});
    littered.insert(littered.end(), kFar.begin(), kFar.end());
  }
};

void expect_near(const std::vector<Vec3f>& found, const std::vector<Vec3f>& expected,
                 std::size_t size, float most) {
  for (std::size_t i = 0; i < size; ++i) {
    ASSERT_EQ(is_finite(found[i]), is_finite(expected[i])) << "point " << i;
    if (!is_finite(found[i])) continue;
    ASSERT_LE(norm(found[i] - expected[i]), most) << "point " << i;
  }
}

/// Sums over neighbours go cell by cell, and the cells of the two clouds differ: the last bits.
constexpr float kRounding = 1e-4f;

class EqualPoints : public ::testing::Test {
 protected:
  EqualPoints() : clouds_(testing::seed_of_test()) {}
  std::size_t size() const { return clouds_.plain.size(); }

  /// Runs the work on both clouds on every device.
  template <class Work, class Compare>
  void compare(const Work& work, const Compare& same) const {
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      const Buffer<Vec3f> plain = copy(context, clouds_.plain);
      const Buffer<Vec3f> littered = copy(context, clouds_.littered);
      same(work(context, littered.view()), work(context, plain.view()));
    }
  }

  Clouds clouds_;
};

TEST_F(EqualPoints, DoNotChangeScales) {
  const auto scales = [](const Context& context, View<const Vec3f> points) {
    return std::vector<float>{cloud_resolution_m(context, points), cloud_spacing_m(context, points),
                              default_sigma_m(context, points),
                              curvature_radius_m(context, points)};
  };
  compare(scales, [](const std::vector<float>& found, const std::vector<float>& expected) {
    // The spacings are medians of samples, and the samples differ.
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i], expected[i], 0.03f * expected[i]) << "scale " << i;
    }
    EXPECT_NEAR(found[0], expected[0], 1e-4f * expected[0]);
  });
}

TEST_F(EqualPoints, DoNotChangeNormals) {
  for (const CloudNormalsOptions& options :
       {CloudNormalsOptions{.k = 15}, CloudNormalsOptions{.radius_m = 0.03f},
        CloudNormalsOptions{.sigma_m = 0.02f}}) {
    CloudNormalsOptions seen = options;
    seen.viewpoint_m = {0, 0, 9};
    const auto normals = [&](const Context& context, View<const Vec3f> points) {
      return to_host(context, estimate_cloud_normals(context, points, seen));
    };
    compare(normals, [&](const auto& found, const auto& expected) {
      expect_near(found, expected, size(), kRounding);
      for (std::size_t i = size(); i < found.size(); ++i) ASSERT_FALSE(is_finite(found[i]));
    });
  }
}

TEST_F(EqualPoints, DoNotChangeVotes) {
  const auto votes = [](const Context& context, View<const Vec3f> points) {
    const VotingResult result = vote(context, points, {.sigma_m = 0.02f});
    return to_host(context, result.votes);
  };
  compare(votes, [&](const auto& found, const auto& expected) {
    for (std::size_t i = 0; i < size(); ++i) ASSERT_EQ(found[i], expected[i]) << "point " << i;
  });
}

TEST_F(EqualPoints, DoNotChangeCurvature) {
  const auto curvature = [](const Context& context, View<const Vec3f> points) {
    return to_host(context, estimate_cloud_curvature(context, points, {},
                                                     {.radius_m = 0.04f, .viewpoint_m = {0, 0, 9}})
                                .k1_per_m);
  };
  compare(curvature, [&](const auto& found, const auto& expected) {
    std::size_t different = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      const bool same = std::isfinite(found[i]) ? std::abs(found[i] - expected[i]) < 0.01f
                                                : !std::isfinite(expected[i]);
      different += same ? 0 : 1;
    }
    EXPECT_LE(different, size() / 1000);  // those on the edge of being rejected
  });
}

TEST_F(EqualPoints, DoNotChangeRegions) {
  const auto regions = [](const Context& context, View<const Vec3f> points) {
    const Buffer<Vec3f> normals = estimate_cloud_normals(context, points);
    return segment_cloud(context, points, normals).regions;
  };
  compare(regions, [](const auto& found, const auto& expected) {
    ASSERT_GE(expected.size(), 2u);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(found[i].kind, expected[i].kind);
      EXPECT_NEAR(found[i].points, expected[i].points, 0.02 * expected[i].points);
      EXPECT_NEAR(found[i].area_m2, expected[i].area_m2, 0.05f * expected[i].area_m2);
    }
  });
}

TEST_F(EqualPoints, DoNotChangeKeypointsAndDescriptors) {
  const auto describe = [](const Context& context, View<const Vec3f> points) {
    const Buffer<std::int32_t> keypoints =
        iss_keypoints(context, points, {.salient_radius_m = 0.05f, .non_max_radius_m = 0.03f});
    const Buffer<Vec3f> normals =
        estimate_cloud_normals(context, points, {.sigma_m = 0.02f, .viewpoint_m = {0, 0, 9}});
    const ShotDescriptors shot =
        compute_shot(context, {points, normals}, keypoints, {.radius_m = 0.08f});
    return std::pair(to_host(context, keypoints), shot.counts.described);
  };
  compare(describe, [](const auto& found, const auto& expected) {
    EXPECT_EQ(found.first, expected.first);
    EXPECT_EQ(found.second, expected.second);
    EXPECT_GT(expected.second, 10);
  });
}

}  // namespace
}  // namespace sextant
