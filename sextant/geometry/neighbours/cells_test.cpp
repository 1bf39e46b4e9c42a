// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sextant/geometry/neighbours.h"
#include "tests/devices.h"
#include "tests/neighbour_clouds.h"

namespace sextant {
namespace {

TEST(NeighbourGrid, CellsDoNotDependOnCopiesHolesAndFarPoints) {
  const std::uint64_t seed = testing::seed_of_test();
  std::vector<Vec3f> plain;
  for (int i = 0; i < 20'000; ++i) {
    const Vec3f p = testing::uniform_point(seed, i);
    plain.push_back({p.x, p.y, 0});
  }
  std::vector<Vec3f> littered = plain;
  littered.insert(littered.end(), 40'000, Vec3f{});
  littered.insert(littered.end(), 30'000, Vec3f{NAN, NAN, NAN});
  littered.insert(littered.end(), {Vec3f{1e6f, 1e6f, 1e6f}, Vec3f{0, -1e12f, 0}});
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const auto cell_of = [&](const std::vector<Vec3f>& points,
                             const NeighbourGridOptions& options) {
      const auto grid = build_neighbour_grid(context, copy(context, points).view(), options);
      const View<const detail::GridFrame> frame{grid.view().frame, 1, context.device()};
      return to_host(context, frame)[0].cell_m;
    };
    // The automatic edge is right within the factor at which the search for it stops, √1.25 a side.
    EXPECT_NEAR(cell_of(littered, {}) / cell_of(plain, {}), 1.0f, 0.25f);
    EXPECT_NEAR(cell_of(plain, {}), std::sqrt(4.0f / 20'000), 0.3f * std::sqrt(4.0f / 20'000));
    EXPECT_EQ(cell_of(littered, {.cell_m = 0.01f}), 0.01f);
  }
}

}  // namespace
}  // namespace sextant
