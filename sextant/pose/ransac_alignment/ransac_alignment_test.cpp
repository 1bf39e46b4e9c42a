// SPDX-License-Identifier: Apache-2.0
#include "sextant/pose/ransac_alignment.h"

#include <gtest/gtest.h>

#include "sextant/core/random.h"
#include "tests/devices.h"

namespace sextant {
namespace {

struct Matches {
  std::vector<Vec3f> source, target;
  PointMatches view() const { return {view_of(source), view_of(target)}; }
};

/// Points in a ball of 10 cm, of which `right` follow the motion within a millimetre.
Matches random_matches(const Rigid3d& motion, int right, int wrong) {
  const Random random{testing::seed_of_test(), 1};
  const auto draw = [&](std::uint64_t i) {
    return Vec3d{random.normal(i), random.normal(i + 1), random.normal(i + 2)};
  };
  Matches matches;
  for (int i = 0; i < right + wrong; ++i) {
    const auto at = static_cast<std::uint64_t>(10 * i);
    const Vec3d p = draw(at) * 0.05;
    matches.source.push_back(cast<float>(p));
    matches.target.push_back(cast<float>(i % (right + wrong) < right
                                             ? motion * p + draw(at + 3) * 0.0005
                                             : motion * (draw(at + 6) * 0.05)));
  }
  return matches;
}

TEST(RansacAlignment, FindsTheMotionAmongManyWrongMatches) {
  const Rigid3d truth{exp_rotation(Vec3d{0.7, -1.1, 0.4}), {0.3, -0.2, 0.9}};
  const Matches matches = random_matches(truth, 60, 240);
  RansacAlignment first;
  for (int threads : {1, 2, 7}) {
    const RansacAlignment found = ransac_alignment(Context::cpu(threads), matches.view());
    ASSERT_TRUE(found.found) << found.reason;
    // 60 points with 0.5 mm of noise at a lever of 5 cm: 0.5 / √60 mm and 1.3e-3 rad; four of them.
    EXPECT_LT(rotation_angle(transpose(truth.rotation) * found.target_from_source.rotation), 6e-3);
    EXPECT_LT(norm(found.target_from_source.translation - truth.translation), 5e-3);
    EXPECT_GE(found.inliers.size(), 58u);
    if (threads == 1) first = found;
    EXPECT_EQ(found.inliers, first.inliers);
    EXPECT_EQ(found.target_from_source.translation, first.target_from_source.translation);
  }
}

TEST(RansacAlignment, SaysWhyThereIsNone) {
  const Matches noise = random_matches({}, 0, 100);
  const RansacAlignment none =
      ransac_alignment(Context::cpu(), noise.view(), {.least_inliers = 20});
  EXPECT_FALSE(none.found);
  EXPECT_NE(none.reason.find("of 100 correspondences agree"), std::string::npos) << none.reason;
  const RansacAlignment few = ransac_alignment(Context::cpu(), random_matches({}, 2, 0).view());
  EXPECT_EQ(few.reason, "only 2 correspondences");
  EXPECT_FALSE(ransac_alignment(Context::cpu(), {}).found);
  Matches equal;
  equal.source.assign(50, Vec3f{1, 1, 1});
  equal.target = equal.source;
  EXPECT_FALSE(ransac_alignment(Context::cpu(), equal.view()).found);
  equal.target.pop_back();
  EXPECT_THROW(ransac_alignment(Context::cpu(), equal.view()), Error);
}

}  // namespace
}  // namespace sextant
