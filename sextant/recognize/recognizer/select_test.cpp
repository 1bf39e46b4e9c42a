// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer/select.h"

#include <gtest/gtest.h>

namespace sextant::detail::recognizer {
namespace {

SceneFrame empty_scene() {
  SceneFrame scene;
  scene.camera = {100, 10, 100, 100, 50, 5, {}};
  scene.given_width = 100;
  return scene;
}

/// Pixels of a row of an image, from one place to another.
std::vector<std::int32_t> pixels_between(std::int32_t first, std::int32_t last) {
  std::vector<std::int32_t> pixels;
  for (std::int32_t i = first; i < last; ++i) pixels.push_back(i);
  return pixels;
}

/// Two objects of a metre without symmetries.
std::vector<Model> two_models() {
  std::vector<Model> models(2);
  for (Model& model : models) {
    model.diameter_m = 1;
    model.symmetries = {Rigid3f{}};
  }
  return models;
}

/// Explains fifty pixels, a place of its own.
Explanation explaining(std::int32_t object, double score, double score_among_several,
                       std::int32_t first) {
  Explanation explanation;
  explanation.found.object_index = object;
  explanation.found.score = score;
  explanation.found.camera_from_object.translation = {static_cast<double>(first), 0, 1};
  explanation.score_among_several = score_among_several;
  explanation.pixels = pixels_between(first, first + 50);
  return explanation;
}

TEST(Select, ABoxOfAPackIsToldOnce) {
  const SceneFrame scene = empty_scene();
  Explanation alone, pack, hidden;
  alone.found.object_index = pack.found.object_index = hidden.found.object_index = 0;
  alone.found.score = alone.score_among_several = 0.9;
  alone.pixels = pixels_between(0, 100);
  pack.found.score = pack.score_among_several = 0.8;
  pack.pixels = pixels_between(0, 300);
  for (int box = 0; box < 3; ++box) {
    Explanation::Member member;
    member.camera_from_object.translation.x = box;
    member.terms.supported = 0.9f;
    member.pixels = pixels_between(100 * box, 100 * box + 100);
    pack.members.push_back(member);
  }
  hidden.found.score = hidden.score_among_several = 0.7;
  hidden.pixels = pixels_between(600, 700);
  hidden.members.resize(2);
  Recognition recognition;
  select(scene, two_models(), 0.5f, {alone, pack, hidden}, recognition);
  // The pack's first box is the one that was found alone.
  ASSERT_EQ(recognition.detections.size(), 3u);
  EXPECT_EQ(recognition.detections[1].camera_from_object.translation.x, 1);
  EXPECT_EQ(recognition.detections[2].camera_from_object.translation.x, 2);
  EXPECT_EQ(recognition.detections[2].pixels, pixels_between(200, 300));
  ASSERT_EQ(recognition.rejected.size(), 1u);
  EXPECT_EQ(recognition.rejected[0].reason,
            "none of its boxes is seen that no better pose explains");
}

// Two of an object are judged as one among several, and a third; one alone is not, nor one of
// another object.
TEST(Select, OfWhatIsThereTwiceMoreIsExpected) {
  const std::vector<Explanation> pool{explaining(0, 0.9, 0.96, 0),   explaining(0, 0.8, 0.9, 100),
                                      explaining(0, 0.4, 0.64, 200), explaining(0, 0.2, 0.3, 300),
                                      explaining(1, 0.9, 0.95, 400), explaining(1, 0.4, 0.6, 500)};
  Recognition recognition;
  select(empty_scene(), two_models(), 0.5f, pool, recognition);
  ASSERT_EQ(recognition.detections.size(), 4u);
  EXPECT_EQ(recognition.detections[0].score, 0.96);
  EXPECT_EQ(recognition.detections[2].object_index, 1);
  EXPECT_EQ(recognition.detections[2].score, 0.9);
  EXPECT_EQ(recognition.detections[3].score, 0.64);
  ASSERT_EQ(recognition.rejected.size(), 2u);
  EXPECT_EQ(recognition.rejected[0].score, 0.4);
  EXPECT_EQ(recognition.rejected[1].score, 0.2);
}

// Three that only company makes sure are company for each other, two are not.
TEST(Select, ThreeTogetherAreSeveral) {
  for (const std::size_t count : {2u, 3u}) {
    std::vector<Explanation> pool;
    for (std::size_t i = 0; i < count; ++i) {
      pool.push_back(explaining(0, 0.4, 0.7, static_cast<std::int32_t>(100 * i)));
    }
    Recognition recognition;
    select(empty_scene(), two_models(), 0.5f, pool, recognition);
    EXPECT_EQ(recognition.detections.size(), count == 3 ? 3u : 0u);
    EXPECT_EQ(recognition.rejected.size(), count == 3 ? 0u : 2u);
  }
}

/// The same place as another, upside down.
Explanation turned(Explanation explanation, double score) {
  explanation.found.score = explanation.score_among_several = score;
  explanation.found.camera_from_object.rotation = exp_rotation(Vec3d{0, 0, M_PI});
  return explanation;
}

// Of two ways to lie, the one that fits the depths better is told, and what speaks for the other
// counts against it.
TEST(Select, DepthsTellWhichWayABodyLies) {
  Explanation upright = explaining(0, 0.9, 0.9, 0);
  upright.found.terms.supported = 0.9f;
  upright.found.terms.pixels = 5000;
  upright.found.terms.plane_gain = 2.0f;
  Explanation over = turned(upright, 0.88);
  const double logits[] = {std::log(0.9 / 0.1), std::log(0.88 / 0.12)};
  const double share = 1 / (1 + std::exp(2 * (logits[1] - logits[0])));
  for (const float gain : {2.0f, 2.1f}) {
    over.found.terms.plane_gain = gain;
    Recognition recognition;
    select(empty_scene(), two_models(), 0.5f, {upright, over}, recognition);
    ASSERT_EQ(recognition.detections.size(), 1u);
    const bool is_over = recognition.detections[0].camera_from_object.rotation.row[0].x < 0;
    EXPECT_EQ(is_over, gain > 2.0f);
    EXPECT_NEAR(recognition.detections[0].score, 0.9 * share, 1e-9);
    ASSERT_EQ(recognition.rejected.size(), 1u);
    EXPECT_EQ(recognition.rejected[0].reason, "another way to lie there is as likely");
  }
  // One that is far less likely changes nothing.
  Recognition recognition;
  over.found.terms.plane_gain = 2.1f;
  over.found.score = over.score_among_several = 0.01;
  select(empty_scene(), two_models(), 0.5f, {upright, over}, recognition);
  ASSERT_EQ(recognition.detections.size(), 1u);
  EXPECT_EQ(recognition.detections[0].score, 0.9);
}

// Two wrong ways that are much alike: the right one comes before both.
TEST(Select, TwoWrongWaysDoNotChangePlacesWithTheRightOne) {
  Explanation upright = explaining(0, 0.88, 0.88, 0);
  upright.found.terms.supported = 0.9f;
  upright.found.terms.pixels = 5000;
  upright.found.terms.plane_gain = 2.1f;
  Explanation over = turned(upright, 0.95), nearly = turned(upright, 0.92);
  over.found.terms.plane_gain = nearly.found.terms.plane_gain = 2.0f;
  nearly.found.camera_from_object.translation.x += 0.05;
  Recognition recognition;
  select(empty_scene(), two_models(), 0.3f, {over, nearly, upright}, recognition);
  ASSERT_FALSE(recognition.detections.empty());
  EXPECT_GT(recognition.detections[0].camera_from_object.rotation.row[0].x, 0);
}

// A result has the best of the rejected poses, not all of them.
TEST(Select, NoMoreIsRejectedThanAnybodyReads) {
  std::vector<Explanation> pool;
  for (int i = 0; i < 1500; ++i) pool.push_back(explaining(0, 1e-4 * i, 1e-4 * i, i % 900));
  Recognition recognition;
  select(empty_scene(), two_models(), 0.5f, pool, recognition);
  EXPECT_EQ(recognition.rejected.size(), 1000u);
  EXPECT_EQ(recognition.rejected[0].score, 1e-4 * 1499);
  EXPECT_EQ(recognition.rejected[999].score, 1e-4 * 500);
}

}  // namespace
}  // namespace sextant::detail::recognizer
