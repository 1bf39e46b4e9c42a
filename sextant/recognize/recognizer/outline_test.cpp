// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "sextant/recognize/recognizer/math.h"

namespace sextant::detail::recognizer {
namespace {

constexpr int kReach = 8, kSlack = 2, kRim = 4;
constexpr float kStep = 0.001f, kTolerance = 0.003f, kJump = 0.006f;

/// A walk over a surface at 1 m whose object ends at step 0; `measured` gives the depth at a step.
template <class Measured>
OutlineEnd end_of(const Measured& measured, bool normals_agree = true) {
  const OutlineWalk walk{kReach, kSlack, kRim, kStep, kTolerance, kJump};
  return outline_end(walk, [&](int out) {
    return OutlineStep{measured(out), 1.0f, normals_agree};
  });
}
template <class Measured>
OutlineState walk(const Measured& measured, bool normals_agree = true) {
  return end_of(measured, normals_agree).state;
}

TEST(Outline, EndsWhereTheObjectEnds) {
  EXPECT_EQ(walk([](int out) { return out <= 0 ? 1.0f : 1.3f; }), OutlineState::kConfirmed);
  // One step more or less is the sensor's.
  EXPECT_EQ(walk([](int out) { return out <= 2 ? 1.0f : 1.3f; }), OutlineState::kConfirmed);
  EXPECT_EQ(walk([](int out) { return out <= -2 ? 1.0f : 1.3f; }), OutlineState::kConfirmed);
}

TEST(Outline, GoesOn) {
  EXPECT_EQ(walk([](int) { return 1.001f; }), OutlineState::kContinues);
  EXPECT_EQ(walk([](int out) { return out <= 5 ? 1.0f : 1.3f; }), OutlineState::kContinues);
}

TEST(Outline, EndsTooEarly) {
  EXPECT_EQ(walk([](int out) { return out <= -5 ? 1.0f : 1.3f; }), OutlineState::kFallsShort);
  EXPECT_EQ(walk([](int) { return 1.3f; }), OutlineState::kFallsShort);
}

TEST(Outline, HidesBehindSomethingNearer) {
  EXPECT_EQ(walk([](int out) { return out <= 0 ? 1.0f : 0.8f; }), OutlineState::kHidden);
  EXPECT_EQ(walk([](int out) { return out <= -5 ? 1.0f : 0.8f; }), OutlineState::kHidden);
  EXPECT_EQ(walk([](int) { return 0.8f; }), OutlineState::kHidden);
}

TEST(Outline, TurnsIntoAnotherSurfaceWithoutAStep) {
  // A table that comes nearer by 2 mm a step.
  EXPECT_EQ(walk([](int out) { return out <= 0 ? 1.0f : 1.0f - 0.002f * static_cast<float>(out); }),
            OutlineState::kCrease);
  EXPECT_EQ(walk([](int) { return 1.0f; }, false), OutlineState::kCrease);
}

TEST(Outline, EndsInAStepThatTheSensorSmeared) {
  // 5 mm behind with every step of 1 mm: steeper than any surface that is seen.
  const auto ramp = [](float fall) {
    return [=](int out) { return 1.0f + fall * static_cast<float>(std::max(0, out)); };
  };
  EXPECT_EQ(walk(ramp(0.005f)), OutlineState::kConfirmed);
  EXPECT_EQ(walk(ramp(0.005f), false), OutlineState::kConfirmed);
  EXPECT_EQ(walk(ramp(0.0015f)), OutlineState::kCrease);
  EXPECT_EQ(walk([&](int out) { return ramp(0.005f)(out - 5); }), OutlineState::kContinues);
}

TEST(Outline, HolesWidenTheEnd) {
  const auto hole = [](int first, int last, float beyond) {
    return [=](int out) { return out < first ? 1.0f : out <= last ? NAN : beyond; };
  };
  EXPECT_EQ(walk(hole(-1, 5, 1.3f)), OutlineState::kConfirmed);
  EXPECT_EQ(walk(hole(-4, 5, 1.3f)), OutlineState::kConfirmed);  // holes alone: it may end there
  EXPECT_EQ(walk(hole(1, 99, 0)), OutlineState::kUnknown);
  EXPECT_EQ(walk(hole(-99, 99, 0)), OutlineState::kUnknown);
}

TEST(Outline, TellsWhereTheEdgeIs) {
  for (int last = -6; last <= 6; ++last) {
    const OutlineEnd end = end_of([=](int out) { return out <= last ? 1.0f : 1.3f; });
    EXPECT_TRUE(end.is_edge) << last;
    EXPECT_NEAR(end.offset, static_cast<float>(last), 0.51f);
  }
  // Where holes hide the end, the outline may be right.
  const OutlineEnd hidden = end_of([](int out) { return out < -3 ? 1.0f : out <= 3 ? NAN : 1.3f; });
  EXPECT_TRUE(hidden.is_edge);
  EXPECT_EQ(hidden.offset, 0);
  EXPECT_FALSE(end_of([](int) { return 1.0f; }).is_edge);
  EXPECT_FALSE(end_of([](int out) { return out <= 0 ? 1.0f : 0.8f; }).is_edge);
}

TEST(Outline, PlanesAreFollowedOutside) {
  // The plane z = 1 + x, seen along the ray (0.1, 0, 1): z = 1 + 0.1 z.
  const Vec3f normal = normalized(Vec3f{1, 0, -1});
  EXPECT_NEAR(plane_depth_m({0, 0, 1}, normal, {0.1f, 0, 1}), 1 / 0.9f, 1e-6f);
  // Edge-on planes are not: their own depth stays.
  EXPECT_EQ(plane_depth_m({0, 0, 1}, {1, 0, 0}, {0.1f, 0, 1}), 1.0f);
}

}  // namespace
}  // namespace sextant::detail::recognizer
