// SPDX-License-Identifier: Apache-2.0
#include "sextant/library/resident.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/devices.h"
#include "tests/error_message.h"
#include "tests/learned_objects.h"
#include "tests/same_learned_object.h"
#include "tests/temporary_folder.h"

namespace sextant {
namespace {

using testing::make_learned_object;
using testing::seed_of_test;

/// The elements of one object in a list of all.
template <class T>
std::vector<T> segment(const Context& context, const Buffer<T>& all,
                       const Buffer<std::int32_t>& ends, std::size_t object, int width = 1) {
  const std::vector<std::int32_t> end = to_host(context, ends);
  const std::vector<T> elements = to_host(context, all);
  const auto first = elements.begin() + (object == 0 ? 0 : width * end[object - 1]);
  return std::vector<T>(first, elements.begin() + width * end[object]);
}

template <class T>
void expect_bits(const std::vector<T>& found, const Buffer<T>& expected, const char* what) {
  ASSERT_EQ(static_cast<std::int64_t>(found.size()), expected.size()) << what;
  if (found.empty()) return;
  EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.size() * sizeof(T)), 0) << what;
}

/// Three objects, of which the second was learned on another scale.
std::vector<LearnedObject> make_objects() {
  std::vector<LearnedObject> objects;
  for (const char* name : {"milk", "table", "tea"}) {
    objects.push_back(make_learned_object(name, seed_of_test() + objects.size(),
                                          {.tensors = 30 + 7 * static_cast<int>(objects.size())}));
  }
  objects[1].shot.radius_m *= 2;
  objects[1].tensors.resolution_m *= 2;
  return objects;
}

void expect_tensors(const Context& context, const ResidentLibrary& resident, std::size_t object,
                    std::size_t group, const LearnedTensors& expected) {
  const ResidentTensors& tensors = resident.tensors[group];
  expect_bits(segment(context, tensors.set.masks, tensors.ends, object), expected.set.masks,
              "masks");
  expect_bits(segment(context, tensors.set.frames, tensors.ends, object), expected.set.frames,
              "frames");
  expect_bits(segment(context, tensors.views, tensors.ends, object), expected.views, "views");
  for (const std::int32_t number : segment(context, tensors.objects, tensors.ends, object)) {
    EXPECT_EQ(number, static_cast<std::int32_t>(object));
  }
  // Wherever the bins of all objects lie, each tensor finds its own.
  const auto firsts = segment(context, tensors.set.first, tensors.ends, object);
  const auto sizes = segment(context, tensors.set.sizes, tensors.ends, object);
  const auto indices = to_host(context, tensors.set.indices);
  const auto values = to_host(context, tensors.set.values);
  for (std::size_t t = 0; t < firsts.size(); ++t) {
    ASSERT_EQ(sizes[t], expected.set.sizes.host()[t]);
    for (std::int64_t e = 0; e < sizes[t]; ++e) {
      const auto own = static_cast<std::size_t>(expected.set.first.host()[t] + e);
      const auto place = static_cast<std::size_t>(firsts[t] + e);
      ASSERT_EQ(indices[place], expected.set.indices.host()[own]);
      ASSERT_EQ(values[place], expected.set.values.host()[own]);
    }
  }
}

TEST(ResidentLibrary, HoldsWhatTheObjectsHold) {
  const testing::TemporaryFolder folder;
  const std::vector<LearnedObject> objects = make_objects();
  Library library(folder / "objects.sxt");
  for (const LearnedObject& object : objects) library.put(object);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    std::int64_t reported = 0;
    const ResidentLibrary resident =
        load_resident(context, library, {}, [&](std::int64_t done, std::int64_t total) {
          EXPECT_EQ(total, 3);
          EXPECT_EQ(done, ++reported);
          return true;
        });
    EXPECT_EQ(reported, 3);
    ASSERT_EQ(resident.objects.size(), 3u);
    ASSERT_EQ(resident.shot.size(), 2u);
    ASSERT_EQ(resident.tensors.size(), 2u);
    EXPECT_EQ(resident.shot[1].radius_m, objects[1].shot.radius_m);
    EXPECT_EQ(resident.tensors[1].resolution_m, objects[1].tensors.resolution_m);
    ASSERT_EQ(resident.meshes.size(), 3u);
    EXPECT_EQ(resident.meshes[2].device(), context.device());
    for (std::size_t i = 0; i < objects.size(); ++i) {
      SCOPED_TRACE(objects[i].name);
      EXPECT_EQ(resident.objects[i].name, objects[i].name);
      EXPECT_EQ(resident.objects[i].diameter_m, objects[i].diameter_m);
      EXPECT_EQ(resident.objects[i].leaf_m, objects[i].samples.leaf_m);
      testing::learned::expect_same(resident.objects[i].views, objects[i].views);
      testing::learned::expect_same(resident.objects[i].shape_symmetries,
                                    objects[i].shape_symmetries);
      const ResidentSamples& samples = resident.samples;
      expect_bits(segment(context, samples.points, samples.ends, i), objects[i].samples.points,
                  "samples");
      expect_bits(segment(context, samples.normals, samples.ends, i), objects[i].samples.normals,
                  "normals");
      const std::size_t group = i == 1 ? 1 : 0;
      const ResidentShot& shot = resident.shot[group];
      expect_bits(segment(context, shot.points, shot.ends, i), objects[i].shot.points, "points");
      expect_bits(segment(context, shot.frames, shot.ends, i, 3), objects[i].shot.frames, "frames");
      expect_bits(segment(context, shot.values, shot.ends, i, 352), objects[i].shot.values,
                  "values");
      EXPECT_TRUE(
          segment(context, resident.shot[1 - group].points, resident.shot[1 - group].ends, i)
              .empty());
      expect_tensors(context, resident, i, group, objects[i].tensors);
      expect_bits(
          segment(context, resident.appearance.descriptors, resident.appearance.ends, i, 128),
          objects[i].appearance.descriptors, "descriptors");
    }
  }
}

TEST(ResidentLibrary, IsTheSameOfAFileAndOfMemory) {
  const testing::TemporaryFolder folder;
  const std::vector<LearnedObject> objects = make_objects();
  Library library(folder / "objects.sxt");
  for (const LearnedObject& object : objects) library.put(object);
  const Context context = Context::cpu();
  ObjectParts parts;
  parts.tensors = false;
  const ResidentLibrary read = load_resident(context, library, parts);
  const ResidentLibrary made = make_resident(context, objects, parts);
  EXPECT_EQ(made.bytes().total(), read.bytes().total());
  EXPECT_TRUE(made.tensors.empty());
  ASSERT_EQ(made.shot.size(), read.shot.size());
  for (std::size_t i = 0; i < made.shot.size(); ++i) {
    expect_bits(to_host(context, made.shot[i].values), read.shot[i].values, "values");
    expect_bits(to_host(context, made.shot[i].ends), read.shot[i].ends, "ends");
  }
  ASSERT_EQ(made.objects.size(), 3u);
  EXPECT_EQ(made.objects[1].low_m, read.objects[1].low_m);
  EXPECT_EQ(made.objects[1].leaf_m, read.objects[1].leaf_m);
}

TEST(ResidentLibrary, CountsItsBytes) {
  const testing::TemporaryFolder folder;
  Library library(folder / "objects.sxt");
  library.put(make_learned_object("milk", seed_of_test()));
  const ResidentLibrary resident = load_resident(Context::cpu(), library);
  const ResidentBytes bytes = resident.bytes();
  EXPECT_EQ(bytes.meshes, 0);
  EXPECT_EQ(bytes.samples, 200 * 24 + 4);
  EXPECT_EQ(bytes.shot, 40 * (12 + 36 + 352 * 4) + 4);
  EXPECT_EQ(bytes.appearance, 20 * (12 + 128) + 4);
  EXPECT_EQ(bytes.total(), bytes.samples + bytes.shot + bytes.tensors + bytes.appearance);
}

TEST(ResidentLibrary, IsEmptyBeforeAnythingWasLearned) {
  const testing::TemporaryFolder folder;
  const ResidentLibrary resident = load_resident(Context::cpu(), Library(folder / "objects.sxt"));
  EXPECT_TRUE(resident.objects.empty());
  EXPECT_TRUE(resident.shot.empty());
  EXPECT_EQ(resident.bytes().total(), 0);
}

TEST(ResidentLibrary, StopsWhenAskedTo) {
  const testing::TemporaryFolder folder;
  Library library(folder / "objects.sxt");
  for (const LearnedObject& object : make_objects()) library.put(object);
  EXPECT_THROW(load_resident(Context::cpu(), library, parts_to_match(),
                             [](std::int64_t, std::int64_t) { return false; }),
               Cancelled);
  // What was held for reading is free again.
  library.remove("milk");
  EXPECT_EQ(library.list().size(), 2u);
}

}  // namespace
}  // namespace sextant
