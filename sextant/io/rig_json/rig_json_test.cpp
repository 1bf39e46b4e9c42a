// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/rig_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sextant/io/json_file.h"
#include "tests/error_message.h"

namespace sextant {
using testing::error_message;
using testing::mentions;

namespace {

std::vector<RigCamera> stereo() {
  const Camera camera{640, 480, 500, 501, 320, 239, {0.1, -0.2, 0.001, 0.002, 0.03}};
  RigCamera left{"left", {camera, {}}}, right{"right", {camera, {}}};
  right.seen.world_from_camera.rotation = exp_rotation(Vec3d{0.1, -0.2, 0.3});
  right.seen.world_from_camera.translation = {0.1, 0.02, -0.01};
  return {left, right};
}

std::string refused(const std::string& text) {
  return error_message([&] { rig_from_json(parse_json(text, "rig"), "rig.json"); });
}

/// A camera with another pose.
std::string camera(const std::string& pose, const std::string& name = "a") {
  return R"({"name": ")" + name +
         R"(", "width": 640, "height": 480, "fx": 500, "fy": 500, "cx": 320, "cy": 240)" + pose +
         "}";
}

const std::string kHere = R"(, "world_from_camera": [1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1])";

TEST(RigJson, WhatIsWrittenIsReadAgain) {
  const std::vector<RigCamera> rig = stereo();
  const std::vector<RigCamera> read = rig_from_json(rig_to_json(rig), "rig");
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[1].name, "right");
  EXPECT_EQ(read[1].seen.camera.fy_px, 501);
  EXPECT_EQ(read[1].seen.camera.distortion.k3, 0.03);
  const Rigid3d off = inverse(read[1].seen.world_from_camera) * rig[1].seen.world_from_camera;
  EXPECT_LT(norm(off.translation), 1e-15);
  EXPECT_LT(rotation_angle(off.rotation), 1e-14);
}

TEST(RigJson, ReadsThePoseOfTheWorldToo) {
  const auto rig = rig_from_json(
      parse_json(R"({"cameras": [)" +
                     camera(R"(, "camera_from_world": [1,0,0,0.5, 0,1,0,0, 0,0,1,0, 0,0,0,1])") +
                     "]}",
                 "rig"),
      "rig");
  ASSERT_EQ(rig.size(), 1u);
  EXPECT_EQ(rig[0].seen.world_from_camera.translation.x, -0.5);
}

TEST(RigJson, SaysWhatIsWrong) {
  EXPECT_TRUE(mentions(refused("{}"), "\"cameras\" is missing"));
  EXPECT_TRUE(mentions(refused(R"({"cameras": []})"), "no list of cameras"));
  EXPECT_TRUE(mentions(refused(R"({"cameras": [3]})"), "camera 0 is no object"));
  EXPECT_TRUE(mentions(refused(R"({"cameras": [)" + camera("") + "]}"), "camera a: expected one"));
  EXPECT_TRUE(mentions(refused(R"({"cameras": [)" + camera(kHere) + "," + camera(kHere) + "]}"),
                       "two cameras are called a"));
  EXPECT_TRUE(mentions(
      refused(R"({"cameras": [)" +
              camera(R"(, "world_from_camera": [1,0,0,0, 0,1,0,0, 0,0,-1,0, 0,0,0,1])") + "]}"),
      "no rigid motion"));
  // Millimetres.
  EXPECT_TRUE(mentions(
      refused(R"({"cameras": [)" + camera(kHere) + "," +
              camera(R"(, "world_from_camera": [1,0,0,2000, 0,1,0,0, 0,0,1,0, 0,0,0,1])", "b") +
              "]}"),
      "metres"));
  EXPECT_TRUE(mentions(refused(R"({"cameras": [)" + camera(kHere) + R"(], "unit": "mm"})"),
                       "unknown key \"unit\""));
  EXPECT_TRUE(mentions(refused(R"({"cameras": [)" + camera(kHere + R"(, "fz": 3)") + "]}"), "fz"));
}

TEST(RigJson, ACameraIsNoRig) {
  EXPECT_FALSE(holds_rig(parse_json(camera(""), "camera")));
  EXPECT_TRUE(holds_rig(rig_to_json(stereo())));
}

}  // namespace
}  // namespace sextant
