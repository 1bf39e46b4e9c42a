// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/segment.h"

#include <gtest/gtest.h>

#include <cstring>

#include "sextant/core/graph.h"
#include "sextant/core/reduce.h"
#include "sextant/io/pcd.h"
#include "sextant/surface/normals.h"
#include "sextant/surface/segment_math.h"
#include "tests/devices.h"
#include "tests/error_message.h"
#include "tests/labelled_table.h"
#include "tests/organised_scene.h"
#include "tests/shared_data.h"

namespace sextant {
namespace {

using testing::OrganisedScene;
using testing::TableDepth;

std::vector<Vec3f> floats(const std::vector<Vec3d>& vectors) {
  std::vector<Vec3f> result;
  for (const Vec3d& v : vectors) result.push_back(cast<float>(v));
  return result;
}

/// Labels and regions on the host.
struct Found {
  std::vector<std::int32_t> labels;
  std::vector<SurfaceRegion> regions;
  std::int32_t at(int u, int v, int width) const {
    return labels[static_cast<std::size_t>(v * width + u)];
  }
};

Found segment_scene(const Context& context, const OrganisedScene& scene,
                    const std::vector<Vec3f>& normals, const SegmentOptions& options = {}) {
  const Image<Vec3f> points = scene.on(context);
  const Image<Vec3f> given(copy(context, normals), scene.width, scene.height);
  Segmentation result = segment(context, points, given, options);
  return {to_host(context, result.labels.pixels()), std::move(result.regions)};
}

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
    const Found with_truth = segment_scene(context, scene, floats(scene.normals));
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

/// Two walls that meet in the plane x = 0 and turn away by `angle` from facing the camera.
OrganisedScene roof(double angle_rad, const testing::SceneView& view = {}) {
  return testing::look_at(
      [&](const Vec3d& ray) {
        const double side = ray.x < 0 ? -1.0 : 1.0;
        return testing::PlaneSurface{1.0,
                                     {side * std::sin(angle_rad), 0, -std::cos(angle_rad)}}(ray);
      },
      view);
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
    const Found found = segment_scene(context, scene, floats(scene.normals));
    ASSERT_EQ(found.regions.size(), 2u);
    EXPECT_NEAR(found.regions[0].offset_m, -1.0, 1e-5);
    EXPECT_NEAR(found.regions[1].offset_m, -1.03, 1e-5);
  }
}

TEST(Segment, PlaneCutByBadNormalsIsJoined) {
  const OrganisedScene scene = testing::look_at(testing::PlaneSurface{1.0});
  std::vector<Vec3f> normals = floats(scene.normals);
  for (int v = 0; v < scene.height; ++v) {
    for (int u = 78; u < 82; ++u) {
      normals[static_cast<std::size_t>(v * scene.width + u)] = {0.8f, 0, -0.6f};
    }
  }
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Found joined = segment_scene(context, scene, normals);
    ASSERT_EQ(joined.regions.size(), 1u);
    EXPECT_EQ(joined.regions[0].points, scene.width * scene.height);
    // The strip's middle, with like normals on either side, is then a region of its own.
    EXPECT_EQ(segment_scene(context, scene, normals, {.attach_px = 0}).regions.size(), 3u);
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
    const std::vector<Vec3f> normals = floats(scene.normals);
    const Found without = segment_scene(context, scene, normals, {.min_points = 65});
    ASSERT_EQ(without.regions.size(), 1u);
    EXPECT_EQ(without.at(80, 60, scene.width), 0);
    const Found with = segment_scene(context, scene, normals, {.min_points = 64});
    ASSERT_EQ(with.regions.size(), 2u);
    EXPECT_EQ(with.at(80, 60, scene.width), 2);
    EXPECT_EQ(with.regions[1].points, 64);
  }
}

/// Regions by a flood fill over the same links, without growth and joining.
std::vector<std::int32_t> flood_fill(const detail::segmentation::PixelSurface& surface,
                                     int min_points) {
  const std::int64_t n = surface.size();
  std::vector<std::int32_t> valid, smooth;
  for (std::int64_t i = 0; i < n; ++i) valid.push_back(surface.is_valid(i) ? 0 : -1);
  for (std::int64_t i = 0; i < n; ++i) {
    float area_m2 = 0;
    smooth.push_back(valid[static_cast<std::size_t>(i)] == 0 &&
                     surface.is_smooth(i, valid.data(), area_m2));
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
  OrganisedScene scene = testing::look_at(testing::PlaneSurface{1.0},
                                          {.width = 97, .height = 61, .noise_m = 2e-3, .seed = 3});
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
  detail::segmentation::PixelPitch pitch;
  detail::segmentation::PixelSize pixel;
  transform_reduce(
      Context::cpu(1), static_cast<std::int64_t>(scene.points.size()),
      detail::segmentation::PixelPitchAt{scene.points.data(), scene.width, scene.height},
      detail::Add{}, detail::segmentation::PixelPitch{},
      View<detail::segmentation::PixelPitch>{&pitch, 1, {}});
  detail::segmentation::FinishPitch{&pitch, &pixel}(0);
  EXPECT_NEAR(pixel.x * 525, 1, 1e-5);
  EXPECT_NEAR(pixel.y * 525, 1, 1e-5);
  const std::vector<std::int32_t> truth = flood_fill(
      {scene.points.data(), normals.data(), scene.width, scene.height, options, &pixel}, 4);
  const int regions = *std::max_element(truth.begin(), truth.end());
  ASSERT_GT(regions, 20);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Found found = segment_scene(context, scene, normals, options);
    EXPECT_EQ(static_cast<int>(found.regions.size()), regions);
    EXPECT_EQ(found.labels, truth);
  }
}

/// Share of faces that were found with the right kind, over some tables.
void expect_faces(TableDepth depth, double least_share) {
  const Context context = Context::cpu();
  int faces = 0, right = 0, regions = 0;
  for (const std::uint64_t seed : {21, 22, 23}) {
    const testing::LabelledTable table = testing::labelled_table(
        seed, {.depth = depth, .distance_m = 0.6, .width = 400, .height = 300, .focal_px = 328});
    const Image<Vec3f> points = table.points(context);
    const Segmentation result = segment(context, points, estimate_normals(context, points));
    const testing::FaceMatch match =
        testing::match_faces(table, to_host(context, result.labels.pixels()), result.regions);
    faces += match.faces;
    right += match.right_kind;
    regions += match.regions;
    EXPECT_EQ(result.regions.at(0).kind, SurfaceKind::kPlane);
    for (std::size_t f = 0; f < table.faces.size(); ++f) {
      if (match.region_of_face[f] == 0 || table.faces[f].radius_m == 0) continue;
      const SurfaceRegion& region =
          result.regions[static_cast<std::size_t>(match.region_of_face[f] - 1)];
      EXPECT_NEAR(region.radius_m / table.faces[f].radius_m, 1.0,
                  depth == TableDepth::kExact ? 0.005 : 0.1);
    }
  }
  EXPECT_GE(right, least_share * faces) << faces << " faces, " << regions << " regions";
  EXPECT_LE(regions, 1.2 * faces);
}

// At this distance a pixel is 1.8 mm and the smallest radius 19 px, above the 15 px of a crease.
// What may be missed are faces seen at a slant, few pixels wide.
TEST(Segment, FindsFacesOfExactTables) { expect_faces(TableDepth::kExact, 0.85); }
TEST(Segment, FindsFacesOfRawTables) { expect_faces(TableDepth::kRaw, 0.85); }
TEST(Segment, FindsFacesOfFilteredTables) { expect_faces(TableDepth::kFiltered, 0.85); }

TEST(Segment, SameBitsOnEveryRunAndThreadCount) {
  const testing::LabelledTable table = testing::labelled_table(
      5, {.depth = TableDepth::kRaw, .width = 320, .height = 240, .focal_px = 262.5});
  std::optional<Found> first;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Image<Vec3f> points = copy(context, table.points(Context::cpu()));
    const Image<Vec3f> normals =
        copy(context, estimate_normals(Context::cpu(), table.points(Context::cpu())));
    for (int run = 0; run < 2; ++run) {
      Segmentation result = segment(context, points, normals);
      Found found{to_host(context, result.labels.pixels()), std::move(result.regions)};
      if (!first) first = found;
      ASSERT_EQ(found.regions.size(), first->regions.size());
      EXPECT_EQ(found.labels, first->labels);
      for (std::size_t r = 0; r < found.regions.size(); ++r) {
        const SurfaceRegion& a = found.regions[r];
        const SurfaceRegion& b = first->regions[r];
        if (context.is_cpu()) {
          EXPECT_EQ(std::memcmp(&a, &b, sizeof a), 0);
        } else {
          EXPECT_EQ(a.kind, b.kind);
          EXPECT_EQ(a.points, b.points);
          EXPECT_EQ(a.first_index, b.first_index);
          EXPECT_NEAR(a.area_m2, b.area_m2, 1e-5f * b.area_m2);
          EXPECT_NEAR(a.rms_m, b.rms_m, 1e-5f * b.rms_m + 1e-8f);
          if (std::isfinite(b.radius_m)) {
            EXPECT_NEAR(a.radius_m, b.radius_m, 1e-5f * b.radius_m);
          }
        }
      }
    }
  }
}

TEST(Segment, BadDataGivesNoRegion) {
  const std::vector<Vec3f> bad_points{{NAN, NAN, NAN}, {INFINITY, 0, 1}, {0, 0, 0},
                                      {0, 0, -1},      {1, 1, INFINITY}, {0.1f, 0.1f, 1}};
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    for (const Vec3f& bad : bad_points) {
      OrganisedScene scene{40, 30, std::vector<Vec3f>(1200, bad), {}};
      const std::vector<Vec3f> normals(1200, Vec3f{0, 0, -1});
      const Found found = segment_scene(context, scene, normals, {.min_points = 4});
      EXPECT_TRUE(found.regions.empty());
      for (const std::int32_t label : found.labels) ASSERT_EQ(label, 0);
    }
    OrganisedScene scene =
        testing::look_at(testing::PlaneSurface{1.0}, {.width = 40, .height = 30});
    EXPECT_TRUE(segment_scene(context, scene, std::vector<Vec3f>(1200, Vec3f{NAN, NAN, NAN}))
                    .regions.empty());
    for (const auto& [width, height] : std::vector<std::pair<int, int>>{{0, 0}, {0, 5}, {7, 0}}) {
      const Segmentation none = segment(context, Image<Vec3f>(context, width, height),
                                        Image<Vec3f>(context, width, height));
      EXPECT_TRUE(none.regions.empty());
      EXPECT_EQ(none.labels.width(), width);
    }
    const OrganisedScene one =
        testing::look_at(testing::PlaneSurface{1.0}, {.width = 1, .height = 1});
    EXPECT_TRUE(segment_scene(context, one, floats(one.normals)).regions.empty());
    const OrganisedScene row =
        testing::look_at(testing::PlaneSurface{1.0}, {.width = 200, .height = 1});
    const Found line = segment_scene(context, row, floats(row.normals));
    ASSERT_EQ(line.regions.size(), 1u);  // a strip of a plane, though it might be another's
    EXPECT_EQ(line.regions[0].points, 200);
  }
}

TEST(Segment, ReadsAndWritesImagesWithGaps) {
  const OrganisedScene scene = roof(0.6, {.width = 60, .height = 40});
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Found truth = segment_scene(context, scene, floats(scene.normals));
    const int stride = 71;
    const auto spread = [&](const std::vector<Vec3f>& from) {
      std::vector<Vec3f> to(static_cast<std::size_t>(stride * scene.height), Vec3f{0, 0, 9});
      for (int v = 0; v < scene.height; ++v) {
        std::copy_n(from.begin() + v * scene.width, scene.width, to.begin() + v * stride);
      }
      return copy(context, to);
    };
    const Buffer<Vec3f> points = spread(scene.points);
    const Buffer<Vec3f> normals = spread(floats(scene.normals));
    Buffer<std::int32_t> labels = copy(
        context, std::vector<std::int32_t>(static_cast<std::size_t>(stride * scene.height), -5));
    Buffer<SurfaceRegion> regions(context, region_capacity(60 * 40, 50));
    Buffer<std::int32_t> count(context, 1);
    const auto image = [&](auto* data) {
      return ImageView<std::remove_pointer_t<decltype(data)>>{data, scene.width, scene.height,
                                                              stride, context.device()};
    };
    segment_into(context, image(points.data()), image(normals.data()), {}, image(labels.data()),
                 regions, count);
    EXPECT_EQ(to_host(context, count)[0], static_cast<int>(truth.regions.size()));
    const std::vector<std::int32_t> read = to_host(context, labels);
    for (int v = 0; v < scene.height; ++v) {
      for (int u = 0; u < stride; ++u) {
        const std::int32_t expected = u < scene.width ? truth.at(u, v, scene.width) : -5;
        ASSERT_EQ(read[static_cast<std::size_t>(v * stride + u)], expected);
      }
    }
  }
}

TEST(Segment, RunsFromAGraph) {
  const OrganisedScene scene = roof(0.6);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Image<Vec3f> points = scene.on(context);
    const Image<Vec3f> normals(copy(context, floats(scene.normals)), scene.width, scene.height);
    Image<std::int32_t> labels(context, scene.width, scene.height);
    Buffer<SurfaceRegion> regions(context, region_capacity(labels.pixels().size(), 50));
    Buffer<std::int32_t> count(context, 1);
    const Graph graph = Graph::capture(
        context, [&] { segment_into(context, points, normals, {}, labels, regions, count); });
    graph.launch();
    graph.launch();
    EXPECT_EQ(to_host(context, count)[0], 2);
    EXPECT_EQ(to_host(context, labels.pixels()),
              segment_scene(context, scene, floats(scene.normals)).labels);
  }
}

TEST(Segment, RefusesWrongArguments) {
  const Context context = Context::cpu(1);
  const Image<Vec3f> points(context, 8, 6);
  const Image<Vec3f> other(context, 8, 5);
  EXPECT_EQ(testing::error_message([&] { segment(context, points, other); }),
            "normals: 8 x 5 for 8 x 6 points");
  EXPECT_EQ(testing::error_message([&] { segment(context, points, points, {.min_points = 0}); }),
            "min_points: 0 is outside [4, 1e+09]");
  Image<std::int32_t> labels(context, 8, 6);
  Buffer<SurfaceRegion> regions(context, 3);
  Buffer<std::int32_t> count(context, 1);
  EXPECT_EQ(testing::error_message(
                [&] { segment_into(context, points, points, {}, labels, regions, count); }),
            "regions: room for 3 instead of 1; see region_capacity");
}

/// Kinect scenes of boxes on a table, labelled by hand: 1-9 table, 20-29 first object, ...
TEST(Segment, RegionsOfRealTablesLieOnOneObject) {
  int scenes = 0;
  for (const char* name : {"mosd_kinect/test0.pcd", "mosd_kinect/test33.pcd"}) {
    const std::optional<std::filesystem::path> path = testing::shared_data(name);
    if (!path) continue;
    ++scenes;
    SCOPED_TRACE(name);
    const Context context = Context::cpu();
    const Cloud cloud = read_pcd(*path);
    Image<float> depth_m(context, cloud.width, cloud.height);
    for (std::size_t i = 0; i < cloud.points.host().size(); ++i) {
      depth_m.pixels().host()[i] = cloud.points.host()[i].z;
    }
    const Image<float> filtered = bilateral_filter(context, depth_m);
    Image<Vec3f> points(context, cloud.width, cloud.height);
    for (std::size_t i = 0; i < cloud.points.host().size(); ++i) {
      const Vec3f p = cloud.points.host()[i];
      points.pixels().host()[i] = p * (filtered.pixels().host()[i] / p.z);
    }
    const Segmentation result = segment(context, points, estimate_normals(context, points));
    const auto label = std::find_if(cloud.attributes.begin(), cloud.attributes.end(),
                                    [](const Attribute& a) { return a.name == "label"; });
    ASSERT_NE(label, cloud.attributes.end());
    std::map<std::pair<int, int>, int> common;
    std::map<int, int> best;
    std::int64_t labelled = 0, covered = 0;
    for (std::size_t i = 0; i < cloud.points.host().size(); ++i) {
      const int object = static_cast<int>(label->values.host()[i]) / 10;
      const std::int32_t region = result.labels.pixels().host()[i];
      const bool known = label->values.host()[i] > 0;
      labelled += known;
      if (!known || region == 0) continue;
      ++covered;
      best[region] = std::max(best[region], ++common[{object, region}]);
    }
    std::int64_t pure = 0;
    for (const auto& [region, pixels] : best) pure += pixels;
    EXPECT_GE(static_cast<double>(pure), 0.97 * static_cast<double>(covered));
    EXPECT_GE(static_cast<double>(covered), 0.9 * static_cast<double>(labelled));
    EXPECT_EQ(result.regions.at(0).kind, SurfaceKind::kPlane);
  }
  if (scenes == 0) GTEST_SKIP() << "mosd_kinect is not here";
}

}  // namespace
}  // namespace sextant
