// SPDX-License-Identifier: Apache-2.0
// `sextant normals` of noisy clouds and the experiments of the voting paper, as a script uses them.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sextant/io/geometry_file.h"
#include "sextant/io/png.h"
#include "sextant/synth/survey_clouds.h"
#include "tests/end_to_end/command_line.h"
#include "tests/shared_data.h"

namespace sextant {
namespace {

using nlohmann::json;
using testing::Outcome;

class VotingCli : public testing::CommandLine {
 protected:
  void prepare() override {
    truth_ = paraboloid_survey(2000, 0.1, 1);
    TriangleMesh mesh;
    mesh.vertices.points = copy(Context::cpu(), truth_.points);
    ASSERT_TRUE(write_geometry(folder_ / "scan.ply", mesh).empty());
  }

  double mean_error_deg(const Cloud& cloud) const {
    double sum = 0;
    for (std::size_t i = 0; i < truth_.normals.size(); ++i) {
      const Vec3d a = cast<double>(cloud.normals.host()[i]), b = cast<double>(truth_.normals[i]);
      sum += std::atan2(norm(cross(a, b)), std::abs(dot(a, b))) * 57.29577951308232;
    }
    return sum / static_cast<double>(truth_.normals.size());
  }

  SurveyCloud truth_;
};

TEST_F(VotingCli, MethodsAndTheirDefaults) {
  struct Case {
    const char* arguments;
    const char* method;
    double most_deg;  ///< the noise alone turns the plane through 15 neighbours by some 8°
  };
  for (const Case& c :
       {Case{"", "pca", 12}, Case{"--sigma-m 1", "weighted", 2}, Case{"--sigma-m 0", "weighted", 2},
        Case{"--method weighted", "weighted", 2}, Case{"--k 15", "pca", 12},
        Case{"--method weighted --sigma-m 1", "weighted", 2},
        Case{"--method pca --radius-m 2", "pca", 2},
        Case{"--method quadric --radius-m 2", "quadric", 3},
        Case{"--method voting --sigma-m 1", "voting", 8},
        Case{"--method voting --sigma-m 1 --second-pass", "voting", 8}}) {
    SCOPED_TRACE(c.arguments);
    const Outcome outcome =
        run(std::string("normals scan.ply -o out.ply --json --device cpu ") + c.arguments);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const json document = json::parse(outcome.out);
    EXPECT_EQ(document.at("method"), c.method);
    EXPECT_EQ(document.at("normals"), 2000);
    EXPECT_LT(mean_error_deg(read_geometry(folder_ / "out.ply").vertices), c.most_deg);
  }
}

TEST_F(VotingCli, WritesSaliencies) {
  const Outcome outcome =
      run("normals scan.ply --method voting --sigma-m 1 -o out.ply --picture out.png --device cpu");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Cloud cloud = std::move(read_geometry(folder_ / "out.ply").vertices);
  std::vector<std::string> names;
  for (const Attribute& attribute : cloud.attributes) names.push_back(attribute.name);
  EXPECT_EQ(names, (std::vector<std::string>{"stick", "plate", "ball", "confidence"}));
  for (std::size_t i = 0; i < truth_.points.size(); ++i) {
    const float stick = cloud.attributes[0].get<float>().host()[i];
    const float all = stick + cloud.attributes[1].get<float>().host()[i] +
                      cloud.attributes[2].get<float>().host()[i];
    EXPECT_NEAR(cloud.attributes[3].get<float>().host()[i], stick / all, 1e-5f);
    // Turned to the origin, which lies below the surface's top.
    EXPECT_GE(dot(cloud.normals.host()[i], -truth_.points[i]), 0);
  }
  const Image<Rgb8> picture = read_png(folder_ / "out.png");
  EXPECT_NEAR(picture.width(), 800, 60);
  const auto pixels = picture.pixels().host();
  const auto painted = std::count_if(pixels.begin(), pixels.end(),
                                     [](const Rgb8& c) { return c.x + c.y + c.z > 0; });
  const auto purple = std::count_if(pixels.begin(), pixels.end(),
                                    [](const Rgb8& c) { return c.x > c.y && c.z > c.y; });
  EXPECT_GT(painted, 2000);
  EXPECT_GT(purple, painted * 8 / 10);  // surfaces are; their border looks like a curve
}

TEST_F(VotingCli, WrongUsageAndFailure) {
  EXPECT_EQ(run("normals scan.ply -o a.ply --method median").status, 2);
  EXPECT_EQ(run("normals scan.ply -o a.ply --method voting --sigma-m -1").status, 2);
  for (const char* arguments :
       {"normals scan.ply -o a.ply --method ray",
        "normals scan.ply -o a.ply --method voting --second-pass --search brute_force"}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 1) << arguments;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

/// How many rows of a document of `reproduce` have a goal, all of which must be met.
int judged_rows(const json& document) {
  int judged = 0;
  for (const json& row : document.at("rows")) {
    if (row.at("met").is_null()) continue;
    ++judged;
    EXPECT_EQ(row.at("met"), true) << row;
  }
  return judged;
}

TEST_F(VotingCli, ReproducesTheErrorsOfNormals) {
  const Outcome outcome = run("reproduce voting-error --json --device cpu");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json document = json::parse(outcome.out);
  EXPECT_EQ(document.at("name"), "voting-error");
  EXPECT_EQ(judged_rows(document), 8);
}

// Small σ follow the steps of stairs, large ones their slope: two of each are judged.
TEST_F(VotingCli, SigmaDecidesBetweenStepsAndSlope) {
  const Outcome outcome = run("reproduce voting-sigma --json --device cpu");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(judged_rows(json::parse(outcome.out)), 4);
}

TEST_F(VotingCli, CapturedCloudsAreAskedFor) {
  EXPECT_EQ(shell("unset SEXTANT_SHARED_DATA; \"$SEXTANT\" reproduce voting-clouds --device cpu "
                  ">out.txt 2>err.txt"),
            1);
  const std::string message = testing::text_of(folder_ / "err.txt");
  EXPECT_NE(message.find("SEXTANT_SHARED_DATA"), std::string::npos) << message;
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 1) << message;
}

TEST_F(VotingCli, ReproducesTheSaliencyOfTheAuthors) {
  const auto file = testing::shared_data("tensor_voting/outputSparse.vtk");
  if (!file) GTEST_SKIP() << "no tensor_voting/outputSparse.vtk";
  const std::string folder = file->parent_path().parent_path().string();
  ASSERT_EQ(shell("SEXTANT_SHARED_DATA='" + folder +
                  "' \"$SEXTANT\" reproduce voting-clouds --json --device cpu >out.txt"),
            0);
  EXPECT_EQ(judged_rows(json::parse(testing::text_of(folder_ / "out.txt"))), 3);
}

}  // namespace
}  // namespace sextant
