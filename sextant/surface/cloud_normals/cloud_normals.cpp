// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/cloud_normals.h"

#include "sextant/core/cuda/dispatch.h"
#include "sextant/core/for_each.h"
#include "sextant/core/simd/lanes.h"
#include "sextant/geometry/neighbours/lanes.h"
#include "sextant/geometry/neighbours/queries.h"
#include "sextant/surface/cloud_normals/math.h"
#include "sextant/surface/cloud_resolution.h"
#include "sextant/surface/gaussian/lanes.h"

namespace sextant {

using namespace detail::cloud_normals;

namespace {

using detail::neighbours::CandidateTile;
using detail::neighbours::FloatLanes;
using detail::neighbours::IntLanes;
using detail::neighbours::kLanes;

/// Moments of sixteen points, which then find their planes at once.
class PlaneBatch {
 public:
  PlaneBatch(const Vec3f& viewpoint_m, Vec3f* normals)
      : viewpoint_m_(viewpoint_m), normals_(normals) {}

  /// Sums over the candidates within the threshold, relative to the query.
  SEXTANT_INLINE void add(const GridPoint& query, const CandidateTile& tile, float threshold) {
    IntLanes count{};
    FloatLanes x{}, y{}, z{}, xx{}, xy{}, xz{}, yy{}, yz{}, zz{};
    const Vec3f p = query.position;
    for (std::int64_t pack = 0; pack < tile.packs(); ++pack) {
      const IntLanes chosen = tile.distance_sq(pack) <= threshold;
      const FloatLanes dx = chosen ? tile.x(pack) - p.x : FloatLanes{};
      const FloatLanes dy = chosen ? tile.y(pack) - p.y : FloatLanes{};
      const FloatLanes dz = chosen ? tile.z(pack) - p.z : FloatLanes{};
      count -= chosen;
      x += dx;
      y += dy;
      z += dz;
      xx += dx * dx;
      xy += dx * dy;
      xz += dx * dz;
      yy += dy * dy;
      yz += dy * dz;
      zz += dz * dz;
    }
    const FloatLanes* const lanes[kSums] = {&x, &y, &z, &xx, &xy, &xz, &yy, &yz, &zz};
    const float neighbours = static_cast<float>(detail::neighbours::sum_of_lanes(count));
    push(query, lanes, neighbours, neighbours);
  }

  /// The same with Gaussian weights, over the candidates nearer than the threshold.
  SEXTANT_INLINE void add_weighted(const GridPoint& query, const CandidateTile& tile,
                                   float threshold, float sigma_m) {
    const float exponent = -detail::gaussian::kLog2e / (sigma_m * sigma_m);
    const FloatLanes zero{};
    IntLanes count{};
    FloatLanes weights{}, x{}, y{}, z{}, xx{}, xy{}, xz{}, yy{}, yz{}, zz{};
    const Vec3f p = query.position;
    for (std::int64_t pack = 0; pack < tile.packs(); ++pack) {
      FloatLanes dx = tile.x(pack) - p.x;
      FloatLanes dy = tile.y(pack) - p.y;
      FloatLanes dz = tile.z(pack) - p.z;
      const FloatLanes distance_sq = dx * dx + dy * dy + dz * dz;
      const IntLanes chosen = distance_sq < threshold;
      dx = chosen ? dx : zero;
      dy = chosen ? dy : zero;
      dz = chosen ? dz : zero;
      FloatLanes weight;
      detail::gaussian::exp2_lanes(chosen ? distance_sq * exponent : zero, weight);
      weight = chosen ? weight : zero;
      const FloatLanes wx = weight * dx;
      const FloatLanes wy = weight * dy;
      const FloatLanes wz = weight * dz;
      count -= chosen;
      weights += weight;
      x += wx;
      y += wy;
      z += wz;
      xx += wx * dx;
      xy += wx * dy;
      xz += wx * dz;
      yy += wy * dy;
      yz += wy * dz;
      zz += wz * dz;
    }
    const FloatLanes* const lanes[kSums] = {&x, &y, &z, &xx, &xy, &xz, &yy, &yz, &zz};
    push(query, lanes, detail::neighbours::sum_of_lanes(weights),
         static_cast<float>(detail::neighbours::sum_of_lanes(count)));
  }

  SEXTANT_INLINE void add_hole(const GridPoint& query) { normals_[query.index] = {NAN, NAN, NAN}; }

  SEXTANT_INLINE void flush() {
    using Pack = detail::Lanes<kLanes>;
    if (size_ == 0) return;
    detail::normals::Moments<Pack> moments;
    moments.count = Pack::load(weights_);
    moments.sum = {Pack::load(sums_[0]), Pack::load(sums_[1]), Pack::load(sums_[2])};
    moments.squares = {Pack::load(sums_[3]), Pack::load(sums_[4]), Pack::load(sums_[5]),
                       Pack::load(sums_[6]), Pack::load(sums_[7]), Pack::load(sums_[8])};
    const Sym3<Pack> scatter = detail::normals::scatter_about_mean(moments);
    const detail::normals::SmallestEigenvector<Pack> plane =
        detail::normals::smallest_eigenvector(scatter);
    float x[kLanes], y[kLanes], z[kLanes], gap[kLanes];
    plane.vector.x.store(x);
    plane.vector.y.store(y);
    plane.vector.z.store(z);
    plane.gap.store(gap);
    for (int lane = 0; lane < size_; ++lane) {
      Vec3f normal{x[lane], y[lane], z[lane]};
      if (!(gap[lane] > detail::normals::kLeastGap)) normal = careful_normal(lane);
      if (neighbours_[lane] < kLeastNeighbours) normal = {NAN, NAN, NAN};
      const GridPoint& point = points_[lane];
      normals_[point.index] =
          detail::normals::oriented_towards(viewpoint_m_, point.position, normal);
    }
    size_ = 0;
  }

 private:
  static constexpr int kSums = 9;

  SEXTANT_INLINE void push(const GridPoint& query, const FloatLanes* const (&lanes)[kSums],
                           float weight, float neighbours) {
    for (int s = 0; s < kSums; ++s) sums_[s][size_] = detail::neighbours::sum_of_lanes(*lanes[s]);
    weights_[size_] = weight;
    neighbours_[size_] = neighbours;
    points_[size_] = query;
    if (++size_ == kLanes) flush();
  }

  __attribute__((noinline)) Vec3f careful_normal(int lane) const {
    detail::normals::Moments<float> moments;
    moments.count = weights_[lane];
    moments.sum = {sums_[0][lane], sums_[1][lane], sums_[2][lane]};
    moments.squares = {sums_[3][lane], sums_[4][lane], sums_[5][lane],
                       sums_[6][lane], sums_[7][lane], sums_[8][lane]};
    return detail::normals::careful_plane_normal(detail::normals::scatter_about_mean(moments));
  }

  alignas(64) float sums_[kSums][kLanes] = {};
  alignas(64) float weights_[kLanes] = {};
  float neighbours_[kLanes] = {};
  GridPoint points_[kLanes];
  int size_ = 0;
  Vec3f viewpoint_m_;
  Vec3f* normals_;
};

/// The normals of the points begin .. end - 1 of the grid.
struct NormalsOfRange {
  NeighbourGridView grid;
  CloudNormalsOptions options;
  Vec3f* normals;

  SEXTANT_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    PlaneBatch batch(options.viewpoint_m, normals);
    auto found = [&](const GridPoint& query, const CandidateTile& tile, float threshold)
                     SEXTANT_INLINED { batch.add(query, tile, threshold); };
    auto none = [&](const GridPoint& query) { batch.add_hole(query); };
    if (options.method == CloudNormalsMethod::kWeighted) {
      CandidateTile held;
      auto gathered = [](const CandidateTile&) {};
      auto weighted =
          [&](const GridPoint& query, CandidateTile& tile, float threshold)
              SEXTANT_INLINED { batch.add_weighted(query, tile, threshold, options.sigma_m); };
      detail::neighbours::search_cells_within(grid, grid.points, begin, end,
                                              kWeightReach * options.sigma_m, held, gathered,
                                              weighted, none);
    } else if (options.radius_m > 0.0f) {
      detail::neighbours::search_within(grid, grid.points, begin, end, options.radius_m, found,
                                        none);
    } else {
      detail::neighbours::search_nearest(grid, grid.points, begin, end, options.k, found, none);
    }
    batch.flush();
  }
};

SEXTANT_RUN_WIDEST(NormalsOfRange)

void check(const CloudNormalsOptions& options) {
  constexpr float kLeastSigma_m = 1e-9f;
  check_options(options);
  require(options.method != CloudNormalsMethod::kWeighted || options.sigma_m >= kLeastSigma_m,
          "sigma_m: ", options.sigma_m,
          " is too small; pass at least 1e-9, or default_sigma_m(context, points)");
}

}  // namespace

NeighbourGridOptions grid_options(const CloudNormalsOptions& options) {
  check(options);
  if (options.method == CloudNormalsMethod::kWeighted) {
    return NeighbourGridOptions::for_radius(0.5f * kWeightReach * options.sigma_m);  // as in voting
  }
  return options.radius_m > 0.0f ? NeighbourGridOptions::for_radius(options.radius_m)
                                 : NeighbourGridOptions::for_nearest(options.k);
}

Buffer<Vec3f> estimate_cloud_normals(const Context& context, View<const Vec3f> points,
                                     const CloudNormalsOptions& options) {
  check_options(options);
  CloudNormalsOptions known = options;
  if (known.method == CloudNormalsMethod::kWeighted && known.sigma_m == 0.0f) {
    known.sigma_m = default_sigma_m(context, points);
  }
  const NeighbourGrid grid = build_neighbour_grid(context, points, grid_options(known));
  Buffer<Vec3f> normals(context, points.size);
  estimate_cloud_normals_into(context, grid, known, normals);
  return normals;
}

void estimate_cloud_normals_into(const Context& context, const NeighbourGrid& grid,
                                 const CloudNormalsOptions& options, View<Vec3f> normals) {
  check(options);
  detail::neighbours::check_grid(context, grid);
  require_room(context, normals, grid.size(), "normals");
  detail::on_device(
      context, [&] { estimate_cloud_normals_cuda(context, grid.view(), options, normals); },
      [&] {
        const NormalsOfRange job{grid.view(), options, normals.data};
        for_each_chunk(context, grid.size(), detail::neighbours::kQueryGrain,
                       [&](std::int64_t begin, std::int64_t end) { run_widest(job, begin, end); });
      });
}

}  // namespace sextant
