// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/match/descriptors/host_bytes.h"
#include "sextant/match/descriptors/host_floats.h"
#include "sextant/match/descriptors/host_panels.h"

// The search on the host, whatever is kept of what is near. A word of a query meets a register of
// rows as a factor. A block of queries stays in the first cache while the panels pass by.

namespace sextant::detail::descriptors {

/// The part of a keeper that the search looks at. A keeper remembers the rows near each query of a
/// chunk; in the segment that the search is at, it is told of those alone whose keys are smaller
/// than its limits, and rows come in ascending order. Beside this it has
///     begin_segment(s), to set the limits;
///     take(q, row, key), which may lower limits[q];
///     end_segment(s).
template <class Rows>
struct Limits {
  typename Rows::Key limits[kQueriesPerChunk];
  double norms_sq[kQueriesPerChunk];
  int queries;

  Limits(const Rows& rows, std::int64_t first_query, std::int64_t count)
      : queries(static_cast<int>(count)) {
    for (int q = 0; q < queries; ++q) norms_sq[q] = rows.query_norm_sq(first_query + q);
    std::fill(limits, limits + kQueriesPerChunk, Rows::kNothing);
  }
  void reset_limits(const Rows& rows) {
    for (int q = 0; q < queries; ++q) limits[q] = rows.first_limit(norms_sq[q]);
  }
};

/// With make_keeper(first_query, count).
template <class Rows, class MakeKeeper>
struct SearchChunk {
  const HostJob<Rows>& job;
  const Packed<Rows>& packed;
  const MakeKeeper& make_keeper;

  template <class Set>
  void operator()(Set, std::int64_t first_query, std::int64_t queries) const {
    auto keeper = make_keeper(first_query, queries);
    for (std::int64_t s = 0; s < job.segment_ends.size; ++s) {
      keeper.begin_segment(s);
      const Segment segment = segment_at(job.segment_ends.data, s, job.base_rows);
      for (std::int32_t panel = 0; panel < panels_of(segment); ++panel) {
        visit_panel<Set>(keeper, first_query, packed.first_panel[s] + panel,
                         segment.begin + panel * kPanelRows);
      }
      keeper.end_segment(s);
    }
  }

 private:
  /// As many sums as the registers hold.
  template <class Set>
  static constexpr int kBlock = Set::kBytes == 64 ? 6 : 4;
  template <class Set>
  static constexpr int kPacks = Set::kBytes == 64 ? 4 : 2;

  template <class Set, class Keeper>
  void visit_panel(Keeper& keeper, std::int64_t first_query, std::int64_t panel,
                   std::int32_t first_row) const {
    using Pack = typename Rows::template Products<Set>::Pack;
    constexpr int kColumns = kPacks<Set> * Pack::kCount;
    static_assert(kPanelRows % kColumns == 0);
    const int words = job.rows.words();
    for (int column = 0; column < kPanelRows; column += kColumns) {
      const typename Rows::Word* base = packed.words + panel * words * kPanelRows + column;
      Pack terms[kPacks<Set>];
      SEXTANT_UNROLL
      for (int p = 0; p < kPacks<Set>; ++p) {
        terms[p] = Pack::load(packed.terms + panel * kPanelRows + column + p * Pack::kCount);
      }
      for (int q = 0; q < kQueriesPerChunk; q += kBlock<Set>) {
        if (keeper.limits[q] == Rows::kNothing && all_done<Set>(keeper, q)) continue;
        visit_block<Set>(keeper, first_query, q, base, terms, first_row + column);
      }
    }
  }

  template <class Set, class Keeper>
  static bool all_done(const Keeper& keeper, int q) {
    return std::all_of(keeper.limits + q, keeper.limits + q + kBlock<Set>,
                       [](typename Rows::Key limit) { return limit == Rows::kNothing; });
  }

  template <class Set, class Keeper>
  void visit_block(Keeper& keeper, std::int64_t first_query, int q, const typename Rows::Word* base,
                   const typename Rows::template Products<Set>::Pack* terms,
                   std::int32_t first_row) const {
    using Products = typename Rows::template Products<Set>;
    using Pack = typename Products::Pack;
    Pack sums[kBlock<Set>][kPacks<Set>];
    const int words = job.rows.words();
    const typename Rows::QueryWord* query = packed.queries + (first_query + q) * words;
    for (int w = 0; w < words; ++w) {
      Pack row[kPacks<Set>];
      SEXTANT_UNROLL
      for (int p = 0; p < kPacks<Set>; ++p) {
        row[p] = Pack::load(base + w * kPanelRows + p * Pack::kCount);
      }
      SEXTANT_UNROLL
      for (int b = 0; b < kBlock<Set>; ++b) {
        typename Products::Factor factor;
        Products::load_factor(query + b * words + w, factor);
        SEXTANT_UNROLL
        for (int p = 0; p < kPacks<Set>; ++p) Products::add(row[p], factor, sums[b][p]);
      }
    }
    SEXTANT_UNROLL
    for (int b = 0; b < kBlock<Set>; ++b) {
      const Pack limit(keeper.limits[q + b]);
      SEXTANT_UNROLL
      for (int p = 0; p < kPacks<Set>; ++p) {
        const Pack keys = Products::keys(terms[p], sums[b][p]);
        std::uint32_t nearer = (keys < limit).bits();
        if (nearer == 0) continue;
        typename Rows::Key stored[Pack::kCount];
        keys.store(stored);
        take(keeper, q + b, nearer, stored, first_row + p * Pack::kCount);
      }
    }
  }

  /// Hands over the rows whose bits are set, in ascending order.
  template <class Keeper>
  __attribute__((noinline)) static void take(Keeper& keeper, int q, std::uint32_t nearer,
                                             const typename Rows::Key* keys,
                                             std::int32_t first_row) {
    for (; nearer != 0; nearer &= nearer - 1) {
      const int lane = __builtin_ctz(nearer);
      if (keys[lane] < keeper.limits[q]) keeper.take(q, first_row + lane, keys[lane]);
    }
  }
};

/// Each query meets every row, on the context's threads. A chunk of queries has a keeper of its
/// own, make_keeper(first_query, count).
template <class Rows, class MakeKeeper>
void search_host(const Context& context, const HostJob<Rows>& job, const Packed<Rows>& packed,
                 const MakeKeeper& make_keeper) {
  const SearchChunk<Rows, MakeKeeper> search_chunk{job, packed, make_keeper};
  for_each_chunk(context, job.queries, kQueriesPerChunk, [&](std::int64_t begin, std::int64_t end) {
    if constexpr (std::is_same_v<Rows, ByteRows>) {
      run_widest_bytes(search_chunk, begin, end - begin);
    } else {
      run_widest(search_chunk, begin, end - begin);
    }
  });
}

}  // namespace sextant::detail::descriptors
