// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/simd/lanes.h"
#include "sextant/descriptor/local_frame/math.h"
#include "sextant/geometry/neighbours/select.h"

// Local frames on the CPU, sixteen neighbours at a time, in double precision. Host only.

namespace sextant::detail::local_frame {

/// The tile of candidates that all keypoints of a cell share.
inline neighbours::CandidateColumns columns_of(const neighbours::CandidateTile& tile,
                                               const float* const* extra, int extras) {
  if (tile.count() == 0) return {nullptr, nullptr, nullptr, 0, extra, extras};
  const auto* x = reinterpret_cast<const float*>(&tile.x(0));
  const auto* y = reinterpret_cast<const float*>(&tile.y(0));
  const auto* z = reinterpret_cast<const float*>(&tile.z(0));
  return {x, y, z, tile.count(), extra, extras};
}

/// Outside the loops over lanes, and compiled once.
PrincipalAxes principal_axes_cpu(const FrameSums& sums);
/// Whether the majority of the points in the middle of the order of distances lies on the positive
/// side of the axis.
bool positive_in_the_middle(const neighbours::CandidateTile& tile, const Vec3f& p, float radius_sq,
                            const Vec3d& axis);

/// Four at a time: GCC 12 makes one instruction of their conversion, but not of eight.
using DoubleLanes = double __attribute__((vector_size(32)));
using LongLanes = std::int64_t __attribute__((vector_size(32)));
using FourFloats = float __attribute__((vector_size(16)));
inline constexpr int kFour = 4;

/// Not by value: a function that returned such a vector would be another one on each machine.
SEXTANT_INLINE void load_four(const float* from, DoubleLanes& to) {
  FourFloats four;
  std::memcpy(&four, from, sizeof four);
  to = __builtin_convertvector(four, DoubleLanes);
}

template <class Four>
SEXTANT_INLINE auto sum_of_four(const Four& v) {
  return (v[0] + v[2]) + (v[1] + v[3]);
}

/// Of the rows 0 .. count - 1, with zeros up to a multiple of sixteen: a row of zeros is no point.
SEXTANT_INLINE FrameSums frame_sums(const neighbours::FloatColumns& rows, std::int64_t count,
                                    float radius_m) {
  DoubleLanes xx{}, xy{}, xz{}, yy{}, yz{}, zz{}, weights{};
  LongLanes kept{};
  const double radius = static_cast<double>(radius_m);
  for (std::int64_t i = 0; i < count; i += neighbours::kLanes) {
    const Lanes<neighbours::kLanes> squares =
        Lanes<neighbours::kLanes>::load(rows.column(neighbours::kDistanceSq) + i);
    const Lanes<neighbours::kLanes> inverse =
        LaneMath<Lanes<neighbours::kLanes>>::inverse_square_root(squares);
    alignas(64) float inverses[neighbours::kLanes];
    inverse.store(inverses);
    for (int four = 0; four < neighbours::kLanes; four += kFour) {
      DoubleLanes x;
      load_four(rows.column(neighbours::kDx) + i + four, x);
      DoubleLanes y;
      load_four(rows.column(neighbours::kDy) + i + four, y);
      DoubleLanes z;
      load_four(rows.column(neighbours::kDz) + i + four, z);
      DoubleLanes square;
      load_four(rows.column(neighbours::kDistanceSq) + i + four, square);
      // One Newton step takes the root from 24 to 46 bits.
      DoubleLanes inverse_four;
      load_four(inverses + four, inverse_four);
      const DoubleLanes rough = square * inverse_four;
      const DoubleLanes distance = rough + (square - rough * rough) * (0.5 * inverse_four);
      const DoubleLanes extent = x * x + y * y + z * z;
      const DoubleLanes zero{};
      const DoubleLanes weight = extent > zero ? radius - distance : zero;
      kept -= extent > zero;
      weights += weight;
      const DoubleLanes wx = weight * x;
      const DoubleLanes wy = weight * y;
      xx += wx * x;
      xy += wx * y;
      xz += wx * z;
      yy += wy * y;
      yz += wy * z;
      zz += (weight * z) * z;
    }
  }
  FrameSums sums;
  sums.squares = {sum_of_four(xx), sum_of_four(xy), sum_of_four(xz),
                  sum_of_four(yy), sum_of_four(yz), sum_of_four(zz)};
  sums.weight = sum_of_four(weights);
  sums.kept = static_cast<std::int32_t>(sum_of_four(kept));
  return sums;
}

/// Points on the positive side of both axes; rows of zeros are counted too.
SEXTANT_INLINE void count_positive(const neighbours::FloatColumns& rows, std::int64_t count,
                                   const PrincipalAxes& axes, std::int64_t& x_side,
                                   std::int64_t& z_side) {
  LongLanes on_x{}, on_z{};
  const DoubleLanes zero{};
  for (std::int64_t i = 0; i < count; i += kFour) {
    DoubleLanes x;
    load_four(rows.column(neighbours::kDx) + i, x);
    DoubleLanes y;
    load_four(rows.column(neighbours::kDy) + i, y);
    DoubleLanes z;
    load_four(rows.column(neighbours::kDz) + i, z);
    const DoubleLanes along_x = (x * axes.x.x + z * axes.x.z) + y * axes.x.y;
    const DoubleLanes along_z = (x * axes.z.x + z * axes.z.z) + y * axes.z.y;
    on_x -= along_x >= zero;
    on_z -= along_z >= zero;
  }
  x_side = sum_of_four(on_x);
  z_side = sum_of_four(on_z);
}

/// The frame of a keypoint at p from its neighbours. Ties are looked up in the tile.
SEXTANT_INLINE LocalFrame frame_from_rows(const neighbours::FloatColumns& rows, std::int64_t count,
                                          const neighbours::CandidateTile& tile, const Vec3f& p,
                                          float radius_m) {
  const FrameSums sums = frame_sums(rows, count, radius_m);
  PrincipalAxes axes = principal_axes_cpu(sums);
  if (!axes.valid) return {};
  std::int64_t x_side, z_side;
  count_positive(rows, count, axes, x_side, z_side);
  // Rows of zeros were counted as positive, those that fill up the last four too.
  const std::int64_t counted = (count + kFour - 1) / kFour * kFour;
  const std::int64_t zeros = counted - sums.kept;
  const float radius_sq = radius_m * radius_m;
  const auto turned = [&](std::int64_t side, const Vec3d& axis) {
    const std::int32_t more = majority(static_cast<std::int32_t>(side - zeros), sums.kept);
    if (more == 0) return !positive_in_the_middle(tile, p, radius_sq, axis);
    return more < 0;
  };
  if (turned(x_side, axes.x)) axes.x = -axes.x;
  if (turned(z_side, axes.z)) axes.z = -axes.z;
  return frame_of(axes.x, axes.z);
}

/// Keypoints that a thread takes at a time.
inline constexpr std::int64_t kKeypointGrain = 256;

}  // namespace sextant::detail::local_frame
