// SPDX-License-Identifier: Apache-2.0
// `sextant curvature` as a script uses it, on a ball before a wall.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>

#include "sextant/io/geometry_file.h"
#include "sextant/io/png.h"
#include "sextant/render/color_map.h"
#include "tests/end_to_end/command_line.h"
#include "tests/organised_scene.h"

namespace sextant {
namespace {

using nlohmann::json;
using testing::Outcome;

constexpr int kWidth = 120;
constexpr int kHeight = 100;
constexpr double kFocal_px = 160;
constexpr double kRadius_m = 0.1;
const Vec3d kCentre{0, 0, 0.5};
constexpr std::size_t kMiddle = kHeight / 2 * kWidth + kWidth / 2;

testing::OrganisedScene ball_before_wall() {
  return testing::look_at(testing::BallBeforeWall{{kCentre, kRadius_m}, 0.8},
                          {.width = kWidth, .height = kHeight, .focal_px = kFocal_px});
}

/// The property of every point.
std::span<const float> property(const TriangleMesh& mesh, const std::string& name) {
  if (const Attribute* found = find_attribute(mesh.vertices.attributes, name)) {
    return found->get<float>().host();
  }
  ADD_FAILURE() << "no property " << name;
  return {};
}

/// Root mean square distance from the ball of the points whose ray meets its middle half.
double off_the_ball_m(const TriangleMesh& mesh) {
  double sum = 0, count = 0;
  for (const Vec3f& p : mesh.vertices.points.host()) {
    if (!is_finite(p) || p.z > 0.6f || std::hypot(p.x, p.y) > 0.05f) continue;
    const double off = norm(cast<double>(p) - kCentre) - kRadius_m;
    sum += off * off;
    count += 1;
  }
  EXPECT_GT(count, 500);
  return std::sqrt(sum / count);
}

class CurvatureCli : public testing::CommandLine {
 protected:
  void prepare() override {
    const testing::OrganisedScene scene = ball_before_wall();
    Image<float> depth(Context::cpu(), kWidth, kHeight);
    for (std::size_t i = 0; i < scene.points.size(); ++i) {
      depth.pixels().host()[i] = scene.points[i].z;
    }
    write_depth_png(folder_ / "fine.png", depth, {.unit_m = 1e-4});
    write_depth_png(folder_ / "coarse.png", depth, {.unit_m = 5e-3});
    TriangleMesh mesh;
    mesh.vertices.points = copy(Context::cpu(), scene.points);
    ASSERT_TRUE(write_geometry(folder_ / "points.ply", mesh).empty());
    std::ofstream(folder_ / "camera.json")
        << R"({"width": 120, "height": 100, "fx": 160, "fy": 160, "cx": 59.5, "cy": 49.5})";
  }
};

TEST_F(CurvatureCli, OfADepthMap) {
  const Outcome outcome =
      run("curvature fine.png --camera camera.json --unit-m 0.0001 -o out.ply --picture out.png "
          "--limit-per-m 20 --json --device cpu");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json document = json::parse(outcome.out);
  EXPECT_EQ(document.at("points"), kWidth * kHeight);
  EXPECT_GT(document.at("curvatures"), kWidth * kHeight * 85 / 100);
  EXPECT_EQ(document.at("organised"), true);
  EXPECT_EQ(document.at("limit_per_m"), 20);
  EXPECT_GT(document.at("times_ms").at("curvature").get<double>(), 0.0);
  EXPECT_NEAR(document.at("k1_per_m").at("p95").get<double>(), 10, 2);
  // Steps of 0.1 mm are a noise of 0.03 mm, which a patch of a thousand pixels makes nothing of.
  const TriangleMesh read = read_geometry(folder_ / "out.ply");
  EXPECT_NEAR(property(read, "k1")[kMiddle], 10, 0.2);
  EXPECT_NEAR(property(read, "k2")[kMiddle], 10, 0.2);
  EXPECT_NEAR(property(read, "mean")[kMiddle], 10, 0.2);
  EXPECT_NEAR(property(read, "gaussian")[kMiddle], 100, 4);
  EXPECT_NEAR(property(read, "shape_index")[kMiddle], 1, 0.05);
  EXPECT_NEAR(property(read, "curvedness")[kMiddle], 10, 0.2);
  const Vec3f along{property(read, "direction1_x")[kMiddle],
                    property(read, "direction1_y")[kMiddle],
                    property(read, "direction1_z")[kMiddle]};
  EXPECT_NEAR(norm(along), 1, 1e-4);
  EXPECT_LT(norm(read.vertices.normals.host()[kMiddle] - Vec3f{0, 0, -1}), 0.03f);
  EXPECT_TRUE(read.vertices.organised());
  // The scene in its colours, the key to its right.
  const Image<Rgb8> picture = read_png(folder_ / "out.png");
  EXPECT_GT(picture.width(), kWidth + 150);
  EXPECT_GE(picture.height(), kHeight);
  const auto apart = [](const Rgb8& a, const Rgb8& b) {
    return std::hypot(a.x - b.x, a.y - b.y, a.z - b.z);
  };
  EXPECT_LT(apart(picture(kWidth / 2, kHeight / 2), curvature_color(0.5, 0.5)), 6);
  EXPECT_LT(apart(picture(5, kHeight / 2), curvature_color(0, 0)), 6);
  std::vector<Rgb8> seen;  // the key has every colour
  for (int v = 0; v < picture.height(); ++v) {
    for (int u = kWidth; u < picture.width(); ++u) seen.push_back(picture(u, v));
  }
  for (const Rgb8& color : {curvature_color(1, 1), curvature_color(1, 0), curvature_color(1, -1),
                            curvature_color(0, -1), curvature_color(0, 0)}) {
    EXPECT_TRUE(std::any_of(seen.begin(), seen.end(),
                            [&](const Rgb8& other) { return apart(color, other) < 12; }));
  }
}

TEST_F(CurvatureCli, OfPointsInAnyOrder) {
  const Outcome outcome =
      run("curvature points.ply -o out.ply --radius-m 0.03 --json --device cpu");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out).at("organised"), false);
  const TriangleMesh read = read_geometry(folder_ / "out.ply");
  EXPECT_NEAR(property(read, "k1")[kMiddle], 10, 0.1);
  EXPECT_NEAR(property(read, "k2")[kMiddle], 10, 0.1);
  EXPECT_NEAR(property(read, "k1")[0], 0, 0.1);
  // Without a radius it comes from the density. The picture is a map, with the ball in its middle.
  const Outcome automatic =
      run("curvature points.ply -o out.ply --picture map.png --limit-per-m 20 --json --device cpu");
  ASSERT_EQ(automatic.status, 0) << automatic.err;
  EXPECT_GT(json::parse(automatic.out).at("curvatures"), kWidth * kHeight / 2);
  const Image<Rgb8> map = read_png(folder_ / "map.png");
  const Rgb8 seen = map(400, map.height() / 2), ball = curvature_color(0.5, 0.5);
  EXPECT_LT(std::hypot(seen.x - ball.x, seen.y - ball.y, seen.z - ball.z), 20);
}

/// An organised cloud in another frame than its camera's is brought there and back, unless it is
/// said where the sensor stood.
TEST_F(CurvatureCli, OfAnImageThatWasMoved) {
  const testing::OrganisedScene scene = ball_before_wall();
  TriangleMesh mesh;
  std::vector<Vec3f> moved;
  for (const Vec3f& p : scene.points) moved.push_back({p.x, -p.y, 0.3f - p.z});
  mesh.vertices.points = copy(Context::cpu(), moved);
  mesh.vertices.width = kWidth;
  mesh.vertices.height = kHeight;
  ASSERT_TRUE(write_geometry(folder_ / "moved.pcd", mesh).empty());
  for (const char* extra : {"", " --viewpoint-m 0 0 0.3"}) {
    const Outcome outcome = run(std::string("curvature moved.pcd -o out.ply --picture out.png "
                                            "--radius-m 0.03 --json --device cpu") +
                                extra);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(json::parse(outcome.out).at("patches"), *extra ? "neighbours" : "pixels");
    const TriangleMesh read = read_geometry(folder_ / "out.ply");
    // The sensor is at z = 0.3.
    EXPECT_NEAR(property(read, "k1")[kMiddle], 10, 0.1);
  }
  // Its own output is an input like any other; the normals in it say what is outside.
  const Outcome again = run("curvature out.ply -o again.ply --radius-m 0.03 --device cpu");
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_NEAR(property(read_geometry(folder_ / "again.ply"), "k1")[kMiddle], 10, 0.1);
  EXPECT_EQ(run("curvature out.ply -o again.ply --viewpoint-m 0 0 1 --device cpu").status, 1);
  const Outcome behind = run(
      "curvature moved.pcd -o out.ply --radius-m 0.03 --viewpoint-m 0 0 -0.2 --json --device cpu");
  ASSERT_EQ(behind.status, 0) << behind.err;
  EXPECT_NEAR(property(read_geometry(folder_ / "out.ply"), "k2")[kMiddle], -10, 0.1);
}

/// A closed mesh has no place to be seen from; its triangles say what is outside.
TEST_F(CurvatureCli, OfAMesh) {
  TriangleMesh mesh;
  std::vector<Vec3f> points;
  std::vector<Vec3i> triangles;
  constexpr int kRings = 40, kColumns = 80;
  for (int ring = 0; ring <= kRings; ++ring) {
    for (int column = 0; column < kColumns; ++column) {
      const double a = std::numbers::pi * ring / kRings;
      const double b = 2 * std::numbers::pi * column / kColumns;
      points.push_back(cast<float>(
          Vec3d{std::sin(a) * std::cos(b), std::sin(a) * std::sin(b), std::cos(a)} * kRadius_m));
      const int here = ring * kColumns + column;
      const int right = ring * kColumns + (column + 1) % kColumns;
      if (ring == kRings) continue;
      triangles.push_back({here, here + kColumns, right});
      triangles.push_back({right, here + kColumns, right + kColumns});
    }
  }
  mesh.vertices.points = copy(Context::cpu(), points);
  mesh.triangles = copy(Context::cpu(), triangles);
  ASSERT_TRUE(write_geometry(folder_ / "ball.ply", mesh).empty());
  const Outcome outcome = run("curvature ball.ply -o out.ply --radius-m 0.03 --device cpu");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const TriangleMesh read = read_geometry(folder_ / "out.ply");
  for (const float k : property(read, "k1")) ASSERT_NEAR(k, 10, 0.1);
  for (const float k : property(read, "k2")) ASSERT_NEAR(k, 10, 0.1);
}

TEST_F(CurvatureCli, PutsPointsBackOntoTheSurface) {
  // The default would say that so coarse a sensor knows no curvature.
  const std::string input =
      " coarse.png --camera camera.json --unit-m 0.005 --device cpu --stride-px 3 "
      "--radius-samples 6 --iterations 5 ";
  ASSERT_EQ(run("curvature" + input + "-o measured.ply").status, 0);
  ASSERT_EQ(run("curvature" + input + "-o denoised.ply --denoised").status, 0);
  // Steps of 5 mm: off by 1.4 mm as measured, and by far less on the fitted quadrics.
  EXPECT_NEAR(off_the_ball_m(read_geometry(folder_ / "measured.ply")), 1.4e-3, 0.3e-3);
  EXPECT_LT(off_the_ball_m(read_geometry(folder_ / "denoised.ply")), 0.5e-3);
}

TEST_F(CurvatureCli, WrongUsageAndFailure) {
  for (const char* arguments :
       {"curvature", "curvature points.ply", "curvature points.ply -o a.ply --iterations -1",
        "curvature points.ply -o a.ply --weights best",
        "curvature points.ply -o a.ply --limit-per-m -1",
        "curvature points.ply -o a.ply --viewpoint-m 1 2"}) {
    EXPECT_EQ(run(arguments).status, 2) << arguments;
  }
  for (const char* arguments : {"curvature fine.png -o a.ply", "curvature missing.ply -o a.ply"}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 1) << arguments;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_TRUE(outcome.out.empty());
  }
  const Outcome help = run("curvature --help");
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.out.find("Example:"), std::string::npos);
  EXPECT_NE(help.out.find("--radius-m"), std::string::npos);
}

TEST_F(CurvatureCli, ExperimentsAreListed) {
  const json names = json::parse(run("reproduce --json").out).at("experiments");
  for (const char* name : {"curvature-accuracy", "curvature-distance", "curvature-noise",
                           "curvature-speed", "curvature-sensors", "curvature-correspondence"}) {
    EXPECT_TRUE(std::any_of(names.begin(), names.end(), [&](const json& entry) {
      return entry.at("name") == name;
    })) << name;
  }
}

}  // namespace
}  // namespace sextant
