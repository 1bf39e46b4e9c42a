// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/local_frame/math.h"
#include "sextant/geometry/neighbours/select.h"

// Local frames on the CPU, sixteen neighbours at a time, in double precision. Host only.

namespace sextant::detail::local_frame {

/// The tile of candidates that all keypoints of a cell share.
inline neighbours::CandidateColumns columns_of(const neighbours::CandidateTile& tile,
                                               const float* const* extra, int extras) {
  if (tile.count() == 0) return {nullptr, nullptr, nullptr, 0, extra, extras};
  return {tile.xs(), tile.ys(), tile.zs(), tile.count(), extra, extras};
}

/// Outside the loops over lanes, and compiled once.
PrincipalAxes principal_axes_cpu(const FrameSums& sums);
/// Whether the majority of the points in the middle of the order of distances lies on the positive
/// side of the axis.
bool positive_in_the_middle(const neighbours::CandidateTile& tile, const Vec3f& p, float radius_sq,
                            const Vec3d& axis);

/// Four at a time, on every machine: sums come out the same.
inline constexpr int kFour = 4;
template <class Set>
using FourDoubles = DoubleLanes<kFour, Set>;

template <class Set>
FourDoubles<Set> load_four(const float* from) {
  return convert<double>(FloatLanes<kFour, Set>::load(from));
}

/// Of the rows 0 .. count - 1, with zeros up to a multiple of sixteen: a row of zeros is no point.
template <class Set>
FrameSums frame_sums(const neighbours::FloatColumns& rows, std::int64_t count, float radius_m) {
  using Four = FourDoubles<Set>;
  using Sixteen = neighbours::CandidatePack<Set>;
  Four xx, xy, xz, yy, yz, zz, weights;
  Lanes<std::int64_t, kFour, Set> kept;
  const double radius = static_cast<double>(radius_m);
  for (std::int64_t i = 0; i < count; i += neighbours::kLanes) {
    alignas(64) float inverses[neighbours::kLanes];
    LaneMath<Sixteen>::inverse_square_root(Sixteen::load(rows.column(neighbours::kDistanceSq) + i))
        .store(inverses);
    for (int four = 0; four < neighbours::kLanes; four += kFour) {
      const Four x = load_four<Set>(rows.column(neighbours::kDx) + i + four);
      const Four y = load_four<Set>(rows.column(neighbours::kDy) + i + four);
      const Four z = load_four<Set>(rows.column(neighbours::kDz) + i + four);
      const Four square = load_four<Set>(rows.column(neighbours::kDistanceSq) + i + four);
      // One Newton step takes the root from 24 to 46 bits.
      const Four inverse = load_four<Set>(inverses + four);
      const Four rough = square * inverse;
      const Four distance = rough + (square - rough * rough) * (0.5 * inverse);
      const auto some = x * x + y * y + z * z > Four();
      const Four weight = LaneMath<Four>::select(some, radius - distance, Four());
      kept.count_up(some);
      weights += weight;
      const Four wx = weight * x;
      const Four wy = weight * y;
      xx += wx * x;
      xy += wx * y;
      xz += wx * z;
      yy += wy * y;
      yz += wy * z;
      zz += (weight * z) * z;
    }
  }
  FrameSums sums;
  sums.squares = {xx.sum(), xy.sum(), xz.sum(), yy.sum(), yz.sum(), zz.sum()};
  sums.weight = weights.sum();
  sums.kept = static_cast<std::int32_t>(kept.sum());
  return sums;
}

/// Points on the positive side of both axes; rows of zeros are counted too.
template <class Set>
void count_positive(const neighbours::FloatColumns& rows, std::int64_t count,
                    const PrincipalAxes& axes, std::int64_t& x_side, std::int64_t& z_side) {
  using Four = FourDoubles<Set>;
  Lanes<std::int64_t, kFour, Set> on_x, on_z;
  for (std::int64_t i = 0; i < count; i += kFour) {
    const Four x = load_four<Set>(rows.column(neighbours::kDx) + i);
    const Four y = load_four<Set>(rows.column(neighbours::kDy) + i);
    const Four z = load_four<Set>(rows.column(neighbours::kDz) + i);
    on_x.count_up((x * axes.x.x + z * axes.x.z) + y * axes.x.y >= Four());
    on_z.count_up((x * axes.z.x + z * axes.z.z) + y * axes.z.y >= Four());
  }
  x_side = on_x.sum();
  z_side = on_z.sum();
}

/// The frame of a keypoint at p from its neighbours. Ties are looked up in the tile.
template <class Set>
LocalFrame frame_from_rows(const neighbours::FloatColumns& rows, std::int64_t count,
                           const neighbours::CandidateTile& tile, const Vec3f& p, float radius_m) {
  const FrameSums sums = frame_sums<Set>(rows, count, radius_m);
  PrincipalAxes axes = principal_axes_cpu(sums);
  if (!axes.valid) return {};
  std::int64_t x_side, z_side;
  count_positive<Set>(rows, count, axes, x_side, z_side);
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
