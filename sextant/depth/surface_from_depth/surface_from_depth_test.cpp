// SPDX-License-Identifier: Apache-2.0
#include "sextant/depth/surface_from_depth.h"

#include <gtest/gtest.h>

#include "tests/devices.h"
#include "tests/error_message.h"

namespace sextant {
namespace {

TEST(SurfaceFromDepth, HasPointsColoursAndTheCamera) {
  const Camera camera{2, 2, 100, 50, 0, 0, {}};
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Image<float> depth_m(copy(context, std::vector<float>{1, 2, 0, NAN}), 2, 2);
    const std::vector<Rgb8> rgb{{1, 1, 1}, {2, 3, 4}, {5, 5, 5}, {6, 6, 6}};
    const Image<Rgb8> colors(copy(context, rgb), 2, 2);
    const Surface surface = surface_from_depth(context, depth_m, camera, colors);
    check_surface(surface);
    EXPECT_EQ(surface.camera->fx_px, 100);
    EXPECT_EQ(surface.camera_rows, true);
    EXPECT_TRUE(surface.organised());
    const std::vector<Vec3f> points = to_host(context, surface.points);
    EXPECT_EQ(points[0], (Vec3f{0, 0, 1}));
    EXPECT_FLOAT_EQ(points[1].x, 0.02f);
    EXPECT_EQ(points[1].z, 2);
    EXPECT_TRUE(std::isnan(points[2].z) && std::isnan(points[3].x));  // no measurement
    EXPECT_EQ(to_host(context, surface.colors)[1], (Rgb8{2, 3, 4}));
    const Image<Rgb8> wide(context, 3, 2);
    EXPECT_NE(testing::error_message([&] {
                surface_from_depth(context, depth_m, camera, wide);
              }).find("registered: is 3 x 2 px, but depth_m is 2 x 2"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace sextant
