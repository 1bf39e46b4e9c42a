// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/curvature_measures.h"

#include <gtest/gtest.h>

#include "sextant/core/random.h"
#include "tests/devices.h"

namespace sextant {
namespace {

TEST(CurvatureMeasures, OfSurfacesWithANameAreTheirs) {
  struct Surface {
    const char* name;
    float k1, k2, mean, gaussian, shape_index, curvedness;
  };
  const float root_half = std::sqrt(0.5f);
  const Surface surfaces[] = {{"ball of 100 mm", 10, 10, 10, 100, 1, 10},
                              {"rod of 50 mm", 20, 0, 10, 0, 0.5f, 20 * root_half},
                              {"saddle", 8, -8, 0, -64, 0, 8},
                              {"gutter of 50 mm", 0, -20, -10, 0, -0.5f, 20 * root_half},
                              {"bowl of 100 mm", -10, -10, -10, 100, -1, 10},
                              {"plane", 0, 0, 0, 0, 0, 0}};
  for (const Surface& s : surfaces) {
    SCOPED_TRACE(s.name);
    const CurvatureMeasures m = curvature_measures(s.k1, s.k2);
    EXPECT_FLOAT_EQ(m.mean_per_m, s.mean);
    EXPECT_FLOAT_EQ(m.gaussian_per_sq_m, s.gaussian);
    EXPECT_NEAR(m.shape_index, s.shape_index, 1e-6f);
    EXPECT_FLOAT_EQ(m.curvedness_per_m, s.curvedness);
  }
}

TEST(CurvatureMeasures, DependOnSizeSideAndOrderAsTheyShould) {
  const std::uint64_t seed = testing::seed_of_test();
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const Random random{seed, i};
    const float k1 = 100 * random.uniform(0) - 50;
    const float k2 = k1 - 50 * random.uniform(1);
    const CurvatureMeasures m = curvature_measures(k1, k2);
    // Half the size doubles curvatures and keeps the shape.
    const CurvatureMeasures smaller = curvature_measures(2 * k1, 2 * k2);
    EXPECT_FLOAT_EQ(smaller.shape_index, m.shape_index);
    EXPECT_FLOAT_EQ(smaller.curvedness_per_m, 2 * m.curvedness_per_m);
    EXPECT_FLOAT_EQ(smaller.gaussian_per_sq_m, 4 * m.gaussian_per_sq_m);
    // Seen from the other side, (k1, k2) is (-k2, -k1).
    const CurvatureMeasures behind = curvature_measures(-k2, -k1);
    EXPECT_FLOAT_EQ(behind.shape_index, -m.shape_index);
    EXPECT_FLOAT_EQ(behind.mean_per_m, -m.mean_per_m);
    EXPECT_FLOAT_EQ(behind.gaussian_per_sq_m, m.gaussian_per_sq_m);
    EXPECT_FLOAT_EQ(curvature_measures(k2, k1).shape_index, m.shape_index);
    // 2 curvedness² = 4 mean² - 2 gaussian, rounding of the larger terms aside.
    EXPECT_NEAR(2 * m.curvedness_per_m * m.curvedness_per_m,
                4 * m.mean_per_m * m.mean_per_m - 2 * m.gaussian_per_sq_m, 0.02f);
    EXPECT_LE(std::abs(m.shape_index), 1.0f);
  }
}

TEST(CurvatureMeasures, OfHolesAreNaN) {
  for (const CurvatureMeasures& m :
       {curvature_measures(NAN, 1), curvature_measures(1, NAN), curvature_measures(NAN, NAN)}) {
    EXPECT_TRUE(std::isnan(m.mean_per_m));
    EXPECT_TRUE(std::isnan(m.gaussian_per_sq_m));
    EXPECT_TRUE(std::isnan(m.shape_index));
    EXPECT_TRUE(std::isnan(m.curvedness_per_m));
  }
}

}  // namespace
}  // namespace sextant
