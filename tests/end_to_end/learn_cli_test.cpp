// SPDX-License-Identifier: Apache-2.0
// `sextant learn` as a script uses it: what the library holds, and what is refused before work.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sextant/io/geometry_file.h"
#include "sextant/library/library.h"
#include "sextant/synth/catalogue.h"
#include "tests/end_to_end/command_line.h"
#include "tests/meshes.h"
#include "tests/minutes_under_sanitizers.h"
#include "tests/shared_data.h"

namespace sextant {
namespace {

using nlohmann::json;
using testing::Outcome;
using testing::text_of;

constexpr const char* kQuick = " --views 6 --tensors-per-view 10 --clutter-frames 1 ";

class LearnCli : public testing::CommandLine {
 protected:
  void prepare() override {
    write("tortoise.ply", make_object("tortoise"), 1);
    write("speaker_mm.ply", make_object("speaker"), 1000);
    TriangleMesh points = testing::sphere(0.05f, 40, 80);
    points.triangles = {};
    points.vertices.normals = {};
    write("ball.ply", std::move(points), 1);
  }

  void write(const std::string& file, TriangleMesh mesh, float scale) const {
    for (Vec3f& p : mesh.vertices.points.host()) p = p * scale;
    std::filesystem::create_directories((folder_ / file).parent_path());
    ASSERT_EQ(write_geometry(folder_ / file, mesh), std::vector<std::string>{});
  }

  json learn(const std::string& arguments) const {
    const Outcome outcome = run("learn " + arguments + kQuick + "--json");
    EXPECT_EQ(outcome.status, 0) << arguments << ": " << outcome.err;
    return outcome.status == 0 ? json::parse(outcome.out) : json();
  }

  /// The one line on stderr of a command that fails with this status.
  std::string refusal(const std::string& arguments, int status = 1) const {
    const Outcome outcome = run("learn " + arguments + kQuick);
    EXPECT_EQ(outcome.status, status) << arguments << ": " << outcome.err;
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  }

  std::vector<std::string> names_in(const std::string& file) const {
    std::vector<std::string> names;
    for (const ObjectEntry& entry : Library(folder_ / file, LibraryAccess::kRead).list()) {
      names.push_back(entry.name);
    }
    return names;
  }
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(LearnCli, LearnsFilesInTheirUnits) {
  const json document = learn("objects.sxt tortoise.ply");
  ASSERT_EQ(document.at("objects").size(), 1u);
  const json& tortoise = document.at("objects")[0];
  EXPECT_EQ(tortoise.at("name"), "tortoise");
  EXPECT_GT(tortoise.at("tensors"), 20);
  EXPECT_GT(tortoise.at("shot"), 50);
  EXPECT_GT(tortoise.at("samples"), 100);
  learn("objects.sxt speaker_mm.ply --unit mm --name speaker");
  EXPECT_EQ(names_in("objects.sxt"), (std::vector<std::string>{"tortoise", "speaker"}));
  const LearnedObject speaker = Library(folder_ / "objects.sxt").load("speaker");
  EXPECT_EQ(speaker.source.file, "speaker_mm.ply");
  EXPECT_EQ(speaker.source.unit_m, 0.001);
  EXPECT_EQ(speaker.source.sha256.size(), 64u);
  EXPECT_EQ(json::parse(speaker.source.options).at("views"), 6);
  const LearnedObject in_metres = Library(folder_ / "objects.sxt").load("tortoise");
  EXPECT_EQ(in_metres.source.unit_m, 1);
}

TEST_F(LearnCli, AsksForTheUnit) {
  const std::string message = refusal("objects.sxt speaker_mm.ply");
  EXPECT_TRUE(has(message, "--unit mm")) << message;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "objects.sxt"));
  EXPECT_TRUE(has(refusal("objects.sxt tortoise.ply --unit furlong", 2), "furlong"));
  EXPECT_TRUE(has(refusal("objects.sxt tortoise.ply --unit mm --diameter-m 0.2", 2), "--unit"));
  // Each by itself, where it is asked to.
  const json guessed = learn("auto.sxt tortoise.ply speaker_mm.ply --unit auto");
  EXPECT_EQ(guessed.at("objects")[0].at("unit_m"), 1);
  EXPECT_EQ(guessed.at("objects")[1].at("unit_m"), 0.001);
  EXPECT_TRUE(has(guessed.at("objects")[1].at("remarks").dump(), "taken to be mm"));
  const json scaled = learn("scaled.sxt tortoise.ply --diameter-m 0.3");
  EXPECT_NEAR(scaled.at("objects")[0].at("diameter_m"), 0.3, 1e-6);
}

TEST_F(LearnCli, LearnsAFolderOfMeshes) {
  write("parts/a.ply", make_object("tortoise"), 1);
  write("parts/b.obj", make_object("speaker"), 1);
  std::ofstream(folder_ / "parts/readme.txt") << "0 0 0\n";
  std::ofstream(folder_ / "parts/texture.png") << "no mesh";
  const json document = learn("objects.sxt parts");
  EXPECT_EQ(names_in("objects.sxt"), (std::vector<std::string>{"a", "b"}));
  // Equal names are refused before work, also of other inputs.
  write("more/a.ply", make_object("tortoise"), 1);
  EXPECT_TRUE(has(refusal("other.sxt parts more"), "'a'"));
  EXPECT_TRUE(has(refusal("other.sxt parts --name x"), "--name"));
  std::filesystem::create_directories(folder_ / "empty");
  EXPECT_TRUE(has(refusal("other.sxt empty"), "holds no object"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "other.sxt"));
}

TEST_F(LearnCli, LearnsTheModelsOfABopDataSet) {
  write("models/obj_000002.ply", make_object("tortoise"), 1000);
  write("models/obj_000010.ply", make_object("speaker"), 1000);
  std::ofstream(folder_ / "models/models_info.json") << R"({"10": {"diameter": 210.0},
             "2": {"diameter": 150.0,
                   "symmetries_discrete": [[-1, 0, 0, 20, 0, -1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]],
                   "symmetries_continuous": [{"axis": [0, 0, 2], "offset": [10, 0, 0]}]}})";
  learn("bop.sxt models");
  const Library library(folder_ / "bop.sxt");
  ASSERT_EQ(names_in("bop.sxt"), (std::vector<std::string>{"obj_000002", "obj_000010"}));
  const LearnedObject two = library.load("obj_000002", ObjectParts::none());
  EXPECT_EQ(two.bop_id, 2);
  EXPECT_EQ(two.source.unit_m, 0.001);
  EXPECT_LT(two.diameter_m, 0.5);
  ASSERT_EQ(two.appearance_symmetries.discrete.size(), 1u);
  EXPECT_NEAR(two.appearance_symmetries.discrete[0].translation.x, 0.02, 1e-12);
  EXPECT_NEAR(two.appearance_symmetries.discrete[0].rotation.row[0].x, -1, 1e-12);
  ASSERT_EQ(two.appearance_symmetries.continuous.size(), 1u);
  EXPECT_NEAR(two.appearance_symmetries.continuous[0].axis.z, 1, 1e-12);
  EXPECT_NEAR(two.appearance_symmetries.continuous[0].point_m.x, 0.01, 1e-12);
  EXPECT_TRUE(has(json(two.source.remarks).dump(), "models_info.json"));
  EXPECT_TRUE(has(refusal("other.sxt models --unit m"), "millimetres"));
  std::ofstream(folder_ / "models/models_info.json") << R"({"3": {"diameter": 1}})";
  EXPECT_TRUE(has(refusal("other.sxt models"), "obj_000003.ply"));
  std::ofstream(folder_ / "models/models_info.json")
      << R"({"2": {"diameter": 1, "symmetries_discrete": [[1, 2, 3]]}})";
  EXPECT_TRUE(has(refusal("other.sxt models"), "16 numbers"));
}

TEST_F(LearnCli, ReplacesOnlyWhenAsked) {
  learn("objects.sxt tortoise.ply ball.ply");
  const std::string before = text_of(folder_ / "objects.sxt");
  EXPECT_TRUE(has(refusal("objects.sxt tortoise.ply"), "--replace"));
  EXPECT_TRUE(has(refusal("objects.sxt speaker_mm.ply tortoise.ply --unit auto"), "'tortoise'"));
  EXPECT_EQ(text_of(folder_ / "objects.sxt"), before);
  const LearnedObject ball = Library(folder_ / "objects.sxt").load("ball");
  learn("objects.sxt speaker_mm.ply --unit mm --name tortoise --replace");
  const Library library(folder_ / "objects.sxt");
  EXPECT_EQ(library.load("tortoise").source.file, "speaker_mm.ply");
  // The others keep what was learned.
  const LearnedObject same = library.load("ball");
  ASSERT_EQ(same.shot.values.size(), ball.shot.values.size());
  EXPECT_TRUE(std::equal(same.shot.values.host().begin(), same.shot.values.host().end(),
                         ball.shot.values.host().begin()));
}

TEST_F(LearnCli, GivesTheSameFileForAnyNumberOfThreads) {
  for (const char* threads : {"1", "2", "7"}) {
    learn(std::string("t") + threads + ".sxt tortoise.ply ball.ply --threads " + threads);
  }
  const std::string one = text_of(folder_ / "t1.sxt");
  ASSERT_GT(one.size(), 10000u);
  EXPECT_TRUE(text_of(folder_ / "t2.sxt") == one);
  EXPECT_TRUE(text_of(folder_ / "t7.sxt") == one);
}

TEST_F(LearnCli, RefusesWhatIsNoObject) {
  std::ofstream(folder_ / "text.ply") << "no ply";
  EXPECT_NE(refusal("objects.sxt text.ply"), "");
  EXPECT_NE(refusal("objects.sxt missing.ply"), "");
  std::ofstream(folder_ / "empty.ply") << "ply\nformat ascii 1.0\nelement vertex 0\n"
                                          "property float x\nproperty float y\nproperty float z\n"
                                          "end_header\n";
  EXPECT_TRUE(has(refusal("objects.sxt empty.ply"), "empty.ply"));
  EXPECT_TRUE(has(refusal("objects.sxt tortoise.ply --device cuda", 2), "--device"));
  EXPECT_TRUE(has(refusal("tortoise.ply tortoise.ply", 2), "same file"));
  EXPECT_TRUE(has(refusal("objects.sxt tortoise.ply --no-noise --sensor realsense", 2), "--noise"));
  std::filesystem::copy(folder_ / "tortoise.ply", folder_ / "b\xe9te.ply");  // Latin-1
  EXPECT_TRUE(has(refusal("objects.sxt b*te.ply"), "--name gives it another name"));
  EXPECT_NE(refusal("nowhere/objects.sxt tortoise.ply"), "");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "objects.sxt"));
  // A good file beside a bad one: nothing is begun.
  EXPECT_NE(refusal("objects.sxt tortoise.ply text.ply"), "");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "objects.sxt"));
}

TEST_F(LearnCli, AStopKeepsWhatIsFinished) {
  learn("objects.sxt ball.ply");
  // Many views of the second object, and a signal while it is learned.
  EXPECT_EQ(
      shell("\"$SEXTANT\" learn objects.sxt tortoise.ply --views 1000 --tensors-per-view 4096 "
            ">out.txt 2>err.txt & sleep 3; kill -INT $!; wait $!"),
      130);
  EXPECT_EQ(names_in("objects.sxt"), std::vector<std::string>{"ball"});
  Library(folder_ / "objects.sxt").verify();
}

/// A command, the data it needs, and how many objects it learns.
struct RealCase {
  const char* files;
  const char* options;
  std::size_t objects;
};

TEST_F(LearnCli, LearnsRealModelsInOneCommandEach) {
  SEXTANT_MINUTES_UNDER_SANITIZERS();
  const auto root = testing::shared_data("library_meshes");
  if (!root) GTEST_SKIP() << "the captured data is not here";
  const std::string data = std::filesystem::absolute(root->parent_path()).string() + "/";
  const auto under = [&](const std::string& words) {
    std::string all;
    std::istringstream list(words);
    for (std::string word; list >> word;) all += " '" + data + word + "'";
    return all;
  };
  for (const RealCase& real : std::initializer_list<RealCase>{
           {"library_meshes", "--unit auto", 6},
           {"uwa_mian/chef.pcd uwa_mian/parasaurolophus_low_normals2.ply", "--unit auto", 2},
           {"tum_objrec/tum_amicelli_box.ply tum_objrec/tum_rusk_box.ply "
            "tum_objrec/tum_soda_bottle.ply tum_objrec/tum_rabbit.ply",
            "--unit mm", 4},
           {"linemod_ape/obj_01.ply", "--unit mm", 1},
           {"ycbv_frames/points_xyz", "", 21},
           {"ycbv_frames/meshes", "", 9},
           {"densely_packed_bins/models", "", 4},
           {"icbin_cups/coffee_cup.ply", "--unit mm", 1},
           {"visp_rbt/models", "", 2}}) {
    SCOPED_TRACE(real.files);
    std::filesystem::remove(folder_ / "real.sxt");
    const Outcome outcome =
        run("learn real.sxt" + under(real.files) + " " + real.options +
            " --views 4 --tensors-per-view 5 --symmetries=false --clutter-frames 0 --json");
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const json document = json::parse(outcome.out);
    ASSERT_EQ(document.at("objects").size(), real.objects);
    for (const json& object : document.at("objects")) {
      EXPECT_GT(object.at("samples"), 100) << object;
      EXPECT_GT(object.at("shot"), 30) << object;
      EXPECT_GT(object.at("tensors"), 5) << object;
    }
  }
}

}  // namespace
}  // namespace sextant
