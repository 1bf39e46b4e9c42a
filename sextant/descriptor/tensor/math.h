// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/tensor.h"
#include "sextant/descriptor/tensor/cut_math.h"
#include "sextant/geometry/cloud.h"
#include "sextant/geometry/neighbour_walk.h"

// The mathematics of one tensor: its frame, its cube, and which triangles count. Files that use it
// on CUDA are compiled without fused multiply-add, so that both devices find the same bits.

namespace sextant::detail::tensor {

/// Squared sine of the smallest angle between two normals that span a frame, or between one and the
/// opposite of the other: 1°.
inline constexpr float kLeastSpan = 3.0459e-4f;
/// A vertex farther away, in bins, is taken for a hole: nothing computed from it overflows.
inline constexpr float kFarthestBins = 1e18f;

/// The frame of a pair of points with normals; NaN where there is none.
SEXTANT_HD inline TensorFrame frame_of(const Vec3f& p, const Vec3f& q, const Vec3f& n,
                                       const Vec3f& m, float bin_m, const PointPair& pair) {
  constexpr Vec3f kNone{NAN, NAN, NAN};
  TensorFrame frame;
  frame.axes = {{kNone, kNone, kNone}};
  frame.origin_m = kNone;
  frame.bin_m = bin_m;
  frame.pair = pair;
  const Vec3f a = normalized(n);
  const Vec3f b = normalized(m);
  const Vec3f across = cross(a, b);
  const bool good = is_finite(p) && is_finite(q) && norm_sq(across) > kLeastSpan && bin_m > 0.0f &&
                    std::isfinite(bin_m) && std::isfinite(1.0f / bin_m);
  if (!good) return frame;
  const Vec3f z = normalized(a + b);
  const Vec3f x = normalized(across);
  frame.axes = {{x, cross(z, x), z}};
  frame.origin_m = p * 0.5f + q * 0.5f;
  frame.angle_rad = std::atan2(norm(across), dot(a, b));
  return frame;
}

/// A frame in units of bins: the cube is [0, bins)³.
struct TensorCube {
  Mat3f rows;
  Vec3f origin_m;
  float half = 0.0f;
  float bins = 0.0f;

  SEXTANT_HD TensorCube(const TensorFrame& frame, int bins_along_axis)
      : rows(frame.axes * (1.0f / frame.bin_m)),
        origin_m(frame.origin_m),
        half(0.5f * static_cast<float>(bins_along_axis)),
        bins(static_cast<float>(bins_along_axis)) {}

  SEXTANT_HD Vec3f local(const Vec3f& point_m) const {
    const Vec3f d = point_m - origin_m;
    return {dot(rows.row[0], d) + half, dot(rows.row[1], d) + half, dot(rows.row[2], d) + half};
  }

  SEXTANT_HD bool meets_along(const Vec3f& row, const Vec3f& to_centre, const Vec3f& extent,
                              float slack) const {
    const float at = dot(row, to_centre) + half;
    const float reach = std::abs(row.x) * extent.x + std::abs(row.y) * extent.y +
                        std::abs(row.z) * extent.z + slack;
    return at - reach <= bins && at + reach >= 0.0f;
  }
  /// False only when no triangle within the box meets the cube, by any rounding. An empty box, from
  /// infinity to minus infinity, meets nothing.
  SEXTANT_HD bool may_meet(const Vec3f& low, const Vec3f& high) const {
    const Vec3f centre = low * 0.5f + high * 0.5f;
    const Vec3f extent = high * 0.5f - low * 0.5f;
    const float size_m = std::abs(centre.x) + std::abs(centre.y) + std::abs(centre.z) + extent.x +
                         extent.y + extent.z + std::abs(origin_m.x) + std::abs(origin_m.y) +
                         std::abs(origin_m.z);
    const float scale = std::abs(rows.row[2].x) + std::abs(rows.row[2].y) +
                        std::abs(rows.row[2].z);  // of any row, within a factor of 1.8
    const float slack = 1e-3f + 2e-6f * size_m * scale;
    const Vec3f to_centre = centre - origin_m;
    return meets_along(rows.row[0], to_centre, extent, slack) &&
           meets_along(rows.row[1], to_centre, extent, slack) &&
           meets_along(rows.row[2], to_centre, extent, slack);
  }

  SEXTANT_HD bool meets_along(float a, float b, float c) const {
    const float low = min_of(a, min_of(b, c));
    const float high = max_of(a, max_of(b, c));
    return low < bins && high >= 0.0f && low > -kFarthestBins && high < kFarthestBins;
  }
  /// Whether the bounding box of a triangle in local coordinates meets the cube. It does not where
  /// a coordinate is not finite.
  SEXTANT_HD bool meets(const Vec3f& a, const Vec3f& b, const Vec3f& c) const {
    const Vec3f sum = a + b + c;  // a minimum may hide a NaN
    return is_finite(sum) && meets_along(a.x, b.x, c.x) && meets_along(a.y, b.y, c.y) &&
           meets_along(a.z, b.z, c.z);
  }
};

// Triangles of a row of cells as bits: bit 2 u is the first triangle of cell u, bit 2 u + 1 the
// second. Triangles that share an edge are neighbouring bits, or bits 2 u + 1 of a row and 2 u of
// the row below.

inline constexpr int kCellsPerWord = 32;
inline constexpr std::uint64_t kFirstTriangles = 0x5555555555555555u;

/// The runs of ones of `open` that hold one of `reached`.
SEXTANT_HD inline std::uint64_t filled_runs(std::uint64_t open, std::uint64_t reached) {
  std::uint64_t up = reached & open;
  std::uint64_t down = up;
  std::uint64_t up_path = open;
  std::uint64_t down_path = open;
  for (int shift = 1; shift < 64; shift *= 2) {
    up |= up_path & (up << shift);
    up_path &= up_path << shift;
    down |= down_path & (down >> shift);
    down_path &= down_path >> shift;
  }
  return up | down;
}

/// The place of the n-th set bit, n from 0; there are more than n.
SEXTANT_HD inline int nth_bit(std::uint64_t bits, int n) {
  int place = 0;
  for (int width = 32; width > 0; width /= 2) {
    const std::uint64_t low = bits & ((std::uint64_t{1} << width) - 1);
    const int below = count_bits(low);
    if (n >= below) {
      n -= below;
      place += width;
      bits >>= width;
    } else {
      bits = low;
    }
  }
  return place;
}

/// What a word of a window of cells is reached from: its neighbours in the row, and the rows above
/// and below.
SEXTANT_HD inline std::uint64_t reached_from(std::uint64_t above, std::uint64_t below,
                                             std::uint64_t left, std::uint64_t right) {
  return (above >> 1 & kFirstTriangles) | (below & kFirstTriangles) << 1 | left >> 63 | right << 63;
}

// Boxes around the triangles of a surface stand in groups of seventeen: one around the sixteen that
// follow. On an organised surface the sixteen are tiles of 8 × 8 cells in a square of 4 × 4.

inline constexpr int kBoxesPerGroup = 17;
inline constexpr int kTilesPerGroup = 16;
inline constexpr int kTileCells = 8;
inline constexpr int kGroupCells = 32;

SEXTANT_HD inline int groups_along(int cells) { return (cells + kGroupCells - 1) / kGroupCells; }

SEXTANT_HD inline void include(Bounds& box, const Vec3f& p) {
  box.low = {min_of(box.low.x, p.x), min_of(box.low.y, p.y), min_of(box.low.z, p.z)};
  box.high = {max_of(box.high.x, p.x), max_of(box.high.y, p.y), max_of(box.high.z, p.z)};
}
SEXTANT_HD inline void include(Bounds& box, const Vec3f& a, const Vec3f& b, const Vec3f& c) {
  if (!is_finite(a) || !is_finite(b) || !is_finite(c)) return;
  include(box, a);
  include(box, b);
  include(box, c);
}
SEXTANT_HD inline void include(Bounds& box, const Bounds& other) {
  box.low = {min_of(box.low.x, other.low.x), min_of(box.low.y, other.low.y),
             min_of(box.low.z, other.low.z)};
  box.high = {max_of(box.high.x, other.high.x), max_of(box.high.y, other.high.y),
              max_of(box.high.z, other.high.z)};
}
/// Includes the triangles of cell (u, v).
SEXTANT_HD inline void include_cell(const OrganisedSurface& surface, int u, int v, Bounds& box) {
  const std::uint8_t cell = surface.cells(u, v);
  if ((cell & 3) == 0) return;
  const Vec3f here = surface.points(u, v);
  const Vec3f right = surface.points(u + 1, v);
  const Vec3f below = surface.points(u, v + 1);
  const Vec3f last = surface.points(u + 1, v + 1);
  if ((cell & 3) == 3 && is_finite(here + right + below + last)) {  // nearly always
    include(box, here);
    include(box, right);
    include(box, below);
    include(box, last);
    return;
  }
  if (cell & 1) include(box, here, below, right);
  if (cell & 2) include(box, right, below, last);
}

/// Cells u0 .. u1 - 1 of rows v0 .. v1 - 1.
struct CellWindow {
  int u0 = 0, v0 = 0, u1 = 0, v1 = 0;

  SEXTANT_HD bool empty() const { return u0 >= u1 || v0 >= v1; }
  SEXTANT_HD int rows() const { return v1 - v0; }
  SEXTANT_HD int words() const { return (u1 - u0 + kCellsPerWord - 1) / kCellsPerWord; }
};

/// What the loops over pairs write.
struct TensorRows {
  int bins = 0;
  std::int64_t capacity = 0;
  std::int32_t* count = nullptr;
  TensorFrame* frames = nullptr;
  TensorMask* masks = nullptr;
  std::int32_t* sizes = nullptr;
  std::int64_t* first = nullptr;
  std::uint16_t* indices = nullptr;
  float* values = nullptr;

  SEXTANT_HD int all_bins() const { return bins * bins * bins; }
};
TensorRows rows_of(TensorSet& tensors);

/// Where a tile is among those of the image.
struct TilePlace {
  int column, row;
};

struct TensorJob {
  OrganisedSurface surface = {};
  const Bounds* boxes = nullptr;  ///< kBoxesPerGroup a group
  View<const PointPair> pairs = {};
  const std::int32_t* count = nullptr;
  const SurfaceStatistics* statistics = nullptr;
  float bin_resolutions = 0.0f;
  TensorMode mode = TensorMode::kGrow;
  TensorRows out = {};
  // On CUDA, for cubes whose tiles are too many for shared memory:
  int large_blocks = 0;             ///< that treat them
  std::uint64_t* tables = nullptr;  ///< of all tiles of the image, for each of these blocks
  std::int32_t* large = nullptr;    ///< the number of such tensors, then which they are

  SEXTANT_HD std::int64_t tensors() const {
    return clamp<std::int64_t>(*count, 0, min_of(pairs.size, out.capacity));
  }
  SEXTANT_HD TensorFrame frame(std::int64_t t) const {
    const PointPair pair = pairs[t];
    const ImageView<const Vec3f>& points = surface.points;
    const float bin_m = bin_resolutions * statistics->resolution_m;
    const std::int64_t pixels = points.pixels();
    if (pair.p < 0 || pair.q < 0 || pair.p >= pixels || pair.q >= pixels) {
      return frame_of({}, {}, {}, {}, bin_m, pair);
    }
    const int pu = pair.p % points.width, pv = pair.p / points.width;
    const int qu = pair.q % points.width, qv = pair.q / points.width;
    return frame_of(points(pu, pv), points(qu, qv), surface.normals(pu, pv),
                    surface.normals(qu, qv), bin_m, pair);
  }
  /// Where tile number `tile` of group `group` is.
  SEXTANT_HD TilePlace tile_place(int group, int tile) const {
    constexpr int kAlong = kGroupCells / kTileCells;
    const int across = groups_along(surface.cells.width);
    return {group % across * kAlong + tile % kAlong, group / across * kAlong + tile / kAlong};
  }
  /// The cells of a tile, as far as the image goes.
  SEXTANT_HD CellWindow cells_of(const TilePlace& tile) const {
    const int u0 = tile.column * kTileCells, v0 = tile.row * kTileCells;
    return {min_of(u0, surface.cells.width), min_of(v0, surface.cells.height),
            min_of(u0 + kTileCells, surface.cells.width),
            min_of(v0 + kTileCells, surface.cells.height)};
  }
  SEXTANT_HD int groups() const {
    return groups_along(surface.cells.width) * groups_along(surface.cells.height);
  }
  SEXTANT_HD int tiles() const { return groups() * kTilesPerGroup; }
};

inline constexpr int kTableWords = 6;  ///< of a tile: open and reached bits, and four numbers

void surface_boxes_cpu(const Context& context, const OrganisedSurface& surface, Bounds* boxes);
void compute_tensors_cpu(const Context& context, const TensorJob& job);
/// Writes tensor t from the sums of its bins.
void write_tensor(const TensorRows& out, std::int64_t t, const TensorFrame& frame,
                  const std::uint64_t* sums);

/// Also says that no tensor is known to be large.
void surface_boxes_cuda(const Context& context, const OrganisedSurface& surface, Bounds* boxes,
                        std::int32_t* large);
void compute_tensors_cuda(const Context& context, const TensorJob& job);

}  // namespace sextant::detail::tensor
