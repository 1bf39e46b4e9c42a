// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/lookalikes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "sextant/recognize/recognizer/acceptance.h"
#include "sextant/synth/catalogue.h"

namespace sextant {
namespace {

using detail::recognizer::kTerms;
using detail::recognizer::kUsualLevel;
using detail::recognizer::lookalike_level;
using detail::recognizer::LookalikesOf;
using detail::recognizer::shape_logit;

constexpr int kFrames = 6;

LearnedObject object_named(const char* name) {
  LearnedObject object;
  object.name = name;
  object.mesh = make_object(name);
  object.diameter_m = 0.2;
  return object;
}

const std::vector<ClutterFrame>& clutter() {
  static const std::vector<ClutterFrame> frames = make_clutter(Context::cpu(), kFrames);
  return frames;
}

TEST(Lookalikes, ClutterIsTheSameForAnyThreadsAndFull) {
  const std::vector<ClutterFrame> other = make_clutter(Context::cpu(1), 2);
  for (std::size_t i = 0; i < other.size(); ++i) {
    const std::span<const float> a = clutter()[i].depth_m.pixels().host();
    const std::span<const float> b = other[i].depth_m.pixels().host();
    ASSERT_EQ(a.size(), b.size());
    EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size_bytes()), 0);
    std::int64_t measured = 0;
    for (const float z : a) measured += std::isfinite(z);
    EXPECT_GT(measured, std::ssize(a) / 2);
  }
}

TEST(Lookalikes, GrowWithTheScale) {
  const std::vector<ClutterFrame> large = make_clutter(Context::cpu(), 1, 3);
  double near = 0, far = 0, both = 0;
  for (std::size_t i = 0; i < large[0].depth_m.pixels().host().size(); ++i) {
    const float a = clutter()[0].depth_m.pixels().host()[i],
                b = large[0].depth_m.pixels().host()[i];
    if (!std::isfinite(a) || !std::isfinite(b)) continue;
    near += static_cast<double>(a);
    far += static_cast<double>(b);
    ++both;
  }
  ASSERT_GT(both, 1000);
  EXPECT_NEAR(far / near, 3, 0.1);
  EXPECT_EQ(clutter_scale(0.1), 1);
  EXPECT_EQ(clutter_scale(0.7), 2);
}

TEST(Lookalikes, PlainBoxesHaveMoreThanOddShapes) {
  const Context context = Context::cpu();
  const LearnedLookalikes box = find_lookalikes(context, object_named("tea_box"), clutter());
  const LearnedLookalikes mask = find_lookalikes(context, object_named("mask"), clutter());
  EXPECT_EQ(box.length, kTerms);
  EXPECT_TRUE(are_understood(box));
  EXPECT_EQ(box.terms.size(), std::int64_t{kFrames} * box.frame_poses * kTerms);
  EXPECT_GT(lookalike_level(box, LookalikesOf::kObject),
            lookalike_level(mask, LookalikesOf::kObject) + 1);
}

TEST(Lookalikes, OfAnotherVersionTellNothing) {
  LearnedLookalikes other;
  EXPECT_EQ(lookalike_level(other, LookalikesOf::kObject), kUsualLevel);
  other.length = kTerms + 1;
  EXPECT_FALSE(are_understood(other));
  other.frame_poses = 1;
  other.terms = Buffer<float>(Context::cpu(), other.length);
  EXPECT_EQ(lookalike_level(other, LookalikesOf::kObject), kUsualLevel);
}

// What passes for packs of an object says nothing of the object alone, and the reverse.
TEST(Lookalikes, OfPacksAreThoseOfPacks) {
  constexpr int kPoses = 2;
  LearnedLookalikes both;
  both.length = kTerms;
  both.frame_poses = kPoses;
  both.terms = Buffer<float>(Context::cpu(), std::int64_t{kFrames} * kPoses * kTerms);
  VerificationTerms vague, good;
  vague.pixels = good.pixels = 1000;
  good.supported = good.normals = good.confirmed = 0.9f;
  good.extent = 0.5f;
  vague.boxes = 4;
  const double alone = shape_logit(good), packs = shape_logit(vague);
  const auto bounded = [](double logit) { return std::clamp(logit, -9.0, 6.0); };
  ASSERT_GT(bounded(alone), bounded(packs));
  float* next = both.terms.host().data();
  for (int frame = 0; frame < kFrames; ++frame) {
    for (const VerificationTerms& terms : {good, vague}) {
      for_each_term(terms, [&](const char*, float value) { *next++ = value; });
    }
  }
  EXPECT_EQ(lookalike_level(both, LookalikesOf::kObject), bounded(alone));
  EXPECT_EQ(lookalike_level(both, LookalikesOf::kPacks), bounded(packs));
}

TEST(Lookalikes, OfWhatIsTooSmallToBeSeenTellNothing) {
  LearnedObject tiny = object_named("mask");
  for (Vec3f& p : tiny.mesh.vertices.points.host()) p = p * 0.04f;  // 7 mm
  tiny.mesh.vertices.normals = {};
  tiny.diameter_m = 0.0072;
  const LearnedLookalikes none = find_lookalikes(Context::cpu(), tiny, clutter());
  for (const float value : none.terms.host()) EXPECT_TRUE(std::isnan(value));
  EXPECT_EQ(lookalike_level(none, LookalikesOf::kObject), kUsualLevel);
}

TEST(Lookalikes, CanBeStopped) {
  EXPECT_THROW(
      make_clutter(Context::cpu(), 8, 1, 0,
                   [](std::string_view, std::int64_t done, std::int64_t) { return done < 1; }),
      Cancelled);
  EXPECT_THROW(
      find_lookalikes(Context::cpu(), object_named("mask"), clutter(),
                      [](std::string_view, std::int64_t done, std::int64_t) { return done < 1; }),
      Cancelled);
}

}  // namespace
}  // namespace sextant
