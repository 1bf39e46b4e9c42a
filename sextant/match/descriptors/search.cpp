// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "sextant/core/for_each.h"
#include "sextant/match/descriptors/host_bytes.h"
#include "sextant/match/descriptors/host_floats.h"
#include "sextant/match/descriptors/job.h"

// The search on the host. The base is arranged in panels of 64 rows, word by word, so that a
// register holds the same word of many rows; a word of a query meets it as a factor. A block of
// queries stays in the first cache while the panels pass by.

namespace sextant::detail::descriptors {

namespace {

constexpr int kPanelRows = 64;
constexpr int kQueriesPerChunk = 192;  // whole blocks of 6 and of 4

template <class Rows>
struct Packed {
  const typename Rows::Word* words;         ///< [panel][word][row]
  const typename Rows::Key* terms;          ///< [panel][row]
  const std::int32_t* first_panel;          ///< of each segment, and behind the last one
  const typename Rows::QueryWord* queries;  ///< [query][word], whole chunks of them
};

std::int32_t panels_of(const Segment& segment) {
  return (segment.end - segment.begin + kPanelRows - 1) / kPanelRows;
}

/// What a chunk of queries has found so far in the segment it is at.
template <class Rows>
struct Found {
  using Distance = typename Rows::Distance;
  Neighbour<Distance> lists[kQueriesPerChunk][kMostNearestDescriptors];
  typename Rows::Key limits[kQueriesPerChunk];  ///< only smaller keys can be among the nearest
  double norms_sq[kQueriesPerChunk];

  void begin_segment(const Rows& rows, int queries) {
    for (int q = 0; q < kQueriesPerChunk; ++q) {
      std::fill(lists[q], lists[q] + kMostNearestDescriptors,
                Neighbour<Distance>{Rows::kFarthest, std::numeric_limits<std::int32_t>::max()});
      limits[q] = q < queries ? rows.first_limit(norms_sq[q]) : Rows::kNothing;
    }
  }
};

template <class Rows>
struct SearchChunk {
  const Rows& rows;
  const Job<typename Rows::Number>& job;
  const Packed<Rows>& packed;

  template <class Set>
  void operator()(Set, std::int64_t first_query, std::int64_t queries) const {
    Found<Rows> found;
    const int count = static_cast<int>(queries);
    for (int q = 0; q < count; ++q) found.norms_sq[q] = rows.query_norm_sq(first_query + q);
    for (std::int64_t s = 0; s < job.segment_ends.size; ++s) {
      found.begin_segment(rows, count);
      const Segment segment = segment_at(job.segment_ends.data, s, job.base.rows());
      for (std::int32_t panel = 0; panel < panels_of(segment); ++panel) {
        visit_panel<Set>(found, first_query, packed.first_panel[s] + panel,
                         segment.begin + panel * kPanelRows);
      }
      write(found, s * job.queries.rows() + first_query, count);
    }
  }

 private:
  /// As many sums as the registers hold.
  template <class Set>
  static constexpr int kBlock = Set::kBytes == 64 ? 6 : 4;
  template <class Set>
  static constexpr int kPacks = Set::kBytes == 64 ? 4 : 2;

  template <class Set>
  void visit_panel(Found<Rows>& found, std::int64_t first_query, std::int64_t panel,
                   std::int32_t first_row) const {
    using Pack = typename Rows::template Products<Set>::Pack;
    constexpr int kColumns = kPacks<Set> * Pack::kCount;
    static_assert(kPanelRows % kColumns == 0);
    const int words = rows.words();
    for (int column = 0; column < kPanelRows; column += kColumns) {
      const typename Rows::Word* base = packed.words + panel * words * kPanelRows + column;
      Pack terms[kPacks<Set>];
      SEXTANT_UNROLL
      for (int p = 0; p < kPacks<Set>; ++p) {
        terms[p] = Pack::load(packed.terms + panel * kPanelRows + column + p * Pack::kCount);
      }
      for (int q = 0; q < kQueriesPerChunk; q += kBlock<Set>) {
        if (found.limits[q] == Rows::kNothing && all_done<Set>(found, q)) continue;
        visit_block<Set>(found, first_query, q, base, terms, first_row + column);
      }
    }
  }

  template <class Set>
  static bool all_done(const Found<Rows>& found, int q) {
    return std::all_of(found.limits + q, found.limits + q + kBlock<Set>,
                       [](typename Rows::Key limit) { return limit == Rows::kNothing; });
  }

  template <class Set>
  void visit_block(Found<Rows>& found, std::int64_t first_query, int q,
                   const typename Rows::Word* base,
                   const typename Rows::template Products<Set>::Pack* terms,
                   std::int32_t first_row) const {
    using Products = typename Rows::template Products<Set>;
    using Pack = typename Products::Pack;
    Pack sums[kBlock<Set>][kPacks<Set>];
    const int words = rows.words();
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
      const Pack limit(found.limits[q + b]);
      SEXTANT_UNROLL
      for (int p = 0; p < kPacks<Set>; ++p) {
        const Pack keys = Products::keys(terms[p], sums[b][p]);
        std::uint32_t nearer = (keys < limit).bits();
        if (nearer == 0) continue;
        typename Rows::Key stored[Pack::kCount];
        keys.store(stored);
        take(found, first_query, q + b, nearer, stored, first_row + p * Pack::kCount);
      }
    }
  }

  /// Measures the rows whose bits are set, in ascending order.
  __attribute__((noinline)) void take(Found<Rows>& found, std::int64_t first_query, int q,
                                      std::uint32_t nearer, const typename Rows::Key* keys,
                                      std::int32_t first_row) const {
    for (; nearer != 0; nearer &= nearer - 1) {
      const int lane = __builtin_ctz(nearer);
      if (!(keys[lane] < found.limits[q])) continue;
      const std::int32_t row = first_row + lane;
      insert(found.lists[q], job.k, {rows.distance(first_query + q, row, keys[lane]), row});
      found.limits[q] = rows.limit(found.norms_sq[q], found.lists[q][job.k - 1].distance);
    }
  }

  void write(const Found<Rows>& found, std::int64_t first_result, int count) const {
    for (int q = 0; q < count; ++q) {
      for (int i = 0; i < job.k; ++i) {
        const auto& neighbour = found.lists[q][i];
        const bool exists = neighbour.distance < Rows::kFarthest;
        const std::int64_t place = (first_result + q) * job.k + i;
        job.indices[place] = exists ? neighbour.index : -1;
        job.distances_sq[place] =
            exists ? rows.distance_sq(found.norms_sq[q], neighbour.distance) : INFINITY;
      }
    }
  }
};

template <class Rows>
void pack_base(const Context& context, const Rows& rows, const Job<typename Rows::Number>& job,
               View<std::int32_t> first_panel, View<typename Rows::Word> words,
               View<typename Rows::Key> terms) {
  for_each_chunk(
      context, words.size / (rows.words() * kPanelRows), 4,
      [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t panel = begin; panel < end; ++panel) {
          const auto after = std::upper_bound(first_panel.begin(), first_panel.end(), panel);
          const std::int64_t s = after - first_panel.begin() - 1;
          const Segment segment = segment_at(job.segment_ends.data, s, job.base.rows());
          typename Rows::Word* to = words.data + panel * rows.words() * kPanelRows;
          for (int r = 0; r < kPanelRows; ++r) {
            const std::int64_t row = segment.begin + (panel - first_panel[s]) * kPanelRows + r;
            if (row < segment.end) {
              rows.pack_row(row, to + r, kPanelRows, terms[panel * kPanelRows + r]);
            } else {
              for (int w = 0; w < rows.words(); ++w) to[w * kPanelRows + r] = 0;
              terms[panel * kPanelRows + r] = Rows::kNoTerm;
            }
          }
        }
      });
}

template <class Rows>
void search(const Context& context, const Job<typename Rows::Number>& job, Workspace& workspace) {
  const Rows rows{job.queries.values.data, job.base.values.data, job.base.length};
  const View<std::int32_t> first_panel =
      workspace.take<std::int32_t>(context, job.segment_ends.size + 1);
  first_panel[0] = 0;
  for (std::int64_t s = 0; s < job.segment_ends.size; ++s) {
    first_panel[s + 1] =
        first_panel[s] + panels_of(segment_at(job.segment_ends.data, s, job.base.rows()));
  }
  const std::int64_t panels = first_panel[job.segment_ends.size];
  const auto words =
      workspace.take<typename Rows::Word>(context, panels * rows.words() * kPanelRows);
  const auto terms = workspace.take<typename Rows::Key>(context, panels * kPanelRows);
  pack_base(context, rows, job, first_panel, words, terms);

  const std::int64_t queries = job.queries.rows();
  const std::int64_t padded =
      (queries + kQueriesPerChunk - 1) / kQueriesPerChunk * kQueriesPerChunk;
  const auto query_words = workspace.take<typename Rows::QueryWord>(context, padded * rows.words());
  for_each_chunk(context, padded, kQueriesPerChunk, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t q = begin; q < end; ++q) {
      typename Rows::QueryWord* to = query_words.data + q * rows.words();
      if (q < queries) {
        rows.pack_query(q, to);
      } else {
        std::fill(to, to + rows.words(), typename Rows::QueryWord{});
      }
    }
  });

  const Packed<Rows> packed{words.data, terms.data, first_panel.data, query_words.data};
  const SearchChunk<Rows> search_chunk{rows, job, packed};
  for_each_chunk(context, queries, kQueriesPerChunk, [&](std::int64_t begin, std::int64_t end) {
    if constexpr (std::is_same_v<Rows, ByteRows>) {
      run_widest_bytes(search_chunk, begin, end - begin);
    } else {
      run_widest(search_chunk, begin, end - begin);
    }
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
