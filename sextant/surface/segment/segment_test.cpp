// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/segment.h"

#include <gtest/gtest.h>

#include "sextant/core/reduce.h"
#include "sextant/surface/normals.h"
#include "sextant/surface/segment/math.h"
#include "tests/devices.h"
#include "tests/segmented_scenes.h"

namespace sextant {

using namespace detail::segment;
namespace {

using testing::Found;
using testing::normals_of;
using testing::OrganisedScene;
using testing::roof;
using testing::segment_scene;

/// With the normals that 7 × 7 windows give.
Found segment_estimated(const Context& context, const OrganisedScene& scene,
                        const SegmentOptions& options = {}) {
  const Image<Vec3f> points = scene.on(context);
  Segmentation result = segment(context, points, estimate_normals(context, points), options);
  return {to_host(context, result.labels.pixels()), std::move(result.regions)};
}

/// The area on a plane of what the image shows: its four corners lie half a pixel outside.
double seen_area_m2(const testing::PlaneSurface& plane, const testing::SceneView& view) {
  const auto corner = [&](double u, double v) {
    const Vec3d ray{u / view.focal_px, v / view.focal_px, 1};
    return ray * plane(ray)->depth_m;
  };
  const double u = view.width / 2.0;
  const double v = view.height / 2.0;
  const Vec3d a = corner(-u, -v), b = corner(u, -v), c = corner(u, v), d = corner(-u, v);
  return 0.5 * norm(cross(c - a, d - b));
}

TEST(Segment, PlaneIsOneRegion) {
  const testing::SceneView view;
  const testing::PlaneSurface wall{1.2, {0.5, -0.3, -1}};
  const OrganisedScene scene = testing::look_at(wall, view);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Found found = segment_estimated(context, scene);
    ASSERT_EQ(found.regions.size(), 1u);
    for (const std::int32_t label : found.labels) ASSERT_EQ(label, 1);
    const SurfaceRegion& region = found.regions[0];
    const Vec3d normal = normalized(wall.normal);
    EXPECT_EQ(region.kind, SurfaceKind::kPlane);
    EXPECT_EQ(region.points, view.width * view.height);
    EXPECT_EQ(region.first_index, 0);
    EXPECT_LT(norm(cast<double>(region.normal) - normal), 1e-5);
    EXPECT_NEAR(region.offset_m, normal.z * 1.2, 1e-5);
    EXPECT_LT(region.rms_m, 1e-6f);
    // The midpoint rule over pixels errs by the square of a pixel's share of the image.
    EXPECT_NEAR(region.area_m2 / seen_area_m2(wall, view), 1.0, 1e-3);
    EXPECT_TRUE(std::isnan(region.radius_m));
  }
}

TEST(Segment, SphereStaysOneRegion) {
  const testing::SphereSurface ball{{0.01, -0.003, 0.8}, 0.08};
  const OrganisedScene scene = testing::look_at(ball);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Found found = segment_estimated(context, scene);
    ASSERT_EQ(found.regions.size(), 1u);
    const SurfaceRegion& region = found.regions[0];
    EXPECT_EQ(region.kind, SurfaceKind::kSphere);
    EXPECT_NEAR(region.radius_m, 0.08, 1e-5);
    EXPECT_LT(norm(cast<double>(region.model_centre_m) - ball.centre), 1e-5);
    EXPECT_LT(region.rms_m, 1e-6f);
    std::int64_t points = 0;
    for (const Vec3f& p : scene.points) points += is_finite(p);
    EXPECT_GT(region.points, 0.97 * static_cast<double>(points));
    // All that is seen is the cap that ends where rays touch: 2 π R² (1 - R / distance). A third of
    // it lies in the three outermost pixels, where it takes true normals.
    const double cap = 2 * std::numbers::pi * 0.08 * 0.08 * (1 - 0.08 / norm(ball.centre));
    const Found with_truth = segment_scene(context, scene, normals_of(scene));
    ASSERT_EQ(with_truth.regions.size(), 1u);
    EXPECT_NEAR(with_truth.regions[0].area_m2 / cap, 1.0, 0.05);
  }
}

TEST(Segment, CylinderHasAxisAndRadius) {
  const testing::CylinderSurface pipe{{0.02, 0, 0.9}, 0.07};
  const OrganisedScene scene = testing::look_at(pipe);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Found found = segment_estimated(context, scene);
    ASSERT_EQ(found.regions.size(), 1u);
    const SurfaceRegion& region = found.regions[0];
    EXPECT_EQ(region.kind, SurfaceKind::kCylinder);
    EXPECT_NEAR(region.radius_m, 0.07, 1e-5);
    EXPECT_LT(norm(cast<double>(region.axis) - Vec3d{0, 1, 0}), 1e-4);
    EXPECT_NEAR(region.model_centre_m.x, 0.02, 1e-5);
    EXPECT_NEAR(region.model_centre_m.z, 0.9, 1e-5);
  }
}

TEST(Segment, CreasesPart) {
  for (const double half_rad : {0.4, 0.6, 0.785}) {
    SCOPED_TRACE(half_rad);
    const OrganisedScene scene = roof(half_rad);
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      const Found found = segment_estimated(context, scene);
      ASSERT_EQ(found.regions.size(), 2u);
      // Equal in size: the one with the lower index is first. Both reach the crease but for the
      // pixels whose normals are of neither side.
      for (int v = 0; v < scene.height; ++v) {
        for (int u = 0; u < scene.width; ++u) {
          if (std::abs(u - 79.5) < 2) continue;
          ASSERT_EQ(found.at(u, v, scene.width), u < 80 ? 1 : 2) << u << ' ' << v;
        }
      }
      for (const SurfaceRegion& region : found.regions) {
        EXPECT_EQ(region.kind, SurfaceKind::kPlane);
        EXPECT_NEAR(std::abs(region.normal.x), std::sin(half_rad), 2e-3);
      }
    }
  }
}

TEST(Segment, DepthStepParts) {
  const OrganisedScene scene = testing::look_at(
      [](const Vec3d& ray) { return testing::PlaneSurface{ray.x < 0 ? 1.0 : 1.03}(ray); });
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Found found = segment_scene(context, scene, normals_of(scene));
    ASSERT_EQ(found.regions.size(), 2u);
    EXPECT_NEAR(found.regions[0].offset_m, -1.0, 1e-5);
    EXPECT_NEAR(found.regions[1].offset_m, -1.03, 1e-5);
  }
}

TEST(Segment, WrongAndMissingNormalsDoNotCutAPlane) {
  const OrganisedScene scene = testing::look_at(testing::PlaneSurface{1.0});
  std::vector<Vec3f> normals = normals_of(scene);
  for (int v = 0; v < scene.height; ++v) {
    for (int u = 78; u < 82; ++u) {
      normals[static_cast<std::size_t>(v * scene.width + u)] =
          u < 80 ? Vec3f{0.8f, 0, -0.6f} : Vec3f{NAN, NAN, NAN};
    }
  }
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Found found = segment_scene(context, scene, normals);
    ASSERT_EQ(found.regions.size(), 1u);
    EXPECT_EQ(found.regions[0].points, scene.width * scene.height);
    EXPECT_EQ(found.regions[0].kind, SurfaceKind::kPlane);
  }
}

// Without a crease all is linked: the wall is found as the plane that most of it lies on.
TEST(Segment, PlaneIsPartedFromTheSlopeItRunsInto) {
  // From column 130 on the wall bends towards the camera, as a pipe of 23 px radius, up to 45°.
  const OrganisedScene scene =
      testing::look_at([](const Vec3d& ray) -> std::optional<testing::Hit> {
        const double beyond_m = ray.x - 50.5 / 525;
        const double bend_m = 18.0 / 525;
        if (beyond_m <= 0) return testing::Hit{1.0, {0, 0, -1}};
        const double rise_m =
            beyond_m < bend_m ? beyond_m * beyond_m / (2 * bend_m) : beyond_m - bend_m / 2;
        return testing::Hit{1.0 - rise_m, {0, 0, -1}};
      });
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Found found = segment_estimated(context, scene);
    ASSERT_GE(found.regions.size(), 2u);
    const SurfaceRegion& wall = found.regions[0];
    EXPECT_EQ(wall.kind, SurfaceKind::kPlane);
    EXPECT_NEAR(wall.offset_m, -1.0, 1e-3);
    EXPECT_LT(norm(wall.normal - Vec3f{0, 0, -1}), 0.02f);
    for (int v = 0; v < scene.height; ++v) {
      ASSERT_EQ(found.at(10, v, scene.width), 1);
      ASSERT_EQ(found.at(120, v, scene.width), 1);
      ASSERT_EQ(found.at(152, v, scene.width), 2);
    }
  }
}

TEST(Segment, SmallRegionsAreDropped) {
  // A square of 7 × 7 pixels before a wall.
  const OrganisedScene scene = testing::look_at([](const Vec3d& ray) {
    const bool square = std::abs(ray.x) * 525 < 3.6 && std::abs(ray.y) * 525 < 3.6;
    return testing::PlaneSurface{square ? 0.8 : 1.0}(ray);
  });
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const std::vector<Vec3f> normals = normals_of(scene);
    const Found without = segment_scene(context, scene, normals, {.min_points = 65});
    ASSERT_EQ(without.regions.size(), 1u);
    EXPECT_EQ(without.at(80, 60, scene.width), 0);
    const Found with = segment_scene(context, scene, normals, {.min_points = 64});
    ASSERT_EQ(with.regions.size(), 2u);
    EXPECT_EQ(with.at(80, 60, scene.width), 2);
    EXPECT_EQ(with.regions[1].points, 64);
  }
}

TEST(Segment, LinesLeftOutDoNotCut) {
  OrganisedScene scene = testing::look_at(testing::PlaneSurface{1.0});
  for (int v = 0; v < scene.height; ++v) {
    for (int u = 0; u < scene.width; ++u) {
      if (u % 4 == 3 || v % 5 == 2) {
        scene.points[static_cast<std::size_t>(v * scene.width + u)] = {NAN, NAN, NAN};
      }
    }
  }
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Found found = segment_estimated(context, scene);
    ASSERT_EQ(found.regions.size(), 1u);
    EXPECT_EQ(found.regions[0].points, 160 * 120 * 3 / 4 * 4 / 5);
    EXPECT_EQ(found.regions[0].kind, SurfaceKind::kPlane);
  }
}

TEST(Segment, TakesTheNoiseFromTheFrame) {
  for (const double noise_m : {0.0, 1e-4, 1e-3, 4e-3, 1e-2}) {
    SCOPED_TRACE(noise_m);
    const OrganisedScene scene = testing::look_at(
        testing::PlaneSurface{1.0}, {.width = 320, .height = 240, .noise_m = noise_m});
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      const Found found = segment_estimated(context, scene);
      ASSERT_FALSE(found.regions.empty());
      EXPECT_EQ(found.regions[0].kind, SurfaceKind::kPlane);
      EXPECT_GT(found.regions[0].points, 0.98 * 320 * 240);
      EXPECT_NEAR(found.regions[0].rms_m, noise_m, 0.1 * noise_m + 1e-6);
    }
  }
}

/// On exact depth all pairs of cells of a plane fit alike: it must be one region all the same.
TEST(Segment, AnExactPlaneIsOneRegion) {
  const OrganisedScene scene = testing::look_at(testing::PlaneSurface{0.9, {0.3, -0.4, -1}},
                                                {.width = 320, .height = 240, .focal_px = 262.5});
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Found found = segment_scene(context, scene, normals_of(scene));
    ASSERT_EQ(found.regions.size(), 1u);
    EXPECT_EQ(found.regions[0].points, 320 * 240);
    EXPECT_EQ(found.regions[0].kind, SurfaceKind::kPlane);
    EXPECT_LT(found.regions[0].rms_m, 1e-6f);
  }
}

/// A depth at which only slats are seen has no flat window: the noise there is not what planes
/// through slats leave, or a chair would be one with the table behind it.
TEST(Segment, SlatsDoNotSeemNoisy) {
  const auto surface = [](const Vec3d& ray) -> std::optional<testing::Hit> {
    const bool is_slat = ray.x < 0 && std::fmod(ray.y + 10, 0.06) < 0.03;
    return testing::PlaneSurface{is_slat ? 1.35 : 2.0, {0.2, 0.1, -1}}(ray);
  };
  const OrganisedScene scene = testing::look_at(
      surface, {.width = 640, .height = 480, .noise_m = 0.002, .seed = testing::seed_of_test()});
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Found found = segment_scene(context, scene, normals_of(scene));
    for (int v = 0; v < 480; ++v) {
      for (int u = 0; u < 640; ++u) {
        const float z_m = scene.points[static_cast<std::size_t>(v * 640 + u)].z;
        const std::int32_t label = found.at(u, v, 640);
        if (label == found.at(600, 240, 640)) {
          ASSERT_GT(z_m, 1.6f) << u << " " << v;
        }
      }
    }
  }
}

/// Regions by a flood fill over the same links, without growth and joining.
std::vector<std::int32_t> flood_fill(const PixelSurface& surface, int min_points) {
  const std::int64_t n = surface.size();
  std::vector<std::int32_t> valid, smooth;
  for (std::int64_t i = 0; i < n; ++i) valid.push_back(surface.is_valid(i) ? 0 : -1);
  for (std::int64_t i = 0; i < n; ++i) {
    smooth.push_back(valid[static_cast<std::size_t>(i)] == 0 &&
                     surface.is_smooth(i, nullptr, nullptr));
  }
  // A smooth point between two on a crease is a gap in it.
  std::vector<std::int32_t> gaps;
  for (std::int32_t i = 0; i < n; ++i) {
    int creases = 0;
    surface.each_neighbour(i, [&](std::int32_t j) {
      const auto at = static_cast<std::size_t>(j);
      creases += valid[at] == 0 && !smooth[at];
    });
    if (creases >= 2) gaps.push_back(i);
  }
  for (const std::int32_t gap : gaps) smooth[static_cast<std::size_t>(gap)] = 0;
  std::vector<std::vector<std::int32_t>> regions;
  std::vector<std::int32_t> seen(static_cast<std::size_t>(n), 0);
  for (std::int32_t start = 0; start < n; ++start) {
    if (seen[static_cast<std::size_t>(start)] || !smooth[static_cast<std::size_t>(start)]) continue;
    std::vector<std::int32_t> region{start};
    seen[static_cast<std::size_t>(start)] = 1;
    for (std::size_t at = 0; at < region.size(); ++at) {
      const std::int32_t i = region[at];
      surface.each_neighbour(i, [&](std::int32_t j) {
        if (seen[static_cast<std::size_t>(j)] || !smooth[static_cast<std::size_t>(j)]) return;
        if (!surface.linked(std::min(i, j), std::max(i, j))) return;
        seen[static_cast<std::size_t>(j)] = 1;
        region.push_back(j);
      });
    }
    if (static_cast<int>(region.size()) >= min_points) regions.push_back(region);
  }
  std::stable_sort(regions.begin(), regions.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
  std::vector<std::int32_t> labels(static_cast<std::size_t>(n), 0);
  for (std::size_t r = 0; r < regions.size(); ++r) {
    for (const std::int32_t i : regions[r]) {
      labels[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(r) + 1;
    }
  }
  return labels;
}

TEST(Segment, RegionsAreThoseOfAFloodFill) {
  // Normals at random within a cone: creases and links in every pattern.
  OrganisedScene scene =
      testing::look_at(testing::PlaneSurface{1.0}, {.width = 97, .height = 61, .noise_m = 2e-3});
  std::vector<Vec3f> normals;
  const std::uint64_t seed = testing::seed_of_test();
  for (std::size_t i = 0; i < scene.points.size(); ++i) {
    const Random random{seed, i};
    const Vec3d n{0.1 * random.normal(0), 0.1 * random.normal(1), -1};
    normals.push_back(cast<float>(normalized(n)));
    if (random.below(20, 2) == 0) scene.points[i] = {NAN, NAN, NAN};
    if (random.below(30, 3) == 0) normals[i] = {NAN, NAN, NAN};
  }
  const SegmentOptions options{.step_px = 0.7f,
                               .depth_noise_per_m = 3e-4f,
                               .min_points = 4,
                               .attach_px = 0,
                               .merge_angle_rad = 0};
  PixelPitch pitch;
  PixelSize pixel;
  const PixelPitchAt pitch_at{scene.points.data(), scene.width, scene.height};
  transform_reduce(Context::cpu(1), pitch_at.pixels(), pitch_at, detail::Add{}, PixelPitch{},
                   View<PixelPitch>{&pitch, 1, {}});
  FinishPitch{&pitch, &pixel}(0);
  EXPECT_NEAR(pixel.x * 525, 1, 1e-5);
  EXPECT_NEAR(pixel.y * 525, 1, 1e-5);
  // Patches are beyond reach with so much noise on top of what is given.
  NoiseLevels noise;
  for (float& level : noise.inverse_m) level = options.depth_noise_per_m;
  const std::vector<std::int32_t> patch(scene.points.size(), -1);
  const std::vector<std::int32_t> truth =
      flood_fill({scene.points.data(), normals.data(), scene.width, scene.height, options, &pixel,
                  &noise, patch.data()},
                 4);
  const int regions = *std::max_element(truth.begin(), truth.end());
  ASSERT_GT(regions, 20);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Found found = segment_scene(context, scene, normals, options);
    EXPECT_EQ(static_cast<int>(found.regions.size()), regions);
    EXPECT_EQ(found.labels, truth);
  }
}

}  // namespace
}  // namespace sextant
