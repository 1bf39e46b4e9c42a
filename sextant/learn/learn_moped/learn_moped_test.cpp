// SPDX-License-Identifier: Apache-2.0
#include "sextant/learn/learn_moped.h"

#include <gtest/gtest.h>

#include "sextant/library/library.h"
#include "tests/error_message.h"
#include "tests/moped_models.h"
#include "tests/shared_data.h"
#include "tests/temporary_folder.h"

namespace sextant {
namespace {

using testing::error_message;
using testing::make_moped_box;
using testing::mentions;

TEST(LearnMoped, KeepsPointsDescriptorsAndColours) {
  const MopedModel model = make_moped_box("tea", 0.1f);
  const LearnedObject object = learn_moped(model);
  EXPECT_EQ(object.name, "tea");
  EXPECT_EQ(object.source.kind, "moped");
  // The box is 0.1, 0.2 and 0.3 m long, and two of its points are opposite corners.
  EXPECT_NEAR(object.diameter_m, std::sqrt(0.14), 1e-7);
  ASSERT_EQ(object.appearance.points.size(), 8);
  EXPECT_TRUE(
      std::equal(model.points_m.begin(), model.points_m.end(), object.appearance.points.data()));
  EXPECT_TRUE(std::equal(model.descriptors.begin(), model.descriptors.end(),
                         object.appearance.descriptors.data()));
  EXPECT_TRUE(
      std::equal(model.colors.begin(), model.colors.end(), object.mesh.vertices.colors.data()));
  EXPECT_TRUE(object.mesh.triangles.empty());
  EXPECT_TRUE(object.samples.points.empty());
}

TEST(LearnMoped, ScalesByTheUnit) {
  MopedModel model = make_moped_box("tea", 100);
  EXPECT_NEAR(learn_moped(model, 0.001).diameter_m, std::sqrt(0.14), 1e-7);
  const std::string message = error_message([&] { learn_moped(model); });
  EXPECT_TRUE(mentions(message, "model 'tea'"));
  EXPECT_TRUE(mentions(message, "--unit mm"));
  for (Vec3f& p : model.points_m) p = {1, 2, 3};
  EXPECT_TRUE(mentions(error_message([&] { learn_moped(model); }), "in one place"));
}

TEST(LearnMoped, BlackEverywhereIsNoColour) {
  MopedModel model = make_moped_box("tea", 0.1f);
  model.colors.assign(model.colors.size(), Rgb8{});
  model.left_out = 3;
  const LearnedObject object = learn_moped(model);
  EXPECT_TRUE(object.mesh.vertices.colors.empty());
  ASSERT_EQ(object.source.remarks.size(), 1u);
  EXPECT_TRUE(mentions(object.source.remarks[0], "3 points"));
}

TEST(LearnMoped, GoesThroughALibraryAndBack) {
  const testing::TemporaryFolder folder;
  const MopedModel model = make_moped_box("tea", 0.1f);
  Library library(folder / "objects.sxt");
  library.put(learn_moped(model));
  const MopedModel back = make_moped_model(library.load("tea"));
  EXPECT_EQ(back.name, model.name);
  EXPECT_EQ(back.points_m, model.points_m);
  EXPECT_EQ(back.colors, model.colors);
  EXPECT_EQ(back.descriptors, model.descriptors);
  EXPECT_TRUE(mentions(error_message([] { make_moped_model(LearnedObject{}); }),
                       "no features of photographs"));
}

TEST(LearnMoped, LearnsTheModelsOfTheAuthors) {
  const auto data = testing::shared_data("moped_cmu/models");
  if (!data) GTEST_SKIP() << "moped_cmu is not there";
  for (const auto& entry : std::filesystem::directory_iterator(*data)) {
    SCOPED_TRACE(entry.path().filename().string());
    const LearnedObject object = learn_moped(read_moped_models(entry.path()).at(0));
    EXPECT_GT(object.diameter_m, 0.1);
    EXPECT_LT(object.diameter_m, 0.5);
  }
}

}  // namespace
}  // namespace sextant
