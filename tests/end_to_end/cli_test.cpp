// SPDX-License-Identifier: Apache-2.0
// The command line as a script uses it: exit status, stdout and stderr.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sextant/io/geometry_file.h"
#include "sextant/io/png.h"
#include "tests/end_to_end/command_line.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;

using testing::Outcome;

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

class Cli : public testing::CommandLine {
 protected:
  void prepare() override { write_cloud("cloud.ply"); }

  void write_cloud(const std::string& name) const {
    const Context cpu = Context::cpu();
    TriangleMesh mesh;
    mesh.vertices.points =
        copy(cpu, std::vector<Vec3f>{{0, 0, 1}, {0.5f, 0, 1}, {0, 0.25f, 1}, {NAN, NAN, NAN}});
    mesh.triangles = copy(cpu, std::vector<Vec3i>{{0, 1, 2}});
    ASSERT_TRUE(write_geometry(folder_ / name, mesh).empty());
  }
};

TEST_F(Cli, ExplainsItself) {
  const Outcome bare = run("");
  EXPECT_EQ(bare.status, 0);
  for (const char* command :
       {"devices", "info", "convert", "synth", "depth", "normals", "mesh", "reproduce"}) {
    EXPECT_NE(bare.out.find(command), std::string::npos);
    const Outcome help = run(std::string(command) + " --help");
    EXPECT_EQ(help.status, 0);
    EXPECT_NE(help.out.find("Example:"), std::string::npos);
    EXPECT_NE(help.out.find("--json"), std::string::npos);
    EXPECT_NE(help.out.find("--device"), std::string::npos);
    EXPECT_TRUE(help.err.empty());
  }
  EXPECT_EQ(run("--version").out.rfind("sextant ", 0), 0u);
}

TEST_F(Cli, WrongUsageIsTwo) {
  for (const char* arguments :
       {"fly", "info", "convert cloud.ply", "info --colour red cloud.ply",
        "convert cloud.ply out.ply --encoding morse", "convert cloud.ply out.ply --unit-m 0"}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_TRUE(outcome.out.empty()) << arguments;
    EXPECT_EQ(outcome.err.rfind("sextant: ", 0), 0u) << arguments;
  }
}

TEST_F(Cli, FailureIsOneLineAndOne) {
  for (const char* arguments : {"info missing.ply", "info .", "devices --device tpu",
                                "convert missing.ply out.pcd", "convert cloud.ply out.xyz",
                                "convert cloud.ply nowhere/out.ply", "convert cloud.ply out.png"}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 1) << arguments;
    EXPECT_EQ(lines_in(outcome.err), 1u) << outcome.err;
    EXPECT_TRUE(outcome.out.empty()) << arguments;
  }
  // Nothing half done is left behind.
  for (const auto& entry : fs::directory_iterator(folder_.path())) {
    const std::string name = entry.path().filename();
    EXPECT_TRUE(name == "cloud.ply" || name == "stdout.txt" || name == "stderr.txt") << name;
  }
}

TEST_F(Cli, DevicesListsTheCpu) {
  const auto document = nlohmann::json::parse(run("devices --json").out);
  EXPECT_EQ(document.at("devices").at(0).at("device"), "cpu");
  EXPECT_GT(document.at("devices").at(0).at("processors"), 0);
  EXPECT_NE(run("devices --device cpu").out.find("cpu"), std::string::npos);
}

TEST_F(Cli, ThreadsIsAPositiveNumber) {
  for (const char* threads : {"0", "-1", "1.5", "many"}) {
    EXPECT_EQ(run(std::string("devices --threads ") + threads).status, 2) << threads;
  }
  const Outcome too_many = run("devices --threads 1025");
  EXPECT_EQ(too_many.status, 2);
  EXPECT_NE(too_many.err.find("--threads: 1025"), std::string::npos) << too_many.err;
  for (const char* threads : {"3", "1024"}) {
    EXPECT_EQ(run(std::string("devices --threads ") + threads).status, 0) << threads;
  }
}

TEST_F(Cli, ReproduceListsAndRuns) {
  EXPECT_NE(run("reproduce").out.find("normals-bilateral"), std::string::npos);
  EXPECT_EQ(run("reproduce table-99").status, 1);
  const auto document =
      nlohmann::json::parse(run("reproduce normals-bilateral --device cpu --json").out);
  EXPECT_EQ(document.at("name"), "normals-bilateral");
  int goals = 0;
  for (const auto& row : document.at("rows")) {
    if (row.at("goal").is_null()) continue;
    ++goals;  // filtering halves the mean error at both distances, with both kinds of noise
    EXPECT_TRUE(row.at("met").get<bool>()) << row.dump();
  }
  EXPECT_EQ(goals, 4);
}

TEST_F(Cli, InfoCountsAndMeasures) {
  const auto document = nlohmann::json::parse(run("info --json cloud.ply").out);
  EXPECT_EQ(document.at("points"), 4);
  EXPECT_EQ(document.at("triangles"), 1);
  EXPECT_EQ(document.at("invalid_points"), 1);
  EXPECT_EQ(document.at("high_m"), nlohmann::json({0.5, 0.25, 1.0}));
  const Outcome text = run("info cloud.ply");
  EXPECT_NE(text.out.find("4 points"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("PLY"), std::string::npos) << text.out;
}

TEST_F(Cli, InfoOfImagesAndCameras) {
  Image<float> depth(Context::cpu(), 3, 2);
  for (float& z : depth.pixels().host()) z = 1.5f;
  depth(0, 0) = NAN;
  write_depth_png(folder_ / "depth.png", depth);
  const auto image = nlohmann::json::parse(run("info --json depth.png").out);
  EXPECT_EQ(image.at("width"), 3);
  EXPECT_EQ(image.at("valid_pixels"), 5);
  EXPECT_NEAR(image.at("median_m").get<double>(), 1.5, 1e-6);
  std::ofstream(folder_ / "camera.json")
      << R"({"width": 640, "height": 480, "fx": 525, "fy": 525, "cx": 319.5, "cy": 239.5})";
  const auto camera = nlohmann::json::parse(run("info --json camera.json").out);
  EXPECT_NEAR(camera.at("horizontal_view_deg").get<double>(), 62.7, 0.1);
}

TEST_F(Cli, ConvertGoesRoundThroughEveryFormat) {
  ASSERT_EQ(run("convert cloud.ply a.obj").status, 0);
  ASSERT_EQ(run("convert a.obj b.vtk").status, 0);
  ASSERT_EQ(run("convert b.vtk c.ply --encoding ascii").status, 0);
  const TriangleMesh back = read_geometry(folder_ / "c.ply");
  EXPECT_EQ(back.triangles.size(), 1);
  EXPECT_EQ(back.vertices.points.host()[1], (Vec3f{0.5f, 0, 1}));
  const Outcome lossy = run("convert cloud.ply d.pcd --encoding binary_compressed");
  EXPECT_EQ(lossy.status, 0);
  EXPECT_NE(lossy.err.find("triangles"), std::string::npos) << lossy.err;
  EXPECT_EQ(read_geometry(folder_ / "d.pcd").vertices.size(), 4);
}

TEST_F(Cli, ConvertChangesUnits) {
  ASSERT_EQ(run("convert cloud.ply metres.ply --unit-m 0.001").status, 0);
  EXPECT_FLOAT_EQ(read_geometry(folder_ / "metres.ply").vertices.points.host()[1].x, 0.0005f);
}

TEST_F(Cli, ConvertManyIntoAFolder) {
  write_cloud("second.ply");
  const Outcome outcome = run("convert cloud.ply second.ply --into made --to pcd --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(outcome.out).at("files").size(), 2u);
  EXPECT_TRUE(fs::exists(folder_ / "made/cloud.pcd"));
  EXPECT_TRUE(fs::exists(folder_ / "made/second.pcd"));
  // One bad file: the others are done all the same, and the exit status tells.
  std::ofstream(folder_ / "broken.ply") << "ply\nnonsense\n";
  const Outcome partly = run("convert broken.ply second.ply --into again --to pcd");
  EXPECT_EQ(partly.status, 1);
  EXPECT_TRUE(fs::exists(folder_ / "again/second.pcd"));
  EXPECT_NE(partly.err.find("broken.ply"), std::string::npos);
}

TEST_F(Cli, ConvertImages) {
  Image<Rgb8> image(Context::cpu(), 16, 16);
  for (Rgb8& pixel : image.pixels().host()) pixel = {200, 100, 50};
  write_png(folder_ / "image.png", image);
  ASSERT_EQ(run("convert image.png image.jpg --quality 90").status, 0);
  ASSERT_EQ(run("convert image.jpg back.png").status, 0);
  EXPECT_NEAR(read_png(folder_ / "back.png")(8, 8).x, 200, 3);
  Image<float> depth(Context::cpu(), 2, 2);
  for (float& z : depth.pixels().host()) z = 1.25f;
  write_depth_png(folder_ / "depth.png", depth);
  // A depth map stays one: millimetres to a fifth of a millimetre, and never a JPEG.
  ASSERT_EQ(
      run("convert depth.png fine.png --depth-unit-m 0.001 --output-depth-unit-m 0.0002").status,
      0);
  EXPECT_FLOAT_EQ(read_depth_png(folder_ / "fine.png", {.unit_m = 0.0002})(0, 0), 1.25f);
  EXPECT_EQ(run("convert depth.png depth.jpg").status, 1);
}

}  // namespace
}  // namespace sextant
