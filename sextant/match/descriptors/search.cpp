// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "sextant/match/descriptors/host_search.h"

namespace sextant::detail::descriptors {

namespace {

/// Keeps the k nearest rows of each segment, sorted.
template <class Rows>
class NearestKeeper : public Limits<Rows> {
 public:
  using Distance = typename Rows::Distance;

  NearestKeeper(const Job<typename Rows::Number>& job, const Rows& rows, std::int64_t first_query,
                std::int64_t count)
      : Limits<Rows>(rows, first_query, count), job_(job), rows_(rows), first_query_(first_query) {}

  void begin_segment(std::int64_t) {
    this->reset_limits(rows_);
    for (int q = 0; q < this->queries; ++q) {
      std::fill(lists_[q], lists_[q] + kMostNearestDescriptors,
                Neighbour<Distance>{Rows::kFarthest, std::numeric_limits<std::int32_t>::max()});
    }
  }
  void take(int q, std::int32_t row, typename Rows::Key key) {
    insert(lists_[q], job_.k, {rows_.distance(first_query_ + q, row, key), row});
    this->limits[q] = rows_.limit(this->norms_sq[q], lists_[q][job_.k - 1].distance);
  }
  void end_segment(std::int64_t s) const {
    const std::int64_t first_result = s * job_.queries.rows() + first_query_;
    for (int q = 0; q < this->queries; ++q) {
      for (int i = 0; i < job_.k; ++i) {
        const auto& neighbour = lists_[q][i];
        const bool exists = neighbour.distance < Rows::kFarthest;
        const std::int64_t place = (first_result + q) * job_.k + i;
        job_.indices[place] = exists ? neighbour.index : -1;
        job_.distances_sq[place] =
            exists ? rows_.distance_sq(this->norms_sq[q], neighbour.distance) : INFINITY;
      }
    }
  }

 private:
  const Job<typename Rows::Number>& job_;
  const Rows& rows_;
  std::int64_t first_query_;
  Neighbour<Distance> lists_[kQueriesPerChunk][kMostNearestDescriptors];
};

template <class Rows>
void search(const Context& context, const Job<typename Rows::Number>& job, Workspace& workspace) {
  const HostJob<Rows> host{{job.queries.values.data, job.base.values.data, job.base.length},
                           job.queries.rows(),
                           job.base.rows(),
                           job.segment_ends};
  const Packed<Rows> packed = pack(context, host, workspace);
  search_host(context, host, packed, [&](std::int64_t first_query, std::int64_t count) {
    return NearestKeeper<Rows>(job, host.rows, first_query, count);
  });
}

}  // namespace

void search_cpu(const Context& context, const Job<std::uint8_t>& job, Workspace& workspace) {
  search<ByteRows>(context, job, workspace);
}

void search_cpu(const Context& context, const Job<float>& job, Workspace& workspace) {
  search<FloatRows>(context, job, workspace);
}

}  // namespace sextant::detail::descriptors
