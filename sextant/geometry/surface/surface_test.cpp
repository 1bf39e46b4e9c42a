// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/surface.h"

#include <gtest/gtest.h>

#include "tests/devices.h"
#include "tests/error_message.h"
#include "tests/organised_scene.h"

namespace sextant {
namespace {

using testing::all_contexts;
using testing::error_message;
using testing::look_at;
using testing::OrganisedScene;
using testing::PlaneSurface;

Cloud cloud_of(const Context& context, const OrganisedScene& scene) {
  Cloud cloud;
  cloud.points = copy(context, scene.points);
  cloud.width = scene.width;
  cloud.height = scene.height;
  return cloud;
}

TEST(Surface, KeepsItsPartsAcrossDevices) {
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    Surface surface(cloud_of(context, look_at(PlaneSurface{})));
    surface.camera = Camera{160, 120, 525, 525, 79.5, 59.5, {}};
    surface.camera_rows = true;
    surface.resolution_m = 0.002f;
    check_surface(surface);
    const Surface on_host = to_host(context, surface);
    EXPECT_EQ(on_host.points.device(), Device{});
    EXPECT_EQ(on_host.width, 160);
    EXPECT_EQ(on_host.camera->fx_px, 525);
    EXPECT_EQ(on_host.resolution_m, 0.002f);
    const Surface again = copy(context, on_host);
    EXPECT_EQ(again.device(), context.device());
    EXPECT_EQ(again.camera_rows, true);
    EXPECT_EQ(to_host(context, again.points).size(), 160u * 120u);
  }
}

TEST(Surface, BuildsAGridOnceForTheSameCells) {
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    Surface surface(cloud_of(context, look_at(PlaneSurface{})));
    const NeighbourGrid& coarse = surface.grid(context, NeighbourGridOptions::for_radius(0.02f));
    const NeighbourGrid& fine = surface.grid(context, NeighbourGridOptions::for_radius(0.01f));
    EXPECT_NE(&coarse, &fine);
    const std::int64_t before = context.counters().allocations;
    EXPECT_EQ(&surface.grid(context, NeighbourGridOptions::for_radius(0.02f)), &coarse);
    EXPECT_EQ(context.counters().allocations, before);
    surface.forget_grids();
    EXPECT_EQ(surface.grid(context, NeighbourGridOptions::for_radius(0.02f)).size(), 160 * 120);
  }
}

TEST(Surface, SaysWhatDoesNotAgree) {
  const Context context = Context::cpu();
  Surface surface(cloud_of(context, look_at(PlaneSurface{})));
  EXPECT_NE(error_message([&] { surface.normal_image(); }).find("0 normals for 19200 points"),
            std::string::npos);
  surface.cells = Image<std::uint8_t>(context, 160, 120);
  EXPECT_NE(error_message([&] { check_surface(surface); }).find("cells: 160 x 120"),
            std::string::npos);
  surface.width = surface.height = 0;
  EXPECT_NE(error_message([&] { surface.point_image(); }).find("in no rows"), std::string::npos);
}

}  // namespace
}  // namespace sextant
