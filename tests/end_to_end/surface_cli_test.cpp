// SPDX-License-Identifier: Apache-2.0
// `sextant normals` and `sextant mesh` as a script uses them, on a scene whose truth is known.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sextant/io/geometry_file.h"
#include "sextant/io/pcd.h"
#include "sextant/io/png.h"
#include "tests/end_to_end/command_line.h"
#include "tests/organised_scene.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kWidth = 96;
constexpr int kHeight = 72;
constexpr double kFocal_px = 100;

using testing::Outcome;

/// A wall that faces the camera at 2 m, its left third nearer, at 1 m.
testing::OrganisedScene steps() {
  return testing::look_at(
      [](const Vec3d& ray) {
        const bool left = ray.x * kFocal_px + (kWidth - 1) / 2.0 < kWidth / 3.0 - 0.5;
        return testing::PlaneSurface{left ? 1.0 : 2.0}(ray);
      },
      {.width = kWidth, .height = kHeight, .focal_px = kFocal_px});
}

class SurfaceCli : public testing::CommandLine {
 protected:
  void prepare() override {
    const testing::OrganisedScene scene = steps();
    Image<float> depth(Context::cpu(), kWidth, kHeight);
    Cloud cloud;
    cloud.points = copy(Context::cpu(), scene.points);
    cloud.width = kWidth;
    cloud.height = kHeight;
    for (std::size_t i = 0; i < scene.points.size(); ++i) {
      depth.pixels().host()[i] = scene.points[i].z;
    }
    write_depth_png(folder_ / "depth.png", depth);
    write_pcd(folder_ / "organised.pcd", cloud);
    cloud.width = cloud.height = 0;
    TriangleMesh mesh;
    mesh.vertices = std::move(cloud);
    ASSERT_TRUE(write_geometry(folder_ / "points.ply", mesh).empty());
    std::ofstream(folder_ / "camera.json")
        << R"({"width": 96, "height": 72, "fx": 100, "fy": 100, "cx": 47.5, "cy": 35.5})";
  }
};

TEST_F(SurfaceCli, NormalsOfADepthMap) {
  const Outcome outcome = run(
      "normals depth.png --camera camera.json -o out.ply --picture out.png --json --device cpu");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json document = json::parse(outcome.out);
  EXPECT_EQ(document.at("points"), kWidth * kHeight);
  EXPECT_EQ(document.at("normals"), kWidth * kHeight);
  EXPECT_EQ(document.at("organised"), true);
  EXPECT_EQ(document.at("method"), "ray");
  EXPECT_GE(document.at("times_ms").at("normals").get<double>(), 0.0);
  const TriangleMesh read = read_geometry(folder_ / "out.ply");
  ASSERT_EQ(read.vertices.normals.size(), kWidth * kHeight);
  // Both walls face the camera, and the step between them belongs to neither.
  for (const Vec3f& n : read.vertices.normals.host()) ASSERT_LT(norm(n - Vec3f{0, 0, -1}), 1e-3f);
  const Image<Rgb8> picture = read_png(folder_ / "out.png");
  EXPECT_EQ(picture.width(), kWidth);
  EXPECT_NEAR(picture(10, 10).x, 127, 1);
  EXPECT_NEAR(picture(10, 10).z, 255, 1);
}

TEST_F(SurfaceCli, NormalsOfClouds) {
  for (const char* arguments :
       {"normals organised.pcd -o a.ply --method pca --radius-px 2 --json --device cpu",
        "normals points.ply -o a.ply --k 12 --json --device cpu"}) {
    const Outcome outcome = run(arguments);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const json document = json::parse(outcome.out);
    EXPECT_EQ(document.at("method"), "pca") << arguments;
    EXPECT_GT(document.at("normals"), kWidth * kHeight * 9 / 10) << arguments;
  }
}

TEST_F(SurfaceCli, MeshOfADepthMap) {
  const Outcome outcome =
      run("mesh depth.png --camera camera.json -o out.ply --picture out.png --json --device cpu");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json document = json::parse(outcome.out);
  // The column of cells over the step is missing.
  const int triangles = 2 * (kWidth - 2) * (kHeight - 1);
  EXPECT_EQ(document.at("triangles"), triangles);
  EXPECT_EQ(document.at("vertices"), kWidth * kHeight);
  const json& statistics = document.at("statistics");
  // Pixels lie 10 mm apart on a third of the image and 20 mm on the rest.
  EXPECT_NEAR(statistics.at("resolution_m").get<double>(), 0.0167, 0.0003);
  EXPECT_NEAR(statistics.at("measured_max_angle_rad").get<double>(), 0, 1e-3);
  EXPECT_NEAR(statistics.at("max_angle_rad").get<double>(), 0.5236, 1e-3);
  EXPECT_NEAR(statistics.at("view_angle_rad").get<double>(), 0.2182, 1e-3);
  const TriangleMesh read = read_geometry(folder_ / "out.ply");
  EXPECT_EQ(read.triangles.size(), triangles);
  EXPECT_EQ(read.vertices.normals.size(), kWidth * kHeight);
  EXPECT_GT(read_png(folder_ / "out.png")(10, 10).x, 200);
  // The same from the organised cloud, and with limits of one's own.
  EXPECT_EQ(json::parse(run("mesh organised.pcd -o b.obj --json --device cpu").out).at("triangles"),
            triangles);
  const Outcome paper = run("mesh organised.pcd -o c.ply --mode paper --view-angle-rad 0.1 --json");
  EXPECT_EQ(paper.status, 0) << paper.err;
}

TEST_F(SurfaceCli, UnusedPointsAreLeftOut) {
  Image<float> depth(Context::cpu(), kWidth, kHeight);
  for (int v = 0; v < kHeight; ++v) {
    for (int u = 0; u < kWidth; ++u) depth(u, v) = u < 20 ? 1.0f : NAN;
  }
  write_depth_png(folder_ / "half.png", depth);
  const Outcome outcome = run("mesh half.png --camera camera.json -o out.ply --json --device cpu");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out).at("vertices"), 20 * kHeight);
  const TriangleMesh read = read_geometry(folder_ / "out.ply");
  EXPECT_EQ(read.vertices.size(), 20 * kHeight);
  EXPECT_EQ(read.triangles.size(), 2 * 19 * (kHeight - 1));
}

TEST_F(SurfaceCli, WrongUsageAndFailure) {
  for (const char* arguments :
       {"normals depth.png --camera camera.json", "mesh depth.png", "mesh", "normals",
        "normals depth.png -o a.ply --radius-px 99", "mesh depth.png -o a.ply --mode median"}) {
    EXPECT_EQ(run(arguments).status, 2) << arguments;
  }
  for (const char* arguments :
       {"normals depth.png -o a.ply", "mesh points.ply -o a.ply", "normals camera.json -o a.ply",
        "normals points.ply -o a.ply --method ray", "mesh missing.pcd -o a.ply",
        "normals points.ply -o a.ply --camera camera.json"}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 1) << arguments;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_TRUE(outcome.out.empty());
  }
  for (const char* command : {"normals", "mesh"}) {
    const Outcome help = run(std::string(command) + " --help");
    EXPECT_EQ(help.status, 0);
    EXPECT_NE(help.out.find("Example:"), std::string::npos);
    EXPECT_NE(help.out.find("--radius-px"), std::string::npos);
  }
}

}  // namespace
}  // namespace sextant
