// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/neighbours/select.h"

#include <algorithm>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sextant::detail::neighbours {

namespace {

/// Most columns beside the first four: normal, whether it votes, colour.
constexpr int kMostExtras = 7;

/// One after the other, without a branch: what is not kept is overwritten by the next.
std::int64_t select_any(const CandidateColumns& from, const Vec3f& p, float radius_sq,
                        FloatColumns& to) {
  float* const dx_to = to.column(kDx);
  float* const dy_to = to.column(kDy);
  float* const dz_to = to.column(kDz);
  float* const distance_to = to.column(kDistanceSq);
  float* extra_to[kMostExtras];
  for (int e = 0; e < from.extras; ++e) extra_to[e] = to.column(kPayload + e);
  std::int64_t kept = 0;
  for (std::int64_t i = 0; i < from.count; ++i) {
    const float dx = from.x[i] - p.x;
    const float dy = from.y[i] - p.y;
    const float dz = from.z[i] - p.z;
    const float distance_sq = dx * dx + dy * dy + dz * dz;
    dx_to[kept] = dx;
    dy_to[kept] = dy;
    dz_to[kept] = dz;
    distance_to[kept] = distance_sq;
    for (int e = 0; e < from.extras; ++e) extra_to[e][kept] = from.extra[e][i];
    kept += distance_sq < radius_sq;
  }
  return kept;
}

#if defined(__x86_64__)
#define SEXTANT_TARGET_AVX512 __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,popcnt")))

/// Sixteen at a time, packed by the mask of those kept. Compressed in registers: compressing stores
/// are slow on some processors.
SEXTANT_TARGET_AVX512 std::int64_t select_avx512(const CandidateColumns& from, const Vec3f& p,
                                                 float radius_sq, FloatColumns& to) {
  const __m512 px = _mm512_set1_ps(p.x);
  const __m512 py = _mm512_set1_ps(p.y);
  const __m512 pz = _mm512_set1_ps(p.z);
  const __m512 limit = _mm512_set1_ps(radius_sq);
  float* const dx_to = to.column(kDx);
  float* const dy_to = to.column(kDy);
  float* const dz_to = to.column(kDz);
  float* const distance_to = to.column(kDistanceSq);
  float* extra_to[kMostExtras];
  for (int e = 0; e < from.extras; ++e) extra_to[e] = to.column(kPayload + e);
  std::int64_t kept = 0;
  for (std::int64_t i = 0; i < from.count; i += kLanes) {
    const __m512 dx = _mm512_sub_ps(_mm512_load_ps(from.x + i), px);
    const __m512 dy = _mm512_sub_ps(_mm512_load_ps(from.y + i), py);
    const __m512 dz = _mm512_sub_ps(_mm512_load_ps(from.z + i), pz);
    const __m512 distance_sq = _mm512_add_ps(
        _mm512_add_ps(_mm512_mul_ps(dx, dx), _mm512_mul_ps(dy, dy)), _mm512_mul_ps(dz, dz));
    const __mmask16 near = _mm512_cmp_ps_mask(distance_sq, limit, _CMP_LT_OQ);
    if (near == 0) continue;
    _mm512_storeu_ps(dx_to + kept, _mm512_maskz_compress_ps(near, dx));
    _mm512_storeu_ps(dy_to + kept, _mm512_maskz_compress_ps(near, dy));
    _mm512_storeu_ps(dz_to + kept, _mm512_maskz_compress_ps(near, dz));
    _mm512_storeu_ps(distance_to + kept, _mm512_maskz_compress_ps(near, distance_sq));
    for (int e = 0; e < from.extras; ++e) {
      const __m512 value = _mm512_load_ps(from.extra[e] + i);
      _mm512_storeu_ps(extra_to[e] + kept, _mm512_maskz_compress_ps(near, value));
    }
    kept += __builtin_popcount(near);
  }
  return kept;
}
#endif

void clear_rest(FloatColumns& rows, int columns, std::int64_t count) {
  const std::int64_t end = (count + kLanes - 1) / kLanes * kLanes;
  for (int c = 0; c < columns; ++c) {
    std::fill(rows.column(c) + count, rows.column(c) + end, 0.0f);
  }
}

}  // namespace

void FloatColumns::reserve(int columns, std::int64_t count) {
  const std::int64_t packs = (count + kLanes - 1) / kLanes + 1;
  room_ = std::max(room_, packs * kLanes);
  const auto needed = static_cast<std::size_t>(columns * (room_ / kLanes));
  if (memory_.size() < needed) memory_.resize(needed);
}

std::int64_t select_within(const CandidateColumns& from, const Vec3f& p, float radius_sq,
                           FloatColumns& to) {
  std::int64_t kept;
#if defined(__x86_64__)
  kept = has_avx512() ? select_avx512(from, p, radius_sq, to) : select_any(from, p, radius_sq, to);
#else
  kept = select_any(from, p, radius_sq, to);
#endif
  clear_rest(to, kPayload + from.extras, kept);
  return kept;
}

void thin_out(FloatColumns& rows, int columns, std::int64_t count, std::int64_t kept) {
  if (kept == count) return;
  constexpr std::int64_t kBatch = 256;
  std::int32_t places[kBatch];
  // place_of_voter(i, kept, count), one after the other without its division: `place` is the
  // quotient i count / kept and `over` its remainder.
  const std::int64_t step = count / kept;
  const std::int64_t rest = count % kept;
  std::int64_t place = 0;
  std::int64_t over = 0;
  for (std::int64_t first = 0; first < kept; first += kBatch) {
    const std::int64_t batch = std::min(kBatch, kept - first);
    for (std::int64_t i = 0; i < batch; ++i) {
      places[i] = static_cast<std::int32_t>(place + (over > 0));
      place += step;
      over += rest;
      const bool carry = over >= kept;
      place += carry;
      over -= carry ? kept : 0;
    }
    // Rows move towards the front, past rows that were read before.
    for (int c = 0; c < columns; ++c) {
      const float* const from = rows.column(c);
      float* const to = rows.column(c) + first;
      for (std::int64_t i = 0; i < batch; ++i) to[i] = from[places[i]];
    }
  }
  clear_rest(rows, columns, kept);
}

}  // namespace sextant::detail::neighbours
