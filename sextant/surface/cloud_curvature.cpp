// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/cloud_curvature.h"

#include <algorithm>

#include "sextant/core/build_config.h"
#include "sextant/core/for_each.h"
#include "sextant/core/lanes.h"
#include "sextant/geometry/neighbours_lanes.h"
#include "sextant/surface/cloud_curvature_math.h"

namespace sextant {

namespace {

using detail::CandidateTile;
using detail::kLanes;
using Pack = detail::Lanes<kLanes>;

/// The neighbours of sixteen points, one point a lane, whose quadrics are then fitted at once.
template <bool kOurs>
class QuadricBatch {
 public:
  explicit QuadricBatch(const detail::CloudCurvatureJob& job) : job_(job) {}

  /// Takes the candidates within the threshold, relative to the query.
  SEXTANT_INLINE void add(const GridPoint& query, const CandidateTile& tile, float threshold) {
    const Vec3f p = query.position;
    const float* distances = tile.distances_sq();
    make_room(tile.count());
    std::int64_t n = 0;
    for (std::int64_t i = 0; i < tile.count(); ++i) {
      const std::int64_t pack = i / kLanes;
      const auto lane = static_cast<int>(i % kLanes);
      // Written in any case and kept by counting on: faster than a branch that goes either way.
      Offsets& to = offsets_[static_cast<std::size_t>(n)];
      to.x[size_] = tile.x(pack)[lane] - p.x;
      to.y[size_] = tile.y(pack)[lane] - p.y;
      to.z[size_] = tile.z(pack)[lane] - p.z;
      n += distances[i] <= threshold;
    }
    counts_[size_] = static_cast<float>(n);
    points_[size_] = query;
    if (++size_ == kLanes) flush();
  }

  SEXTANT_INLINE void add_hole(const GridPoint& query) {
    detail::write_nothing(job_.out, query.index);
  }

  SEXTANT_INLINE void flush() {
    if (size_ == 0) return;
    const auto longest = static_cast<std::int64_t>(*std::max_element(counts_, counts_ + size_));
    for (int lane = 0; lane < kLanes; ++lane) {
      if (lane >= size_) counts_[lane] = 0;
      for (auto j = static_cast<std::int64_t>(counts_[lane]); j < longest; ++j) {
        Offsets& rest = offsets_[static_cast<std::size_t>(j)];
        rest.x[lane] = rest.y[lane] = rest.z[lane] = 0;
      }
    }
    const Vec3<Pack> normals = plane_normals(longest);
    fit_quadrics(longest, normals);
    size_ = 0;
  }

 private:
  struct alignas(64) Offsets {
    float x[kLanes], y[kLanes], z[kLanes];
  };

  SEXTANT_INLINE void make_room(std::int64_t count) {
    const auto room = static_cast<std::size_t>(count) + 1;  // one is written past the last
    if (offsets_.size() < room) offsets_.resize(room + room / 2);
  }
  SEXTANT_INLINE void load(std::int64_t j, Vec3<Pack>& to) const {
    const Offsets& from = offsets_[static_cast<std::size_t>(j)];
    to.x = Pack::load(from.x);
    to.y = Pack::load(from.y);
    to.z = Pack::load(from.z);
  }

  /// Towards the viewpoint; NaN where the neighbours determine no plane.
  SEXTANT_INLINE Vec3<Pack> plane_normals(std::int64_t longest) {
    detail::Moments<Pack> moments;
    for (std::int64_t j = 0; j < longest; ++j) {
      Vec3<Pack> offset;
      load(j, offset);
      detail::accumulate(moments, offset);  // the filling is zero and adds nothing
    }
    moments.count = Pack::load(counts_);
    const Sym3<Pack> scatter = detail::scatter_about_mean(moments);
    const detail::SmallestEigenvector<Pack> plane = detail::smallest_eigenvector(scatter);
    alignas(64) float x[kLanes], y[kLanes], z[kLanes], gap[kLanes];
    plane.vector.x.store(x);
    plane.vector.y.store(y);
    plane.vector.z.store(z);
    plane.gap.store(gap);
    for (int lane = 0; lane < size_; ++lane) {
      Vec3f normal{x[lane], y[lane], z[lane]};
      if (!(gap[lane] > detail::kLeastGap)) normal = careful_normal(lane);
      if (counts_[lane] < detail::kLeastNeighbours) normal = {NAN, NAN, NAN};
      normal = detail::oriented_towards(job_.options.viewpoint_m, points_[lane].position, normal);
      x[lane] = normal.x;
      y[lane] = normal.y;
      z[lane] = normal.z;
    }
    return {Pack::load(x), Pack::load(y), Pack::load(z)};
  }

  __attribute__((noinline)) Vec3f careful_normal(int lane) const {
    detail::Moments<float> moments;
    for (std::size_t j = 0; j < static_cast<std::size_t>(counts_[lane]); ++j) {
      const Offsets& from = offsets_[j];
      detail::accumulate(moments, Vec3f{from.x[lane], from.y[lane], from.z[lane]});
    }
    return detail::careful_plane_normal(detail::scatter_about_mean(moments));
  }

  SEXTANT_INLINE void fit_quadrics(std::int64_t longest, const Vec3<Pack>& normals) {
    const Pack radius_m(job_.options.radius_m);
    const Pack counts = Pack::load(counts_);
    detail::QuadricFit<Pack> fit = detail::QuadricFit<Pack>::begin(-normals, radius_m);
    detail::QuadricWeight<Pack> weight = detail::first_weight(job_.rules, radius_m);
    Pack least_pivot;
    for (int iteration = 0; iteration < job_.options.iterations; ++iteration) {
      detail::QuadricSums<Pack> sums;
      for (std::int64_t j = 0; j < longest; ++j) {
        Vec3<Pack> offset;
        load(j, offset);
        detail::add_sample<kOurs>(fit, job_.rules, weight, offset, dot(offset, offset),
                                  Pack(static_cast<float>(j)) < counts, sums);
      }
      const detail::QuadricStep<Pack> step = detail::solve_step(sums);
      weight = detail::next_weight(job_.rules, radius_m, sums, step, weight);
      detail::apply_step(step, fit);
      least_pivot = step.least_pivot;
    }
    write(detail::result_of(fit, radius_m), least_pivot);
  }

  SEXTANT_INLINE void write(const detail::QuadricResult<Pack>& results, const Pack& least_pivot) {
    alignas(64) float k1[kLanes], k2[kLanes], pivot[kLanes];
    alignas(64) Vec3f direction1[kLanes], normal[kLanes], offset_m[kLanes];
    results.k1_per_m.store(k1);
    results.k2_per_m.store(k2);
    least_pivot.store(pivot);
    detail::store_points(results.direction1, direction1);
    detail::store_points(results.normal, normal);
    detail::store_points(results.offset_m, offset_m);
    for (int lane = 0; lane < size_; ++lane) {
      if (detail::determined(job_.options, counts_[lane], pivot[lane], k1[lane])) {
        detail::write_result(job_, points_[lane],
                             {k1[lane], k2[lane], direction1[lane], normal[lane], offset_m[lane]});
      } else {
        detail::write_nothing(job_.out, points_[lane].index);
      }
    }
  }

  const detail::CloudCurvatureJob& job_;
  std::vector<Offsets> offsets_;
  alignas(64) float counts_[kLanes] = {};
  GridPoint points_[kLanes];
  int size_ = 0;
};

/// The curvatures of the points begin .. end - 1 of the grid.
struct CurvatureOfRange {
  const detail::CloudCurvatureJob& job;

  template <bool kOurs>
  SEXTANT_INLINE void search(std::int64_t begin, std::int64_t end) const {
    QuadricBatch<kOurs> batch(job);
    auto found = [&](const GridPoint& query, const CandidateTile& tile, float threshold)
                     SEXTANT_INLINED { batch.add(query, tile, threshold); };
    auto none = [&](const GridPoint& query) { batch.add_hole(query); };
    detail::search_within(job.grid, job.grid.points, begin, end, job.options.radius_m, found, none);
    batch.flush();
  }
  SEXTANT_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    if (job.rules.ours()) {
      search<true>(begin, end);
    } else {
      search<false>(begin, end);
    }
  }
};

SEXTANT_RUN_WIDEST(CurvatureOfRange)

template <class T>
void check_room(const Context& context, const View<T>& view, const char* name, std::int64_t size) {
  if (!view.data) return;
  require_on(context, view, name);
  require(view.size == size, name, ": room for ", view.size, " instead of ", size);
}

void require_radius(const CloudCurvatureOptions& options) {
  check_options(options);
  require(options.radius_m > 0.0f,
          "radius_m: is 0; take one, or that of curvature_radius_m(context, points)");
}

}  // namespace

CloudCurvature estimate_cloud_curvature(const Context& context, View<const Vec3f> points,
                                        const CloudCurvatureOptions& options) {
  check_options(options);
  CloudCurvatureOptions chosen = options;
  if (!(chosen.radius_m > 0.0f)) chosen.radius_m = curvature_radius_m(context, points);
  // Without 60 points apart there is nothing to fit; any radius says so.
  if (!(chosen.radius_m > 0.0f)) chosen.radius_m = 1.0f;
  const std::int64_t size = points.size;
  CloudCurvature result{{context, size}, {context, size}, {context, size},
                        {context, size}, {context, size}, {context, size}};
  estimate_cloud_curvature_into(context, points, chosen,
                                {result.k1_per_m, result.k2_per_m, result.direction1,
                                 result.normals, result.points, result.valid});
  return result;
}

void estimate_cloud_curvature_into(const Context& context, View<const Vec3f> points,
                                   const CloudCurvatureOptions& options,
                                   const CloudCurvatureViews& out) {
  require_radius(options);
  require_on(context, points, "points");
  const NeighbourGrid grid =
      build_neighbour_grid(context, points, NeighbourGridOptions::for_radius(options.radius_m));
  estimate_cloud_curvature_into(context, grid, options, out);
}

void estimate_cloud_curvature_into(const Context& context, const NeighbourGrid& grid,
                                   const CloudCurvatureOptions& options,
                                   const CloudCurvatureViews& out) {
  require_radius(options);
  require(grid.view().frame != nullptr, "grid: is empty; use build_neighbour_grid");
  require(grid.device() == context.device(), "grid: lies on ", to_string(grid.device()),
          " but the context runs on ", to_string(context.device()));
  check_room(context, out.k1_per_m, "k1_per_m", grid.size());
  check_room(context, out.k2_per_m, "k2_per_m", grid.size());
  check_room(context, out.direction1, "direction1", grid.size());
  check_room(context, out.normals, "normals", grid.size());
  check_room(context, out.points, "points", grid.size());
  check_room(context, out.valid, "valid", grid.size());
  const detail::CloudCurvatureJob job(grid.view(), options, out);
  if constexpr (kBuiltWithCuda) {
    if (context.is_cuda()) return detail::estimate_cloud_curvature_cuda(context, job);
  }
  const CurvatureOfRange range{job};
  for_each_chunk(context, grid.size(), detail::kQueryGrain,
                 [&](std::int64_t begin, std::int64_t end) { run_widest(range, begin, end); });
}

float curvature_radius_m(const Context& context, View<const Vec3f> points) {
  constexpr int kNeighbours = 60;
  constexpr std::size_t kSample = 2000;
  require_on(context, points, "points");
  std::vector<Vec3f> finite = to_host(context, points);
  std::erase_if(finite, [](const Vec3f& p) { return !is_finite(p); });
  if (finite.size() < kNeighbours) return 0;
  std::vector<Vec3f> sample;
  const std::size_t step = (finite.size() + kSample - 1) / kSample;
  for (std::size_t i = 0; i < finite.size(); i += step) sample.push_back(finite[i]);
  const NeighbourGrid grid =
      build_neighbour_grid(context, points, NeighbourGridOptions::for_nearest(kNeighbours));
  const NearestNeighbours nearest = k_nearest(context, grid, copy(context, sample), kNeighbours);
  const std::vector<float> distances_sq = to_host(context, nearest.distances_sq);
  std::vector<float> farthest;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    farthest.push_back(distances_sq[(i + 1) * kNeighbours - 1]);
  }
  const auto middle = farthest.begin() + static_cast<std::ptrdiff_t>(farthest.size() / 2);
  std::nth_element(farthest.begin(), middle, farthest.end());
  const float radius_m = std::sqrt(*middle);
  return std::isfinite(radius_m) ? min_of(radius_m, 1e3f) : 0;
}

}  // namespace sextant
