// SPDX-License-Identifier: Apache-2.0
// Compiled without fused multiply-add, so that CUDA finds the pairs of the CPU to the last bit.
#include "sextant/core/cuda_check.h"
#include "sextant/core/for_each.h"
#include "sextant/core/scan.h"
#include "sextant/descriptor/pairs_math.h"

namespace sextant::detail {

namespace {

// A block searches 32 × 16 pixels; a thread two below each other, which share the candidates that
// it reads from shared memory. What it reads is 60 × 44 points and normals, 62 KiB. Four pixels a
// thread read less but leave too few warps on a multiprocessor.
constexpr int kHalo = kMostPairWindow_px;
constexpr int kTileColumns = 32;
constexpr int kTileRows = 16;
constexpr int kRowsPerThread = 2;  // the order of the rows rests on it
constexpr int kThreadRows = kTileRows / kRowsPerThread;
constexpr int kBlockThreads = kTileColumns * kThreadRows;
constexpr int kHeldColumns = kTileColumns + 2 * kHalo;
constexpr int kHeldRows = kTileRows + 2 * kHalo;
constexpr int kHeld = kHeldColumns * kHeldRows;
constexpr int kSharedBytes = kHeld * (sizeof(float4) + sizeof(float2));

/// What the quick test of a candidate at q needs of a pixel at p, both relative to the middle of
/// the tile: |q - p|² = |p|² + |q|² - 2 p · q costs three operations instead of six. Rounding moves
/// it by less than a millionth of |p|² + |q|², by which the limits are wider, so that nothing is
/// lost; what passes is tested again, exactly.
struct QuickTest {
  Vec3f minus_twice;  ///< -2 p
  Vec3f normal;
  float least;   ///< of |q|² - 2 p · q
  float most;    ///< the same
  float own_sq;  ///< |p|²

  static constexpr float kSlack = 2e-6f;

  __device__ void limit(float most_sq) { most = most_sq - own_sq * (1.0f - kSlack); }
  __device__ void set(const PairTest& test, const Vec3f& p, const Vec3f& n) {
    minus_twice = p * -2.0f;
    normal = n;
    own_sq = norm_sq(p);
    // |q|² is at most 2 |p|² + 2 most_sq where it matters.
    least = test.least_sq - own_sq - 8.0f * kSlack * (own_sq + test.most_sq);
    limit(test.most_sq);
  }
  /// Cosines of unit vectors are right to 3e-7.
  __device__ bool turned(const float4& a, const float2& b, float cos_limit) const {
    return __fmaf_rn(normal.x, a.w, __fmaf_rn(normal.y, b.x, normal.z * b.y)) < cos_limit;
  }
  __device__ bool apart(const float4& a) const {
    const float q_sq = __fmaf_rn(a.z, a.z, __fmaf_rn(a.y, a.y, a.x * a.x)) * (1.0f - kSlack);
    const float distance = __fmaf_rn(
        minus_twice.x, a.x, __fmaf_rn(minus_twice.y, a.y, __fmaf_rn(minus_twice.z, a.z, q_sq)));
    return distance <= most && distance >= least;
  }
};

/// The pixels of a thread and their partners.
struct ThreadPixels {
  const PairsJob& job;
  PairTest test;
  int u, v;
  QuickTest quick[kRowsPerThread];
  Partners partners[kRowsPerThread];

  /// A candidate that passed the quick test of pixel k.
  __device__ void offer(int k, int column, int row) {
    partners[k].offer(test, job.points(u, v + k), job.normals(u, v + k), job.points(column, row),
                      job.normals(column, row), row * job.points.width + column);
    quick[k].limit(partners[k].distance_sq[2]);
  }

  /// The candidates of row v + r, for those of the pixels in whose window they are.
  template <bool kAllPixels>
  __device__ void search_row(const float4* front, const float2* back, int r) {
    const int w = job.window_px;
    const float cos_limit = test.cos_angle + 1e-6f;
    for (int c = -w; c <= w; ++c) {
      const float4 a = front[c];
      const float2 b = back[c];
#pragma unroll
      for (int k = 0; k < kRowsPerThread; ++k) {
        if (!kAllPixels && (r < k - w || r > k + w)) continue;
        // Most surface is smooth, so that whole warps end here.
        if (!quick[k].turned(a, b, cos_limit)) continue;
        if (quick[k].apart(a)) offer(k, u + c, v + r);
      }
    }
  }
};

__global__ void __launch_bounds__(kBlockThreads) dense_partners_kernel(const PairsJob job) {
  extern __shared__ float4 held[];
  float4* front = held;                                    // x, y, z and the normal's x
  float2* back = reinterpret_cast<float2*>(held + kHeld);  // the normal's y and z
  const int left = blockIdx.x * kTileColumns;
  const int top = blockIdx.y * kTileRows;
  const int thread = threadIdx.y * kTileColumns + threadIdx.x;
  Vec3f middle = job.points(min_of(left + kTileColumns / 2, job.points.width - 1),
                            min_of(top + kTileRows / 2, job.points.height - 1));
  if (!is_finite(middle)) middle = {};
  for (int i = thread; i < kHeld; i += kBlockThreads) {
    const int u = left + i % kHeldColumns - kHalo;
    const int v = top + i / kHeldColumns - kHalo;
    const bool inside = job.points.contains(u, v);
    const Vec3f p = inside ? job.points(u, v) - middle : Vec3f{NAN, NAN, NAN};
    const Vec3f m = inside ? job.normals(u, v) : Vec3f{NAN, NAN, NAN};
    front[i] = make_float4(p.x, p.y, p.z, m.x);
    back[i] = make_float2(m.y, m.z);
  }
  __syncthreads();
  const PairTest test(job.limits, job.statistics->resolution_m);
  const int u = left + static_cast<int>(threadIdx.x);
  const int v = top + static_cast<int>(threadIdx.y) * kRowsPerThread;
  if (u >= job.points.width || v >= job.points.height) return;
  const int column = static_cast<int>(threadIdx.x) + kHalo;
  const int row = static_cast<int>(threadIdx.y) * kRowsPerThread + kHalo;
  const Partners none(test);
  ThreadPixels pixels{job, test, u, v, {}, {none, none}};
#pragma unroll
  for (int k = 0; k < kRowsPerThread; ++k) {
    const float4 a = front[(row + k) * kHeldColumns + column];
    const float2 b = back[(row + k) * kHeldColumns + column];
    // NaN below the image: nothing passes there.
    pixels.quick[k].set(test, {a.x, a.y, a.z}, {a.w, b.x, b.y});
  }
  const int w = job.window_px;
  for (int i = 0; i < 2 * w + kRowsPerThread; ++i) {
    // From the middle outwards: near partners come first, and far ones fail the quick test.
    const int r = i % 2 == 1 ? (i + 1) / 2 : -(i / 2);
    const int at = (row + r) * kHeldColumns + column;
    if (r >= kRowsPerThread - 1 - w && r <= w) {
      pixels.search_row<true>(front + at, back + at, r);
    } else {
      pixels.search_row<false>(front + at, back + at, r);
    }
  }
#pragma unroll
  for (int k = 0; k < kRowsPerThread; ++k) {
    if (v + k >= job.points.height) break;
    pixels.partners[k].store(job.partners +
                             (std::int64_t{v + k} * job.points.width + u) * kPartnersPerPoint);
  }
}

constexpr int kWarp = 32;
constexpr int kSampleWarps = 4;

/// A warp searches the window of one point: each lane keeps its own three nearest, of which the
/// nearest of all are taken three times.
__global__ void __launch_bounds__(kWarp* kSampleWarps) sampled_partners_kernel(const PairsJob job) {
  const std::int64_t row = std::int64_t{blockIdx.x} * kSampleWarps + threadIdx.x / kWarp;
  if (row >= job.lookers.samples) return;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int point = static_cast<int>(job.lookers.point_of(row));
  const PairTest test(job.limits, job.statistics->resolution_m);
  Partners partners(test);
  search_window(job, test, point % job.points.width, point / job.points.width, lane, kWarp,
                partners);
  for (int k = 0; k < kPartnersPerPoint; ++k) {
    float nearest = partners.distance_sq[0];
    std::int32_t index = partners.index[0];
    for (int offset = kWarp / 2; offset > 0; offset /= 2) {
      const float other = __shfl_xor_sync(0xffffffffu, nearest, offset);
      const std::int32_t other_index = __shfl_xor_sync(0xffffffffu, index, offset);
      if (Partners::before(other, other_index, nearest, index)) {
        nearest = other;
        index = other_index;
      }
    }
    if (lane == 0) job.partners[row * kPartnersPerPoint + k] = index == kNobody ? -1 : index;
    if (index != kNobody && partners.index[0] == index) {
      partners.distance_sq[0] = partners.distance_sq[1];
      partners.index[0] = partners.index[1];
      partners.distance_sq[1] = partners.distance_sq[2];
      partners.index[1] = partners.index[2];
      partners.distance_sq[2] = test.most_sq;
      partners.index[2] = kNobody;
    }
  }
}

struct CountRow {
  PairList list;
  SEXTANT_HD void operator()(std::int64_t row) const { list.count_row(row); }
};
struct WriteRow {
  PairList list;
  SEXTANT_HD void operator()(std::int64_t row) const { list.write_row(row); }
};

}  // namespace

void find_partners_cuda(const Context& context, const PairsJob& job) {
  if (job.lookers.samples == 0) return;
  const cudaStream_t stream = cuda_stream(context);
  if (job.lookers.samples < job.lookers.points) {
    const std::int64_t blocks = (job.lookers.samples + kSampleWarps - 1) / kSampleWarps;
    sampled_partners_kernel<<<static_cast<unsigned>(blocks), kWarp * kSampleWarps, 0, stream>>>(
        job);
    check_launch("sampled_partners");
    return;
  }
  constexpr int kMostRows = 65535 * kTileRows;  // of a grid's second dimension
  require(job.points.height <= kMostRows, "points: ", job.points.height,
          " rows are more than one launch takes (", kMostRows, ")");
  check_cuda(cudaFuncSetAttribute(dense_partners_kernel,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes),
             "dense_partners");
  const dim3 grid(static_cast<unsigned>((job.points.width + kTileColumns - 1) / kTileColumns),
                  static_cast<unsigned>((job.points.height + kTileRows - 1) / kTileRows));
  dense_partners_kernel<<<grid, dim3(kTileColumns, kThreadRows), kSharedBytes, stream>>>(job);
  check_launch("dense_partners");
}

void list_pairs_cuda(const Context& context, const PairList& list) {
  const std::int64_t rows = list.lookers.samples + 1;
  const View<std::int32_t> first{list.first, rows, context.device()};
  for_each(context, rows, CountRow{list});
  exclusive_scan<std::int32_t>(context, first, first);
  for_each(context, rows, WriteRow{list});
}

void select_pairs_cuda(const Context& context, const SelectPair& select) {
  for_each(context, select.selected.size + 1, select);
}

}  // namespace sextant::detail
