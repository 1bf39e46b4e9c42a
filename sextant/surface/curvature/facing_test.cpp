// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sextant/core/random.h"
#include "sextant/surface/curvature.h"
#include "sextant/surface/normals.h"
#include "tests/devices.h"
#include "tests/make_image.h"

namespace sextant {
namespace {

/// Depths between `1 - spread` and `1 + spread` metres, in no relation to each other: quadrics of
/// every slope fit them.
Image<Vec3f> rough_points(float spread_m, std::uint64_t seed) {
  constexpr int kWidth = 320, kHeight = 240;
  constexpr float kFocal_px = 525.0f;
  return testing::make_image<Vec3f>(kWidth, kHeight, [&](int u, int v) {
    const auto item = static_cast<std::uint64_t>(v * kWidth + u);
    const float z = 1.0f + spread_m * (2.0f * Random{seed, item}.uniform(0) - 1.0f);
    return Vec3f{(static_cast<float>(u) - 159.5f) / kFocal_px * z,
                 (static_cast<float>(v) - 119.5f) / kFocal_px * z, z};
  });
}

TEST(CurvatureFacing, NormalsLookAtTheSensorFromTheMeasuredPointAndFromTheFitted) {
  for (const Context& context : testing::all_contexts()) {
    if (context.is_cpu() && context.threads() != 2) continue;  // the bits are the same
    SCOPED_TRACE(testing::describe(context));
    int valid = 0;
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      const Image<Vec3f> points = rough_points(0.2f, seed);
      const Image<Vec3f> there = copy(context, points);
      // Patches of pixels: those that follow the noise find this too rough to say anything.
      const Curvature curvature =
          estimate_curvature(context, there, estimate_normals(context, there), pixel_curvature());
      const auto normals = to_host(context, curvature.normals.pixels());
      const auto fitted = to_host(context, curvature.points.pixels());
      for (std::size_t i = 0; i < normals.size(); ++i) {
        if (!is_finite(normals[i])) continue;
        ++valid;
        const Vec3d n = cast<double>(normals[i]);
        EXPECT_LT(dot(n, cast<double>(points.pixels().host()[i])), 0.0) << "pixel " << i;
        EXPECT_LT(dot(n, cast<double>(fitted[i])), 0.0) << "pixel " << i;
      }
    }
    EXPECT_GT(valid, 1000);
  }
}

}  // namespace
}  // namespace sextant
