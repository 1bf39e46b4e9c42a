// SPDX-License-Identifier: Apache-2.0
// Growing, unusual surfaces, the same bits everywhere, bad input.
#include "sextant/descriptor/tensor.h"

#include <gtest/gtest.h>

#include "tests/devices.h"
#include "tests/recorded_frame.h"
#include "tests/tensor_surfaces.h"

namespace sextant {
namespace {

using namespace testing;

TEST(Tensor, HasTheSameBitsEverywhere) {
  const HostSurface surface = lumpy_scene();
  const std::vector<PointPair> pairs = pairs_of(surface, kLumpyResolution_m, 150);
  // The last fills the image and more.
  for (const TensorOptions& options : {TensorOptions{}, TensorOptions{.mode = TensorMode::kAll},
                                       TensorOptions{.bins = 3, .bin_resolutions = 70.0f}}) {
    const TensorSet expected =
        tensors_of(Context::cpu(1), surface, pairs, kLumpyResolution_m, options);
    EXPECT_GT(expected.values.size(), 200);
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      expect_same(tensors_of(context, surface, pairs, kLumpyResolution_m, options), expected);
    }
  }
}

TEST(Tensor, CubesLargerThanSharedMemory) {
  HostSurface surface = height_field(300, 260, [](double x, double y) {
    return 400 + 10 * std::sin(0.1 * x) + 8 * std::cos(0.13 * y);
  });
  for (std::size_t i = 0; i < surface.cells.size(); i += 7) surface.cells[i] = 1;
  const PointPair large = aligned_pair(surface, 140, 130, 160, 130);
  const PointPair small = aligned_pair(surface, 20, 20, 28, 20);
  for (const TensorMode mode : {TensorMode::kGrow, TensorMode::kAll}) {
    const TensorOptions options{.bin_resolutions = 24.0f, .mode = mode};
    const TensorSet expected =
        tensors_of(Context::cpu(1), surface, {large, small, large}, 1.0f, options);
    EXPECT_GT(total(expected), 250.0);
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      expect_same(tensors_of(context, surface, {large, small, large}, 1.0f, options), expected);
    }
  }
}

TEST(Tensor, TilesFarApartInTheImage) {
  // Two sheets of 15 × 15 cells in opposite corners of the image, one behind the other in space;
  // nothing between them. The window around them has more tiles than shared memory has room for.
  constexpr int kWidth = 530, kHeight = 270, kSheet = 15;
  HostSurface surface = height_field(kWidth, kHeight, [](double, double) { return 50.0; });
  std::fill(surface.cells.begin(), surface.cells.end(), std::uint8_t{0});
  for (int v = 0; v <= kSheet; ++v) {
    for (int u = 0; u <= kSheet; ++u) {
      const int far_u = kWidth - 1 - kSheet + u, far_v = kHeight - 1 - kSheet + v;
      const auto near = static_cast<std::size_t>(surface.index(u, v));
      const auto far = static_cast<std::size_t>(surface.index(far_u, far_v));
      surface.points[far] = surface.points[near] + Vec3f{0, 0, 3};
      if (u == kSheet || v == kSheet) continue;
      surface.cells[static_cast<std::size_t>(v * (kWidth - 1) + u)] = 3;
      surface.cells[static_cast<std::size_t>(far_v * (kWidth - 1) + far_u)] = 3;
    }
  }
  const PointPair pair = aligned_pair(surface, 4, 7, 11, 8);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    // Two resolutions a bin: four cells a face.
    const double sheet = kSheet * kSheet / 4.0;
    EXPECT_NEAR(total(tensors_of(context, surface, {pair}, 1.0f)), sheet, 1e-3);
    EXPECT_NEAR(total(tensors_of(context, surface, {pair}, 1.0f, {.mode = TensorMode::kAll})),
                2 * sheet, 1e-3);
  }
}

TEST(Tensor, GrowsOverEdgesInsideTheCubeAlone) {
  // A wall with a step of 3 behind x = 4: two sheets, both in the cube.
  HostSurface surface = height_field(61, 41, [](double x, double) { return x > 4 ? 73.0 : 70.0; });
  const int step = 30 + 4;  // the column of cells between the sheets
  for (int v = 0; v < 40; ++v) surface.cells[static_cast<std::size_t>(v * 60 + step)] = 0;
  const PointPair pair = aligned_pair(surface, 26, 20, 34, 20);
  // The same, joined far outside the cube, at the upper edge of the image.
  HostSurface joined = surface;
  for (int v = 0; v < 3; ++v) joined.cells[static_cast<std::size_t>(v * 60 + step)] = 3;
  // And joined by one cell inside the cube.
  HostSurface bridged = surface;
  bridged.cells[static_cast<std::size_t>(22 * 60 + step)] = 3;
  // By one triangle of that cell, which meets the near sheet in an edge and the far one in a point.
  HostSurface pointed = surface;
  pointed.cells[static_cast<std::size_t>(22 * 60 + step)] = 1;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const auto area = [&](const HostSurface& s, TensorMode mode) {
      return total(tensors_of(context, s, {pair}, 1.0f, {.mode = mode}));
    };
    // The cube is 20 wide about x = 0: the near sheet has 14 × 20, the far one 5 × 20 of it; a
    // bin's face is 4. The cells that join are 1 wide and rise by 3.
    const double near = 14 * 20 / 4.0, far = 5 * 20 / 4.0, bridge = std::sqrt(10.0) / 4;
    EXPECT_NEAR(area(surface, TensorMode::kGrow), near, 1e-3);
    EXPECT_NEAR(area(surface, TensorMode::kAll), near + far, 1e-3);
    EXPECT_NEAR(area(joined, TensorMode::kGrow), near, 1e-3);
    EXPECT_NEAR(area(joined, TensorMode::kAll), near + far, 1e-3);
    EXPECT_NEAR(area(bridged, TensorMode::kGrow), near + far + bridge, 1e-3);
    EXPECT_NEAR(area(pointed, TensorMode::kGrow), near + bridge / 2, 1e-3);
  }
}

TEST(Tensor, GrowsAroundCorners) {
  // A path of cells that winds through the cube like a snake, one cell wide.
  HostSurface surface = height_field(61, 61, [](double, double) { return 100.0; });
  int cells = 0;
  for (int v = 0; v < 60; ++v) {
    for (int u = 0; u < 60; ++u) {
      const bool in_range = v >= 22 && v < 39 && u >= 21 && u < 39;
      const bool corridor = v % 2 == 0 || u == (v % 4 == 1 ? 38 : 21);
      surface.cells[static_cast<std::size_t>(v * 60 + u)] = in_range && corridor ? 3 : 0;
      cells += in_range && corridor ? 1 : 0;
    }
  }
  // From the first row to the middle of the cube.
  const PointPair pair = aligned_pair(surface, 21, 22, 39, 38);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    EXPECT_NEAR(total(tensors_of(context, surface, {pair}, 1.0f)), cells / 4.0, 1e-3);
    // Without one cell of the way and the far end, half of it is not reached.
    HostSurface cut = surface;
    cut.cells[static_cast<std::size_t>(30 * 60 + 30)] = 0;
    const double all = total(tensors_of(context, cut, {pair}, 1.0f, {.mode = TensorMode::kAll}));
    EXPECT_NEAR(all, (cells - 1) / 4.0, 1e-3);
    EXPECT_NEAR(total(tensors_of(context, cut, {pair}, 1.0f)), all, 1e-3);
    PointPair one_end = aligned_pair(cut, 21, 22, 22, 22);
    cut.points[static_cast<std::size_t>(one_end.q)] =
        cut.points[static_cast<std::size_t>(one_end.p)];
    EXPECT_LT(total(tensors_of(context, cut, {one_end}, 4.0f)), 0.6 * all / 16);
  }
}

TEST(Tensor, HugeAndDegenerateTriangles) {
  // Two triangles of 2000 cut by a cube of 20 about the middle of their diagonal.
  HostSurface huge{2, 2, {}, {}, {3}};
  for (const Vec3f& p : {Vec3f{-1000, -1000, 30}, Vec3f{1000, -1000, 30}, Vec3f{-1000, 1000, 30},
                         Vec3f{1000, 1000, 30}}) {
    huge.points.push_back(p);
    huge.normals.push_back({0, 0, -1});
  }
  const PointPair across = aligned_pair(huge, 0, 0, 1, 1);
  // A surface folded on itself: 20 thousand sheets in the same four bins.
  HostSurface folded = height_field(101, 101, [](double, double) { return 40.0; });
  for (int v = 0; v < 101; ++v) {
    for (int u = 0; u < 101; ++u) {
      const Vec3d corner{u % 2 * 3.0, v % 2 * 3.0, 40};
      folded.points[static_cast<std::size_t>(folded.index(u, v))] = cast<float>(corner);
    }
  }
  const PointPair fold = aligned_pair(folded, 50, 50, 51, 51);
  // All points in one place, or in a line.
  HostSurface flat = height_field(9, 9, [](double, double) { return 5.0; });
  for (Vec3f& p : flat.points) p = {1, 2, 3};
  const PointPair nowhere = aligned_pair(flat, 2, 2, 5, 5);
  HostSurface line = height_field(9, 9, [](double x, double) { return 5.0 + x; });
  for (Vec3f& p : line.points) p.y = 0;
  const PointPair on_line = aligned_pair(line, 2, 2, 5, 5);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const TensorSet plane = tensors_of(context, huge, {across}, 1.0f);
    EXPECT_EQ(plane.sizes.host()[0], 100);
    // Cuts of an edge of 2000 (1000 bins) are right to 1e-7 of it.
    for (const float value : plane.values.host()) EXPECT_NEAR(value, 1.0, 2e-3);
    const TensorSet sheets = tensors_of(context, folded, {fold}, 1.0f);
    EXPECT_EQ(sheets.sizes.host()[0], 4);
    for (const float value : sheets.values.host()) EXPECT_EQ(value, 4096.0f);
    EXPECT_EQ(tensors_of(context, flat, {nowhere}, 1.0f).values.size(), 0);
    EXPECT_EQ(tensors_of(context, line, {on_line}, 1.0f).values.size(), 0);
  }
}

TEST(Tensor, IsRecordedWithoutWaiting) {
  const HostSurface surface = lumpy_scene();
  const std::vector<PointPair> pairs = pairs_of(surface, kLumpyResolution_m, 30);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const DeviceSurface on_device(context, surface);
    const Buffer<PointPair> list = copy(context, pairs);
    const Buffer<std::int32_t> count = copy(context, std::vector<std::int32_t>{20});
    SurfaceStatistics known;
    known.resolution_m = kLumpyResolution_m;
    const Buffer<SurfaceStatistics> statistics =
        copy(context, std::vector<SurfaceStatistics>{known});
    TensorSet tensors(context, 25, 10);
    Workspace workspace;
    const auto frame = [&] {
      compute_tensors_into(context, on_device, list, count, statistics, {}, tensors, workspace);
    };
    EXPECT_EQ(testing::launch_recorded(context, frame), 0);
    const std::vector<PointPair> some(pairs.begin(), pairs.begin() + 20);
    expect_same(to_host(context, pack_tensors(context, tensors)),
                tensors_of(context, surface, some, kLumpyResolution_m));
    EXPECT_EQ(to_host(context, tensors.first)[19], 19000);
  }
}

TEST(Tensor, BadInput) {
  const HostSurface good = lumpy_scene(40, 40);
  const std::vector<PointPair> pairs = pairs_of(good, kLumpyResolution_m, 3);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const auto expect_empty = [&](const HostSurface& surface, const PointPair& pair,
                                  float resolution_m) {
      const TensorSet tensors = tensors_of(context, surface, {pair}, resolution_m);
      EXPECT_EQ(tensors.count.host()[0], 1);
      EXPECT_EQ(tensors.sizes.host()[0], 0);
      EXPECT_TRUE(std::isnan(tensors.frames.host()[0].angle_rad));
      EXPECT_EQ(tensors.masks.host()[0].words[0], 0u);
    };
    for (const float resolution_m : {0.0f, -1.0f, NAN, INFINITY, 1e-42f}) {
      expect_empty(good, pairs[0], resolution_m);
    }
    for (const PointPair& pair : {PointPair{-1, 4}, PointPair{3, 1600}, PointPair{7, 7}}) {
      expect_empty(good, pair, kLumpyResolution_m);
    }
    HostSurface opposite = good;
    const Vec3f n = opposite.normals[static_cast<std::size_t>(pairs[0].p)];
    opposite.normals[static_cast<std::size_t>(pairs[0].q)] = -n;
    expect_empty(opposite, pairs[0], kLumpyResolution_m);
    HostSurface holes = good;
    for (Vec3f& p : holes.points) p = {NAN, 0, INFINITY};
    expect_empty(holes, pairs[0], kLumpyResolution_m);
    // Triangles that are said to exist but have no corners count for nothing.
    HostSurface lies = good;
    lies.cells.assign(lies.cells.size(), 0xff);
    const TensorSet tensors = tensors_of(context, lies, pairs, kLumpyResolution_m);
    for (const float value : tensors.values.host()) EXPECT_TRUE(std::isfinite(value));
    EXPECT_GT(tensors.values.size(), 50);

    const HostSurface dot{1, 1, {{0, 0, 1}}, {{0, 0, -1}}, {}};
    expect_empty(dot, {0, 0}, 1.0f);
    expect_empty(HostSurface{}, {0, 1}, 1.0f);
    EXPECT_EQ(tensors_of(context, good, {}, 1.0f).capacity(), 0);
    EXPECT_EQ(tensors_of(context, HostSurface{}, {}, 1.0f).capacity(), 0);

    EXPECT_THROW(tensors_of(context, good, pairs, 1.0f, {.bins = 11}), Error);
    EXPECT_THROW(tensors_of(context, good, pairs, 1.0f, {.bin_resolutions = NAN}), Error);
    HostSurface wrong = good;
    wrong.cells.resize(39 * 38);
    const DeviceSurface on_device(context, good);
    const Image<std::uint8_t> few(copy(context, wrong.cells), 39, 38);
    const OrganisedSurface mixed{on_device.points, on_device.normals, few};
    EXPECT_THROW(compute_tensors(context, mixed, copy(context, pairs), 1.0f), Error);
    EXPECT_THROW(TensorSet(context, -1, 10), Error);
    EXPECT_THROW(TensorSet(context, 1, 0), Error);
    const TensorSet none;
    EXPECT_THROW(pack_tensors(Context::cpu(), none), Error);
  }
}

}  // namespace
}  // namespace sextant
