// SPDX-License-Identifier: Apache-2.0
// Commands keep what files hold, or say what they leave out.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <fstream>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <thread>

#include "sextant/core/random.h"
#include "sextant/io/geometry_file.h"
#include "tests/end_to_end/command_line.h"
#include "tests/shared_data.h"

namespace sextant {
namespace {

using testing::Outcome;

constexpr Vec3d kMapCentre{443527.3, 5411873.6, 312.4};
constexpr double kRadius_m = 0.1;
constexpr int kPoints = 4000;

class FidelityCli : public testing::CommandLine {
 protected:
  /// Gives a FIFO the bytes of a file while the command runs.
  Outcome run_with_fifo(const std::string& file, const std::string& fifo,
                        const std::string& arguments) const {
    EXPECT_EQ(::mkfifo((folder_ / fifo).c_str(), 0600), 0);
    std::thread writer([&] {
      std::ofstream(folder_ / fifo, std::ios::binary) << testing::text_of(folder_ / file);
    });
    const Outcome outcome = run(arguments);
    writer.join();
    return outcome;
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  /// A ball of 0.2 m in the coordinates of a map, as doubles.
  void write_ball(const std::string& name) const {
    std::ofstream file(folder_ / name);
    file << "ply\nformat ascii 1.0\nelement vertex " << kPoints
         << "\nproperty double x\nproperty double y\nproperty double z\nproperty uint label\n"
            "end_header\n"
         << std::setprecision(13);
    for (int i = 0; i < kPoints; ++i) {
      // Points in a spiral, evenly spaced.
      const double z = 1 - (2 * i + 1.0) / kPoints;
      const double angle = i * M_PI * (3 - std::sqrt(5.0));
      const double r = std::sqrt(1 - z * z);
      const Vec3d p = kMapCentre + Vec3d{r * std::cos(angle), r * std::sin(angle), z} * kRadius_m;
      file << p.x << " " << p.y << " " << p.z << " " << 16777217 + i << "\n";
    }
  }
};

Vec3d in_file(const Cloud& cloud, std::size_t i) {
  return cast<double>(cloud.points.host()[i]) + cloud.origin_m;
}

TEST_F(FidelityCli, ABallOnAMapKeepsItsNormalsAndItsPlace) {
  write_ball("ball.ply");
  for (const char* output : {"out.ply", "out.pcd"}) {
    const Outcome outcome =
        run(std::string("normals ball.ply --k 12 --device cpu --json -o ") + output);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("about the origin"), std::string::npos) << outcome.err;
    const Cloud cloud = std::move(read_geometry(folder_ / output).vertices);
    ASSERT_EQ(cloud.size(), kPoints);
    double worst_m = 0, worst_rad = 0;
    for (std::size_t i = 0; i < kPoints; ++i) {
      const Vec3d out = in_file(cloud, i) - kMapCentre;
      worst_m = std::max(worst_m, std::abs(norm(out) - kRadius_m));
      const double c = std::abs(dot(normalized(out), cast<double>(cloud.normals.host()[i])));
      worst_rad = std::max(worst_rad, std::acos(std::min(1.0, c)));
    }
    EXPECT_LT(worst_m, 1e-4);
    // Twelve neighbours of an even spiral lie round their point to a fraction of the spacing.
    EXPECT_LT(worst_rad, 0.1);
    EXPECT_EQ(find_attribute(cloud.attributes, "label")->get<std::uint32_t>().host()[7], 16777224u);
  }
}

TEST_F(FidelityCli, ABallOnAMapHasItsCurvature) {
  write_ball("ball.ply");
  const Outcome outcome = run("curvature ball.ply --device cpu --json -o out.ply");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Cloud cloud = std::move(read_geometry(folder_ / "out.ply").vertices);
  std::vector<float> mean = to_floats(*find_attribute(cloud.attributes, "mean"));
  std::sort(mean.begin(), mean.end());
  EXPECT_NEAR(std::abs(mean[mean.size() / 2]), 1 / kRadius_m, 0.1);
  EXPECT_LT(norm(in_file(cloud, 0) - kMapCentre), kRadius_m + 1e-4);
}

TEST_F(FidelityCli, InfoTellsTheOriginAndTheTrueBounds) {
  write_ball("ball.ply");
  const auto document = nlohmann::json::parse(run("info --json ball.ply").out);
  EXPECT_NEAR(document.at("origin_m")[1].get<double>(), kMapCentre.y, 1);
  EXPECT_NEAR(document.at("low_m")[1].get<double>(), kMapCentre.y - kRadius_m, 1e-3);
  EXPECT_NEAR(document.at("high_m")[0].get<double>(), kMapCentre.x + kRadius_m, 1e-3);
}

TEST_F(FidelityCli, ConvertKeepsTypesAndNamesTheRest) {
  write("in.ply",
        "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
        "property float z\nproperty uint label\nproperty double time\nproperty uchar alpha\n"
        "property list uchar float weights\nelement face 1\n"
        "property list uchar int vertex_indices\nproperty float quality\nelement edge 1\n"
        "property int a\nproperty int b\nend_header\n0 0 1 16777217 1700000000.123456 7 2 .5 1\n"
        "1 0 1 2 1 8 2 3 4\n0 1 1 3 2 9 2 5 6\n3 0 1 2 0.25\n0 1\n");
  const Outcome outcome = run("convert in.ply out.pcd --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(outcome.out).at("files")[0].at("dropped"),
            (nlohmann::json{"face property quality", "element edge", "triangles"}));
  EXPECT_NE(outcome.err.find("in.ply: element edge"), std::string::npos) << outcome.err;
  const Cloud cloud = std::move(read_geometry(folder_ / "out.pcd").vertices);
  EXPECT_EQ(find_attribute(cloud.attributes, "label")->get<std::uint32_t>().host()[0], 16777217u);
  EXPECT_EQ(find_attribute(cloud.attributes, "time")->get<double>().host()[0], 1700000000.123456);
  EXPECT_EQ(find_attribute(cloud.attributes, "alpha")->get<std::uint8_t>().host()[2], 9);
  EXPECT_EQ(find_attribute(cloud.attributes, "weights")->components, 2);
}

TEST_F(FidelityCli, PipesAreReadOnce) {
  write_ball("ball.ply");
  const Outcome info = run_with_fifo("ball.ply", "one", "info --json one");
  ASSERT_EQ(info.status, 0) << info.err;
  EXPECT_EQ(nlohmann::json::parse(info.out).at("points"), kPoints);
  const Outcome converted = run_with_fifo("ball.ply", "two", "convert two out.pcd");
  ASSERT_EQ(converted.status, 0) << converted.err;
  EXPECT_EQ(read_geometry(folder_ / "out.pcd").vertices.size(), kPoints);
  const Outcome normals = run_with_fifo("ball.ply", "three", "normals three --k 9 -o n.ply");
  ASSERT_EQ(normals.status, 0) << normals.err;
  EXPECT_EQ(read_geometry(folder_ / "n.ply").vertices.normals.size(), kPoints);
}

TEST_F(FidelityCli, BytesThatAreNoUtf8StayInsideADocument) {
  write("caf\xe9.obj", "# caf\xe9\nusemtl gr\xfcn\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  const Outcome outcome = run("info --json 'caf\xe9.obj'");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(outcome.out).at("points"), 3);
  ASSERT_EQ(run("convert --json 'caf\xe9.obj' out.ply").status, 0);
}

TEST_F(FidelityCli, ReadsTextsOfPoints) {
  write("scan.xyz", "# scan\n0 0 1 255 0 0\n1 0 1 0 255 0\n0 1 1 0 0 255\n");
  ASSERT_EQ(run("convert scan.xyz scan.ply").status, 0);
  const Cloud cloud = std::move(read_geometry(folder_ / "scan.ply").vertices);
  EXPECT_EQ(cloud.colors.host()[1], (Rgb8{0, 255, 0}));
  EXPECT_EQ(nlohmann::json::parse(run("info --json scan.xyz").out).at("format"), "XYZ");
}

TEST_F(FidelityCli, AMeshOfGarbageIsRefused) {
  write("letter.obj", "Dear reader,\nthis is no mesh.\n");
  const Outcome outcome = run("info letter.obj");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("letter.obj: line 1: 'Dear'"), std::string::npos) << outcome.err;
}

TEST_F(FidelityCli, TensorsSeeASurfaceAcrossTheSeamsOfAnObj) {
  const auto dragon = testing::shared_data("visp_rbt/models/dragon.obj");
  if (!dragon) GTEST_SKIP() << "the dragon is not there";
  const Outcome outcome =
      run("describe --descriptor tensor --device cpu --json -o out.sxd '" + dragon->string() + "'");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto document = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(document.at("surface").at("points"), 7415);
  EXPECT_GT(document.at("filled_bins").at("median").get<double>(), 150);
}

}  // namespace
}  // namespace sextant
