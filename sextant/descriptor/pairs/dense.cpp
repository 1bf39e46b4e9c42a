// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <memory>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "sextant/core/for_each.h"
#include "sextant/core/simd/instruction_set.h"
#include "sextant/descriptor/pairs/math.h"

// The search of every pixel. Distances are tested first, sixteen neighbouring pixels at once;
// normals only where a distance passes, and few get as far as the list. All variants do the same
// operations on each pixel and meet its candidates in ascending index, so they give the same bits.

namespace sextant::detail::pairs {

namespace {

constexpr int kColumns = 160;  ///< of pixels in a tile: what it reads stays in the second cache
constexpr int kRows = 16;
constexpr int kHalo = kMostPairWindow_px;
constexpr int kStride = kColumns + 2 * kHalo + 4;

/// The points and normals that the pixels of a tile may meet, one coordinate after the other. NaN
/// beyond the image: it compares with nothing.
struct Tile {
  alignas(64) float x[kRows + 2 * kHalo][kStride], y[kRows + 2 * kHalo][kStride],
      z[kRows + 2 * kHalo][kStride];
  alignas(64) float nx[kRows + 2 * kHalo][kStride], ny[kRows + 2 * kHalo][kStride],
      nz[kRows + 2 * kHalo][kStride];
  int left = 0, top = 0;  ///< pixel of the image at (kHalo, kHalo)

  void load(const PairsJob& job, int from_left, int from_top) {
    left = from_left;
    top = from_top;
    for (int row = 0; row < kRows + 2 * kHalo; ++row) {
      const int v = top + row - kHalo;
      for (int column = 0; column < kStride; ++column) {
        const int u = left + column - kHalo;
        const bool inside = job.points.contains(u, v);
        const Vec3f p = inside ? job.points(u, v) : Vec3f{NAN, NAN, NAN};
        const Vec3f n = inside ? job.normals(u, v) : Vec3f{NAN, NAN, NAN};
        x[row][column] = p.x;
        y[row][column] = p.y;
        z[row][column] = p.z;
        nx[row][column] = n.x;
        ny[row][column] = n.y;
        nz[row][column] = n.z;
      }
    }
  }
};

struct Search {
  const PairsJob& job;
  const Tile& tile;
  PairTest test;

  std::int32_t index_of(int row, int column) const {
    return (tile.top + row - kHalo) * job.points.width + tile.left + column - kHalo;
  }
  /// Writes the partners of pixels (column ..) of a row of the tile, as far as the image goes.
  void store(int row, int column, int count, const std::int32_t* a, const std::int32_t* b,
             const std::int32_t* c) const {
    const int v = tile.top + row - kHalo;
    const int u = tile.left + column - kHalo;
    const int there = min_of(count, job.points.width - u);
    if (v >= job.points.height) return;
    std::int32_t* to = job.partners + (std::int64_t{v} * job.points.width + u) * kPartnersPerPoint;
    for (int lane = 0; lane < there; ++lane) {
      for (const std::int32_t* from : {a, b, c}) {
        *to++ = from[lane] == kNobody ? -1 : from[lane];
      }
    }
  }
};

/// One pixel of the tile after the other.
void search_portable(const Search& s) {
  const int w = s.job.window_px;
  const Tile& t = s.tile;
  for (int row = kHalo; row < kHalo + kRows; ++row) {
    if (t.top + row - kHalo >= s.job.points.height) return;
    for (int column = kHalo; column < kHalo + kColumns; ++column) {
      if (t.left + column - kHalo >= s.job.points.width) break;
      const Vec3f p{t.x[row][column], t.y[row][column], t.z[row][column]};
      const Vec3f n{t.nx[row][column], t.ny[row][column], t.nz[row][column]};
      Partners partners(s.test);
      for (int r = row - w; r <= row + w; ++r) {
        for (int c = column - w; c <= column + w; ++c) {
          partners.offer(s.test, p, n, {t.x[r][c], t.y[r][c], t.z[r][c]},
                         {t.nx[r][c], t.ny[r][c], t.nz[r][c]}, s.index_of(r, c));
        }
      }
      s.store(row, column, 1, partners.index, partners.index + 1, partners.index + 2);
    }
  }
}

#if defined(__x86_64__)

/// Two rows of sixteen pixels share the candidates they load.
constexpr int kRowsTogether = 2;

/// Which of the candidates come before those in the list. Equal distances go to the lower index,
/// which came first; only a place that nobody has yet is taken at the very limit.
SEXTANT_FOR_AVX512 inline __mmask16 before(__mmask16 candidates, const __m512& distance_sq,
                                           const __m512& listed_sq, const __m512i& listed) {
  const __mmask16 nearer = _mm512_mask_cmp_ps_mask(candidates, distance_sq, listed_sq, _CMP_LT_OQ);
  const __mmask16 equal = _mm512_mask_cmp_ps_mask(candidates, distance_sq, listed_sq, _CMP_EQ_OQ);
  const __mmask16 free = _mm512_cmpeq_epi32_mask(listed, _mm512_set1_epi32(kNobody));
  return static_cast<__mmask16>(nearer | (equal & free));
}

SEXTANT_FOR_AVX512 void search_512(const Search& s) {
  const int w = s.job.window_px;
  const Tile& t = s.tile;
  const __m512 least_sq = _mm512_set1_ps(s.test.least_sq);
  const __m512 cos_angle = _mm512_set1_ps(s.test.cos_angle);
  const int height = min_of(kRows, s.job.points.height - t.top);
  const int width = min_of(kColumns, s.job.points.width - t.left);
  for (int row = kHalo; row < kHalo + height; row += kRowsTogether) {
    for (int column = kHalo; column < kHalo + width; column += 16) {
      __m512 px[kRowsTogether], py[kRowsTogether], pz[kRowsTogether];
      __m512 d0[kRowsTogether], d1[kRowsTogether], d2[kRowsTogether];
      __m512i i0[kRowsTogether], i1[kRowsTogether], i2[kRowsTogether];
      for (int k = 0; k < kRowsTogether; ++k) {
        px[k] = _mm512_loadu_ps(&t.x[row + k][column]);
        py[k] = _mm512_loadu_ps(&t.y[row + k][column]);
        pz[k] = _mm512_loadu_ps(&t.z[row + k][column]);
        d0[k] = d1[k] = d2[k] = _mm512_set1_ps(s.test.most_sq);
        i0[k] = i1[k] = i2[k] = _mm512_set1_epi32(kNobody);
      }
      const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
      for (int r = row - w; r <= row + w + kRowsTogether - 1; ++r) {
        for (int c = column - w; c <= column + w; ++c) {
          const __m512 qx = _mm512_loadu_ps(&t.x[r][c]);
          const __m512 qy = _mm512_loadu_ps(&t.y[r][c]);
          const __m512 qz = _mm512_loadu_ps(&t.z[r][c]);
#pragma GCC unroll 2
          for (int k = 0; k < kRowsTogether; ++k) {
            const __m512 dx = _mm512_sub_ps(px[k], qx);
            const __m512 dy = _mm512_sub_ps(py[k], qy);
            const __m512 dz = _mm512_sub_ps(pz[k], qz);
            const __m512 d = _mm512_add_ps(
                _mm512_add_ps(_mm512_mul_ps(dx, dx), _mm512_mul_ps(dy, dy)), _mm512_mul_ps(dz, dz));
            const __mmask16 near = _mm512_mask_cmp_ps_mask(_mm512_cmp_ps_mask(d, d2[k], _CMP_LE_OQ),
                                                           d, least_sq, _CMP_GE_OQ);
            if (near == 0) continue;
            if (r < row + k - w || r > row + k + w) continue;  // the other row's window
            const __m512 dot =
                _mm512_add_ps(_mm512_add_ps(_mm512_mul_ps(_mm512_loadu_ps(&t.nx[row + k][column]),
                                                          _mm512_loadu_ps(&t.nx[r][c])),
                                            _mm512_mul_ps(_mm512_loadu_ps(&t.ny[row + k][column]),
                                                          _mm512_loadu_ps(&t.ny[r][c]))),
                              _mm512_mul_ps(_mm512_loadu_ps(&t.nz[row + k][column]),
                                            _mm512_loadu_ps(&t.nz[r][c])));
            const __mmask16 apart = _mm512_mask_cmp_ps_mask(near, dot, cos_angle, _CMP_LT_OQ);
            if (apart == 0) continue;
            const __m512i index = _mm512_add_epi32(_mm512_set1_epi32(s.index_of(r, c)), lanes);
            const __mmask16 first = before(apart, d, d0[k], i0[k]);
            const __mmask16 second = before(apart, d, d1[k], i1[k]);
            const __mmask16 third = before(apart, d, d2[k], i2[k]);
            d2[k] = _mm512_mask_mov_ps(d2[k], third, _mm512_mask_mov_ps(d, second, d1[k]));
            i2[k] =
                _mm512_mask_mov_epi32(i2[k], third, _mm512_mask_mov_epi32(index, second, i1[k]));
            d1[k] = _mm512_mask_mov_ps(d1[k], second, _mm512_mask_mov_ps(d, first, d0[k]));
            i1[k] =
                _mm512_mask_mov_epi32(i1[k], second, _mm512_mask_mov_epi32(index, first, i0[k]));
            d0[k] = _mm512_mask_mov_ps(d0[k], first, d);
            i0[k] = _mm512_mask_mov_epi32(i0[k], first, index);
          }
        }
      }
      for (int k = 0; k < kRowsTogether; ++k) {
        alignas(64) std::int32_t found[3][16];
        _mm512_store_si512(found[0], i0[k]);
        _mm512_store_si512(found[1], i1[k]);
        _mm512_store_si512(found[2], i2[k]);
        s.store(row + k, column, 16, found[0], found[1], found[2]);
      }
    }
  }
}

/// Eight pixels; the few candidates that pass go into each pixel's own list.
SEXTANT_FOR_AVX2 void search_256(const Search& s) {
  const int w = s.job.window_px;
  const Tile& t = s.tile;
  const __m256 least_sq = _mm256_set1_ps(s.test.least_sq);
  const __m256 cos_angle = _mm256_set1_ps(s.test.cos_angle);
  const int height = min_of(kRows, s.job.points.height - t.top);
  const int width = min_of(kColumns, s.job.points.width - t.left);
  for (int row = kHalo; row < kHalo + height; ++row) {
    for (int column = kHalo; column < kHalo + width; column += 8) {
      const __m256 px = _mm256_loadu_ps(&t.x[row][column]);
      const __m256 py = _mm256_loadu_ps(&t.y[row][column]);
      const __m256 pz = _mm256_loadu_ps(&t.z[row][column]);
      const __m256 nx = _mm256_loadu_ps(&t.nx[row][column]);
      const __m256 ny = _mm256_loadu_ps(&t.ny[row][column]);
      const __m256 nz = _mm256_loadu_ps(&t.nz[row][column]);
      const Partners none(s.test);
      Partners lists[8] = {none, none, none, none, none, none, none, none};
      alignas(32) float farthest[8];
      for (float& distance : farthest) distance = s.test.most_sq;
      __m256 limit = _mm256_load_ps(farthest);
      for (int r = row - w; r <= row + w; ++r) {
        for (int c = column - w; c <= column + w; ++c) {
          const __m256 dx = _mm256_sub_ps(px, _mm256_loadu_ps(&t.x[r][c]));
          const __m256 dy = _mm256_sub_ps(py, _mm256_loadu_ps(&t.y[r][c]));
          const __m256 dz = _mm256_sub_ps(pz, _mm256_loadu_ps(&t.z[r][c]));
          const __m256 d = _mm256_add_ps(
              _mm256_add_ps(_mm256_mul_ps(dx, dx), _mm256_mul_ps(dy, dy)), _mm256_mul_ps(dz, dz));
          const __m256 near = _mm256_and_ps(_mm256_cmp_ps(d, limit, _CMP_LE_OQ),
                                            _mm256_cmp_ps(d, least_sq, _CMP_GE_OQ));
          if (_mm256_movemask_ps(near) == 0) continue;
          const __m256 dot =
              _mm256_add_ps(_mm256_add_ps(_mm256_mul_ps(nx, _mm256_loadu_ps(&t.nx[r][c])),
                                          _mm256_mul_ps(ny, _mm256_loadu_ps(&t.ny[r][c]))),
                            _mm256_mul_ps(nz, _mm256_loadu_ps(&t.nz[r][c])));
          auto apart = static_cast<unsigned>(
              _mm256_movemask_ps(_mm256_and_ps(near, _mm256_cmp_ps(dot, cos_angle, _CMP_LT_OQ))));
          if (apart == 0) continue;
          alignas(32) float distances[8];
          _mm256_store_ps(distances, d);
          for (; apart != 0; apart &= apart - 1) {
            const int lane = std::countr_zero(apart);
            lists[lane].insert(distances[lane], s.index_of(r, c + lane));
            farthest[lane] = lists[lane].distance_sq[2];
          }
          limit = _mm256_load_ps(farthest);
        }
      }
      for (int lane = 0; lane < 8; ++lane) {
        const std::int32_t* found = lists[lane].index;
        s.store(row, column + lane, 1, found, found + 1, found + 2);
      }
    }
  }
}

#endif

}  // namespace

void find_partners_dense(const Context& context, const PairsJob& job,
                         [[maybe_unused]] PairSearch variant) {
  const PairTest test(job.limits, job.statistics->resolution_m);
  auto search = search_portable;
#if defined(__x86_64__)
  if (variant == PairSearch::kBest && has_avx512()) search = search_512;
  if (variant == PairSearch::kBest && !has_avx512() && has_avx2()) search = search_256;
  if (variant == PairSearch::kAvx2 && has_avx2()) search = search_256;
#endif
  const std::int64_t across = (job.points.width + kColumns - 1) / kColumns;
  const std::int64_t down = (job.points.height + kRows - 1) / kRows;
  for_each_chunk(context, across * down, 1, [&](std::int64_t number, std::int64_t) {
    const auto tile = std::make_unique_for_overwrite<Tile>();
    tile->load(job, static_cast<int>(number % across) * kColumns,
               static_cast<int>(number / across) * kRows);
    search(Search{job, *tile, test});
  });
}

}  // namespace sextant::detail::pairs
