// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/object_size.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/error_message.h"

namespace sextant {
namespace {

using testing::error_message;
using testing::mentions;

TEST(ObjectSize, AsksForTheLikelyUnit) {
  EXPECT_NO_THROW(check_object_size("milk.ply", 0.25, 1));
  EXPECT_NO_THROW(check_object_size("milk.ply", kSmallestObject_m, 1));
  EXPECT_NO_THROW(check_object_size("milk.ply", kLargestObject_m, 1));
  const auto message = [](double diameter_m, double unit_m) {
    return error_message([&] { check_object_size("milk.ply", diameter_m, unit_m); });
  };
  EXPECT_TRUE(mentions(message(247, 1), "milk.ply: the object would be 247 m large"));
  EXPECT_TRUE(mentions(message(247, 1), "--unit mm if the file is in mm (0.247 m)"));
  // Read as millimetres although it is in metres.
  EXPECT_TRUE(mentions(message(0.00025, 0.001), "--unit m if the file is in m (0.25 m)"));
  EXPECT_TRUE(mentions(message(7e3, 1), "--unit um"));
  EXPECT_TRUE(mentions(message(1e9, 1), "scale it"));
  EXPECT_TRUE(mentions(message(NAN, 1), "no points"));
  EXPECT_TRUE(mentions(message(0, 1), "one place"));
  EXPECT_TRUE(mentions(message(1, 0), "unit_m"));
}

TEST(ObjectSize, KnowsUnitsByName) {
  EXPECT_EQ(unit_m_of("mm"), 0.001);
  EXPECT_EQ(unit_m_of("in"), 0.0254);
  EXPECT_TRUE(mentions(error_message([] { unit_m_of("yard"); }), "mm, m, cm"));
}

}  // namespace
}  // namespace sextant
