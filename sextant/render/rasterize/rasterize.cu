// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that CUDA gives the bits of the CPU.
#include <cub/block/block_scan.cuh>

#include "sextant/core/context/state.h"
#include "sextant/core/cuda_check.h"
#include "sextant/render/rasterize/surface_math.h"

// Small triangles are drawn by one thread, larger ones by the warp it belongs to. Those larger
// still, and those that need cutting, go through a queue to a second kernel that spreads them over
// the device in tiles. The depth test is an atomic minimum, so the order of arrival does not
// matter. Compiled without contraction (-fmad=false) to give the CPU's bits.

namespace sextant::detail::rasterize {

namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kBlocksPerProcessor = 3;  // leaves 80 registers a thread: measured best on an H200
constexpr int kScanThreads = 1024;
constexpr int kScanItems = 4;
constexpr std::int64_t kPixelsPerThread = 64;  // boxes up to this size are drawn by one thread
constexpr std::int64_t kPixelsPerWarp = 1024;  // up to this, by one warp
constexpr int kTile = 32;                      // a warp draws a tile column by lane
constexpr std::int64_t kQueueCapacity = 1 << 20;
constexpr std::uint32_t kMaxParts = 2048;  // with the capacity, part numbers fit 32 bits

constexpr std::uint32_t kNanBits = 0x7fc00000u;  // above every finite depth

/// Only depth is wanted: its bits order like the numbers, and NaN comes last.
struct DepthOnly {
  std::uint32_t* bits;

  using Cell = std::uint32_t;
  static constexpr Cell kEmpty = kNanBits;
  __device__ Cell* cells() const { return bits; }
  __device__ void put(std::int64_t pixel, float z, std::uint32_t) const {
    const std::uint32_t key = __float_as_uint(z);
    if (key < __ldcg(bits + pixel)) atomicMin(bits + pixel, key);
  }
};

/// Depth above, primitive below: the lowest primitive wins among equal depths.
struct DepthAndPrimitive {
  unsigned long long* keys;

  using Cell = unsigned long long;
  static constexpr Cell kEmpty = (Cell{kNanBits} << 32) | kNoPrimitive;
  __device__ Cell* cells() const { return keys; }
  __device__ void put(std::int64_t pixel, float z, std::uint32_t primitive) const {
    const Cell key = (Cell{__float_as_uint(z)} << 32) | primitive;
    if (key < __ldcg(keys + pixel)) atomicMin(keys + pixel, key);
  }
};

/// Triangles for many warps. Item k owns the parts first_part[k] .. first_part[k + 1] - 1; one
/// atomic addition hands out both numbers, so they grow together.
struct Queue {
  unsigned long long* counter;  // parts << 32 | items
  unsigned long long* items;    // primitive << 32 | first part; kQueueCapacity + 1 of them

  /// False when the queue is full.
  __device__ bool push(std::uint32_t primitive, std::uint32_t parts) const {
    const unsigned long long before = atomicAdd(counter, (1ull * parts << 32) | 1);
    const std::uint32_t slot = static_cast<std::uint32_t>(before);
    // The first item too many still says where the parts of the last good one end.
    if (slot <= kQueueCapacity) items[slot] = (1ull * primitive << 32) | (before >> 32);
    return slot < kQueueCapacity;
  }
  __device__ std::int64_t size() const {
    const std::int64_t pushed = static_cast<std::uint32_t>(*counter);
    return pushed < kQueueCapacity ? pushed : kQueueCapacity;
  }
  __device__ std::uint32_t primitive(std::int64_t item) const {
    return static_cast<std::uint32_t>(items[item] >> 32);
  }
  __device__ std::uint32_t first_part(std::int64_t item) const {
    const bool past_the_end = item >= static_cast<std::uint32_t>(*counter);
    return static_cast<std::uint32_t>(past_the_end ? *counter >> 32 : items[item]);
  }
};

/// A triangle that needs no cutting, with edge functions in 32 bits.
struct Piece {
  TriangleEdges<std::int32_t> edges;
  PixelBox box;
  DepthPlane plane;
  std::int64_t first_pixel;  // of its view
  std::uint32_t primitive;
};

template <class Target>
__device__ void draw_pixel(const RasterJob& job, const DepthPlane& plane, std::int64_t first_pixel,
                           int u, int v, std::uint32_t primitive, const Target& target) {
  const float z = plane.depth_m(u, v);
  if (z <= job.far_m) target.put(first_pixel + std::int64_t{v} * job.width + u, z, primitive);
}

template <class Target>
__device__ void draw_by_thread(const RasterJob& job, const Piece& piece, const Target& target) {
  const PixelBox& box = piece.box;
  for (int v = box.v_min; v <= box.v_max; ++v) {
    for (int u = box.u_min; u <= box.u_max; ++u) {
      if (piece.edges.covers(u - box.u_min, v - box.v_min)) {
        draw_pixel(job, piece.plane, piece.first_pixel, u, v, piece.primitive, target);
      }
    }
  }
}

/// Draws in stamps of 8 × 4 pixels.
template <class Target>
__device__ void draw_by_warp(const RasterJob& job, const Piece& piece, int lane,
                             const Target& target) {
  const PixelBox& box = piece.box;
  for (int v = box.v_min + lane / 8; v <= box.v_max; v += 4) {
    for (int u = box.u_min + lane % 8; u <= box.u_max; u += 8) {
      if (piece.edges.covers(u - box.u_min, v - box.v_min)) {
        draw_pixel(job, piece.plane, piece.first_pixel, u, v, piece.primitive, target);
      }
    }
  }
}

/// Draws the part of a fan that lies in a box of at most kTile columns, one column a lane.
template <class Target>
__device__ void draw_tile(const RasterJob& job, const ScreenPolygon& polygon, const PixelBox& tile,
                          std::int64_t first_pixel, std::uint32_t primitive, int lane,
                          const Target& target) {
  TriangleEdges<std::int64_t> edges;
  const int u = tile.u_min + lane;
  for (int i = 2; i < polygon.count; ++i) {
    if (!make_edges(polygon.points[0], polygon.points[i - 1], polygon.points[i], tile.u_min,
                    tile.v_min, edges)) {
      continue;
    }
    const int width = tile.u_max - tile.u_min;
    const int height = tile.v_max - tile.v_min;
    bool reaches = true;
    for (int k = 0; k < 3; ++k) {
      reaches &=
          edges.value(k, edges.along_u[k] > 0 ? width : 0, edges.along_v[k] > 0 ? height : 0) >= 0;
    }
    if (!reaches || u > tile.u_max) continue;
    std::int64_t e0 = edges.value(0, lane, 0);
    std::int64_t e1 = edges.value(1, lane, 0);
    std::int64_t e2 = edges.value(2, lane, 0);
    for (int v = tile.v_min; v <= tile.v_max; ++v) {
      if ((e0 | e1 | e2) >= 0) {
        draw_pixel(job, polygon.plane, first_pixel, u, v, primitive, target);
      }
      e0 += edges.along_v[0];
      e1 += edges.along_v[1];
      e2 += edges.along_v[2];
    }
  }
}

/// The tiles of a box, row by row.
struct Tiles {
  PixelBox box;
  int across, down;

  __device__ explicit Tiles(const PixelBox& box_)
      : box(box_),
        across((box_.u_max - box_.u_min) / kTile + 1),
        down((box_.v_max - box_.v_min) / kTile + 1) {}
  __device__ std::uint32_t count() const { return static_cast<std::uint32_t>(across * down); }
  __device__ std::uint32_t parts() const { return min_of(count(), kMaxParts); }
  __device__ PixelBox tile(std::uint32_t index) const {
    const int u = box.u_min + static_cast<int>(index % across) * kTile;
    const int v = box.v_min + static_cast<int>(index / across) * kTile;
    return {u, v, min_of(box.u_max, u + kTile - 1), min_of(box.v_max, v + kTile - 1)};
  }
};

/// Hands a triangle to the second kernel, or draws it here, slowly, when the queue is full.
template <class Target>
__device__ __noinline__ void enqueue(const RasterJob& job, const Instance& instance,
                                     std::uint32_t triangle, std::uint32_t primitive,
                                     const Queue& queue, const Target& target) {
  const ScreenPolygon polygon = set_up(job, instance, triangle);
  if (polygon.count == 0) return;
  const Tiles tiles(polygon.box);
  if (queue.push(primitive, tiles.parts())) return;
  const std::int64_t first_pixel = instance.view * job.pixels_per_view();
  for (std::uint32_t i = 0; i < tiles.count(); ++i) {
    for (int lane = 0; lane < kTile; ++lane) {
      draw_tile(job, polygon, tiles.tile(i), first_pixel, primitive, lane, target);
    }
  }
}

enum class Size { kNothing, kSmall, kMedium };

template <class Target>
__device__ Size make_piece(const RasterJob& job, std::uint32_t primitive, const Queue& queue,
                           const Target& target, Piece& piece) {
  const std::int64_t number = instance_of(job, primitive);
  const Instance& instance = job.instances[number];
  const std::uint32_t triangle = primitive - job.first_primitives[number];
  CameraTriangle corners;
  if (!load_triangle(job.scene, instance, triangle, corners)) return Size::kNothing;
  const Camera& camera = camera_of(job, instance.view);
  ScreenPoint p[3];
  const Projection projection = project(camera, job.near_m, corners, p);
  if (projection == Projection::kInvisible) return Size::kNothing;
  if (projection == Projection::kInside) {
    piece.box = pixel_box(p, 3, job.width, job.height);
    if (piece.box.empty()) return Size::kNothing;
  }
  const auto extent = [](std::int32_t a, std::int32_t b, std::int32_t c) {
    return max_of(a, max_of(b, c)) - min_of(a, min_of(b, c));
  };
  if (projection == Projection::kNeedsClipping || piece.box.pixels() > kPixelsPerWarp ||
      extent(p[0].x, p[1].x, p[2].x) >= kMaxExtent32 ||
      extent(p[0].y, p[1].y, p[2].y) >= kMaxExtent32) {
    enqueue(job, instance, triangle, primitive, queue, target);
    return Size::kNothing;
  }
  if (!make_edges(p[0], p[1], p[2], piece.box.u_min, piece.box.v_min, piece.edges) ||
      !depth_plane(camera, job.near_m, job.cull_back_faces, corners, piece.plane)) {
    return Size::kNothing;
  }
  piece.first_pixel = instance.view * job.pixels_per_view();
  piece.primitive = primitive;
  return piece.box.pixels() <= kPixelsPerThread ? Size::kSmall : Size::kMedium;
}

template <class Target>
__global__ void __launch_bounds__(kThreads, kBlocksPerProcessor)
    draw_pieces(const __grid_constant__ RasterJob job, const Queue queue, const Target target) {
  __shared__ Piece shared[kWarps];
  const int lane = threadIdx.x % 32;
  Piece& medium = shared[threadIdx.x / 32];
  const std::int64_t total = job.first_primitives[job.instance_count];
  // Few triangles are spread over all warps, for the sake of those that whole warps draw.
  const std::int64_t warps = std::int64_t{gridDim.x} * kWarps;
  int triangles_per_warp = 1;
  while (triangles_per_warp < 32 && triangles_per_warp * warps < total) triangles_per_warp *= 2;
  const std::int64_t warp = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
  for (std::int64_t first = warp * triangles_per_warp; first < total;
       first += warps * triangles_per_warp) {
    const std::int64_t index = first + lane;
    Piece piece;
    Size size = Size::kNothing;
    if (lane < triangles_per_warp && index < total) {
      size = make_piece(job, static_cast<std::uint32_t>(index), queue, target, piece);
    }
    if (size == Size::kSmall) draw_by_thread(job, piece, target);
    unsigned waiting = __ballot_sync(~0u, size == Size::kMedium);
    for (; waiting != 0; waiting &= waiting - 1) {
      if (lane == __ffs(waiting) - 1) medium = piece;
      __syncwarp();
      draw_by_warp(job, medium, lane, target);
      __syncwarp();
    }
  }
}

template <class Target>
__global__ void __launch_bounds__(kThreads, kBlocksPerProcessor)
    draw_queue(const __grid_constant__ RasterJob job, const Queue queue, const Target target) {
  const int lane = threadIdx.x % 32;
  const std::int64_t items = queue.size();
  const std::uint32_t parts = queue.first_part(items);
  const std::int64_t stride = std::int64_t{gridDim.x} * kWarps;
  for (std::int64_t part = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / 32; part < parts;
       part += stride) {
    std::int64_t low = 0;
    std::int64_t high = items;
    while (high - low > 1) {
      const std::int64_t middle = (low + high) / 2;
      (queue.first_part(middle) <= part ? low : high) = middle;
    }
    const std::uint32_t primitive = queue.primitive(low);
    const std::int64_t number = instance_of(job, primitive);
    const Instance& instance = job.instances[number];
    const ScreenPolygon polygon = set_up(job, instance, primitive - job.first_primitives[number]);
    const Tiles tiles(polygon.box);
    const std::int64_t first_pixel = instance.view * job.pixels_per_view();
    for (std::uint32_t i = static_cast<std::uint32_t>(part) - queue.first_part(low);
         i < tiles.count(); i += tiles.parts()) {
      draw_tile(job, polygon, tiles.tile(i), first_pixel, primitive, lane, target);
    }
  }
}

/// One block suffices: instances are few beside their triangles.
__global__ void __launch_bounds__(kScanThreads)
    count_primitives(const __grid_constant__ RasterJob job, std::uint32_t* first_primitives) {
  using Scan = cub::BlockScan<std::uint32_t, kScanThreads>;
  __shared__ typename Scan::TempStorage storage;
  std::uint32_t before = 0;
  for (std::int64_t base = 0; base < job.instance_count; base += kScanThreads * kScanItems) {
    std::uint32_t counts[kScanItems];
    const std::int64_t first = base + std::int64_t{threadIdx.x} * kScanItems;
    for (int i = 0; i < kScanItems; ++i) {
      counts[i] =
          first + i < job.instance_count ? triangle_count(job, job.instances[first + i]) : 0;
    }
    std::uint32_t sum;
    Scan(storage).ExclusiveSum(counts, counts, sum);
    for (int i = 0; i < kScanItems; ++i) {
      if (first + i < job.instance_count) first_primitives[first + i] = before + counts[i];
    }
    before += sum;
    __syncthreads();  // the storage is used again
  }
  if (threadIdx.x == 0) first_primitives[job.instance_count] = before;
}

template <class Target>
__global__ void __launch_bounds__(kThreads) clear(std::int64_t pixels, const Target target) {
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < pixels;
       i += stride) {
    target.cells()[i] = Target::kEmpty;
  }
}

__global__ void __launch_bounds__(kThreads)
    resolve(const __grid_constant__ RasterJob job, std::int64_t pixels,
            const DepthAndPrimitive target) {
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < pixels;
       i += stride) {
    const unsigned long long key = target.keys[i];
    if (job.depth_m) job.depth_m[i] = __uint_as_float(static_cast<std::uint32_t>(key >> 32));
    const auto primitive = static_cast<std::uint32_t>(key);
    if (primitive == kNoPrimitive) {
      write_nothing(job, i);
      continue;
    }
    const std::int64_t row = i / job.width;
    write_pixel(job, visible_triangle(job, primitive), static_cast<int>(i - row * job.width),
                static_cast<int>(row % job.height), i);
  }
}

/// Takes as many blocks as there is work for, and no more than the device keeps busy.
unsigned block_count(std::int64_t threads, std::int64_t most) {
  const std::int64_t needed = (threads + kThreads - 1) / kThreads;
  return static_cast<unsigned>(std::max<std::int64_t>(1, std::min(needed, most)));
}

template <class Target>
void draw(const RasterJob& job, std::int64_t pixels, std::int64_t primitive_bound, int processors,
          const Queue& queue, const Target& target, cudaStream_t stream) {
  clear<<<block_count(pixels, processors * 16), kThreads, 0, stream>>>(pixels, target);
  check_launch("render: clear");
  if (primitive_bound == 0) return;
  draw_pieces<<<block_count(32 * primitive_bound, processors * kBlocksPerProcessor), kThreads, 0,
                stream>>>(job, queue, target);
  check_launch("render: draw_pieces");
  draw_queue<<<static_cast<unsigned>(processors * kBlocksPerProcessor), kThreads, 0, stream>>>(
      job, queue, target);
  check_launch("render: draw_queue");
}

}  // namespace

void rasterize_cuda(const Context& context, RasterJob job, std::int64_t primitive_bound,
                    Workspace& workspace) {
  const std::int64_t pixels = job.pixels_per_view() * job.views;
  const Workspace::Scope scope(workspace);
  std::uint32_t* first_primitives =
      workspace.take<std::uint32_t>(context, job.instance_count + 1).data;
  auto* words =
      workspace.take<unsigned long long>(context, std::min(primitive_bound, kQueueCapacity) + 2)
          .data;
  const cudaStream_t stream = cuda_stream(context);
  const int processors = multiprocessors(context);
  count_primitives<<<1, kScanThreads, 0, stream>>>(job, first_primitives);
  check_launch("render: count_primitives");
  job.first_primitives = first_primitives;

  const Queue queue{words, words + 1};
  check_cuda(cudaMemsetAsync(words, 0, sizeof(*words), stream), "cudaMemsetAsync");
  if (!job.needs_primitives()) {
    draw(job, pixels, primitive_bound, processors, queue,
         DepthOnly{reinterpret_cast<std::uint32_t*>(job.depth_m)}, stream);
    return;
  }
  const DepthAndPrimitive target{workspace.take<unsigned long long>(context, pixels).data};
  draw(job, pixels, primitive_bound, processors, queue, target, stream);
  resolve<<<block_count(pixels, processors * 16), kThreads, 0, stream>>>(job, pixels, target);
  check_launch("render: resolve");
}

}  // namespace sextant::detail::rasterize
