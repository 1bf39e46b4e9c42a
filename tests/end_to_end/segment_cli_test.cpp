// SPDX-License-Identifier: Apache-2.0
// `sextant segment` as a script uses it, on scenes whose truth is known.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "sextant/io/geometry_file.h"
#include "sextant/io/png.h"
#include "sextant/render/label_colors.h"
#include "tests/end_to_end/command_line.h"
#include "tests/organised_scene.h"

namespace sextant {
namespace {

using nlohmann::json;
using testing::Outcome;

constexpr int kWidth = 160;
constexpr int kHeight = 120;
constexpr double kFocal_px = 262.5;

/// A ball of 60 mm before a wall at 1 m.
testing::OrganisedScene ball_and_wall() {
  return testing::look_at(testing::BallBeforeWall{{{0, 0, 0.6}, 0.06}, 1.0},
                          {.width = kWidth, .height = kHeight, .focal_px = kFocal_px});
}

class SegmentCli : public testing::CommandLine {
 protected:
  void prepare() override {
    const testing::OrganisedScene scene = ball_and_wall();
    Image<float> depth(Context::cpu(), kWidth, kHeight);
    for (std::size_t i = 0; i < scene.points.size(); ++i) {
      depth.pixels().host()[i] = scene.points[i].z;
    }
    // Tenths of a millimetre: whole ones would be steps on the ball.
    write_depth_png(folder_ / "depth.png", depth, {.unit_m = 1e-4});
    std::ofstream(folder_ / "camera.json")
        << R"({"width": 160, "height": 120, "fx": 262.5, "fy": 262.5, "cx": 79.5, "cy": 59.5,)"
        << R"( "depth_scale": 0.1})";
    TriangleMesh mesh;
    mesh.vertices.points = copy(Context::cpu(), scene.points);
    ASSERT_TRUE(write_geometry(folder_ / "points.ply", mesh).empty());
  }

  void expect_ball_and_wall(const json& document, double radius_error_m) const {
    const json& regions = document.at("regions");
    ASSERT_EQ(regions.size(), 2u);
    EXPECT_EQ(regions[0].at("kind"), "plane");
    EXPECT_NEAR(regions[0].at("offset_m").get<double>(), -1.0, 2e-3);
    EXPECT_EQ(regions[1].at("kind"), "sphere");
    EXPECT_NEAR(regions[1].at("radius_m").get<double>(), 0.06, radius_error_m);
    EXPECT_NEAR(regions[1].at("model_centre_m")[2].get<double>(), 0.6, 2 * radius_error_m);
    EXPECT_GT(regions[0].at("points").get<int>(), regions[1].at("points").get<int>());
  }
};

TEST_F(SegmentCli, DepthMap) {
  const Outcome outcome =
      run("segment depth.png --camera camera.json -o out.ply --labels labels.png --picture out.png "
          "--json --device cpu");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json document = json::parse(outcome.out);
  expect_ball_and_wall(document, 5e-4);
  EXPECT_EQ(document.at("organised"), true);
  EXPECT_GE(document.at("times_ms").at("segment").get<double>(), 0.0);
  // One region's points carry its label in the picture of labels and in the cloud, and its colour.
  const Image<float> labels = read_depth_png(folder_ / "labels.png", {.unit_m = 1});
  const Image<Rgb8> picture = read_png(folder_ / "out.png");
  const TriangleMesh cloud = read_geometry(folder_ / "out.ply");
  ASSERT_EQ(cloud.vertices.size(), kWidth * kHeight);
  const Attribute* label = find_attribute(cloud.vertices.attributes, "label");
  ASSERT_NE(label, nullptr);
  const auto written = label->get<std::int32_t>().host();
  EXPECT_EQ(labels(2, 2), 1);
  EXPECT_EQ(labels(80, 60), 2);
  std::int64_t of_ball = 0;
  for (int v = 0; v < kHeight; ++v) {
    for (int u = 0; u < kWidth; ++u) {
      const auto i = static_cast<std::size_t>(v * kWidth + u);
      const float expected = std::isnan(labels(u, v)) ? 0.0f : labels(u, v);
      ASSERT_EQ(static_cast<float>(written[i]), expected);
      ASSERT_EQ(picture(u, v), cloud.vertices.colors.host()[i]);
      of_ball += expected == 2;
    }
  }
  EXPECT_EQ(document.at("regions")[1].at("points"), of_ball);
  EXPECT_NE(picture(2, 2), picture(80, 60));
}

TEST_F(SegmentCli, FilteredDepthMap) {
  const Outcome outcome =
      run("segment depth.png --camera camera.json --filter --json --device cpu");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json document = json::parse(outcome.out);
  EXPECT_TRUE(document.at("times_ms").contains("filter"));
  // Smoothing over 11 pixels flattens a ball of 26.
  expect_ball_and_wall(document, 6e-3);
}

TEST_F(SegmentCli, TableOnTheTerminal) {
  const Outcome outcome =
      run("segment depth.png --camera camera.json --rows 1 --min-points 100 --device cpu");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("2 regions"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("plane"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("1 more"), std::string::npos) << outcome.out;
}

TEST_F(SegmentCli, CloudInAnyOrder) {
  const Outcome outcome =
      run("segment points.ply -o out.ply --picture out.png --json --device cpu");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json document = json::parse(outcome.out);
  EXPECT_EQ(document.at("organised"), false);
  ASSERT_GE(document.at("regions").size(), 2u);
  EXPECT_EQ(document.at("regions")[0].at("kind"), "plane");
  EXPECT_EQ(document.at("regions")[1].at("kind"), "sphere");
  EXPECT_NEAR(document.at("regions")[1].at("radius_m").get<double>(), 0.06, 1e-3);
  // A map of the points, each in the colour of its label.
  const Image<Rgb8> picture = read_png(folder_ / "out.png");
  EXPECT_EQ(std::max(picture.width(), picture.height()) / 100, 8);
  const auto pixels_of = [&](std::int32_t label) {
    const auto& pixels = picture.pixels().host();
    return std::count(pixels.begin(), pixels.end(), label_color(label));
  };
  EXPECT_GT(pixels_of(1), 1000);
  EXPECT_GT(pixels_of(2), 1000);
}

TEST_F(SegmentCli, RefusesWhatItCannotDo) {
  const Outcome rows = run("segment points.ply --labels out.png");
  EXPECT_EQ(rows.status, 1);
  EXPECT_NE(rows.err.find("in no rows"), std::string::npos) << rows.err;
  const Outcome filter = run("segment points.ply --filter");
  EXPECT_EQ(filter.status, 1);
  EXPECT_NE(filter.err.find("in no rows"), std::string::npos) << filter.err;
  EXPECT_EQ(run("segment depth.png").status, 1);
  EXPECT_EQ(run("segment depth.png --camera camera.json --min-points 1").status, 2);
}

}  // namespace
}  // namespace sextant
