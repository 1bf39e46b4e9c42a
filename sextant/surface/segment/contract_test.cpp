// SPDX-License-Identifier: Apache-2.0
// What segmentation promises on any data: the same bits, defined results, clear errors.
#include <gtest/gtest.h>

#include <cstring>
#include <optional>

#include "sextant/core/graph.h"
#include "sextant/surface/normals.h"
#include "tests/devices.h"
#include "tests/error_message.h"
#include "tests/instruction_sets.h"
#include "tests/labelled_table.h"
#include "tests/segmented_scenes.h"

namespace sextant {
namespace {

using testing::Found;
using testing::normals_of;
using testing::OrganisedScene;
using testing::roof;
using testing::segment_scene;
using testing::TableDepth;

/// The same labels on every device, and on the CPU the same bits of regions.
void expect_same_everywhere(const testing::LabelledTable& table) {
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

TEST(SegmentContract, SameBitsOnEveryRunAndThreadCount) {
  expect_same_everywhere(testing::labelled_table(
      5, {.depth = TableDepth::kRaw, .width = 320, .height = 240, .focal_px = 262.5}));
  // Rows and columns that are no multiples of cells or of warps, and more patches.
  expect_same_everywhere(testing::labelled_table(
      6, {.depth = TableDepth::kFiltered, .width = 333, .height = 251, .focal_px = 270}));
}

TEST(SegmentContract, SameBitsOnEveryInstructionSet) {
  const Context context = Context::cpu(2);
  for (const TableDepth depth : {TableDepth::kExact, TableDepth::kRaw}) {
    const testing::LabelledTable table = testing::labelled_table(
        5, {.depth = depth, .width = 317, .height = 240, .focal_px = 262.5});
    const Image<Vec3f> points = table.points(context);
    const Image<Vec3f> normals = estimate_normals(context, points);
    testing::expect_same_bits_on_every_set(
        [&] { return to_host(context, segment(context, points, normals).labels.pixels()); });
    testing::expect_same_bits_on_every_set(
        [&] { return segment(context, points, normals).regions; });
  }
}

TEST(SegmentContract, BadDataGivesNoRegion) {
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
    // A surface is one without normals too.
    EXPECT_EQ(segment_scene(context, scene, std::vector<Vec3f>(1200, Vec3f{NAN, NAN, NAN}))
                  .regions.size(),
              1u);
    for (const auto& [width, height] : std::vector<std::pair<int, int>>{{0, 0}, {0, 5}, {7, 0}}) {
      const Segmentation none = segment(context, Image<Vec3f>(context, width, height),
                                        Image<Vec3f>(context, width, height));
      EXPECT_TRUE(none.regions.empty());
      EXPECT_EQ(none.labels.width(), width);
    }
    const OrganisedScene one =
        testing::look_at(testing::PlaneSurface{1.0}, {.width = 1, .height = 1});
    EXPECT_TRUE(segment_scene(context, one, normals_of(one)).regions.empty());
    const OrganisedScene row =
        testing::look_at(testing::PlaneSurface{1.0}, {.width = 200, .height = 1});
    const Found line = segment_scene(context, row, normals_of(row));
    ASSERT_EQ(line.regions.size(), 1u);  // a strip of a plane, though it might be another's
    EXPECT_EQ(line.regions[0].points, 200);
  }
}

TEST(SegmentContract, ReadsAndWritesImagesWithGaps) {
  const OrganisedScene scene = roof(0.6, {.width = 60, .height = 40});
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Found truth = segment_scene(context, scene, normals_of(scene));
    const int stride = 71;
    const auto spread = [&](const std::vector<Vec3f>& from) {
      std::vector<Vec3f> to(static_cast<std::size_t>(stride * scene.height), Vec3f{0, 0, 9});
      for (int v = 0; v < scene.height; ++v) {
        std::copy_n(from.begin() + v * scene.width, scene.width, to.begin() + v * stride);
      }
      return copy(context, to);
    };
    const Buffer<Vec3f> points = spread(scene.points);
    const Buffer<Vec3f> normals = spread(normals_of(scene));
    Buffer<std::int32_t> labels = copy(
        context, std::vector<std::int32_t>(static_cast<std::size_t>(stride * scene.height), -5));
    Buffer<SurfaceRegion> regions(context, region_capacity(60 * 40, 50));
    Buffer<std::int32_t> count(context, 1);
    Workspace workspace;
    const auto image = [&](auto* data) {
      return ImageView<std::remove_pointer_t<decltype(data)>>{data, scene.width, scene.height,
                                                              stride, context.device()};
    };
    segment_into(context, image(points.data()), image(normals.data()), {}, image(labels.data()),
                 regions, count, workspace);
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

TEST(SegmentContract, RunsFromAGraph) {
  const OrganisedScene scene = roof(0.6);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Image<Vec3f> points = scene.on(context);
    const Image<Vec3f> normals(copy(context, normals_of(scene)), scene.width, scene.height);
    Image<std::int32_t> labels(context, scene.width, scene.height);
    Buffer<SurfaceRegion> regions(context, region_capacity(labels.pixels().size(), 50));
    Buffer<std::int32_t> count(context, 1);
    Workspace workspace;
    const Graph graph = Graph::capture(context, [&] {
      segment_into(context, points, normals, {}, labels, regions, count, workspace);
    });
    graph.launch();
    graph.launch();
    EXPECT_EQ(to_host(context, count)[0], 2);
    EXPECT_EQ(to_host(context, labels.pixels()),
              segment_scene(context, scene, normals_of(scene)).labels);
  }
}

TEST(SegmentContract, RefusesWrongArguments) {
  const Context context = Context::cpu(1);
  const Image<Vec3f> points(context, 8, 6);
  const Image<Vec3f> other(context, 8, 5);
  EXPECT_EQ(testing::error_message([&] { segment(context, points, other); }),
            "normals: is 8 x 5 px, but points is 8 x 6");
  EXPECT_EQ(testing::error_message([&] { segment(context, points, points, {.min_points = 0}); }),
            "min_points: 0 is outside [4, 1e+09]");
  Image<std::int32_t> labels(context, 8, 6);
  Buffer<SurfaceRegion> regions(context, 3);
  Buffer<std::int32_t> count(context, 1);
  Workspace workspace;
  EXPECT_EQ(testing::error_message([&] {
              segment_into(context, points, points, {}, labels, regions, count, workspace);
            }),
            "regions: has 3 elements instead of 1; see region_capacity");
}

}  // namespace
}  // namespace sextant
