// SPDX-License-Identifier: Apache-2.0
// What a tensor is: areas, frames, motion, flip.
#include "sextant/descriptor/tensor.h"

#include <gtest/gtest.h>

#include "sextant/core/rigid3.h"
#include "tests/devices.h"
#include "tests/tensor_surfaces.h"

namespace sextant {
namespace {

using namespace testing;

TEST(Tensor, APlaneFillsASlabOfBins) {
  HostSurface surface = height_field(41, 37, [](double, double) { return 50.0; });
  // Once with the faces of the bins along the edges of the cells, once across them.
  const PointPair along = aligned_pair(surface, 16, 18, 24, 18);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    for (const int bins : {10, 5}) {
      // The plane is the face between bins 4 and 5 of ten, and the middle of bin 2 of five.
      const TensorSet tensors = tensors_of(context, surface, {along}, 1.0f, {.bins = bins});
      ASSERT_EQ(tensors.sizes.host()[0], bins * bins);
      const TensorFrame& frame = tensors.frames.host()[0];
      EXPECT_NEAR(frame.angle_rad, std::acos(0.28), 1e-6);
      EXPECT_EQ(frame.origin_m, (Vec3f{0, 0, 50}));
      EXPECT_NEAR(frame.axes.row[2].z, -1, 1e-6);
      EXPECT_NEAR(std::abs(frame.axes.row[0].y), 1, 1e-6);
      EXPECT_EQ(frame.bin_m, 2.0f);
      EXPECT_EQ(frame.pair, along);
      for (int i = 0; i < bins * bins; ++i) {
        EXPECT_EQ(tensors.indices.host()[static_cast<std::size_t>(i)],
                  bins * bins * (bins / 2) + i);
        EXPECT_NEAR(tensors.values.host()[static_cast<std::size_t>(i)], 1.0, 1e-5);
      }
    }
    HostSurface shifted = surface;
    const PointPair across = aligned_pair(shifted, 17, 18, 24, 17);
    const TensorSet tensors = tensors_of(context, shifted, {across}, 1.0f);
    ASSERT_EQ(tensors.sizes.host()[0], 100);
    // A bin has up to 25 pieces, each rounded to 2⁻²⁰; positions of 20 are right to 1e-6.
    for (const float value : tensors.values.host()) EXPECT_NEAR(value, 1.0, 5e-5);
  }
}

TEST(Tensor, AddsUpToTheAreaInTheCube) {
  // Planes tilted about one axis cut a cube of ten bins in 10 by 10 / cos.
  for (const double slope : {0.0, 0.3, 0.7, 1.0}) {
    HostSurface surface = height_field(61, 61, [&](double, double y) { return 90 + slope * y; });
    const PointPair pair = aligned_pair(surface, 26, 30, 34, 30);
    for (const Context& context : testing::all_contexts()) {
      const TensorSet tensors =
          tensors_of(context, surface, {pair}, 1.3f, {.bin_resolutions = 1.7f});
      const double expected = 100 * std::sqrt(1 + slope * slope);
      EXPECT_NEAR(total(tensors), expected, 1e-4 * expected);
    }
  }
}

TEST(Tensor, IsThatOfTheOracle) {
  const HostSurface surface = lumpy_scene();
  const TensorOracle oracle = surface.oracle();
  const std::vector<PointPair> pairs = pairs_of(surface, kLumpyResolution_m, 8);
  ASSERT_EQ(pairs.size(), 8u);
  for (const TensorOptions& options :
       {TensorOptions{}, TensorOptions{.mode = TensorMode::kAll},
        TensorOptions{.bins = 4, .bin_resolutions = 3.5f},
        TensorOptions{.bins = 7, .bin_resolutions = 4.5f, .mode = TensorMode::kAll}}) {
    std::vector<TensorOracle::Answer> truth;
    for (const PointPair& pair : pairs) {
      truth.push_back(oracle.tensor(pair, kLumpyResolution_m, options));
    }
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      const TensorSet tensors = tensors_of(context, surface, pairs, kLumpyResolution_m, options);
      std::vector<float> dense(pairs.size() * truth[0].bins.size());
      unpack_tensors_into(Context::cpu(1), tensors, view_of(dense));
      double all = 0;
      for (std::size_t t = 0; t < pairs.size(); ++t) {
        double sum = 0, worst = 0;
        for (std::size_t bin = 0; bin < truth[t].bins.size(); ++bin) {
          const double value = dense[t * truth[t].bins.size() + bin];
          sum += value;
          worst = std::max(worst, std::abs(value - truth[t].bins[bin]));
        }
        // Points at half a metre are right to 3e-8 m, 1.6e-5 of the smallest bin, along an
        // outline of a few bins; less than 2⁻¹⁴ counts as nothing.
        EXPECT_LT(worst, 2e-4);
        EXPECT_NEAR(sum, truth[t].in_cube, 1e-4 * truth[t].in_cube + 0.01);
        all += sum;
      }
      EXPECT_GT(all, 50.0);
    }
  }
}

TEST(Tensor, MovesWithTheSurface) {
  const HostSurface surface = lumpy_scene();
  const std::vector<PointPair> pairs = pairs_of(surface, kLumpyResolution_m, 40);
  Rigid3d motion;
  motion.rotation = exp_rotation(Vec3d{0.7, -1.1, 0.4});
  motion.translation = {0.1, 0.3, -0.2};
  HostSurface moved = surface;
  for (Vec3f& p : moved.points) p = cast<float>(motion * cast<double>(p));
  for (Vec3f& n : moved.normals) n = cast<float>(motion.rotation * cast<double>(n));
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const TensorSet a = tensors_of(context, surface, pairs, kLumpyResolution_m);
    const TensorSet b = tensors_of(context, moved, pairs, kLumpyResolution_m);
    std::vector<float> before(pairs.size() * 1000), after(pairs.size() * 1000);
    unpack_tensors_into(Context::cpu(1), a, view_of(before));
    unpack_tensors_into(Context::cpu(1), b, view_of(after));
    double worst = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      worst = std::max(worst, std::abs(double(before[i]) - after[i]));
    }
    EXPECT_LT(worst, 5e-4);
    for (std::size_t t = 0; t < pairs.size(); ++t) {
      const TensorFrame& x = a.frames.host()[t];
      const TensorFrame& y = b.frames.host()[t];
      EXPECT_LT(norm(motion * cast<double>(x.origin_m) - cast<double>(y.origin_m)), 1e-6);
      EXPECT_LT(norm(motion.rotation * cast<double>(x.axes.row[1]) - cast<double>(y.axes.row[1])),
                1e-5);
      EXPECT_NEAR(x.angle_rad, y.angle_rad, 1e-5);
    }
  }
}

TEST(Tensor, SwappingThePairFlipsIt) {
  const HostSurface surface = lumpy_scene();
  const std::vector<PointPair> pairs = pairs_of(surface, kLumpyResolution_m, 40);
  std::vector<PointPair> swapped;
  for (const PointPair& pair : pairs) swapped.push_back({pair.q, pair.p});
  for (const Context& context : testing::all_contexts()) {
    for (const int bins : {10, 7}) {
      SCOPED_TRACE(testing::describe(context));
      const TensorOptions options{.bins = bins};
      const DeviceSurface on_device(context, surface);
      const TensorSet tensors =
          compute_tensors(context, on_device, copy(context, pairs), kLumpyResolution_m, options);
      TensorSet flipped = copy(context, tensors);
      flip_tensors_into(context, tensors, flipped);
      TensorSet back = copy(context, tensors);
      flip_tensors_into(context, flipped, back);
      expect_same(to_host(context, back), to_host(context, tensors));

      const TensorSet host = to_host(context, flipped);
      const TensorSet direct = tensors_of(context, surface, swapped, kLumpyResolution_m, options);
      const std::size_t all = static_cast<std::size_t>(bins * bins * bins);
      std::vector<float> a(pairs.size() * all), b(a), c(a);
      unpack_tensors_into(Context::cpu(1), host, view_of(a));
      unpack_tensors_into(Context::cpu(1), direct, view_of(b));
      unpack_tensors_into(Context::cpu(1), to_host(context, tensors), view_of(c));
      double worst = 0;
      for (std::size_t i = 0; i < a.size(); ++i) {
        worst = std::max(worst, std::abs(double(a[i]) - b[i]));
        // T'(i, j, k) = T(bins - 1 - i, bins - 1 - j, k)
        const int bin = static_cast<int>(i % all);
        const int x = bin % bins, y = bin / bins % bins, z = bin / bins / bins;
        const int from = (bins - 1 - x) + bins * ((bins - 1 - y) + bins * z);
        EXPECT_EQ(a[i], c[i - i % all + static_cast<std::size_t>(from)]);
      }
      EXPECT_LT(worst, 2e-4);
      for (std::size_t t = 0; t < pairs.size(); ++t) {
        const TensorFrame& x = host.frames.host()[t];
        const TensorFrame& y = direct.frames.host()[t];
        EXPECT_EQ(x.pair, y.pair);
        for (int row = 0; row < 3; ++row) {
          EXPECT_LT(norm(x.axes.row[row] - y.axes.row[row]), 1e-6f);
        }
      }
    }
  }
}

TEST(Tensor, RandomTrianglesAreThoseOfTheOracle) {
  // Random points: triangles of every size and direction, through every corner of the grid.
  HostSurface surface = height_field(24, 24, [](double, double) { return 0.0; });
  for (std::size_t i = 0; i < surface.points.size(); ++i) {
    const Random random{testing::seed_of_test(), i};
    surface.points[i] = {random.uniform(0) * 30, random.uniform(1) * 30, random.uniform(2) * 30};
    // Some exactly on the faces of bins.
    if (i % 3 == 0) {
      surface.points[i] = {std::round(surface.points[i].x), std::round(surface.points[i].y),
                           std::round(surface.points[i].z)};
    }
  }
  surface.points[0] = {13, 15, 15};
  surface.points[23] = {17, 15, 15};
  const PointPair pair = aligned_pair(surface, 0, 0, 23, 0);
  const TensorOracle oracle = surface.oracle();
  for (const TensorMode mode : {TensorMode::kGrow, TensorMode::kAll}) {
    const TensorOptions options{.mode = mode};
    const TensorOracle::Answer truth = oracle.tensor(pair, 1.0, options);
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      const TensorSet tensors = tensors_of(context, surface, {pair}, 1.0f, options);
      std::vector<float> dense(1000);
      unpack_tensors_into(Context::cpu(1), tensors, view_of(dense));
      // About a hundred pieces a bin, each within 2⁻²¹ of rounding and 1e-6 of cutting.
      for (std::size_t bin = 0; bin < 1000; ++bin) EXPECT_NEAR(dense[bin], truth.bins[bin], 5e-4);
      EXPECT_NEAR(total(tensors), truth.in_cube, 1e-4 * truth.in_cube);
    }
  }
}

TEST(FlippedBin, ReversesASlab) {
  EXPECT_EQ(flipped_bin(0, 10), 99);
  EXPECT_EQ(flipped_bin(999, 10), 900);
  EXPECT_EQ(flipped_bin(flipped_bin(123, 7), 7), 123);
}

}  // namespace
}  // namespace sextant
