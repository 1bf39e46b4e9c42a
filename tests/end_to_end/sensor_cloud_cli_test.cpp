// SPDX-License-Identifier: Apache-2.0
// Clouds as sensors and drivers write them: organised but not in camera axes, with zeros for holes.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "sextant/io/geometry_file.h"
#include "sextant/io/png.h"
#include "tests/devices.h"
#include "tests/end_to_end/command_line.h"
#include "tests/organised_scene.h"
#include "tests/shared_data.h"

namespace sextant {
namespace {

using nlohmann::json;
using testing::Outcome;

constexpr int kWidth = 160;
constexpr int kHeight = 120;
const Rigid3d kTable{exp_rotation(Vec3d{2.0, 0.5, -0.4}), {0.3, -0.2, 1.2}};

class SensorCloudCli : public testing::CommandLine {
 protected:
  void prepare() override {
    const testing::OrganisedScene scene = testing::look_at(
        testing::BallBeforeWall{{{0.02, 0.01, 0.6}, 0.06}, 1.0}, {.width = kWidth,
                                                                  .height = kHeight,
                                                                  .focal_px = 262.5,
                                                                  .noise_m = 0.0003,
                                                                  .seed = testing::seed_of_test()});
    const auto write = [&](const char* name, bool rows, const auto& change) {
      TriangleMesh mesh;
      std::vector<Vec3f> points;
      for (const Vec3f& p : scene.points) points.push_back(change(p));
      if (!rows) points.insert(points.end(), 40'000, Vec3f{});
      mesh.vertices.points = copy(Context::cpu(), points);
      if (rows) mesh.vertices.width = kWidth, mesh.vertices.height = kHeight;
      ASSERT_TRUE(write_geometry(folder_ / name, mesh).empty());
    };
    write("camera.pcd", true, [](const Vec3f& p) { return p; });
    write("back.pcd", true, [](const Vec3f& p) { return Vec3f{p.x, -p.y, -p.z}; });
    write("table.pcd", true, [](const Vec3f& p) { return cast<float>(kTable * cast<double>(p)); });
    write("mirrored.pcd", true, [](const Vec3f& p) { return Vec3f{-p.x, p.y, p.z}; });
    write("zeros.ply", false, [](const Vec3f& p) { return p; });
  }

  json document(const std::string& arguments, const char* word) const {
    const Outcome outcome = run(arguments + " --json --device cpu");
    EXPECT_EQ(outcome.status, 0) << arguments << "\n" << outcome.err;
    const auto lines = std::count(outcome.err.begin(), outcome.err.end(), '\n');
    EXPECT_EQ(lines, *word ? 1 : 0) << outcome.err;
    EXPECT_NE(outcome.err.find(word), std::string::npos) << outcome.err;
    json found = json::parse(outcome.out);
    EXPECT_EQ(found.contains("notes") && found.at("notes").size() == 1, *word != 0);
    return found;
  }
};

TEST_F(SensorCloudCli, MovedCloudsAreSeenFromTheirCamera) {
  const json normals = document("normals camera.pcd -o a.ply", "");
  const json mesh = document("mesh camera.pcd -o a.ply", "");
  const json regions = document("segment camera.pcd", "").at("regions");
  const json curvature = document("curvature camera.pcd -o a.ply", "");
  EXPECT_GT(normals.at("normals"), kWidth * kHeight * 99 / 100);
  ASSERT_GE(regions.size(), 2u);  // wall and ball, and perhaps slivers at its rim
  for (const std::string file : {"back.pcd", "table.pcd"}) {
    SCOPED_TRACE(file);
    const json moved = document("normals " + file + " -o a.ply --picture a.png", "of a camera at");
    EXPECT_EQ(moved.at("method"), "ray");
    EXPECT_EQ(moved.at("rows").at("of_camera"), true);
    const auto near = [](const json& found, const json& expected) {
      EXPECT_NEAR(found.get<double>(), expected.get<double>(), 0.01 * expected.get<double>());
    };
    near(moved.at("normals"), normals.at("normals"));
    near(document("mesh " + file + " -o a.ply --picture a.png", "of a camera at").at("triangles"),
         mesh.at("triangles"));
    near(document("curvature " + file + " -o a.ply", "of a camera at").at("curvatures"),
         curvature.at("curvatures"));
    const json found = document("segment " + file, "of a camera at").at("regions");
    ASSERT_GE(found.size(), 2u);
    EXPECT_EQ(found[0].at("kind"), "plane");
    near(found[0].at("area_m2"), regions[0].at("area_m2"));
    EXPECT_EQ(found[1].at("kind"), "sphere");
    near(found[1].at("radius_m"), regions[1].at("radius_m"));
    document("describe " + file + " --descriptor tensor -o a.sxd --picture a.png",
             "of a camera at");
    document("mesh " + file + " -o a.ply", "of a camera at");
  }
}

TEST_F(SensorCloudCli, MillimetresAreDoubted) {
  ASSERT_EQ(run("convert camera.pcd mm.pcd --unit-m 1000").status, 0);
  document("segment mm.pcd", "if the file is in millimetres, pass --unit-m 0.001");
  document("segment mm.pcd --unit-m 0.001", "");
}

TEST_F(SensorCloudCli, OtherRowsArePointsInAnyOrder) {
  const char* word = "not those of a camera";
  const json normals = document("normals mirrored.pcd -o a.ply", word);
  EXPECT_EQ(normals.at("method"), "pca");
  EXPECT_EQ(normals.at("rows").at("of_camera"), false);
  EXPECT_EQ(normals.at("normals"), kWidth * kHeight);
  EXPECT_TRUE(read_geometry(folder_ / "a.ply").vertices.organised());
  EXPECT_GT(document("curvature mirrored.pcd -o a.ply", word).at("curvatures"),
            kWidth * kHeight * 9 / 10);
  EXPECT_GE(document("segment mirrored.pcd", word).at("regions").size(), 2u);
  document("describe mirrored.pcd --descriptor shot -o a.sxd", word);
  for (const char* arguments :
       {"mesh mirrored.pcd -o a.ply", "normals mirrored.pcd --method ray -o a.ply",
        "segment mirrored.pcd --filter"}) {
    const Outcome refused = run(arguments);
    EXPECT_EQ(refused.status, 1) << arguments;
    EXPECT_NE(refused.err.find("camera"), std::string::npos) << refused.err;
  }
}

TEST_F(SensorCloudCli, PointsAtTheOriginAreHoles) {
  const json found = document("curvature zeros.ply -o a.ply --picture a.png", "no return");
  EXPECT_EQ(found.at("points"), kWidth * kHeight + 40'000);
  EXPECT_GT(found.at("curvatures"), kWidth * kHeight * 9 / 10);
  EXPECT_LT(found.at("times_ms").at("curvature"), 20e3);  // pairs of zeros would take minutes
  const json regions = document("segment zeros.ply", "no return").at("regions");
  ASSERT_GE(regions.size(), 2u);
  EXPECT_EQ(regions[0].at("kind"), "plane");
  EXPECT_EQ(regions[1].at("kind"), "sphere");
}

// As other programs write them: of any length, zeros, of either sign.
TEST_F(SensorCloudCli, NormalsOfFilesBecomeUnitVectors) {
  ASSERT_EQ(run("normals zeros.ply -o unit.ply").status, 0);
  const auto write_normals = [&](const char* name, const std::function<Vec3f(Vec3f, int)>& change) {
    TriangleMesh mesh = read_geometry(folder_ / "unit.ply");
    int i = 0;
    for (Vec3f& n : mesh.vertices.normals.host()) n = change(n, i++);
    ASSERT_TRUE(write_geometry(folder_ / name, mesh).empty());
  };
  write_normals("long.ply", [](Vec3f n, int) { return n * 127.0f; });
  write_normals("zero.ply", [](Vec3f, int) { return Vec3f{}; });
  write_normals("signs.ply",
                [](Vec3f n, int i) { return n * (i * 2654435761u >> 31 ? 1.f : -1.f); });
  const json unit = document("segment unit.ply", "");
  const auto notes = [&](const std::string& arguments) {
    return json::parse(run(arguments + " --json --device cpu").out).at("notes").dump();
  };
  for (const char* name : {"long.ply", "zero.ply"}) {
    const json found =
        json::parse(run(std::string("segment ") + name + " --json --device cpu").out);
    EXPECT_EQ(found.at("regions")[0].at("kind"), "plane") << name;
    EXPECT_NEAR(found.at("regions")[0].at("area_m2").get<double>(),
                unit.at("regions")[0].at("area_m2").get<double>(), 0.01)
        << name;
  }
  EXPECT_NE(notes("segment zero.ply").find("have no directions"), std::string::npos);
  EXPECT_NE(notes("curvature signs.ply -o a.ply").find("either side at random"), std::string::npos);
}

TEST_F(SensorCloudCli, SaliencyIsWrittenAndReadBySegment) {
  ASSERT_EQ(
      run("normals zeros.ply --method voting --second-pass -o saliency.ply --device cpu").status,
      0);
  const Outcome from_file = run("segment saliency.ply --saliency file --json --device cpu");
  ASSERT_EQ(from_file.status, 0) << from_file.err;
  const Outcome voted = run("segment zeros.ply --saliency voting --json --device cpu");
  ASSERT_EQ(voted.status, 0) << voted.err;
  const json a = json::parse(from_file.out).at("regions"), b = json::parse(voted.out).at("regions");
  ASSERT_GE(a.size(), 2u);
  EXPECT_EQ(a.size(), b.size());
  EXPECT_EQ(a[0].at("kind"), "plane");
  // Ball votes call a plane half a ball.
  ASSERT_EQ(run("normals zeros.ply --method voting -o balls.ply --device cpu").status, 0);
  const Outcome balls = run("segment balls.ply --saliency file --device cpu");
  EXPECT_EQ(balls.status, 1);
  EXPECT_NE(balls.err.find("--second-pass"), std::string::npos) << balls.err;
  const Outcome without = run("segment zeros.ply --saliency file");
  EXPECT_EQ(without.status, 1);
  EXPECT_NE(without.err.find("stick"), std::string::npos) << without.err;
  EXPECT_EQ(run("segment zeros.ply --saliency maybe").status, 2);
}

/// A Kinect's frame in the axes of a viewer that looks along -z.
TEST_F(SensorCloudCli, RealFrameThatLooksBackwards) {
  const auto path = testing::shared_data("pcl_kinect/milk_cartoon_all_small_clorox.pcd");
  if (!path) GTEST_SKIP() << "no captured data";
  const std::string file = "'" + path->string() + "'";
  constexpr int kPoints = 241'407;
  EXPECT_GT(document("normals " + file + " -o a.ply", "of a camera at").at("normals"),
            kPoints * 95 / 100);
  EXPECT_GT(document("mesh " + file + " -o a.ply", "of a camera at").at("triangles"), kPoints);
  EXPECT_GT(document("curvature " + file + " -o a.ply", "of a camera at").at("curvatures"),
            kPoints / 2);
  const json regions = document("segment " + file, "of a camera at").at("regions");
  ASSERT_GE(regions.size(), 3u);
  for (const json& region : regions) EXPECT_LT(region.at("area_m2").get<double>(), 20.0);
  EXPECT_EQ(regions[0].at("kind"), "plane");
}

}  // namespace
}  // namespace sextant
