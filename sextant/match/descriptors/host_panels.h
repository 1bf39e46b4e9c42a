// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "sextant/core/for_each.h"
#include "sextant/core/workspace.h"
#include "sextant/match/descriptors/job.h"

// How a search on the host arranges rows: the base in panels of 64, word by word, so that a
// register holds the same word of many rows; the queries one behind the other.

namespace sextant::detail::descriptors {

inline constexpr int kPanelRows = 64;
inline constexpr int kQueriesPerChunk = 192;  // whole blocks of 6 and of 4

/// A search on the host. Rows says what a row is and how it is compared: ByteRows, FloatRows.
template <class Rows>
struct HostJob {
  Rows rows;
  std::int64_t queries;
  std::int64_t base_rows;
  View<const std::int32_t> segment_ends;
};

template <class Rows>
struct Packed {
  const typename Rows::Word* words;         ///< [panel][word][row]
  const typename Rows::Key* terms;          ///< [panel][row]
  const std::int32_t* first_panel;          ///< of each segment, and behind the last one
  const typename Rows::QueryWord* queries;  ///< [query][word], whole chunks of them
};

inline std::int32_t panels_of(const Segment& segment) {
  return (segment.end - segment.begin + kPanelRows - 1) / kPanelRows;
}

template <class Rows>
void pack_base(const Context& context, const HostJob<Rows>& job, View<std::int32_t> first_panel,
               View<typename Rows::Word> words, View<typename Rows::Key> terms) {
  const Rows& rows = job.rows;
  for_each_chunk(
      context, words.size / (rows.words() * kPanelRows), 4,
      [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t panel = begin; panel < end; ++panel) {
          const auto after = std::upper_bound(first_panel.begin(), first_panel.end(), panel);
          const std::int64_t s = after - first_panel.begin() - 1;
          const Segment segment = segment_at(job.segment_ends.data, s, job.base_rows);
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
void pack_queries(const Context& context, const HostJob<Rows>& job,
                  View<typename Rows::QueryWord> words) {
  const int length = job.rows.words();
  for_each_chunk(context, words.size / length, kQueriesPerChunk,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t q = begin; q < end; ++q) {
                     typename Rows::QueryWord* to = words.data + q * length;
                     if (q < job.queries) {
                       job.rows.pack_query(q, to);
                     } else {
                       std::fill(to, to + length, typename Rows::QueryWord{});
                     }
                   }
                 });
}

/// Into memory of the workspace, until the caller's scope ends.
template <class Rows>
Packed<Rows> pack(const Context& context, const HostJob<Rows>& job, Workspace& workspace) {
  const std::int64_t segments = job.segment_ends.size;
  const View<std::int32_t> first_panel = workspace.take<std::int32_t>(context, segments + 1);
  first_panel[0] = 0;
  for (std::int64_t s = 0; s < segments; ++s) {
    first_panel[s + 1] =
        first_panel[s] + panels_of(segment_at(job.segment_ends.data, s, job.base_rows));
  }
  const std::int64_t panels = first_panel[segments];
  const int words = job.rows.words();
  const auto base_words = workspace.take<typename Rows::Word>(context, panels * words * kPanelRows);
  const auto terms = workspace.take<typename Rows::Key>(context, panels * kPanelRows);
  pack_base(context, job, first_panel, base_words, terms);
  const std::int64_t padded =
      (job.queries + kQueriesPerChunk - 1) / kQueriesPerChunk * kQueriesPerChunk;
  const auto query_words = workspace.take<typename Rows::QueryWord>(context, padded * words);
  pack_queries(context, job, query_words);
  return {base_words.data, terms.data, first_panel.data, query_words.data};
}

}  // namespace sextant::detail::descriptors
