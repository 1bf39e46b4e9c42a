// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that CUDA sees the cells that the CPU sees.
// Verification of many poses, one block for each. It draws the object into shared memory, compares
// the cells with the frame and walks across the outline. Sums of doubles have one order: each lane
// of a warp adds one component for all cells of the warp, and then the warps are added up.
#include <cstddef>

#include "sextant/core/context/state.h"
#include "sextant/core/cuda/warp.cuh"
#include "sextant/core/cuda_check.h"
#include "sextant/recognize/recognizer/verify_batch.h"
#include "sextant/render/rasterize/surface_math.h"

namespace sextant::detail::recognizer {

namespace {

constexpr int kThreads = 384;  // two blocks fill the shared memory of a multiprocessor
constexpr int kBlocksPerProcessor = 2;
constexpr int kWarps = kThreads / kWarp;
constexpr int kCells = kCropCells * kCropCells;
constexpr int kGroups = kCells / kWarp;  // of cells that a warp looks at
constexpr int kGroupsOfRow = kCropCells / kWarp;
static_assert(kCropCells % kWarp == 0 && kGroups == kMaskWords);

using Key = unsigned long long;  // depth above, state and triangle below
constexpr std::uint32_t kNanBits = 0x7fc00000u;
constexpr Key kEmpty = Key{kNanBits} << 32 | 0xffffffffu;
constexpr int kStateShift = 30;
constexpr std::uint32_t kTriangles = (1u << kStateShift) - 1;
constexpr std::int64_t kPixelsPerThread = 64;  // boxes up to this size are drawn by one thread

// What cells give to the sums: the row, the residual, 1, the weight; the polynomial and the
// measured value; and what is squared or added as it is.
constexpr int kResidual = 6, kOne = 7, kWeight = 8, kPolynomial = 9, kMeasured = 15, kOff = 16,
              kRatio = 17, kSide = 18, kColumns = 19;
constexpr int kStaged = 8;            // cells whose columns lie in shared memory
constexpr int kOutlineAtOnce = 2048;  // cells that are listed; few outlines have more

/// The counts of CompareSums in its order.
constexpr int kCounts = 17, kOutlineCounts = 7, kEdges = 13, kSeams = 14, kBorders = 15,
              kBuried = 16;
static_assert(offsetof(CompareSums, outline) == kOutlineCounts * sizeof(std::int32_t));
static_assert(offsetof(CompareSums, edges) == kEdges * sizeof(std::int32_t));
static_assert(offsetof(CompareSums, seams) == kSeams * sizeof(std::int32_t));
static_assert(offsetof(CompareSums, borders) == kBorders * sizeof(std::int32_t));
static_assert(offsetof(CompareSums, buried) == kBuried * sizeof(std::int32_t));

/// A triangle that needs no cutting, with edge functions in 32 bits.
struct Piece {
  rasterize::TriangleEdges<std::int32_t> edges;
  rasterize::PixelBox box;
  rasterize::DepthPlane plane;
  std::uint32_t triangle;
};

struct Shared {
  Key keys[kCells];
  double staged[kWarps][kStaged][kColumns];
  Crop crop;
  Instance instance;
  std::int32_t counts[kWarps][kCounts];
  std::uint32_t outline_masks[kGroups];
  std::int32_t outline_first[kGroups + 1];
  std::uint16_t outline[kOutlineAtOnce];
};

/// What a block has in global memory: the normals of rendered cells, and their sums over all cells
/// above and to the left.
struct Scratch {
  Vec3f normals[kCells];
  Vec3f sums[kSumsSide * kSumsSide];
};
static_assert(sizeof(Piece) <= sizeof(double) * kStaged * kColumns);

/// The object drawn into the keys.
struct RenderedKeys {
  const Shared& shared;
  const SceneView& meshes;
  const Scratch& scratch;

  __device__ static int at(int i, int j) { return j * kCropCells + i; }
  __device__ float depth_m(int i, int j) const {
    return __uint_as_float(static_cast<std::uint32_t>(shared.keys[at(i, j)] >> 32));
  }
  __device__ CellState state(int i, int j) const {
    if (!isfinite(depth_m(i, j))) return CellState::kNone;
    return static_cast<CellState>(static_cast<std::uint32_t>(shared.keys[at(i, j)]) >> kStateShift);
  }
  __device__ Vec3f normal(int i, int j) const { return scratch.normals[at(i, j)]; }
  __device__ Vec3f normal_sum(int i, int j) const { return scratch.sums[j * kSumsSide + i]; }
  /// The normal of the triangle that a cell shows.
  __device__ Vec3f drawn_normal(int i, int j) const {
    rasterize::CameraTriangle corners;
    rasterize::load_triangle(meshes, shared.instance,
                             static_cast<std::uint32_t>(shared.keys[at(i, j)]) & kTriangles,
                             corners);
    const Vec3f facing = rasterize::facing_normal(corners);
    if (norm_sq(facing) > 0) return facing;
    const Camera& camera = shared.crop.camera;
    return normalized(-cast<float>(
        Vec3d{(i - camera.cx_px) / camera.fx_px, (j - camera.cy_px) / camera.fy_px, 1.0}));
  }
};

struct Drawing {
  SceneView meshes;
  double near_m;
  float far_m;
  Shared& shared;

  __device__ void put(const rasterize::DepthPlane& plane, int u, int v,
                      std::uint32_t triangle) const {
    const float z = plane.depth_m(u, v);
    if (!(z <= far_m)) return;
    atomicMin(&shared.keys[RenderedKeys::at(u, v)], Key{__float_as_uint(z)} << 32 | triangle);
  }

  /// Draws from pixel `first` of the piece's box on, every `step`-th.
  __device__ void draw(const Piece& piece, int first, int step) const {
    const rasterize::PixelBox& box = piece.box;
    const int width = box.u_max - box.u_min + 1;
    const int pixels = width * (box.v_max - box.v_min + 1);
    for (int k = first; k < pixels; k += step) {
      const int dv = k / width, du = k - dv * width;
      if (piece.edges.covers(du, dv)) {
        put(piece.plane, box.u_min + du, box.v_min + dv, piece.triangle);
      }
    }
  }

  /// Draws triangles of every kind, slowly.
  __device__ __noinline__ void draw_any(std::uint32_t triangle) const {
    const rasterize::ScreenPolygon polygon =
        rasterize::ViewSetUp{meshes, near_m, false, kCropCells, kCropCells}(
            shared.crop.camera, shared.instance, triangle);
    rasterize::TriangleEdges<std::int64_t> edges;
    for (int i = 2; i < polygon.count; ++i) {
      const rasterize::PixelBox& box = polygon.box;
      if (!rasterize::make_edges(polygon.points[0], polygon.points[i - 1], polygon.points[i],
                                 box.u_min, box.v_min, edges)) {
        continue;
      }
      for (int v = box.v_min; v <= box.v_max; ++v) {
        for (int u = box.u_min; u <= box.u_max; ++u) {
          if (edges.covers(u - box.u_min, v - box.v_min)) put(polygon.plane, u, v, triangle);
        }
      }
    }
  }

  /// False where there is nothing left to draw.
  __device__ bool make_piece(std::uint32_t triangle, Piece& piece) const {
    rasterize::CameraTriangle corners;
    if (!rasterize::load_triangle(meshes, shared.instance, triangle, corners)) return false;
    rasterize::ScreenPoint p[3];
    const Camera& camera = shared.crop.camera;
    const rasterize::Projection projection = rasterize::project(camera, near_m, corners, p);
    if (projection == rasterize::Projection::kInvisible) return false;
    const auto extent = [](std::int32_t a, std::int32_t b, std::int32_t c) {
      return max_of(a, max_of(b, c)) - min_of(a, min_of(b, c));
    };
    if (projection == rasterize::Projection::kNeedsClipping ||
        extent(p[0].x, p[1].x, p[2].x) >= rasterize::kMaxExtent32 ||
        extent(p[0].y, p[1].y, p[2].y) >= rasterize::kMaxExtent32) {
      draw_any(triangle);
      return false;
    }
    piece.box = rasterize::pixel_box(p, 3, kCropCells, kCropCells);
    piece.triangle = triangle;
    return !piece.box.empty() &&
           rasterize::make_edges(p[0], p[1], p[2], piece.box.u_min, piece.box.v_min, piece.edges) &&
           rasterize::depth_plane(camera, near_m, false, corners, piece.plane);
  }

  /// Small triangles are drawn by one thread, others by the warp it belongs to.
  __device__ void draw_mesh() const {
    const auto total =
        static_cast<std::int32_t>(meshes.meshes[shared.instance.mesh].triangle_count);
    const int warp = static_cast<int>(threadIdx.x) / kWarp, lane = lane_index();
    Piece& large = *reinterpret_cast<Piece*>(shared.staged[warp]);
    // Few triangles are spread over all warps.
    int at_once = 1;
    while (at_once < kWarp && at_once * kWarps < total) at_once *= 2;
    for (std::int32_t first = warp * at_once; first < total; first += kWarps * at_once) {
      Piece piece;
      bool is_large = false;
      if (lane < at_once && first + lane < total &&
          make_piece(static_cast<std::uint32_t>(first + lane), piece)) {
        is_large = piece.box.pixels() > kPixelsPerThread;
        if (!is_large) draw(piece, 0, 1);
      }
      for (unsigned waiting = __ballot_sync(kAllLanes, is_large); waiting != 0;
           waiting &= waiting - 1) {
        if (lane == __ffs(static_cast<int>(waiting)) - 1) large = piece;
        __syncwarp();
        draw(large, lane, kWarp);
        __syncwarp();
      }
    }
  }
};

/// The components that a lane adds up.
struct LaneSums {
  int a = kOne,
      b = kOne;  ///< columns whose product with the weight is a component of the equations
  int c = kOne, d = kOne;  ///< columns whose product is a component of the simpler surfaces
  int e = kRatio;          ///< column of what edges are off by
  double equations = 0, simpler = 0, offsets = 0;

  __device__ LaneSums() {
    const int lane = lane_index();
    if (lane == 1) e = kSide;
    if (lane < 21) {
      int i = 0;
      while ((i + 1) * (i + 2) / 2 <= lane) ++i;
      a = i;
      b = lane - i * (i + 1) / 2;
      c = kPolynomial + a;
      d = kPolynomial + b;
    } else if (lane < 27) {
      a = kResidual;
      b = lane - 21;
      c = kMeasured;
      d = kPolynomial + lane - 21;
    } else if (lane == 27) {
      a = b = kResidual;
      c = d = kMeasured;
    } else if (lane < 31) {
      c = d = kOff + lane - 28;  // then ratio and side
    }
  }

  /// Lanes of the mask write their columns, and all lanes add them up, in the order of lanes.
  template <class Write>
  __device__ void add(unsigned mask, double (&staged)[kStaged][kColumns], bool is_cell,
                      const Write& write) {
    while (mask != 0) {
      const int rank = __popc(mask & lanes_before());
      if ((mask >> lane_index() & 1) && rank < kStaged) write(staged[rank]);
      __syncwarp();
      const int count = min_of(__popc(mask), kStaged);
      for (int k = 0; k < count; ++k) {
        const double* of = staged[k];
        equations += of[kWeight] * of[a] * of[b];
        if (is_cell) {
          simpler += of[c] * of[d];
        } else {
          offsets += of[e];
        }
        mask &= mask - 1;
      }
      __syncwarp();
    }
  }
};

/// Finds the normals of all cells and adds them up in the order of the CPU: along rows, then down.
__device__ void add_up_normals(const RenderedKeys& rendered, Scratch& scratch) {
  const int thread = static_cast<int>(threadIdx.x);
  for (int cell = thread; cell < kCells; cell += kThreads) {
    const int i = cell % kCropCells, j = cell / kCropCells;
    const bool is_drawn = isfinite(rendered.depth_m(i, j));
    const Vec3f normal = is_drawn ? rendered.drawn_normal(i, j) : Vec3f{};
    scratch.normals[cell] = normal;
    scratch.sums[(j + 1) * kSumsSide + i + 1] = normal;
  }
  __syncthreads();
  static_assert(3 * kCropCells <= kThreads);
  const int line = thread / 3, axis = thread % 3;
  float* first = &scratch.sums[0].x + axis;
  if (line < kCropCells) {
    float sum = 0;
#pragma unroll 8
    for (int i = 1; i < kSumsSide; ++i) {
      float& at = first[3 * ((line + 1) * kSumsSide + i)];
      sum = sum + at;
      at = sum;
    }
  }
  __syncthreads();
  if (line < kCropCells) {
    float sum = 0;
#pragma unroll 8
    for (int j = 1; j < kSumsSide; ++j) {
      float& at = first[3 * (j * kSumsSide + line + 1)];
      sum = sum + at;
      at = sum;
    }
  }
  __syncthreads();
}

__device__ void write_equation(const EquationRow& equation, double* columns) {
  for (int i = 0; i < 6; ++i) columns[i] = equation.row[i];
  columns[kResidual] = equation.residual;
  columns[kOne] = 1;
  columns[kWeight] = equation.weight;
}

using BlockComparison = Comparison<const RenderedKeys>;

/// Looks at all cells and notes their states.
__device__ void look_at_cells(const BlockComparison& comparison, std::uint32_t* supported_mask,
                              Shared& shared, LaneSums& sums, std::int32_t (&counts)[kCounts]) {
  const int warp = static_cast<int>(threadIdx.x) / kWarp, lane = lane_index();
  for (int group = warp; group < kGroups; group += kWarps) {
    const int i = group % kGroupsOfRow * kWarp + lane, j = group / kGroupsOfRow;
    CellEvidence evidence;
    const CellKind kind = comparison.look_at(i, j, evidence);
    if (kind != CellKind::kEmpty) {
      Key& key = shared.keys[RenderedKeys::at(i, j)];
      key = (key & ~(Key{3} << kStateShift)) | Key{static_cast<std::uint32_t>(state_of(kind))}
                                                   << kStateShift;
    }
    const auto count = [&](bool is) { return __popc(__ballot_sync(kAllLanes, is)); };
    const unsigned supported = __ballot_sync(kAllLanes, kind == CellKind::kSupported);
    counts[0] += count(kind != CellKind::kEmpty);
    counts[1] += count(kind == CellKind::kOutside);
    counts[2] += count(kind == CellKind::kNoData);
    counts[3] += count(kind == CellKind::kViolated);
    counts[4] += count(kind == CellKind::kOccluded);
    counts[5] += __popc(supported);
    counts[6] += count(kind == CellKind::kSupported && evidence.normals_agree);
    counts[kBuried] += count(kind == CellKind::kOccluded && comparison.shows_plane(i, j));
    if (supported_mask && lane == 0) supported_mask[group] = supported;
    sums.add(supported, shared.staged[warp], true, [&](double* columns) {
      write_equation(evidence.equation, columns);
      for (int k = 0; k < 6; ++k) columns[kPolynomial + k] = evidence.polynomial[k];
      columns[kMeasured] = evidence.measured;
      columns[kOff] = evidence.off;
      columns[kRatio] = evidence.ratio;
      columns[kSide] = evidence.side_m;
    });
  }
}

/// Finds the cells of the outline and their numbers in the order of cells, and counts borders.
__device__ void find_outline(const BlockComparison& comparison, Shared& shared,
                             std::int32_t (&counts)[kCounts]) {
  const int warp = static_cast<int>(threadIdx.x) / kWarp, lane = lane_index();
  std::int32_t borders = 0, seams = 0;
  for (int group = warp; group < kGroups; group += kWarps) {
    const int i = group % kGroupsOfRow * kWarp + lane, j = group / kGroupsOfRow;
    comparison.look_beside(i, j, borders, seams);
    const unsigned mask = __ballot_sync(kAllLanes, comparison.is_outline(i, j));
    if (lane == 0) shared.outline_masks[group] = mask;
  }
  counts[kSeams] += warp_sum(seams);
  counts[kBorders] += warp_sum(borders);
  __syncthreads();
  if (warp == 0) {
    constexpr int kEach = kGroups / kWarp;
    std::int32_t own = 0;
    for (int k = 0; k < kEach; ++k) own += __popc(shared.outline_masks[lane * kEach + k]);
    std::int32_t before = own;
    for (int step = 1; step < kWarp; step *= 2) {
      const std::int32_t other = __shfl_up_sync(kAllLanes, before, step);
      if (lane >= step) before += other;
    }
    if (lane == kWarp - 1) shared.outline_first[kGroups] = before;
    before -= own;
    for (int k = 0; k < kEach; ++k) {
      shared.outline_first[lane * kEach + k] = before;
      before += __popc(shared.outline_masks[lane * kEach + k]);
    }
  }
  __syncthreads();
}

/// Lists cells of the outline, from number `from` on as many as there is room for.
__device__ void list_outline(std::int32_t from, Shared& shared) {
  const int warp = static_cast<int>(threadIdx.x) / kWarp, lane = lane_index();
  for (int group = warp; group < kGroups; group += kWarps) {
    const std::uint32_t mask = shared.outline_masks[group];
    const std::int32_t at = shared.outline_first[group] + __popc(mask & lanes_before()) - from;
    if ((mask >> lane & 1) && at >= 0 && at < kOutlineAtOnce) {
      shared.outline[at] = static_cast<std::uint16_t>(group * kWarp + lane);
    }
  }
}

/// Walks across the outline at the first `size` cells of the list.
__device__ void walk_outline(const BlockComparison& comparison, std::int32_t size, Shared& shared,
                             LaneSums& sums, std::int32_t (&counts)[kCounts]) {
  const int warp = static_cast<int>(threadIdx.x) / kWarp, lane = lane_index();
  for (std::int32_t first = warp * kWarp; first < size; first += kThreads) {
    OutlineEvidence evidence;
    evidence.is_edge = false;
    bool walked = false;
    if (first + lane < size) {
      const int cell = shared.outline[first + lane];
      walked = comparison.look_across(cell % kCropCells, cell / kCropCells, evidence);
    }
    for (int state = 0; state < static_cast<int>(OutlineState::kStates); ++state) {
      counts[kOutlineCounts + state] += __popc(
          __ballot_sync(kAllLanes, walked && evidence.state == static_cast<OutlineState>(state)));
    }
    const unsigned edges = __ballot_sync(kAllLanes, walked && evidence.is_edge);
    counts[kEdges] += __popc(edges);
    sums.add(edges, shared.staged[warp], false, [&](double* columns) {
      write_equation(evidence.equation, columns);
      columns[kRatio] = fabs(evidence.share);
      columns[kSide] = fabs(evidence.distance_m);
    });
  }
}

/// Adds up what the warps found.
__device__ void write_sums(Shared& shared, const LaneSums& sums,
                           const std::int32_t (&counts)[kCounts], CompareSums& result) {
  const int warp = static_cast<int>(threadIdx.x) / kWarp, lane = lane_index();
  double* own = &shared.staged[warp][0][0];
  static_assert(3 * kWarp <= kStaged * kColumns);
  own[lane] = sums.equations;
  own[kWarp + lane] = sums.simpler;
  own[2 * kWarp + lane] = sums.offsets;
  for (int k = 0; k < kCounts; ++k) {
    if (lane == 0) shared.counts[warp][k] = counts[k];
  }
  __syncthreads();
  if (warp != 0) return;
  double total[3] = {};
  for (int w = 0; w < kWarps; ++w) {
    for (int k = 0; k < 3; ++k) total[k] += (&shared.staged[w][0][0])[k * kWarp + lane];
  }
  std::int32_t count = 0;
  if (lane < kCounts) {
    for (int w = 0; w < kWarps; ++w) count += shared.counts[w][lane];
    (&result.cells)[lane] = count;
  }
  const std::int32_t added =
      __shfl_sync(kAllLanes, count, 5) + __shfl_sync(kAllLanes, count, kEdges);
  if (lane == 0) result.edge_offsets = total[2];
  if (lane == 1) result.edge_distances_m = total[2];
  if (lane < 21) {
    result.equations.hessian.packed[lane] = total[0];
    result.simpler.quadratic.packed[lane] = total[1];
  } else if (lane < 27) {
    result.equations.gradient[lane - 21] = total[0];
    result.simpler.right[lane - 21] = total[1];
  } else if (lane == 27) {
    result.equations.squares = total[0];
    result.simpler.squares = total[1];
  } else if (lane == 28) {
    result.equations.weight = total[0];
    result.simpler.object = total[1];
  } else if (lane == 29) {
    result.squares = total[1];
    result.equations.count = added;
  } else if (lane == 30) {
    result.area_m_sq = total[1];
  }
}

/// Verifies the pose of one place.
__device__ void verify_place(const VerifyJob& job, const SceneView& meshes, double near_m,
                             float far_m, std::int64_t place, std::int32_t m, Scratch& scratch,
                             Shared& shared) {
  const Rigid3d pose = job.list.poses[place];
  const ModelView& model = job.models[m];
  if (threadIdx.x == 0) {
    shared.crop = crop_of(job.frame.camera, model, pose);
    shared.instance = {m, 0, 0, cast<float>(pose)};
  }
  for (int cell = static_cast<int>(threadIdx.x); cell < kCells; cell += kThreads) {
    shared.keys[cell] = kEmpty;
  }
  __syncthreads();
  Drawing{meshes, near_m, far_m, shared}.draw_mesh();
  __syncthreads();
  const RenderedKeys rendered{shared, meshes, scratch};
  add_up_normals(rendered, scratch);
  const Vec3f centre = cast<float>(pose * cast<double>(model.centre));
  const BlockComparison comparison{job.frame,
                                   model.part_diameter_m,
                                   centre,
                                   shared.crop.first_u,
                                   shared.crop.first_v,
                                   shared.crop.stride,
                                   blur_cells(job.frame, centre, shared.crop.stride),
                                   rendered};
  LaneSums sums;
  std::int32_t counts[kCounts] = {};
  look_at_cells(comparison, job.supported ? job.supported + place * kMaskWords : nullptr, shared,
                sums, counts);
  __syncthreads();
  find_outline(comparison, shared, counts);
  const std::int32_t size = shared.outline_first[kGroups];
  for (std::int32_t from = 0; from < size; from += kOutlineAtOnce) {
    list_outline(from, shared);
    __syncthreads();
    walk_outline(comparison, min_of(size - from, kOutlineAtOnce), shared, sums, counts);
    __syncthreads();
  }
  write_sums(shared, sums, counts, job.sums[place]);
}

/// Blocks take one place after the other, since each needs memory of its own.
__global__ void __launch_bounds__(kThreads, kBlocksPerProcessor)
    verify_kernel(const __grid_constant__ VerifyJob job, const __grid_constant__ SceneView meshes,
                  const double near_m, const float far_m, Scratch* scratches) {
  extern __shared__ __align__(16) unsigned char memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  Scratch& scratch = scratches[blockIdx.x];
  for (int i = static_cast<int>(threadIdx.x); i < kSumsSide; i += kThreads) {
    scratch.sums[i] = {};
    scratch.sums[i * kSumsSide] = {};
  }
  for (std::int64_t place = blockIdx.x; place < job.list.size; place += gridDim.x) {
    const std::int32_t m = job.list.object_of(place);
    if (m < 0) continue;
    verify_place(job, meshes, near_m, far_m, place, m, scratch, shared);
    __syncthreads();
  }
}

}  // namespace

void verify_cuda(const Context& context, const SceneView& meshes, const VerifyJob& job,
                 Workspace& workspace) {
  if (job.list.size == 0) return;
  const cudaStream_t stream = cuda_stream(context);
  int most_bytes = 0;
  check_cuda(cudaDeviceGetAttribute(&most_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                    context.device().ordinal),
             "cudaDeviceGetAttribute");
  require(sizeof(Shared) <= static_cast<std::size_t>(most_bytes), "Recognizer: needs ",
          sizeof(Shared), " bytes of shared memory on a GPU, ", to_string(context.device()),
          " has ", most_bytes, "; run it on the CPU");
  check_cuda(cudaFuncSetAttribute(verify_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(sizeof(Shared))),
             "cudaFuncSetAttribute");
  const RenderOptions options;
  const std::int64_t blocks =
      min_of<std::int64_t>(job.list.size, kBlocksPerProcessor * multiprocessors(context));
  const Workspace::Scope scope(workspace);
  Scratch* scratches = workspace.take<Scratch>(context, blocks).data;
  verify_kernel<<<static_cast<unsigned>(blocks), kThreads, sizeof(Shared), stream>>>(
      job, meshes, static_cast<double>(options.near_m), options.far_m, scratches);
  check_launch("verify poses");
}

}  // namespace sextant::detail::recognizer
