// SPDX-License-Identifier: Apache-2.0
#include "sextant/library/library.h"

#include <gtest/gtest.h>

#include "sextant/io/file.h"
#include "tests/devices.h"
#include "tests/error_message.h"
#include "tests/learned_objects.h"
#include "tests/same_learned_object.h"
#include "tests/temporary_folder.h"

namespace sextant {
namespace {

using testing::error_message;
using testing::expect_same_object;
using testing::make_learned_object;
using testing::mentions;
using testing::seed_of_test;

class LibraryFile : public ::testing::Test {
 protected:
  std::filesystem::path file() const { return folder_ / "objects.sxt"; }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder_.path()), {}));
  }
  testing::TemporaryFolder folder_;
};

TEST_F(LibraryFile, GivesBackWhatWasPut) {
  const LearnedObject milk = make_learned_object("milk", seed_of_test());
  const LearnedObject tea = make_learned_object("Tee für alle 茶", seed_of_test() + 1);
  {
    Library library(file());
    EXPECT_TRUE(library.list().empty());
    EXPECT_FALSE(library.contains("milk"));
    EXPECT_EQ(files(), 0u);
    library.put(milk);
    library.put(tea);
    expect_same_object(library.load("milk"), milk);
  }
  const Library again(file(), LibraryAccess::kRead);
  expect_same_object(again.load("milk"), milk);
  expect_same_object(again.load(tea.name), tea);
  again.verify();
  // One file and no more: nothing that a copy would miss.
  EXPECT_EQ(files(), 1u);
}

TEST_F(LibraryFile, KeepsTexturesAndSeams) {
  LearnedObject object = make_learned_object("card", seed_of_test());
  const Context cpu = Context::cpu();
  TriangleMesh& mesh = object.mesh;
  mesh.vertices.origin_m = {1e6, -2e6, 3.25};
  mesh.texture_coordinates = copy(cpu, std::vector<Vec2f>{{0, 0}, {1, 0.5f}, {0.25f, 1}});
  mesh.texture_triangles = Buffer<Vec3i>(cpu, mesh.triangles.size());
  mesh.normal_triangles = Buffer<Vec3i>(cpu, mesh.triangles.size());
  mesh.corner_normals = copy(cpu, std::vector<Vec3f>{{0, 0, 1}});
  mesh.triangle_materials = Buffer<std::int32_t>(cpu, mesh.triangles.size());
  for (std::int64_t i = 0; i < mesh.triangles.size(); ++i) {
    mesh.texture_triangles.data()[i] = {0, 1, 2};
    mesh.normal_triangles.data()[i] = {0, 0, 0};
    mesh.triangle_materials.data()[i] = static_cast<std::int32_t>(i % 2);
  }
  mesh.materials.push_back({"papier \"é\"", {1, 0.1f, 0.3f}, "card.png", Image<Rgb8>(cpu, 5, 3)});
  for (int i = 0; i < 15; ++i) {
    mesh.materials[0].texture.pixels().data()[i] = {static_cast<std::uint8_t>(17 * i), 3, 250};
  }
  mesh.materials.push_back({"plain", {0.5f, 0.5f, 0.5f}, "", {}});
  Library library(file());
  library.put(object);
  expect_same_object(library.load("card"), object);
}

TEST_F(LibraryFile, KeepsObjectsWithoutParts) {
  LearnedObject object;
  object.name = "nothing";
  Library library(file());
  library.put(object);
  expect_same_object(library.load("nothing"), object);
  const ObjectEntry entry = library.entry("nothing");
  EXPECT_EQ(entry.triangles, 0);
  EXPECT_EQ(entry.high_m, (Vec3f{0, 0, 0}));
}

TEST_F(LibraryFile, LoadsThePartsThatAreWanted) {
  const LearnedObject milk = make_learned_object("milk", seed_of_test());
  Library library(file());
  library.put(milk);
  ObjectParts wanted = ObjectParts::none();
  wanted.shot = true;
  const LearnedObject part = library.load("milk", wanted);
  EXPECT_EQ(part.shot.points.size(), 40);
  EXPECT_EQ(part.diameter_m, milk.diameter_m);
  EXPECT_TRUE(part.mesh.vertices.points.empty());
  EXPECT_TRUE(part.views.empty());
  EXPECT_TRUE(part.tensors.views.empty());
  wanted = ObjectParts::none();
  wanted.tensors = true;  // the views that tensors name are checked without being loaded
  EXPECT_EQ(library.load("milk", wanted).tensors.views.size(), 60);
}

TEST_F(LibraryFile, SaysWhatThereIs) {
  const LearnedObject milk = make_learned_object("milk", seed_of_test());
  Library library(file());
  library.put(make_learned_object("tea", seed_of_test() + 1));
  library.put(milk);
  const std::vector<ObjectEntry> entries = library.list();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].name, "tea");
  const ObjectEntry& entry = entries[1];
  EXPECT_EQ(entry.name, "milk");
  EXPECT_EQ(entry.bop_id, 7);
  EXPECT_EQ(entry.source.remarks, milk.source.remarks);
  EXPECT_EQ(entry.diameter_m, milk.diameter_m);
  EXPECT_EQ(entry.vertices, 25 * 48);
  EXPECT_EQ(entry.triangles, 2 * 24 * 48);
  EXPECT_EQ(entry.views, 8);
  EXPECT_EQ(entry.samples, 200);
  EXPECT_EQ(entry.leaf_m, 0.004f);
  EXPECT_EQ(entry.shot, 40);
  EXPECT_EQ(entry.shot_length, 352);
  EXPECT_EQ(entry.shot_radius_m, 0.015f);
  EXPECT_EQ(entry.tensors, 60);
  EXPECT_EQ(entry.tensor_elements, milk.tensors.set.indices.size());
  EXPECT_EQ(entry.tensor_bins, 10);
  EXPECT_EQ(entry.tensor_resolution_m, 0.001f);
  EXPECT_EQ(entry.appearance, 20);
  EXPECT_EQ(entry.lookalikes, 6);
  EXPECT_EQ(entry.shape_symmetries.continuous.size(), 1u);
  EXPECT_EQ(entry.low_m, bounds(Context::cpu(), milk.mesh.vertices.points).low);
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(file()));
  EXPECT_GT(entry.stored_bytes, 20 * 128);
  EXPECT_LT(entry.stored_bytes + entries[0].stored_bytes, bytes);
}

TEST_F(LibraryFile, ReplacesAndRemoves) {
  Library library(file());
  library.put(make_learned_object("milk", seed_of_test()));
  library.put(make_learned_object("tea", seed_of_test() + 1));
  LearnedObject smaller = make_learned_object("milk", seed_of_test() + 2);
  smaller.shot = {};
  library.put(smaller);
  expect_same_object(library.load("milk"), smaller);
  ASSERT_EQ(library.list().size(), 2u);
  EXPECT_EQ(library.list()[0].name, "milk");  // in its old place
  library.remove("milk");
  EXPECT_FALSE(library.contains("milk"));
  EXPECT_TRUE(mentions(error_message([&] { library.load("milk"); }), "has no object \"milk\""));
  EXPECT_TRUE(mentions(error_message([&] { library.remove("milk"); }), "has no object \"milk\""));
  library.verify();

  // Space is used again: what was removed and put anew does not make the file grow.
  const auto bytes = std::filesystem::file_size(file());
  for (int turn = 0; turn < 5; ++turn) {
    library.put(make_learned_object("milk", seed_of_test()));
    library.remove("milk");
  }
  EXPECT_EQ(std::filesystem::file_size(file()), bytes);
}

TEST_F(LibraryFile, ForgetsWhatWasRemoved) {
  Library library(file());
  library.put(make_learned_object("tea", seed_of_test() + 1));
  LearnedObject secret = make_learned_object("secret", seed_of_test());
  secret.source.file = "drawing-of-the-new-product.ply";
  library.put(secret);
  library.remove("secret");
  const FileBytes bytes = read_file(file());
  EXPECT_EQ(bytes.text().find("drawing-of-the-new-product"), std::string_view::npos);
}

TEST_F(LibraryFile, ChecksNames) {
  for (const char* good : {"milk", "a", "Äpfel", "茶", "with space", "quo'te\"", "%_;--"}) {
    EXPECT_NO_THROW(check_object_name(good)) << good;
  }
  EXPECT_NO_THROW(check_object_name(std::string(200, 'x')));
  EXPECT_TRUE(mentions(error_message([] { check_object_name(""); }), "needs one"));
  EXPECT_TRUE(
      mentions(error_message([] { check_object_name(std::string(201, 'x')); }), "201 bytes"));
  for (const char* control : {"a\nb", "\x7f", "\xc2\x85", "tab\t"}) {
    EXPECT_TRUE(mentions(error_message([&] { check_object_name(control); }), "control character"));
  }
  for (const char* bad :
       {"\xff", "\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "a\x80"}) {
    EXPECT_TRUE(mentions(error_message([&] { check_object_name(bad); }), "UTF-8"));
  }
  Library library(file());
  LearnedObject object = make_learned_object("quo'te\"; DROP TABLE object; --", seed_of_test());
  library.put(object);
  EXPECT_TRUE(library.contains(object.name));
  object.name = "";
  EXPECT_THROW(library.put(object), Error);
  EXPECT_EQ(library.list().size(), 1u);
}

/// Each of these leaves the library as it was.
TEST_F(LibraryFile, RefusesObjectsThatDoNotHoldTogether) {
  Library library(file());
  library.put(make_learned_object("milk", seed_of_test()));
  const Context cpu = Context::cpu();
  const auto refused = [&](const auto& spoil, const std::string& why) {
    LearnedObject object = make_learned_object("tea", seed_of_test());
    spoil(object);
    EXPECT_TRUE(mentions(error_message([&] { library.put(object); }), why));
  };
  refused([&](auto& o) { o.samples.normals = Buffer<Vec3f>(cpu, 3); },
          "tea, samples: normals has 3 elements instead of 200");
  refused([](auto& o) { o.samples.leaf_m = NAN; }, "leaf_m is nan");
  refused([](auto& o) { o.shot.length = 351; }, "values has 14080 elements instead of 14040");
  refused([](auto& o) { o.shot.radius_m = 0; }, "radius_m is 0");
  refused([](auto& o) { o.mesh.triangles.host()[5].y = 100000; }, "vertex 100000");
  refused([](auto& o) { o.tensors.views.host()[0] = 8; }, "a tensor of view 8");
  refused([](auto& o) { o.tensors.set.indices.host()[0] = 999; }, "out of order");
  refused([](auto& o) { o.tensors.set.values.host()[0] = -1; }, "area -1");
  refused([](auto& o) { o.tensors.set.masks.host()[0].words[3] ^= 4; }, "the mask of tensor 0");
  refused([](auto& o) { o.diameter_m = INFINITY; }, "diameter_m");
  refused([](auto& o) { o.views[2].camera.fx_px = NAN; }, "fx");
  refused([](auto& o) { o.views[2].camera_from_object.rotation.row[0].x = 3; }, "no rigid motion");
  refused([&](auto& o) { o.appearance.descriptors = Buffer<std::uint8_t>(cpu, 7); },
          "descriptors has 7");
  refused([](auto& o) { o.lookalikes.length = 4; }, "no whole number of frames");
  refused([](auto& o) { o.lookalikes.frame_poses = 0; }, "a frame has 0 poses");
  EXPECT_EQ(library.list().size(), 1u);
  library.verify();
}

TEST_F(LibraryFile, KeepsEverySpecialNumber) {
  LearnedObject object = make_learned_object("odd", seed_of_test());
  const auto values = object.shot.values.host();
  values[0] = NAN;
  values[1] = -0.0f;
  values[2] = INFINITY;
  values[3] = 1e-42f;
  object.tensors.set.frames.host()[0].angle_rad = NAN;
  object.tensors.set.values.host()[0] = 4096.0f;   // the largest, which 32 bits cannot count
  object.tensors.set.values.host()[1] = 1.0f / 3;  // not a multiple of 2⁻²⁰
  Library library(file());
  library.put(object);
  expect_same_object(library.load("odd"), object);
}

TEST_F(LibraryFile, IsTheSameByteForByte) {
  const auto learn = [&](const std::filesystem::path& path) {
    Library library(path);
    library.put(make_learned_object("milk", seed_of_test()));
    library.put(make_learned_object("tea", seed_of_test() + 1));
  };
  learn(folder_ / "a.sxt");
  learn(folder_ / "b.sxt");
  const auto same = [&] {
    return read_file(folder_ / "a.sxt").text() == read_file(folder_ / "b.sxt").text();
  };
  EXPECT_TRUE(same());
  // Also after the same changes, made through one connection or through several.
  {
    Library a(folder_ / "a.sxt");
    a.put(make_learned_object("tea", seed_of_test() + 2, {.tensors = 500}));
    a.remove("milk");
    a.put(make_learned_object("coffee", seed_of_test() + 3));
  }
  Library(folder_ / "b.sxt").put(make_learned_object("tea", seed_of_test() + 2, {.tensors = 500}));
  Library(folder_ / "b.sxt").remove("milk");
  Library(folder_ / "b.sxt").put(make_learned_object("coffee", seed_of_test() + 3));
  EXPECT_TRUE(same());
}

TEST_F(LibraryFile, LoadsAllInOrder) {
  Library library(file());
  for (std::uint64_t i = 0; i < 23; ++i) {
    library.put(make_learned_object("object " + std::to_string(i), seed_of_test() + i,
                                    {.rings = 4, .shot = 3, .tensors = 4}));
  }
  for (const int threads : {1, 2, 7}) {
    std::int64_t next = 0;
    library.load_all(
        Context::cpu(threads), {},
        {[](const std::vector<ObjectEntry>& entries) { EXPECT_EQ(entries.size(), 23u); },
         [&](std::int64_t number, LearnedObject object) {
           EXPECT_EQ(number, next++);
           EXPECT_EQ(object.name, "object " + std::to_string(number));
         }});
    EXPECT_EQ(next, 23);
  }
}

TEST_F(LibraryFile, RefusesToWriteWhatWasOpenedForReading) {
  Library(file()).put(make_learned_object("milk", seed_of_test()));
  Library library(file(), LibraryAccess::kRead);
  const LearnedObject tea = make_learned_object("tea", seed_of_test());
  EXPECT_TRUE(mentions(error_message([&] { library.put(tea); }), "opened for reading only"));
  EXPECT_TRUE(mentions(error_message([&] { library.remove("milk"); }), "opened for reading only"));
  EXPECT_EQ(library.list().size(), 1u);
}

}  // namespace
}  // namespace sextant
