// SPDX-License-Identifier: Apache-2.0
// `sextant recognize`, and `sextant eval` with a library, as a script uses them.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "sextant/depth/surface_from_depth.h"
#include "sextant/descriptor/point_samples.h"
#include "sextant/geometry/transform.h"
#include "sextant/io/bop_dataset.h"
#include "sextant/io/bop_results.h"
#include "sextant/io/camera_json.h"
#include "sextant/io/geometry_file.h"
#include "sextant/io/json_file.h"
#include "sextant/io/png.h"
#include "sextant/library/library.h"
#include "sextant/recognize/recognizer.h"
#include "sextant/render/rasterize.h"
#include "sextant/synth/catalogue.h"
#include "tests/end_to_end/command_line.h"
#include "tests/error_message.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::Outcome;

constexpr const char* kNames[] = {"tasmanian_devil", "tortoise"};

/// What recognition needs of an object; learning more takes seconds.
LearnedObject learned(int number) {
  LearnedObject object;
  object.name = kNames[number];
  object.bop_id = number + 1;
  object.mesh = make_object(object.name);
  ModelSamples samples = sample_model(Context::cpu(), object.mesh);
  object.diameter_m = samples.diameter_m;
  object.samples = {samples.leaf_m, std::move(samples.samples.points),
                    std::move(samples.samples.normals)};
  // Of a frame where nothing was: they tell nothing, but the object counts as learned with clutter.
  int terms = 0;
  const VerificationTerms none;
  for_each_term(none, [&](const char*, float) { ++terms; });
  const std::vector<float> nothing(static_cast<std::size_t>(terms), NAN);
  object.lookalikes = {terms, 1, copy(Context::cpu(), nothing)};
  return object;
}

/// Both toys, known.
const std::vector<LearnedObject>& toys() {
  static const std::vector<LearnedObject> objects = [] {
    std::vector<LearnedObject> made;
    for (int i = 0; i < 2; ++i) made.push_back(learned(i));
    return made;
  }();
  return objects;
}

/// One of the toys before a wall at 1 m, without noise.
struct Portrait {
  Camera camera{320, 240, 300, 300, 159.5, 119.5, {}};
  Rigid3d camera_from_object;
  Image<float> depth_m;

  explicit Portrait(int toy, double shift_m = 0)
      : camera_from_object{exp_rotation(Vec3d{1.9, 0.3, -0.4}), {0.03 + shift_m, 0.04, 0.6}} {
    const Context host = Context::cpu();
    const RenderScene scene(host, toys()[static_cast<std::size_t>(toy)].mesh);
    const Instance instance{0, 0, 0, cast<float>(camera_from_object)};
    Rendering seen = render(host, scene, camera, {&instance, 1});
    depth_m = Image<float>(std::move(seen.depth_m), camera.width, camera.height);
    for (float& z : depth_m.pixels().host()) z = z > 0 ? z : 1.0f;
  }
};

Rigid3d pose_of(const json& numbers) {
  const std::vector<double> n = numbers;
  EXPECT_EQ(n.size(), 16u);
  return {{{{n[0], n[1], n[2]}, {n[4], n[5], n[6]}, {n[8], n[9], n[10]}}}, {n[3], n[7], n[11]}};
}

/// Within 5 mm and 3°, which the exact depth of the portrait leaves far below.
void expect_near(const Rigid3d& found, const Rigid3d& truth) {
  EXPECT_LT(norm(found.translation - truth.translation), 0.005);
  EXPECT_LT(rotation_angle(found.rotation * transpose(truth.rotation)), 0.05);
}

std::set<std::string> keys_of(const json& document) {
  std::set<std::string> keys;
  for (const auto& [key, value] : document.items()) keys.insert(key);
  return keys;
}

// Few poses are enough for one toy before a wall, and its score is not what is tested here.
const std::string kQuick = " --refined 30 --polished 10";
constexpr double kUnit_m = 0.0001;  // of the depth maps, so that steps do not show

class RecognizeCli : public testing::CommandLine {
 protected:
  void prepare() override {
    Library library(folder_ / "objects.sxt");
    for (const LearnedObject& object : toys()) library.put(object);
    write_portrait(portrait_, "depth.png");
    write_camera_json(folder_ / "camera.json", {portrait_.camera, 1000 * kUnit_m});
  }

  void write_portrait(const Portrait& portrait, const std::string& name) const {
    write_depth_png(folder_ / name, portrait.depth_m, {kUnit_m});
  }

  Outcome recognize(const std::string& arguments) const {
    return run("recognize objects.sxt " + arguments + kQuick);
  }
  json recognized(const std::string& arguments) const {
    const Outcome outcome = recognize(arguments + " --json");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return json::parse(outcome.out);
  }
  /// The reason that the command gives, in one line.
  void expect_refused(const std::string& arguments, const std::string& part, int status = 1) const {
    const Outcome outcome = run("recognize " + arguments);
    EXPECT_EQ(outcome.status, status) << outcome.out;
    if (status == 1) {
      EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    }
    EXPECT_TRUE(testing::mentions(outcome.err, part));
  }

  Portrait portrait_{0};
};

TEST_F(RecognizeCli, FindsAToyInADepthMap) {
  const json found = recognized(
      "depth.png --camera camera.json --explain --overlay found.png --segment found.ply");
  EXPECT_EQ(keys_of(found), (std::set<std::string>{"frame", "device", "times_ms", "detections",
                                                   "rejected", "depth", "overlay", "segment"}));
  EXPECT_EQ(found.at("frame"), "depth.png");
  EXPECT_EQ(found.at("device"), "cpu");
  EXPECT_GT(found.at("times_ms").at("vote").get<double>(), 0);
  ASSERT_EQ(found.at("detections").size(), 1u);
  const json& toy = found.at("detections")[0];
  EXPECT_EQ(keys_of(toy),
            (std::set<std::string>{"object", "camera_from_object", "score", "covariance", "open",
                                   "visible", "occluded", "symmetric", "pixels"}));
  EXPECT_EQ(toy.at("object"), kNames[0]);
  expect_near(pose_of(toy.at("camera_from_object")), portrait_.camera_from_object);
  EXPECT_EQ(toy.at("covariance").size(), 36u);
  EXPECT_TRUE(toy.at("open").is_array());
  EXPECT_TRUE(toy.at("open").empty());
  EXPECT_GT(toy.at("visible").get<double>(), 0.8);
  EXPECT_EQ(toy.at("symmetric"), false);
  ASSERT_FALSE(found.at("rejected").empty());
  const json& rejected = found.at("rejected")[0];
  EXPECT_EQ(keys_of(rejected),
            (std::set<std::string>{"object", "camera_from_object", "score", "reason", "terms"}));
  EXPECT_FALSE(rejected.at("reason").get<std::string>().empty());
  EXPECT_TRUE(rejected.at("terms").contains("supported"));

  // The picture is grey but for what was found, and the cloud says the same of its points.
  const Image<Rgb8> picture = read_png(folder_ / "found.png");
  ASSERT_EQ(picture.width(), portrait_.camera.width);
  const auto is_colored = [](const Rgb8& c) { return std::max({c.x, c.y, c.z}) - c.x > 40; };
  const auto colored =
      std::count_if(picture.pixels().host().begin(), picture.pixels().host().end(), is_colored);
  EXPECT_GT(colored, toy.at("pixels").get<std::int64_t>() / 4);
  EXPECT_LT(colored, picture.pixels().size() / 2);
  const TriangleMesh cloud = read_geometry(folder_ / "found.ply");
  EXPECT_EQ(cloud.vertices.width, portrait_.camera.width);
  const Attribute* detection = find_attribute(cloud.vertices.attributes, "detection");
  ASSERT_NE(detection, nullptr);
  const auto numbers = detection->get<std::int32_t>().host();
  EXPECT_EQ(std::count(numbers.begin(), numbers.end(), 1), toy.at("pixels").get<std::int64_t>());
  EXPECT_EQ(std::count(numbers.begin(), numbers.end(), 0) + toy.at("pixels").get<std::int64_t>(),
            cloud.vertices.size());

  // People get a line for it; without --explain nothing is said of rejected poses.
  const Outcome text = recognize("depth.png --camera camera.json --only tasmanian_devil");
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_TRUE(testing::mentions(text.out, "1 found"));
  EXPECT_FALSE(text.out.find("rejected") != std::string::npos) << text.out;
  const json other = recognized("depth.png --camera camera.json --only tortoise");
  EXPECT_TRUE(other.at("detections").empty());
  EXPECT_TRUE(other.at("rejected").empty());
}

TEST_F(RecognizeCli, TellsHowFarItIsFromTheTruth) {
  const Rigid3d& pose = portrait_.camera_from_object;
  json rows = json::array();
  for (int i = 0; i < 3; ++i) {
    const Vec3d& r = pose.rotation.row[i];
    const double t[] = {pose.translation.x, pose.translation.y, pose.translation.z};
    rows.push_back({r.x, r.y, r.z, t[i]});
  }
  write_json_file(folder_ / "truth.json",
                  {{"objects",
                    {{{"name", kNames[0]}, {"camera_from_object", rows}},
                     {{"name", kNames[1]}, {"camera_from_object", rows}},
                     {{"name", "stranger"}, {"camera_from_object", rows}}}}});
  const json truth = recognized("depth.png --camera camera.json --truth truth.json").at("truth");
  ASSERT_EQ(truth.size(), 2u);
  EXPECT_EQ(truth[0].at("is"), "found");
  EXPECT_LT(truth[0].at("distance_m").get<double>(), 0.005);
  EXPECT_EQ(truth[1].at("object"), kNames[1]);
  EXPECT_EQ(truth[1].at("is"), "missed");
}

TEST_F(RecognizeCli, CloudsHaveThePoseInTheirOwnFrame) {
  const Context host = Context::cpu();
  Cloud cloud = surface_from_depth(host, portrait_.depth_m, portrait_.camera);
  // Rows of a camera that stands somewhere in the frame of a room.
  const Rigid3d room_from_camera{exp_rotation(Vec3d{-1.2, 0.4, 0.3}), {1.5, -0.7, 1.1}};
  Cloud in_room = copy(host, cloud);
  in_room.points = transform_points(host, room_from_camera, cloud.points);
  TriangleMesh file;
  file.vertices = std::move(in_room);
  ASSERT_TRUE(write_geometry(folder_ / "room.ply", file).empty());
  const json room = recognized("room.ply --only tasmanian_devil");
  ASSERT_EQ(room.at("detections").size(), 1u);
  expect_near(pose_of(room.at("detections")[0].at("camera_from_object")),
              portrait_.camera_from_object);
  expect_near(pose_of(room.at("detections")[0].at("scene_from_object")),
              room_from_camera * portrait_.camera_from_object);
  expect_near(pose_of(room.at("scene_from_camera")), room_from_camera);
  // Points in any order, in the axes of a camera, and the segments of these points.
  cloud.width = cloud.height = 0;
  file.vertices = copy(host, cloud);
  ASSERT_TRUE(write_geometry(folder_ / "points.ply", file).empty());
  const json points = recognized("points.ply --segment segments.ply --only tasmanian_devil");
  ASSERT_EQ(points.at("detections").size(), 1u);
  expect_near(pose_of(points.at("detections")[0].at("scene_from_object")),
              portrait_.camera_from_object);
  const TriangleMesh segments = read_geometry(folder_ / "segments.ply");
  ASSERT_EQ(segments.vertices.size(), cloud.size());
  const Attribute* detection = find_attribute(segments.vertices.attributes, "detection");
  ASSERT_NE(detection, nullptr);
  std::int64_t on_toy = 0, behind = 0;
  for (std::int64_t i = 0; i < cloud.size(); ++i) {
    if (detection->get<std::int32_t>().data()[i] == 0) continue;
    ++on_toy;
    behind += cloud.points.data()[i].z > 0.95f;
  }
  EXPECT_GT(on_toy, 1000);
  EXPECT_LT(behind, on_toy / 50);
  // Points all round the origin do not tell from where they are seen.
  for (Vec3f& p : file.vertices.points.host()) p.z -= 1.0f;
  ASSERT_TRUE(write_geometry(folder_ / "round.ply", file).empty());
  expect_refused("objects.sxt round.ply", "--viewpoint-m");
  const json seen = recognized("round.ply --viewpoint-m 0 0 -1 --only tasmanian_devil");
  ASSERT_EQ(seen.at("detections").size(), 1u);
  Rigid3d moved = portrait_.camera_from_object;
  moved.translation.z -= 1.0;
  expect_near(pose_of(seen.at("detections")[0].at("scene_from_object")), moved);
}

TEST_F(RecognizeCli, DoubtsObjectsThatWereLearnedWithoutClutter) {
  LearnedObject bare = learned(0);
  bare.lookalikes = {};
  Library(folder_ / "objects.sxt").put(bare);
  const Outcome outcome = recognize("depth.png --camera camera.json");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(testing::mentions(outcome.err, "1 of its objects were learned without clutter"));
}

TEST_F(RecognizeCli, SaysWhenLookalikesAreOfAnotherVersion) {
  LearnedObject older = learned(0);
  older.lookalikes = {1, 1, copy(Context::cpu(), std::vector<float>(1))};
  Library(folder_ / "objects.sxt").put(older);
  const auto is_told = [&](const std::string& options) {
    const Outcome outcome = recognize("depth.png --camera camera.json" + options);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return testing::mentions(outcome.err,
                             "what passes for 1 of its objects was learned by another");
  };
  EXPECT_TRUE(is_told(""));
  EXPECT_TRUE(is_told(std::string(" --only ") + kNames[0]));
  EXPECT_FALSE(is_told(std::string(" --only ") + kNames[1]));
}

TEST_F(RecognizeCli, FoldersOfFrames) {
  fs::create_directories(folder_ / "frames");
  const Portrait second(1, -0.05);
  write_portrait(second, "frames/b.png");
  write_portrait(portrait_, "frames/a.png");
  std::ofstream(folder_ / "frames/notes.txt") << "none\n";
  const Outcome outcome =
      recognize("frames --camera camera.json --overlay pictures --segment clouds --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(testing::mentions(outcome.err, "notes.txt"));
  const json all = json::parse(outcome.out);
  EXPECT_EQ(all.at("library"), "objects.sxt");
  ASSERT_EQ(all.at("frames").size(), 2u);
  for (int i = 0; i < 2; ++i) {
    const json& frame = all.at("frames")[static_cast<std::size_t>(i)];
    EXPECT_EQ(frame.at("frame"), i == 0 ? "frames/a.png" : "frames/b.png");
    ASSERT_EQ(frame.at("detections").size(), 1u);
    EXPECT_EQ(frame.at("detections")[0].at("object"), kNames[i]);
  }
  for (const char* file : {"pictures/a.png", "pictures/b.png", "clouds/a.ply", "clouds/b.ply"}) {
    EXPECT_TRUE(fs::exists(folder_ / file)) << file;
  }
  // One that cannot be read does not stop the others, and the command says that it failed.
  std::ofstream(folder_ / "frames/0.png") << testing::text_of(folder_ / "depth.png").substr(0, 99);
  const Outcome broken = recognize("frames --camera camera.json --only tortoise --json");
  EXPECT_EQ(broken.status, 1);
  const json frames = json::parse(broken.out).at("frames");
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_TRUE(frames[0].contains("error"));
  EXPECT_EQ(frames[2].at("detections").size(), 1u);
}

TEST_F(RecognizeCli, SaysWhatIsWrongBeforeItWorks) {
  const std::string with_camera = "depth.png --camera camera.json";
  expect_refused("objects.sxt depth.png", "--camera");
  expect_refused("nowhere.sxt " + with_camera, "nowhere.sxt");
  expect_refused("objects.sxt nothing.png --camera camera.json", "nothing.png");
  expect_refused("objects.sxt " + with_camera + " --only apple", "no object 'apple'");
  expect_refused("objects.sxt " + with_camera + " --overlay found.txt", ".png");
  expect_refused("objects.sxt " + with_camera + " --viewpoint-m 0 0 0", "no effect");
  expect_refused("objects.sxt " + with_camera + " --color depth.png", "--overlay", 2);
  expect_refused("objects.sxt " + with_camera + " --segment depth.png", "--segment");
  {
    Camera small = portrait_.camera;
    small.width /= 2;
    write_camera_json(folder_ / "small.json", {small, 1000 * kUnit_m});
  }
  expect_refused("objects.sxt depth.png --camera small.json", "160");
  // Steps of a micrometre make a depth of millimetres, which nobody believes.
  write_camera_json(folder_ / "unit.json", {portrait_.camera, 0.001});
  expect_refused("objects.sxt depth.png --camera unit.json", "unit");
  // A library that has lost its objects.
  Library library(folder_ / "empty.sxt");
  library.put(toys()[0]);
  library.remove(kNames[0]);
  expect_refused("empty.sxt " + with_camera, "no objects");
}

TEST_F(RecognizeCli, SaysHowFarTheFrameIsAndDoubtsAnotherScale) {
  const json right = recognized("depth.png --camera camera.json");
  EXPECT_EQ(right.at("depth").at("unit_m"), kUnit_m);
  EXPECT_EQ(right.at("depth").at("unit_from"), "camera.json");
  EXPECT_NEAR(right.at("depth").at("median_m").get<double>(), 1, 1e-3);
  EXPECT_FALSE(right.contains("notes"));
  // A hundred times too far the toys are specks, and a hundred times too near they fill the
  // picture.
  const Outcome far = recognize("depth.png --camera camera.json --unit-m 0.01");
  EXPECT_EQ(far.status, 0);
  EXPECT_TRUE(testing::mentions(far.out, "median 100.000 m, 0.01 m a step (--unit-m)"));
  EXPECT_TRUE(testing::mentions(far.err, "pixels wide; is the unit of the file right"));
  const Outcome near = recognize("depth.png --camera camera.json --unit-m 0.000001");
  EXPECT_TRUE(testing::mentions(near.err, "the smallest object"));
}

/// Ctrl-C in the third of many frames leaves what was found in the first two.
TEST_F(RecognizeCli, AStopKeepsWhatWasFound) {
  fs::create_directories(folder_ / "frames");
  for (int i = 0; i < 300; ++i) {
    fs::create_symlink("../depth.png", folder_ / ("frames/" + std::to_string(1000 + i) + ".png"));
  }
  EXPECT_EQ(shell("(\"$SEXTANT\" recognize objects.sxt frames --camera camera.json" + kQuick +
                  " >found.txt 2>err.txt & p=$!; until grep -q 1001.png found.txt; do sleep 0.05; "
                  "done; kill -INT $p; wait $p)"),
            130);
  const std::string found = testing::text_of(folder_ / "found.txt");
  EXPECT_TRUE(testing::mentions(found, "frames/1000.png: 1 found"));
  EXPECT_FALSE(found.find("frames/1299.png") != std::string::npos);
}

TEST_F(RecognizeCli, NothingIsFoundWhereNothingIs) {
  const auto expect_nothing = [&](float depth_m) {
    Image<float> map(Context::cpu(), portrait_.camera.width, portrait_.camera.height);
    for (float& z : map.pixels().host()) z = depth_m;
    write_depth_png(folder_ / "flat.png", map, {kUnit_m});
    const Outcome outcome = run("recognize objects.sxt flat.png --camera camera.json");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(testing::mentions(outcome.out, "nothing known was found"));
  };
  expect_nothing(NAN);
  expect_nothing(0.8f);
}

/// A tiny set in the layout of BOP with a frame of each toy.
class EvalLibraryCli : public RecognizeCli {
 protected:
  void prepare() override {
    RecognizeCli::prepare();
    fs::create_directories(folder_ / "set/models");
    json infos = json::object();
    BopScene scene;
    scene.id = 1;
    scene.folder = folder_ / "set/test/000001";
    scene.has_truth = true;
    fs::create_directories(scene.folder / "depth");
    for (int i = 0; i < 2; ++i) {
      const LearnedObject& toy = toys()[static_cast<std::size_t>(i)];
      TriangleMesh in_mm = copy(Context::cpu(), toy.mesh);
      for (Vec3f& p : in_mm.vertices.points.host()) p = p * 1000.0f;
      ASSERT_TRUE(
          write_geometry(folder_ / ("set/models/obj_" + bop_name(i + 1) + ".ply"), in_mm).empty());
      infos[std::to_string(i + 1)] = {{"diameter", 1000 * toy.diameter_m}};
      const Portrait portrait(i, 0.02 * i);
      write_depth_png(scene.folder / "depth" / (bop_name(i) + ".png"), portrait.depth_m, {kUnit_m});
      BopImage image;
      image.id = i;
      image.camera = {portrait.camera, 1000 * kUnit_m};
      image.truth.push_back({i + 1, portrait.camera_from_object});
      scene.images.push_back(std::move(image));
    }
    write_json_file(folder_ / "set/models/models_info.json", infos);
    write_bop_scene(scene);
  }
};

TEST_F(EvalLibraryCli, FindsAndJudges) {
  const std::string command =
      "eval set --library objects.sxt --tiles 0 --json" + kQuick + " --out ";
  const Outcome first = run(command + "one");
  ASSERT_EQ(first.status, 0) << first.err;
  const json evaluation = json::parse(first.out).at("evaluation");
  EXPECT_EQ(evaluation.at("all").at("right"), 2);
  EXPECT_EQ(evaluation.at("all").at("false"), 0);
  const std::vector<BopResult> results = read_bop_results(folder_ / "one/results.csv");
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].object_id, 1);
  EXPECT_GT(results[0].seconds, 0);
  const auto expect_same = [&](const char* folder) {
    const std::vector<BopResult> other =
        read_bop_results(folder_ / (std::string(folder) + "/results.csv"));
    ASSERT_EQ(other.size(), results.size());
    for (std::size_t i = 0; i < other.size(); ++i) {
      EXPECT_EQ(other[i].image_id, results[i].image_id);
      EXPECT_EQ(other[i].score, results[i].score);
      const Vec3d difference =
          other[i].camera_from_object.translation - results[i].camera_from_object.translation;
      EXPECT_EQ(norm(difference), 0);
    }
  };
  // Any number of workers finds the same, and a run that lost its last line goes on from there.
  ASSERT_EQ(run(command + "two --workers 2").status, 0);
  expect_same("two");
  const std::string lines = testing::text_of(folder_ / "one/recognized.jsonl");
  const std::string kept = lines.substr(0, lines.find('\n') + 1);
  ASSERT_LT(kept.size(), lines.size());
  std::ofstream(folder_ / "one/recognized.jsonl") << kept;
  ASSERT_EQ(run(command + "one").status, 0);
  expect_same("one");
  const std::string again = testing::text_of(folder_ / "one/recognized.jsonl");
  EXPECT_EQ(again.rfind(kept, 0), 0u);
  EXPECT_EQ(std::count(again.begin(), again.end(), '\n'), 2);

  EXPECT_EQ(run("eval set --out r").status, 2);
  EXPECT_EQ(run("eval set --out r --results one/results.csv --library objects.sxt").status, 2);
  EXPECT_EQ(run("eval set --out r --results one/results.csv --workers 2").status, 2);
  // An object that the set does not have.
  LearnedObject stranger = learned(1);
  stranger.name = "stranger";
  stranger.bop_id = 0;
  Library(folder_ / "objects.sxt").put(stranger);
  const Outcome unknown = run(command + "three");
  EXPECT_EQ(unknown.status, 1);
  EXPECT_TRUE(testing::mentions(unknown.err, "'stranger' has no number"));
}

}  // namespace
}  // namespace sextant
