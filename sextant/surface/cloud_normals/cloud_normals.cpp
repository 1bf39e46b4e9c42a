// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/cloud_normals.h"

#include "sextant/core/cuda/dispatch.h"
#include "sextant/core/for_each.h"
#include "sextant/geometry/neighbours/lanes.h"
#include "sextant/geometry/neighbours/queries.h"
#include "sextant/surface/cloud_normals/plane_lanes.h"
#include "sextant/surface/cloud_resolution.h"

namespace sextant {

using namespace detail::cloud_normals;

namespace {

using detail::neighbours::CandidatePack;
using detail::neighbours::CandidateTile;
using detail::neighbours::kLanes;

/// First and second moments of offsets, lane by lane.
template <class Pack>
struct Sums {
  Pack x, y, z, xx, xy, xz, yy, yz, zz;

  /// Adds an offset, with its product with the offset's weight.
  void add(const Vec3<Pack>& weighted, const Vec3<Pack>& offset) {
    x += weighted.x;
    y += weighted.y;
    z += weighted.z;
    xx += weighted.x * offset.x;
    xy += weighted.x * offset.y;
    xz += weighted.x * offset.z;
    yy += weighted.y * offset.y;
    yz += weighted.y * offset.z;
    zz += weighted.z * offset.z;
  }
};

/// Moments of sixteen points, which then find their planes at once.
class PlaneBatch {
 public:
  PlaneBatch(const Vec3f& viewpoint_m, Vec3f* normals)
      : viewpoint_m_(viewpoint_m), normals_(normals) {}

  /// Sums over the candidates within the threshold, relative to the query.
  template <class Set>
  void add(const GridPoint& query, const CandidateTile& tile, float threshold) {
    using Pack = CandidatePack<Set>;
    using Math = detail::LaneMath<Pack>;
    const Pack zero;
    detail::IntLanes<kLanes, Set> count;
    Sums<Pack> sums;
    const Vec3f p = query.position;
    for (std::int64_t pack = 0; pack < tile.packs(); ++pack) {
      const auto chosen = tile.distance_sq<Set>(pack) <= threshold;
      const Pack dx = Math::select(chosen, tile.x<Set>(pack) - p.x, zero);
      const Pack dy = Math::select(chosen, tile.y<Set>(pack) - p.y, zero);
      const Pack dz = Math::select(chosen, tile.z<Set>(pack) - p.z, zero);
      count.count_up(chosen);
      sums.add({dx, dy, dz}, {dx, dy, dz});
    }
    const float neighbours = static_cast<float>(count.sum());
    push<Set>(query, sums, neighbours, neighbours);
  }

  /// The same with Gaussian weights, over the candidates nearer than the threshold.
  template <class Set>
  void add_weighted(const GridPoint& query, const CandidateTile& tile, float threshold,
                    float sigma_m) {
    using Pack = CandidatePack<Set>;
    using Math = detail::LaneMath<Pack>;
    const float exponent = -detail::kLog2e / (sigma_m * sigma_m);
    const Pack zero;
    detail::IntLanes<kLanes, Set> count;
    Pack weights;
    Sums<Pack> sums;
    const Vec3f p = query.position;
    for (std::int64_t pack = 0; pack < tile.packs(); ++pack) {
      Pack dx = tile.x<Set>(pack) - p.x;
      Pack dy = tile.y<Set>(pack) - p.y;
      Pack dz = tile.z<Set>(pack) - p.z;
      const Pack distance_sq = dx * dx + dy * dy + dz * dz;
      const auto chosen = distance_sq < threshold;
      dx = Math::select(chosen, dx, zero);
      dy = Math::select(chosen, dy, zero);
      dz = Math::select(chosen, dz, zero);
      const Pack power = Math::quick_exp2(Math::select(chosen, distance_sq * exponent, zero));
      const Pack weight = Math::select(chosen, power, zero);
      count.count_up(chosen);
      weights += weight;
      sums.add({weight * dx, weight * dy, weight * dz}, {dx, dy, dz});
    }
    push<Set>(query, sums, weights.sum(), static_cast<float>(count.sum()));
  }

  void add_hole(const GridPoint& query) { normals_[query.index] = {NAN, NAN, NAN}; }

  template <class Set>
  void flush() {
    using Pack = CandidatePack<Set>;
    if (size_ == 0) return;
    detail::normals::Moments<Pack> moments;
    moments.count = Pack::load(weights_);
    moments.sum = {Pack::load(sums_[0]), Pack::load(sums_[1]), Pack::load(sums_[2])};
    moments.squares = {Pack::load(sums_[3]), Pack::load(sums_[4]), Pack::load(sums_[5]),
                       Pack::load(sums_[6]), Pack::load(sums_[7]), Pack::load(sums_[8])};
    const Sym3<Pack> scatter = detail::normals::scatter_about_mean(moments);
    const PlaneLanes<Pack> planes(scatter);
    for (int lane = 0; lane < size_; ++lane) {
      const Vec3f normal =
          planes.normal(lane, neighbours_[lane], [&] { return careful_normal(lane); });
      const GridPoint& point = points_[lane];
      normals_[point.index] =
          detail::normals::oriented_towards(viewpoint_m_, point.position, normal);
    }
    size_ = 0;
  }

 private:
  static constexpr int kSums = 9;

  template <class Set>
  void push(const GridPoint& query, const Sums<CandidatePack<Set>>& sums, float weight,
            float neighbours) {
    const float totals[kSums] = {sums.x.sum(),  sums.y.sum(),  sums.z.sum(),
                                 sums.xx.sum(), sums.xy.sum(), sums.xz.sum(),
                                 sums.yy.sum(), sums.yz.sum(), sums.zz.sum()};
    for (int s = 0; s < kSums; ++s) sums_[s][size_] = totals[s];
    weights_[size_] = weight;
    neighbours_[size_] = neighbours;
    points_[size_] = query;
    if (++size_ == kLanes) flush<Set>();
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

  template <class Set>
  void operator()(Set, std::int64_t begin, std::int64_t end) const {
    PlaneBatch batch(options.viewpoint_m, normals);
    auto found = [&](const GridPoint& query, const CandidateTile& tile, float threshold) {
      batch.add<Set>(query, tile, threshold);
    };
    auto none = [&](const GridPoint& query) { batch.add_hole(query); };
    if (options.method == CloudNormalsMethod::kWeighted) {
      CandidateTile held;
      auto gathered = [](const CandidateTile&) {};
      auto weighted = [&](const GridPoint& query, CandidateTile& tile, float threshold) {
        batch.add_weighted<Set>(query, tile, threshold, options.sigma_m);
      };
      detail::neighbours::search_cells_within(grid, grid.points, begin, end,
                                              kWeightReach * options.sigma_m, held, gathered,
                                              weighted, none);
    } else if (options.radius_m > 0.0f) {
      detail::neighbours::search_within<Set>(grid, grid.points, begin, end, options.radius_m, found,
                                             none);
    } else {
      detail::neighbours::search_nearest<Set>(grid, grid.points, begin, end, options.k, found,
                                              none);
    }
    batch.flush<Set>();
  }
};

/// The options with the method and its number of neighbours filled in.
CloudNormalsOptions resolved(const CloudNormalsOptions& options) {
  constexpr int kNeighbours = 15, kLeastK = 3;
  check_options(options);
  CloudNormalsOptions known = options;
  known.method = method_of(options);
  const bool weighted = known.method == CloudNormalsMethod::kWeighted;
  require(!weighted || (options.k == 0 && options.radius_m == 0.0f),
          options.k == 0 ? "radius_m" : "k", ": weighted normals have sigma_m instead");
  require(weighted || options.sigma_m == 0.0f, "sigma_m: is for weighted normals");
  require(options.k == 0 || options.k >= kLeastK, "k: ", options.k, " is less than ", kLeastK);
  if (!weighted && options.k == 0) known.k = kNeighbours;
  return known;
}

CloudNormalsOptions with_sigma(const CloudNormalsOptions& options) {
  constexpr float kLeastSigma_m = 1e-9f;
  const CloudNormalsOptions known = resolved(options);
  require(known.method != CloudNormalsMethod::kWeighted || known.sigma_m >= kLeastSigma_m,
          "sigma_m: ", known.sigma_m,
          " is too small; pass at least 1e-9, or default_sigma_m(context, points)");
  return known;
}

}  // namespace

CloudNormalsMethod method_of(const CloudNormalsOptions& options) {
  if (options.method != CloudNormalsMethod::kAutomatic) return options.method;
  return options.sigma_m > 0.0f ? CloudNormalsMethod::kWeighted : CloudNormalsMethod::kPca;
}

NeighbourGridOptions grid_options(const CloudNormalsOptions& options) {
  const CloudNormalsOptions known = with_sigma(options);
  if (known.method == CloudNormalsMethod::kWeighted) {
    return NeighbourGridOptions::for_radius(0.5f * kWeightReach * known.sigma_m);  // as in voting
  }
  return known.radius_m > 0.0f ? NeighbourGridOptions::for_radius(known.radius_m)
                               : NeighbourGridOptions::for_nearest(known.k);
}

Buffer<Vec3f> estimate_cloud_normals(const Context& context, View<const Vec3f> points,
                                     const CloudNormalsOptions& options) {
  CloudNormalsOptions known = resolved(options);
  if (known.method == CloudNormalsMethod::kWeighted && known.sigma_m == 0.0f) {
    known.sigma_m = default_sigma_m(context, points);
  }
  const NeighbourGrid grid = build_neighbour_grid(context, points, grid_options(known));
  Buffer<Vec3f> normals(context, points.size);
  estimate_cloud_normals_into(context, grid, known, normals);
  return normals;
}

void estimate_cloud_normals_into(const Context& context, const NeighbourGrid& grid,
                                 const CloudNormalsOptions& given, View<Vec3f> normals) {
  const CloudNormalsOptions options = with_sigma(given);
  detail::neighbours::check_grid(context, grid);
  require_room(context, normals, grid.size(), "normals");
  detail::on_device(
      context, [&] { estimate_cloud_normals_cuda(context, grid.view(), options, normals); },
      [&] {
        const NormalsOfRange job{grid.view(), options, normals.data};
        for_each_chunk(
            context, grid.size(), detail::neighbours::kQueryGrain,
            [&](std::int64_t begin, std::int64_t end) { detail::run_widest(job, begin, end); });
      });
}

}  // namespace sextant
