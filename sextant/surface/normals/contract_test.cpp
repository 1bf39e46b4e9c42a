// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sextant/surface/normals.h"

namespace sextant {
namespace {

TEST(NormalsContract, WrongArgumentsAreErrors) {
  const Context cpu = Context::cpu();
  Image<Vec3f> points(cpu, 8, 8);
  Image<Vec3f> small(cpu, 7, 8);
  EXPECT_THROW(estimate_normals_into(cpu, points, {}, small), Error);
  EXPECT_THROW(estimate_normals_into(cpu, points, {}, points), Error);
  EXPECT_THROW(estimate_normals(cpu, points, {.radius_px = 0}), Error);
  EXPECT_THROW(estimate_normals(cpu, points, {.depth_gate_m = NAN}), Error);
}

}  // namespace
}  // namespace sextant
