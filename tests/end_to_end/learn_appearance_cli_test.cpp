// SPDX-License-Identifier: Apache-2.0
// Objects that photographs alone show: models of MOPED and pictures of something flat, from
// `sextant learn` to what the other commands do with them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sextant/io/file.h"
#include "sextant/io/geometry_file.h"
#include "sextant/io/jpeg.h"
#include "sextant/io/moped_model.h"
#include "sextant/io/png.h"
#include "sextant/library/library.h"
#include "tests/blob_image.h"
#include "tests/end_to_end/command_line.h"
#include "tests/exif_jpeg.h"
#include "tests/learned_objects.h"
#include "tests/meshes.h"
#include "tests/moped_models.h"

namespace sextant {
namespace {

using nlohmann::json;
using testing::make_moped_box;
using testing::Outcome;

class LearnAppearanceCli : public testing::CommandLine {
 protected:
  void prepare() override {
    write_models("tea.moped.xml", {"tea"}, 0.1f);
    write_models("two.moped.xml", {"milk", "rice"}, 0.1f);
    write_models("mm.moped.xml", {"large"}, 100);
    const auto blobs = testing::scattered_blobs(160, 120, 160 * 120 / 25, 11);
    const Image<std::uint8_t> card = testing::blob_image(160, 120, blobs);
    write_png(folder_ / "card.png", card);
    const std::vector<std::byte> jpeg = encode_jpeg(card, "x", {.quality = 100});
    write_file_atomically(folder_ / "held.jpg", testing::with_orientation(jpeg, 6));
    write_png(folder_ / "flat.png", testing::make_image<std::uint8_t>(
                                        160, 120, [](int, int) { return std::uint8_t{90}; }));
  }

  void write_models(const std::string& file, const std::vector<std::string>& names,
                    float size) const {
    std::vector<MopedModel> models;
    for (const std::string& name : names) models.push_back(make_moped_box(name, size));
    write_moped_models(folder_ / file, models);
  }

  json learn(const std::string& arguments) const {
    const Outcome outcome = run("learn " + arguments + " --json");
    EXPECT_EQ(outcome.status, 0) << arguments << ": " << outcome.err;
    return outcome.status == 0 ? json::parse(outcome.out).at("objects") : json::array();
  }

  void refused(const std::string& arguments, int status, const std::string& why) const {
    SCOPED_TRACE(arguments);
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, status) << outcome.err;
    EXPECT_NE(outcome.err.find(why), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_FALSE(std::filesystem::exists(folder_ / "no.sxt"));
  }
};

TEST_F(LearnAppearanceCli, LearnsModelsOfMoped) {
  const json objects = learn("objects.sxt tea.moped.xml two.moped.xml");
  ASSERT_EQ(objects.size(), 3u);
  EXPECT_EQ(objects[0].at("name"), "tea");
  EXPECT_EQ(objects[2].at("name"), "rice");
  EXPECT_EQ(objects[2].at("appearance"), 8);
  EXPECT_EQ(objects[2].at("triangles"), 0);
  EXPECT_NEAR(objects[0].at("diameter_m").get<double>(), std::sqrt(0.14), 1e-7);
  const ObjectEntry entry = Library(folder_ / "objects.sxt", LibraryAccess::kRead).entry("milk");
  EXPECT_EQ(entry.source.kind, "moped");
  EXPECT_EQ(entry.source.file, "two.moped.xml");
  EXPECT_TRUE(is_appearance_only(entry));

  EXPECT_NEAR(learn("objects.sxt mm.moped.xml --unit mm")[0].at("diameter_m").get<double>(),
              std::sqrt(0.14), 1e-7);
  EXPECT_EQ(learn("objects.sxt mm.moped.xml --unit auto --name mine")[0].at("unit_m"), 0.001);
  EXPECT_NEAR(learn("objects.sxt mm.moped.xml --diameter-m 0.2 --name small")[0]
                  .at("diameter_m")
                  .get<double>(),
              0.2, 1e-7);
  std::filesystem::create_directory(folder_ / "models");
  std::filesystem::rename(folder_ / "tea.moped.xml", folder_ / "models" / "tea.moped.xml");
  EXPECT_EQ(learn("folder.sxt models").size(), 1u);
}

TEST_F(LearnAppearanceCli, WritesModelsBack) {
  learn("objects.sxt tea.moped.xml");
  const Outcome outcome = run("library export objects.sxt tea -o back.moped.xml --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out).at("appearance"), 8);
  const MopedModel before = read_moped_models(folder_ / "tea.moped.xml").at(0);
  const MopedModel after = read_moped_models(folder_ / "back.moped.xml").at(0);
  EXPECT_EQ(after.name, "tea");
  EXPECT_EQ(after.points_m, before.points_m);
  EXPECT_EQ(after.colors, before.colors);
  EXPECT_EQ(after.descriptors, before.descriptors);
  EXPECT_EQ(run("library export objects.sxt tea -o tea.ply").status, 0);
  EXPECT_EQ(read_geometry(folder_ / "tea.ply").vertices.size(), 8);
  refused("library export objects.sxt tea -o b.xml --models-info i.json", 2, "no effect");
  Library(folder_ / "objects.sxt").put(testing::make_learned_object("milk", 3));
  EXPECT_EQ(run("library show objects.sxt tea --picture tea.png").status, 0);
  LearnedObject bare = testing::make_learned_object("bare", 3);
  bare.appearance = {};
  Library(folder_ / "objects.sxt").put(bare);
  refused("library export objects.sxt bare -o b.xml", 1, "no features of photographs");
}

TEST_F(LearnAppearanceCli, LearnsAPicture) {
  const json card = learn("objects.sxt card.png --planar-width 63mm")[0];
  EXPECT_EQ(card.at("name"), "card");
  EXPECT_NEAR(card.at("diameter_m").get<double>(), 0.063 * 1.25, 1e-9);
  EXPECT_EQ(card.at("triangles"), 2);
  EXPECT_GT(card.at("appearance"), 50);
  EXPECT_EQ(run("library show objects.sxt card --picture p.png").status, 0);
  EXPECT_EQ(run("library export objects.sxt card -o card.obj").status, 0);
  // The photograph was held on its side: 120 pixels are its width.
  const json held =
      learn("objects.sxt held.jpg --planar-width '6.3 cm' --picture-most-features 20")[0];
  EXPECT_NEAR(held.at("diameter_m").get<double>(), 0.063 * 5 / 3, 1e-9);
  EXPECT_EQ(held.at("appearance"), 20);
}

TEST_F(LearnAppearanceCli, RefusesWhatIsNoObject) {
  refused("learn no.sxt flat.png --planar-width 63mm", 1, "flat.png: picture: has 0 SIFT features");
  refused("learn no.sxt card.png", 1, "--planar-width");
  refused("learn no.sxt card.png --planar-width 63", 2, "has no unit");
  refused("learn no.sxt card.png --planar-width mm", 2, "no length");
  refused("learn no.sxt card.png --planar-width 63km", 2, "km");
  refused("learn no.sxt card.png --planar-width 0mm", 2, "no positive length");
  refused("learn no.sxt card.png --planar-width 63m", 1, "check the unit");
  refused("learn no.sxt card.png --planar-width 63mm --unit mm", 1, "--unit");
  refused("learn no.sxt card.png --planar-width 63mm --no-noise", 1, "no effect");
  refused("learn no.sxt tea.moped.xml --planar-width 63mm", 1, "no input is a picture");
  refused("learn no.sxt tea.moped.xml --clutter-frames 3", 1, "no input has a shape");
  refused("learn no.sxt tea.moped.xml --name tea two.moped.xml", 1, "--name");
  refused("learn no.sxt tea.moped.xml tea.moped.xml", 1, "has the name 'tea'");
  refused("learn no.sxt mm.moped.xml", 1, "--unit mm");
  std::ofstream(folder_ / "cut.moped.xml")
      << testing::text_of(folder_ / "tea.moped.xml").substr(0, 2000);
  refused("learn no.sxt cut.moped.xml", 1, "cut.moped.xml: line");
  refused("normals tea.moped.xml -o n.ply", 1, "a model of MOPED");
}

TEST_F(LearnAppearanceCli, DepthShowsTheOtherObjectsAlone) {
  learn("objects.sxt tea.moped.xml card.png --planar-width 63mm");
  ASSERT_EQ(run("synth --scene sphere --size-m 0.04 --output scene --width 160").status, 0);
  const std::string look = "recognize objects.sxt scene/depth.png --camera scene/camera.json";
  refused(look, 1, "tea, card are known by features of photographs alone");
  refused("match objects.sxt scene/depth.png --camera scene/camera.json", 1, "no object has SHOT");
  ASSERT_EQ(write_geometry(folder_ / "ball.ply", testing::sphere(0.04f, 20, 40)).size(), 0u);
  ASSERT_EQ(run("learn objects.sxt ball.ply --views 4 --clutter-frames 0").status, 0);
  const Outcome outcome = run(look + " --json");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("cannot be seen in depth"), std::string::npos) << outcome.err;
  refused(look + " --only tea", 1, "tea is known by features of photographs alone");
}

}  // namespace
}  // namespace sextant
