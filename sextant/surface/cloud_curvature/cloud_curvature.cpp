// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/cloud_curvature.h"

#include <algorithm>

#include "sextant/core/for_each/anywhere.h"
#include "sextant/geometry/neighbours/lanes.h"
#include "sextant/geometry/neighbours/queries.h"
#include "sextant/surface/cloud_curvature/math.h"
#include "sextant/surface/cloud_normals/plane_lanes.h"

namespace sextant {

using namespace detail::cloud_curvature;

namespace {

using detail::neighbours::CandidateTile;
using detail::neighbours::kLanes;

/// Sixteen points and their neighbours, one point a lane: what is fitted at once.
class NeighbourBatch {
 public:
  bool full() const { return size_ == kLanes; }
  int size() const { return size_; }
  const GridPoint& point(int lane) const { return points_[lane]; }
  float count(int lane) const { return counts_[lane]; }
  std::int64_t longest() const { return longest_; }

  /// Takes the candidates within the threshold, relative to the query.
  void add(const GridPoint& query, const CandidateTile& tile, float threshold) {
    const Vec3f p = query.position;
    const float* distances = tile.distances_sq();
    make_room(tile.count());
    std::int64_t n = 0;
    for (std::int64_t i = 0; i < tile.count(); ++i) {
      // Written in any case and kept by counting on: faster than a branch that goes either way.
      Offsets& to = offsets_[static_cast<std::size_t>(n)];
      to.x[size_] = tile.xs()[i] - p.x;
      to.y[size_] = tile.ys()[i] - p.y;
      to.z[size_] = tile.zs()[i] - p.z;
      n += distances[i] <= threshold;
    }
    counts_[size_] = static_cast<float>(n);
    points_[size_] = query;
    longest_ = max_of(longest_, n);
    ++size_;
  }

  /// Makes all lanes as long as the longest; what is filled up is zero.
  void fill_up() {
    for (int lane = 0; lane < kLanes; ++lane) {
      if (lane >= size_) counts_[lane] = 0;
      for (auto j = static_cast<std::int64_t>(counts_[lane]); j < longest_; ++j) {
        Offsets& rest = offsets_[static_cast<std::size_t>(j)];
        rest.x[lane] = rest.y[lane] = rest.z[lane] = 0;
      }
    }
  }
  void clear() {
    size_ = 0;
    longest_ = 0;
  }

  /// Offset j of the lanes from `first` on, and their counts.
  template <class Pack>
  Vec3<Pack> load(std::int64_t j, int first) const {
    const Offsets& from = offsets_[static_cast<std::size_t>(j)];
    return {Pack::load(from.x + first), Pack::load(from.y + first), Pack::load(from.z + first)};
  }
  template <class Pack>
  Pack load_counts(int first) const {
    return Pack::load(counts_ + first);
  }
  Vec3f offset(std::int64_t j, int lane) const {
    const Offsets& from = offsets_[static_cast<std::size_t>(j)];
    return {from.x[lane], from.y[lane], from.z[lane]};
  }

 private:
  struct alignas(64) Offsets {
    float x[kLanes], y[kLanes], z[kLanes];
  };

  void make_room(std::int64_t count) {
    const auto room = static_cast<std::size_t>(count) + 1;  // one is written past the last
    if (offsets_.size() < room) offsets_.resize(room + room / 2);
  }

  std::vector<Offsets> offsets_;
  alignas(64) float counts_[kLanes] = {};
  GridPoint points_[kLanes];
  std::int64_t longest_ = 0;
  int size_ = 0;
};

__attribute__((noinline)) Vec3f careful_normal(const NeighbourBatch& batch, int lane) {
  detail::normals::Moments<float> moments;
  for (std::int64_t j = 0; j < static_cast<std::int64_t>(batch.count(lane)); ++j) {
    detail::normals::accumulate(moments, batch.offset(j, lane));
  }
  return detail::normals::careful_plane_normal(detail::normals::scatter_about_mean(moments));
}

/// Of the planes through the neighbours of a pack of points, to the outside; NaN where there is
/// none.
template <class Pack>
Vec3<Pack> plane_normals(const CloudCurvatureJob& job, const NeighbourBatch& batch, int first) {
  constexpr int N = Pack::kCount;
  detail::normals::Moments<Pack> moments;
  for (std::int64_t j = 0; j < batch.longest(); ++j) {
    // The filling is zero and adds nothing.
    detail::normals::accumulate(moments, batch.load<Pack>(j, first));
  }
  moments.count = batch.load_counts<Pack>(first);
  const Sym3<Pack> scatter = detail::normals::scatter_about_mean(moments);
  const detail::cloud_normals::PlaneLanes<Pack> planes(scatter);
  float x[N] = {}, y[N] = {}, z[N] = {};
  for (int lane = 0; lane < N && first + lane < batch.size(); ++lane) {
    const int member = first + lane;
    const Vec3f either =
        planes.normal(lane, batch.count(member), [&] { return careful_normal(batch, member); });
    const Vec3f normal = job.oriented(batch.point(member), either);
    x[lane] = normal.x;
    y[lane] = normal.y;
    z[lane] = normal.z;
  }
  return {Pack::load(x), Pack::load(y), Pack::load(z)};
}

/// Fits and writes the points of a pack, from lane `first` of the batch on.
template <bool kOurs, class Pack>
void fit_lanes(const CloudCurvatureJob& job, float radius_m, const NeighbourBatch& batch,
               int first) {
  constexpr int N = Pack::kCount;
  const Vec3<Pack> normals = plane_normals<Pack>(job, batch, first);
  const Pack counts = batch.load_counts<Pack>(first);
  const auto neighbours = [&](const auto& add_one) {
    for (std::int64_t j = 0; j < batch.longest(); ++j) {
      const Vec3<Pack> offset = batch.load<Pack>(j, first);
      add_one(offset, dot(offset, offset), Pack(static_cast<float>(j)) < counts);
    }
  };
  const auto fitted = fit_neighbours<kOurs>(job, radius_m, -normals, neighbours);
  const detail::curvature::QuadricResult<Pack>& results = fitted.result;
  float k1[N], k2[N], weight[N], pivot[N];
  Vec3f direction1[N], normal[N], offset_m[N];
  results.k1_per_m.store(k1);
  results.k2_per_m.store(k2);
  fitted.weight.store(weight);
  fitted.least_pivot.store(pivot);
  detail::store_points(results.direction1, direction1);
  detail::store_points(results.normal, normal);
  detail::store_points(results.offset_m, offset_m);
  for (int lane = 0; lane < N && first + lane < batch.size(); ++lane) {
    write_quadric(job, radius_m, batch.point(first + lane),
                  {{k1[lane], k2[lane], direction1[lane], normal[lane], offset_m[lane]},
                   batch.count(first + lane),
                   weight[lane],
                   pivot[lane]});
  }
}

/// Fits and writes all points of a batch.
struct FitBatch {
  const CloudCurvatureJob& job;
  float radius_m;

  template <class Set>
  void operator()(Set, const NeighbourBatch& batch) const {
    using Pack = detail::FloatLanes<Set::kFloats, Set>;
    for (int first = 0; first < batch.size(); first += Pack::kCount) {
      if (job.rules.ours()) {
        fit_lanes<true, Pack>(job, radius_m, batch, first);
      } else {
        fit_lanes<false, Pack>(job, radius_m, batch, first);
      }
    }
  }
};

/// The curvatures of the points begin .. end - 1 of the grid.
struct CurvatureOfRange {
  const CloudCurvatureJob& job;

  template <class Set>
  void operator()(Set, std::int64_t begin, std::int64_t end) const {
    float radius_m = job.options.radius_m;
    std::vector<GridPoint> lonely =
        fit_within<Set>(job.grid.points + begin, end - begin, radius_m, job.options.widen_below);
    for (int doubled = 1; !lonely.empty(); ++doubled) {
      radius_m *= 2.0f;
      lonely = fit_within<Set>(lonely.data(), static_cast<std::int64_t>(lonely.size()), radius_m,
                               doubled < kMostDoublings ? job.options.widen_below : 0);
    }
  }

 private:
  /// Fits the queries, which lie in cell order; returns those with too few neighbours instead.
  template <class Set>
  std::vector<GridPoint> fit_within(const GridPoint* queries, std::int64_t count, float radius_m,
                                    std::int64_t least) const {
    NeighbourBatch batch;
    std::vector<GridPoint> lonely;
    auto found = [&](const GridPoint& query, const CandidateTile& tile, float threshold) {
      if (least > 0 && tile.count_within<Set>(threshold) < least) {
        lonely.push_back(query);
        return;
      }
      batch.add(query, tile, threshold);
      if (batch.full()) finish<Set>(radius_m, batch);
    };
    auto none = [&](const GridPoint& query) { write_nothing(job.out, query.index); };
    detail::neighbours::search_within<Set>(job.grid, queries, 0, count, radius_m, found, none);
    finish<Set>(radius_m, batch);
    return lonely;
  }

  /// Compiled once for each set, outside the search.
  template <class Set>
  __attribute__((noinline)) void finish(float radius_m, NeighbourBatch& batch) const {
    batch.fill_up();
    detail::run_on(Set{}, FitBatch{job, radius_m}, batch);
    batch.clear();
  }
};

/// Outputs that are not asked for are empty.
template <class T>
void check_output(const Context& context, const View<T>& view, std::int64_t size,
                  const char* name) {
  if (!view.empty()) require_room(context, view, size, name);
}

void estimate_on_cpu(const Context& context, const CloudCurvatureJob& job) {
  const CurvatureOfRange range{job};
  for_each_chunk(
      context, job.grid.size, detail::neighbours::kQueryGrain,
      [&](std::int64_t begin, std::int64_t end) { detail::run_widest(range, begin, end); });
}

void require_radius(const CloudCurvatureOptions& options) {
  check_options(options);
  require(options.radius_m > 0.0f,
          "radius_m: is 0; take one, or that of curvature_radius_m(context, points)");
}

}  // namespace

CloudCurvature estimate_cloud_curvature(const Context& context, View<const Vec3f> points,
                                        View<const Vec3f> normals,
                                        const CloudCurvatureOptions& options) {
  check_options(options);
  CloudCurvatureOptions chosen = options;
  constexpr int kEnough = 30;
  if (!(chosen.radius_m > 0.0f)) {
    chosen.radius_m = curvature_radius_m(context, points);
    if (chosen.widen_below == 0) chosen.widen_below = kEnough;
  }
  // Without 60 points apart there is nothing to fit; any radius says so.
  if (!(chosen.radius_m > 0.0f)) chosen.radius_m = 1.0f;
  const std::int64_t size = points.size;
  CloudCurvature result{{context, size}, {context, size}, {context, size},
                        {context, size}, {context, size}, {context, size}};
  const NeighbourGrid grid = build_neighbour_grid(context, points, grid_options(chosen));
  estimate_cloud_curvature_into(context, grid, normals, chosen,
                                {result.k1_per_m, result.k2_per_m, result.direction1,
                                 result.normals, result.points, result.valid});
  return result;
}

NeighbourGridOptions grid_options(const CloudCurvatureOptions& options) {
  require_radius(options);
  return NeighbourGridOptions::for_radius(options.radius_m);
}

void estimate_cloud_curvature_into(const Context& context, const NeighbourGrid& grid,
                                   View<const Vec3f> normals, const CloudCurvatureOptions& options,
                                   const CloudCurvatureViews& out) {
  require_radius(options);
  detail::neighbours::check_grid(context, grid);
  const std::int64_t size = grid.size();
  if (!normals.empty()) require_room(context, normals, size, "normals");
  check_output(context, out.k1_per_m, size, "k1_per_m");
  check_output(context, out.k2_per_m, size, "k2_per_m");
  check_output(context, out.direction1, size, "direction1");
  check_output(context, out.normals, size, "normals of the result");
  check_output(context, out.points, size, "points of the result");
  check_output(context, out.valid, size, "valid");
  const CloudCurvatureJob job(grid.view(), normals, options, out);
  detail::on_device(
      context,
      [&] {
        // Neighbouring threads have neighbouring points of a cell and read the same candidates.
        if (job.rules.ours()) {
          detail::for_each_on_cuda(context, size, CloudCurvaturePoint<true>{job});
        } else {
          detail::for_each_on_cuda(context, size, CloudCurvaturePoint<false>{job});
        }
      },
      [&] { estimate_on_cpu(context, job); });
}

float curvature_radius_m(const Context& context, View<const Vec3f> points) {
  constexpr int kNeighbours = 60;
  constexpr std::size_t kSample = 2000;
  require_on(context, points, "points");
  const std::vector<Vec3f> all = to_host(context, points);
  std::vector<std::int32_t> finite;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (is_finite(all[i])) finite.push_back(static_cast<std::int32_t>(i));
  }
  if (finite.size() < kNeighbours) return NAN;
  std::vector<Vec3f> sample;
  const std::size_t step = (finite.size() + kSample - 1) / kSample;
  for (std::size_t i = 0; i < finite.size(); i += step) {
    sample.push_back(all[static_cast<std::size_t>(finite[i])]);
  }
  const NeighbourGrid grid =
      build_neighbour_grid(context, points, NeighbourGridOptions::for_nearest(kNeighbours));
  const NearestNeighbours nearest = k_nearest(context, grid, copy(context, sample), kNeighbours);
  const std::vector<std::int32_t> indices = to_host(context, nearest.indices);
  const std::vector<float> distances_sq = to_host(context, nearest.distances_sq);
  std::vector<float> farthest;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    // A copy of another point says nothing new.
    if (indices[i * kNeighbours] != finite[i * step]) continue;
    farthest.push_back(distances_sq[(i + 1) * kNeighbours - 1]);
  }
  if (farthest.empty()) return NAN;
  const auto middle = farthest.begin() + static_cast<std::ptrdiff_t>(farthest.size() / 2);
  std::nth_element(farthest.begin(), middle, farthest.end());
  const float radius_m = std::sqrt(*middle);
  return radius_m > 0.0f && std::isfinite(radius_m) ? min_of(radius_m, 1e3f) : NAN;
}

}  // namespace sextant
