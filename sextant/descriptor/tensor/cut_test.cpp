// SPDX-License-Identifier: Apache-2.0
// The pieces of single triangles, and what edges of a tile's triangles connect.
#include "sextant/descriptor/tensor/cut_math.h"

#include <gtest/gtest.h>

#include <array>

#include "sextant/core/random.h"
#include "sextant/descriptor/tensor/tile_math.h"
#include "tests/devices.h"
#include "tests/tensor_oracle.h"

namespace sextant {

using namespace detail::tensor;
namespace {

using testing::TensorOracle;

/// The largest difference between the areas of a triangle's pieces and those in double precision.
double worst_piece(const std::array<Vec3f, 3>& t, int bins) {
  std::vector<double> areas(static_cast<std::size_t>(bins * bins * bins));
  add_triangle(t[0], t[1], t[2], bins, [&](int bin, std::uint32_t units) {
    areas.at(static_cast<std::size_t>(bin)) += double(units) * double(kAreaUnit);
  });
  const TensorOracle::Polygon triangle{cast<double>(t[0]), cast<double>(t[1]), cast<double>(t[2])};
  double worst = 0;
  for (int bin = 0; bin < bins * bins * bins; ++bin) {
    const Vec3d low{double(bin % bins), double(bin / bins % bins), double(bin / bins / bins)};
    const double truth = TensorOracle::area_in(triangle, low, low + Vec3d{1, 1, 1});
    worst = std::max(worst, std::abs(areas[static_cast<std::size_t>(bin)] - truth));
  }
  return worst;
}

TEST(TensorCut, PiecesAreThoseOfTheOracle) {
  constexpr int kBins = 4;
  // Up to which length, in bins, the kinds of triangles; the last are cut as polygons.
  const double sizes[] = {0.3, 0.9, 1.8, 3.5, 6.0};
  int of_kind[4] = {};
  for (int i = 0; i < 4000; ++i) {
    const Random random{testing::seed_of_test(), static_cast<std::uint64_t>(i)};
    const auto size = static_cast<float>(sizes[i % 5]);
    std::array<Vec3f, 3> t;
    for (int corner = 0; corner < 3; ++corner) {
      const auto k = static_cast<std::uint32_t>(3 + 3 * corner);
      t[static_cast<std::size_t>(corner)] = {
          random.uniform(0) * 4.4f - 0.2f + random.uniform(k) * size,
          random.uniform(1) * 4.4f - 0.2f + random.uniform(k + 1) * size,
          random.uniform(2) * 4.4f - 0.2f + random.uniform(k + 2) * size};
    }
    TensorFrame frame;
    frame.axes = Mat3f::identity();
    frame.bin_m = 1.0f;
    if (!TensorCube(frame, kBins).meets(t[0], t[1], t[2])) continue;
    ++of_kind[cut_kind(t[0], t[1], t[2], kBins)];
    // Rounded to 2⁻²⁰, of an area of up to two faces with some roundings of 6e-8; cuts of long
    // edges, and smaller triangles of long ones, move by a rounding of the edge.
    EXPECT_LT(worst_piece(t, kBins), size < 1 ? 1e-6 : 2e-5) << "triangle " << i;
  }
  for (const int count : of_kind) EXPECT_GT(count, 100);
}

TEST(TensorCut, APartInAFaceGoesToTheUpperBin) {
  std::vector<int> found;
  const auto note = [&](int bin, std::uint32_t units) {
    found.push_back(bin);
    EXPECT_EQ(units, 1u << 18);  // a quarter of a face
  };
  // In the face between bins 0 and 1 of z; its corners are on the faces of x and y.
  add_triangle({0, 1, 1}, {0.5f, 1, 1}, {0, 2, 1}, 3, note);
  EXPECT_EQ(found, std::vector<int>{3 + 9});
  // In the lowest face of the cube, which belongs to it.
  found.clear();
  add_triangle({0, 1, 0}, {0.5f, 1, 0}, {0, 2, 0}, 3, note);
  EXPECT_EQ(found, std::vector<int>{3});
}

TEST(TensorCut, SharesOfAnAreaAboveAPlane) {
  EXPECT_EQ(area_above(8, {1, -1, -1}), 2);
  EXPECT_EQ(area_above(8, {-1, 1, 1}), 6);
  EXPECT_EQ(area_above(8, {-1, 3, -1}), 4.5f);
  EXPECT_EQ(area_above(8, {0, 0, 1}), 8);
  EXPECT_EQ(area_above(8, {0, 0, 0}), 0);
  EXPECT_EQ(area_above(8, {1, 2, 3}), 8);
  EXPECT_EQ(area_above(8, {-1, 0, -3}), 0);
  // Heights whose squares are too small for a float.
  EXPECT_EQ(area_above(8, {1e-30f, -1e-30f, -1e-30f}), 2);
}

TEST(TileBits, FloodsOverEdges) {
  // Every triangle for itself: neighbours by the numbers of their corners.
  const auto corners = [](int triangle) {
    const int second = triangle / 64, here = triangle % 64 / 8 * 9 + triangle % 8;
    return second ? std::array{here + 1, here + 9, here + 10}
                  : std::array{here, here + 9, here + 1};
  };
  const auto share_edge = [&](int i, int j) {
    int common = 0;
    for (const int a : corners(i)) {
      for (const int b : corners(j)) common += a == b ? 1 : 0;
    }
    return common == 2;
  };
  const auto has = [](const TileBits& bits, int i) {
    return ((i < 64 ? bits.first : bits.second) >> (i % 64) & 1) != 0;
  };
  std::vector<std::array<int, 2>> edges;
  for (int i = 0; i < 128; ++i) {
    for (int j = 0; j < 128; ++j) {
      if (share_edge(i, j)) edges.push_back({i, j});
    }
  }
  for (int trial = 0; trial < 60; ++trial) {
    const Random random{testing::seed_of_test(), static_cast<std::uint64_t>(trial)};
    TileBits open{0, 0}, seed{0, 0};
    for (std::uint32_t i = 0; i < 128; ++i) {
      const auto bit = std::uint64_t{random.uniform(i) < 0.8f} << (i % 64);
      (i < 64 ? open.first : open.second) |= bit;
    }
    seed.first = std::uint64_t{1} << trial;
    std::vector<bool> reached(128);
    reached[static_cast<std::size_t>(trial)] = has(open, trial);
    for (int again = 0; again < 128; ++again) {
      for (const auto& [i, j] : edges) {
        if (has(open, i) && reached[static_cast<std::size_t>(j)]) {
          reached[static_cast<std::size_t>(i)] = true;
        }
      }
    }
    const TileBits found = flooded(open, seed);
    for (int i = 0; i < 128; ++i) EXPECT_EQ(has(found, i), reached[static_cast<std::size_t>(i)]);
  }
}

TEST(TileBits, ReachesAcrossBorders) {
  const TileBits none{0, 0}, all{~std::uint64_t{0}, ~std::uint64_t{0}};
  EXPECT_EQ(reached_across(all, none, none, none).first, 0x0101010101010101u);
  EXPECT_EQ(reached_across(none, all, none, none).second, 0x8080808080808080u);
  EXPECT_EQ(reached_across(none, none, all, none).first, 0xffu);
  EXPECT_EQ(reached_across(none, none, none, all).second, 0xff00000000000000u);
}

TEST(CubeSides, AgreeWithBoundingBoxes) {
  TensorFrame frame;
  frame.axes = Mat3f::identity();
  frame.bin_m = 1.0f;
  const TensorCube cube(frame, 5);
  const float values[] = {-1e30f, -3, -0.0f, 0, 2, 5, 6, 1e19f, NAN, INFINITY};
  int met = 0;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const Random random{testing::seed_of_test(), i};
    std::array<Vec3f, 3> t;
    std::uint32_t draw = 0;
    const auto any = [&] {
      // Mostly ordinary numbers.
      const float which = random.uniform(draw++) * 40;
      return which < 10 ? values[static_cast<int>(which)] : random.uniform(draw++) * 12 - 3;
    };
    for (Vec3f& corner : t) corner = {any(), any(), any()};
    const bool expected = cube.meets(t[0], t[1], t[2]);
    met += expected ? 1 : 0;
    EXPECT_EQ(meets_cube(sides_of(cube, t[0]), sides_of(cube, t[1]), sides_of(cube, t[2])),
              expected);
  }
  EXPECT_GT(met, 1000);
}

}  // namespace
}  // namespace sextant
