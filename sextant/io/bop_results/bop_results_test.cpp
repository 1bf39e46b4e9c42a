// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/bop_results.h"

#include <gtest/gtest.h>

#include "tests/error_message.h"
#include "tests/temporary_folder.h"

namespace sextant {
namespace {

using testing::error_message;
using testing::mentions;

TEST(BopResults, ReadsAFileOfTheBenchmark) {
  const auto results = parse_bop_results(
      "scene_id,im_id,obj_id,score,R,t,time\r\n"
      "1,2,15,0.75,0 -1 0 1 0 0 0 0 1,10 -20.5 800,0.25\r\n\n"
      "1,3,8,-1.5e-1,1 0 0 0 1 0 0 0 1,0.0 0.0 1e3,-1",
      "r.csv");
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].scene_id, 1);
  EXPECT_EQ(results[0].image_id, 2);
  EXPECT_EQ(results[0].object_id, 15);
  EXPECT_EQ(results[0].score, 0.75);
  EXPECT_EQ(results[0].seconds, 0.25);
  const Vec3d p = results[0].camera_from_object * Vec3d{0.1, 0, 0};
  EXPECT_NEAR(p.x, 0.01, 1e-12);
  EXPECT_NEAR(p.y, 0.0795, 1e-12);
  EXPECT_NEAR(p.z, 0.8, 1e-12);
  EXPECT_EQ(results[1].score, -0.15);
  EXPECT_NEAR(results[1].camera_from_object.translation.z, 1.0, 1e-15);
  EXPECT_EQ(results[1].seconds, -1);
}

TEST(BopResults, ReadsBackWhatItWrote) {
  const testing::TemporaryFolder folder;
  std::vector<BopResult> results(3);
  for (int i = 0; i < 3; ++i) {
    results[i] = {i,
                  10 * i,
                  100 + i,
                  1.0 / (3 + i),
                  {exp_rotation(Vec3d{0.3 * i, -1.0, 2.0}), {0.1 / 3, -0.7, 1.0 + i}},
                  0.1 * i};
  }
  write_bop_results(folder / "r.csv", results);
  const auto read = read_bop_results(folder / "r.csv");
  ASSERT_EQ(read.size(), 3u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(read[i].scene_id, results[i].scene_id);
    EXPECT_EQ(read[i].image_id, results[i].image_id);
    EXPECT_EQ(read[i].object_id, results[i].object_id);
    EXPECT_EQ(read[i].score, results[i].score);
    EXPECT_EQ(read[i].seconds, results[i].seconds);
    const Rigid3d &a = read[i].camera_from_object, &b = results[i].camera_from_object;
    EXPECT_LT(norm(a.translation - b.translation), 1e-15);
    EXPECT_LT(rotation_angle(transpose(a.rotation) * b.rotation), 1e-14);
  }
  const std::string text = bop_results_text({BopResult{1, 2, 3, 0.5, {}, -1}});
  EXPECT_EQ(text, "scene_id,im_id,obj_id,score,R,t,time\n1,2,3,0.5,1 0 0 0 1 0 0 0 1,0 0 0,-1\n");
}

TEST(BopResults, NamesTheLineOfAMistake) {
  const auto refused = [](const std::string& line) {
    const std::string message = error_message([&] {
      parse_bop_results("scene_id,im_id,obj_id,score,R,t,time\n" + line + "\n", "r.csv");
    });
    EXPECT_TRUE(mentions(message, "r.csv: line 2: "));
    return message;
  };
  const std::string r = "1 0 0 0 1 0 0 0 1";
  EXPECT_TRUE(mentions(refused("1,2,3,0.5," + r + ",0 0 1"), "ends before time"));
  EXPECT_TRUE(mentions(refused("1,2,3,0.5," + r + ",0 0 1,1,9"), "more than the 7 fields"));
  EXPECT_TRUE(mentions(refused("a,2,3,0.5," + r + ",0 0 1,1"), "scene_id"));
  EXPECT_TRUE(mentions(refused("1,-2,3,0.5," + r + ",0 0 1,1"), "im_id"));
  EXPECT_TRUE(mentions(refused("1,2,3,nan," + r + ",0 0 1,1"), "score"));
  EXPECT_TRUE(mentions(refused("1,2,3,0.5,1 0 0 0 1 0 0 0,0 0 1,1"), "has 8"));
  EXPECT_TRUE(mentions(refused("1,2,3,0.5,1 0 0 0 1 0 0 0 2,0 0 1,1"), "no rotation"));
  EXPECT_TRUE(mentions(refused("1,2,3,0.5," + r + ",0 0,1"), "t must have 3"));
  EXPECT_TRUE(mentions(refused("1,2,3,0.5," + r + ",0 0 x,1"), "found 'x'"));
}

}  // namespace
}  // namespace sextant
