// SPDX-License-Identifier: Apache-2.0
// `sextant library` as a script uses it.
#include "sextant/library/library.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sextant/io/bop_models.h"
#include "sextant/io/geometry_file.h"
#include "sextant/io/png.h"
#include "tests/devices.h"
#include "tests/end_to_end/command_line.h"
#include "tests/learned_objects.h"
#include "tests/same_learned_object.h"

namespace sextant {
namespace {

using nlohmann::json;
using testing::Outcome;

class LibraryCli : public testing::CommandLine {
 protected:
  void prepare() override {
    Library library(folder_ / "objects.sxt");
    library.put(testing::make_learned_object("milk", testing::seed_of_test()));
    library.put(testing::make_learned_object("Tee für alle", testing::seed_of_test() + 1));
  }

  bool says(const Outcome& outcome, const std::string& part) const {
    return (outcome.out + outcome.err).find(part) != std::string::npos;
  }
};

TEST_F(LibraryCli, Lists) {
  const Outcome text = run("library list objects.sxt");
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_TRUE(says(text, "Tee für alle")) << text.out;
  EXPECT_TRUE(says(text, "objects.sxt: 2 objects")) << text.out;
  const Outcome document = run("library list objects.sxt --json");
  const json objects = json::parse(document.out).at("objects");
  ASSERT_EQ(objects.size(), 2u);
  EXPECT_EQ(objects[0].at("name"), "milk");
  EXPECT_EQ(objects[0].at("triangles"), 2 * 24 * 48);
  EXPECT_EQ(objects[0].at("tensors"), 60);
  EXPECT_EQ(objects[0].at("shot"), 40);
  EXPECT_EQ(objects[0].at("source").at("file"), "milk.ply");
  EXPECT_EQ(objects[0].at("shape_symmetries").at("continuous").size(), 1u);
  EXPECT_EQ(objects[0].at("shape_symmetries").at("discrete")[0].size(), 16u);
}

TEST_F(LibraryCli, ShowsAnObject) {
  const Outcome outcome = run("library show objects.sxt milk --picture milk.png --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out).at("name"), "milk");
  const Image<Rgb8> picture = read_png(folder_ / "milk.png");
  EXPECT_EQ(picture.width(), 1280);
  // The round axis, the axis of half a turn and the views have colours of their own.
  int red = 0, orange = 0, blue = 0;
  for (const Rgb8& pixel : picture.pixels().host()) {
    if (pixel.x > 100 && pixel.y * 3 < pixel.x && pixel.z * 3 < pixel.x) ++red;
    if (pixel.x > 130 && pixel.y * 10 > pixel.x * 5 && pixel.y * 10 < pixel.x * 7 &&
        pixel.z * 4 < pixel.x) {
      ++orange;
    }
    if (pixel.z > 90 && pixel.x * 2 < pixel.z) ++blue;
  }
  EXPECT_GT(red, 100);
  EXPECT_GT(orange, 100);
  EXPECT_GT(blue, 200);
  const Outcome text = run("library show objects.sxt milk");
  EXPECT_TRUE(says(text, "40 SHOT descriptors of 352 numbers, radius 15.0 mm")) << text.out;
  EXPECT_TRUE(says(text, "note: 3 faces turned over")) << text.out;
}

TEST_F(LibraryCli, Removes) {
  // All names are looked at before anything is removed.
  EXPECT_EQ(run("library remove objects.sxt milk coffee").status, 1);
  EXPECT_EQ(Library(folder_ / "objects.sxt").list().size(), 2u);
  const Outcome outcome = run("library remove objects.sxt milk 'Tee für alle' --json");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out).at("objects"), 0);
  EXPECT_EQ(run("library list objects.sxt").status, 0);
}

TEST_F(LibraryCli, ExportsTheMesh) {
  const Outcome outcome = run("library export objects.sxt milk --output milk.ply");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const TriangleMesh mesh = read_geometry(folder_ / "milk.ply");
  const LearnedObject milk = Library(folder_ / "objects.sxt").load("milk");
  testing::learned::expect_same(mesh, milk.mesh);
}

TEST_F(LibraryCli, ExportsModelsInfo) {
  LearnedObject carton = testing::make_learned_object("carton", testing::seed_of_test());
  carton.bop_id = 7;
  carton.appearance_symmetries.discrete = {turn_about({{0, 1, 0}, {0.01, 0, 0.02}}, 2.0)};
  carton.appearance_symmetries.continuous = {{{0, 0.6, 0.8}, {0.03, 0.04, 0}}};
  Library(folder_ / "objects.sxt").put(carton);
  const Outcome outcome =
      run("library export objects.sxt carton -o carton.ply --models-info models_info.json --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(says(outcome, "models_info.json"));
  const std::vector<BopModel> models = read_bop_models(folder_ / "models_info.json");
  ASSERT_EQ(models.size(), 1u);
  EXPECT_EQ(models[0].id, 7);
  EXPECT_NEAR(models[0].diameter_m, carton.diameter_m, 1e-12);
  const TriangleMesh mesh = read_geometry(folder_ / "carton.ply");
  const Bounds box = bounds(Context::cpu(), mesh.vertices.points);
  EXPECT_LT(norm(models[0].low_m - cast<double>(box.low)), 1e-12);
  EXPECT_LT(norm(models[0].low_m + models[0].size_m - cast<double>(box.high)), 1e-12);
  ASSERT_EQ(models[0].symmetries.discrete.size(), 1u);
  const Rigid3d& back = models[0].symmetries.discrete[0];
  const Rigid3d& turn = carton.appearance_symmetries.discrete[0];
  EXPECT_LT(norm(back * Vec3d{1, 2, 3} - turn * Vec3d{1, 2, 3}), 1e-12);
  ASSERT_EQ(models[0].symmetries.continuous.size(), 1u);
  EXPECT_LT(norm(models[0].symmetries.continuous[0].axis - Vec3d{0, 0.6, 0.8}), 1e-12);
  EXPECT_LT(norm(models[0].symmetries.continuous[0].point_m - Vec3d{0.03, 0.04, 0}), 1e-12);
  // The file itself is in millimetres.
  const json document = json::parse(testing::text_of(folder_ / "models_info.json"));
  EXPECT_NEAR(document.at("7").at("diameter").get<double>(), 1000 * carton.diameter_m, 1e-9);
}

TEST_F(LibraryCli, ChecksAndRefuses) {
  const Outcome whole = run("library check objects.sxt");
  EXPECT_EQ(whole.status, 0) << whole.err;
  EXPECT_TRUE(says(whole, "2 objects, all whole"));
  const auto refused = [&](const std::string& arguments, int status, const std::string& why) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, status) << arguments;
    EXPECT_TRUE(says(outcome, why)) << outcome.err;
  };
  refused("library list no.sxt", 1, "no.sxt: there is no such library; 'sextant learn' makes one");
  refused("library show objects.sxt coffee", 1, "has no object \"coffee\"");
  refused("library show objects.sxt milk --picture milk.gif", 1, "milk.gif");
  refused("library show objects.sxt milk --picture no/milk.png", 1, "no/milk.png");
  refused("library export objects.sxt milk", 2, "--output");
  refused("library export objects.sxt milk --output objects.sxt", 1, "objects.sxt");
  refused("library export objects.sxt milk -o milk.ply --models-info milk.txt", 1, "milk.txt");
  refused("library", 2, "subcommand");
  refused("library list stdout.txt", 1, "stdout.txt");
  // A byte in the middle of a part.
  std::string bytes = testing::text_of(folder_ / "objects.sxt");
  const Library library(folder_ / "objects.sxt");
  for (std::size_t at = bytes.size() / 4; at < bytes.size(); at += 4096) bytes[at] ^= 1;
  std::ofstream(folder_ / "damaged.sxt", std::ios::binary) << bytes;
  refused("library check damaged.sxt", 1, "damaged");
}

}  // namespace
}  // namespace sextant
