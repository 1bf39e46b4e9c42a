// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "sextant/io/geometry_file.h"
#include "sextant/io/image_file.h"
#include "tests/end_to_end/command_line.h"
#include "tests/solids.h"

namespace sextant::testing {
namespace {

class ObjectInfoCli : public CommandLine {
  void prepare() override {
    EXPECT_TRUE(write_geometry(folder_ / "box.ply", box(0.3, 0.2, 0.1).mesh()).empty());
    Solid broken = box(0.3, 0.2, 0.1);
    std::swap(broken.triangles[3].y, broken.triangles[3].z);
    broken.triangles.push_back(broken.triangles[0]);
    EXPECT_TRUE(write_geometry(folder_ / "broken.ply", broken.mesh()).empty());
  }
};

TEST_F(ObjectInfoCli, SaysDiameterHealthAndSymmetries) {
  const Outcome sound = run("info --json box.ply --symmetries --picture axes.png");
  ASSERT_EQ(sound.status, 0) << sound.err;
  const auto document = nlohmann::json::parse(sound.out);
  EXPECT_NEAR(document["diameter_m"].get<double>(), std::sqrt(0.14), 1e-7);
  EXPECT_TRUE(document["health"]["watertight"].get<bool>());
  EXPECT_EQ(document["symmetries"]["shape"]["discrete"].size(), 3u);
  EXPECT_EQ(document["symmetries"]["appearance"]["discrete"].size(), 3u);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "axes.png"));
  const Outcome broken = run("info broken.ply");
  EXPECT_EQ(broken.status, 0);
  EXPECT_NE(broken.out.find("1 triangle wound against"), std::string::npos) << broken.out;
  EXPECT_NE(broken.out.find("1 triangle repeating others"), std::string::npos) << broken.out;
  EXPECT_EQ(broken.out.find("symmetries"), std::string::npos);
}

TEST_F(ObjectInfoCli, RefusesWhatHasNoEffect) {
  EXPECT_EQ(run("info box.ply --picture axes.png").status, 2);
  EXPECT_EQ(run("info box.ply --symmetries --picture axes.ply").status, 1);
  std::ofstream(folder_ / "camera.json")
      << R"({"width":640,"height":480,"fx":5,"fy":5,"cx":3,"cy":2})";
  const Outcome camera = run("info camera.json --symmetries");
  EXPECT_EQ(camera.status, 1);
  EXPECT_NE(camera.err.find("--symmetries"), std::string::npos);
}

}  // namespace
}  // namespace sextant::testing
