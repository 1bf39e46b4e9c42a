// SPDX-License-Identifier: Apache-2.0
// `sextant match` as a script uses it: an object is found in a moved copy of itself.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "sextant/io/geometry_file.h"
#include "sextant/library/library.h"
#include "sextant/synth/catalogue.h"
#include "tests/end_to_end/command_line.h"

namespace sextant {
namespace {

using nlohmann::json;
using testing::Outcome;

class MatchCli : public testing::CommandLine {
 protected:
  void prepare() override {
    for (const std::string& name : names_) {
      ASSERT_TRUE(write_geometry(folder_ / (name + ".ply"), make_object(name)).empty());
    }
  }
  // Without symmetries, so that each place is one of its own.
  std::vector<std::string> names_{"tasmanian_devil", "tortoise"};
};

TEST_F(MatchCli, FindsAnObjectInAMovedCopyOfItself) {
  const Outcome learned = run("learn objects.sxt " + names_[0] + ".ply " + names_[1] +
                              ".ply --views 4 --clutter-frames 0");
  ASSERT_EQ(learned.status, 0) << learned.err;
  TriangleMesh mesh = read_geometry(folder_ / (names_[0] + ".ply"));
  const Vec3f by{0.3f, -0.1f, 0.9f};
  for (Vec3f& p : mesh.vertices.points.host()) p = p + by;
  ASSERT_TRUE(write_geometry(folder_ / "moved.ply", mesh).empty());
  const Outcome outcome = run("match objects.sxt moved.ply --descriptors shot --json -o m.csv");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json document = json::parse(outcome.out);
  int own = 0, near = 0;
  for (const json& match : document.at("shot").at("matches")) {
    if (match.at("object") != names_[0]) continue;
    ++own;
    const json &s = match.at("scene_m"), &m = match.at("model_m");
    const Vec3f error{s[0].get<float>() - m[0].get<float>() - by.x,
                      s[1].get<float>() - m[1].get<float>() - by.y,
                      s[2].get<float>() - m[2].get<float>() - by.z};
    if (norm(error) < 0.012f) ++near;
  }
  // Most of what matches the object lies where the object was moved to.
  EXPECT_GT(own, 20);
  EXPECT_GT(2 * near, own);
  EXPECT_EQ(testing::text_of(folder_ / "m.csv").rfind("kind,object,scene,model,score", 0), 0u);
  // Tensors need a depth map: an error alone, a note beside SHOT.
  const Outcome tensors = run("match objects.sxt moved.ply --descriptors tensors");
  EXPECT_EQ(tensors.status, 1);
  EXPECT_NE(tensors.err.find("depth map"), std::string::npos) << tensors.err;
  const Outcome both = run("match objects.sxt moved.ply --picture m.png");
  EXPECT_EQ(both.status, 0) << both.err;
  EXPECT_NE(both.err.find("depth map"), std::string::npos) << both.err;
  EXPECT_NE(both.out.find("tensors: not matched"), std::string::npos) << both.out;
  EXPECT_NE(both.out.find("does not tell"), std::string::npos) << both.out;
  EXPECT_EQ(run("match objects.sxt moved.ply --descriptors shot --tensor-k 2").status, 2);
  EXPECT_EQ(run("match objects.sxt moved.ply --new-normals").status, 1);
}

TEST_F(MatchCli, SaysWhyNothingCanBeCompared) {
  ASSERT_EQ(run("learn objects.sxt " + names_[0] + ".ply --views 4 --clutter-frames 0").status, 0);
  // Points a metre apart have no neighbours within a radius of SHOT.
  std::vector<Vec3f> points;
  for (int i = 0; i < 64; ++i) {
    points.push_back(
        {static_cast<float>(i % 4), static_cast<float>(i / 4 % 4), static_cast<float>(i / 16)});
  }
  TriangleMesh apart;
  apart.vertices.points = copy(Context::cpu(), points);
  ASSERT_TRUE(write_geometry(folder_ / "far.ply", apart).empty());
  const Outcome outcome = run("match objects.sxt far.ply -o m.csv");
  EXPECT_EQ(outcome.status, 1) << outcome.out;
  EXPECT_NE(outcome.err.find("far.ply: SHOT"), std::string::npos) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "m.csv"));
}

}  // namespace
}  // namespace sextant
