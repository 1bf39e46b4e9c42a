// SPDX-License-Identifier: Apache-2.0
// `sextant align` as a script uses it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sextant/core/rigid3.h"
#include "sextant/geometry/transform.h"
#include "sextant/io/ply.h"
#include "sextant/synth/catalogue.h"
#include "tests/end_to_end/command_line.h"
#include "tests/error_message.h"

namespace sextant {
namespace {

using testing::mentions;
using testing::Outcome;

class AlignCli : public testing::CommandLine {
 protected:
  void prepare() override {
    const TriangleMesh toy = make_object("tortoise");
    write_ply(folder_ / "still.ply", toy);
    TriangleMesh moved = copy(Context::cpu(), toy);
    transform_points_into(Context::cpu(), inverse(kMotion), moved.vertices.points,
                          moved.vertices.points);
    moved.vertices.normals = {};
    write_ply(folder_ / "moved.ply", moved);
  }

  const Rigid3d kMotion{exp_rotation(Vec3d{0.05, -0.08, 0.1}), {0.004, -0.003, 0.006}};
};

TEST_F(AlignCli, FindsTheMotionAndWritesTheSourceThere) {
  const Outcome outcome = run("align moved.ply still.ply -o back.ply --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto document = nlohmann::json::parse(outcome.out);
  const std::vector<double> pose = document.at("target_from_source");
  ASSERT_EQ(pose.size(), 16u);
  EXPECT_NEAR(pose[3], kMotion.translation.x, 2e-4);
  EXPECT_NEAR(pose[7], kMotion.translation.y, 2e-4);
  EXPECT_NEAR(pose[11], kMotion.translation.z, 2e-4);
  const Cloud back = read_ply(folder_ / "back.ply").vertices;
  const Cloud still = read_ply(folder_ / "still.ply").vertices;
  ASSERT_EQ(back.size(), still.size());
  for (std::int64_t i = 0; i < back.size(); i += 97) {
    EXPECT_LT(norm(back.points.data()[i] - still.points.data()[i]), 5e-4f);
  }
}

TEST_F(AlignCli, RefusesWhatHasNoEffect) {
  std::ofstream(folder_ / "camera.json") << R"({"fx": 500, "fy": 500, "cx": 320, "cy": 240})";
  for (const char* flag : {"--camera camera.json", "--filter"}) {
    const Outcome outcome = run(std::string("align moved.ply still.ply ") + flag);
    EXPECT_EQ(outcome.status, 1) << flag;
    EXPECT_TRUE(mentions(outcome.err, "has no effect: no input is a depth map"));
  }
  EXPECT_EQ(run("align moved.ply still.ply --global-trials 9").status, 2);
  EXPECT_EQ(run("align moved.ply still.ply --global --guess pose.txt").status, 2);
}

}  // namespace
}  // namespace sextant
