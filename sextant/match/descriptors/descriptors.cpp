// SPDX-License-Identifier: Apache-2.0
#include "sextant/match/descriptors.h"

#include <cmath>
#include <limits>

#include "sextant/core/cuda/dispatch.h"
#include "sextant/core/for_each/anywhere.h"
#include "sextant/match/descriptors/job.h"
#include "sextant/match/descriptors/math.h"

namespace sextant {

using namespace detail::descriptors;

namespace {

template <class T>
constexpr int kMostLength = std::is_same_v<T, float> ? kMostDescriptorFloats : kMostDescriptorBytes;

template <class T>
void check_rows(const Context& context, const DescriptorRows<T>& rows, const char* name) {
  require_on(context, rows.values, name);
  require(rows.length >= 1 && rows.length <= kMostLength<T>, name, ": rows of ", rows.length,
          " numbers; 1 to ", kMostLength<T>, " are possible");
  require(rows.values.size % rows.length == 0, name, ": ", rows.values.size,
          " numbers are no whole rows of ", rows.length);
  require(rows.rows() <= std::numeric_limits<std::int32_t>::max() / 2, name, ": ", rows.rows(),
          " rows are more than an index can name");
}

template <class T>
void search(const Context& context, DescriptorRows<T> queries, DescriptorRows<T> base,
            View<const std::int32_t> segment_ends, const NearestDescriptorsOptions& options,
            View<std::int32_t> indices, View<float> distances_sq, Workspace& workspace) {
  check_options(options);
  check_rows(context, queries, "queries");
  check_rows(context, base, "base");
  require(queries.length == base.length, "queries: rows of ", queries.length,
          " numbers, but the base has ", base.length);
  require_on(context, segment_ends, "segment_ends");
  require(segment_ends.size > 0, "segment_ends: is empty; one segment ends at the last row");
  const std::int64_t size = queries.rows() * segment_ends.size * options.k;
  require_room(context, indices, size, "indices");
  require_room(context, distances_sq, size, "distances_sq");
  if (size == 0) return;
  Workspace::Scope scope(workspace);
  const Job<T> job{queries, base, segment_ends, options.k, indices, distances_sq};
  detail::on_device(
      context, [&] { search_cuda(context, job, workspace); },
      [&] { search_cpu(context, job, workspace); });
}

template <class T>
NearestDescriptors search_new(const Context& context, DescriptorRows<T> queries,
                              DescriptorRows<T> base, const NearestDescriptorsOptions& options,
                              View<const std::int32_t> segment_ends) {
  Buffer<std::int32_t> whole;
  if (segment_ends.empty()) {
    whole = copy(context, std::vector<std::int32_t>{static_cast<std::int32_t>(base.rows())});
    segment_ends = whole;
  }
  check_options(options);
  const std::int64_t size = queries.rows() * segment_ends.size * options.k;
  NearestDescriptors result{options.k, queries.rows(), Buffer<std::int32_t>(context, size),
                            Buffer<float>(context, size)};
  Workspace workspace;
  search(context, queries, base, segment_ends, options, result.indices.view(),
         result.distances_sq.view(), workspace);
  return result;
}

}  // namespace

NearestDescriptors nearest_descriptors(const Context& context, DescriptorRows<std::uint8_t> queries,
                                       DescriptorRows<std::uint8_t> base,
                                       const NearestDescriptorsOptions& options,
                                       View<const std::int32_t> segment_ends) {
  return search_new(context, queries, base, options, segment_ends);
}

NearestDescriptors nearest_descriptors(const Context& context, DescriptorRows<float> queries,
                                       DescriptorRows<float> base,
                                       const NearestDescriptorsOptions& options,
                                       View<const std::int32_t> segment_ends) {
  return search_new(context, queries, base, options, segment_ends);
}

void nearest_descriptors_into(const Context& context, DescriptorRows<std::uint8_t> queries,
                              DescriptorRows<std::uint8_t> base,
                              View<const std::int32_t> segment_ends,
                              const NearestDescriptorsOptions& options, View<std::int32_t> indices,
                              View<float> distances_sq, Workspace& workspace) {
  search(context, queries, base, segment_ends, options, indices, distances_sq, workspace);
}

void nearest_descriptors_into(const Context& context, DescriptorRows<float> queries,
                              DescriptorRows<float> base, View<const std::int32_t> segment_ends,
                              const NearestDescriptorsOptions& options, View<std::int32_t> indices,
                              View<float> distances_sq, Workspace& workspace) {
  search(context, queries, base, segment_ends, options, indices, distances_sq, workspace);
}

Buffer<std::int32_t> match_descriptors(const Context& context, const NearestDescriptors& nearest,
                                       const DescriptorMatchOptions& options,
                                       const NearestDescriptors& back) {
  check_options(options);
  require_on(context, nearest.indices.view(), "nearest");
  require(nearest.k >= 1 && nearest.queries >= 0, "nearest: holds no neighbours");
  require_room(context, nearest.distances_sq.view(), nearest.indices.size(),
               "nearest.distances_sq");
  require(nearest.k >= 2 || !(options.ratio < 1.0f),
          "ratio: the test needs two neighbours, but k is 1; take k = 2 or ratio = 1");
  const std::int64_t rows = nearest.indices.size() / nearest.k;
  MatchTest test{};
  test.indices = nearest.indices.data();
  test.distances_sq = nearest.distances_sq.data();
  test.k = nearest.k;
  test.queries = nearest.queries;
  test.ratio_sq = options.ratio * options.ratio;
  test.most_distance_sq = options.most_distance > 0.0f
                              ? options.most_distance * options.most_distance
                              : std::numeric_limits<float>::max();
  if (options.mutual) {
    require(back.k >= 1, "mutual: needs the nearest query of each row of the base in `back`");
    require_room(context, back.indices.view(), back.queries * back.k, "back");
    test.back_indices = back.indices.data();
    test.back_k = back.k;
    test.back_rows = back.queries;
  }
  Buffer<std::int32_t> matches(context, rows);
  test.matches = matches.data();
  detail::for_each_anywhere(context, rows, test);
  return matches;
}

}  // namespace sextant
