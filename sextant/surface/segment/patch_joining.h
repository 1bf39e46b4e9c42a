// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/for_each.h"
#include "sextant/surface/segment/patch_pairs.h"

namespace sextant::detail::segment {

/// The costs of the last few pairs: many edges lie between the same two patches.
template <int kTerms>
class LastCosts {
 public:
  explicit LastCosts(const RateEdge<kTerms>& rate) : rate_(rate) {}

  float operator()(std::int32_t from, std::int32_t to) {
    const std::uint32_t place = static_cast<std::uint32_t>(from + 5 * to) % kPairs;
    if (from_[place] != from || to_[place] != to) {
      from_[place] = from;
      to_[place] = to;
      cost_[place] = rate_.cost_of(from, to);
    }
    return cost_[place];
  }

 private:
  static constexpr std::uint32_t kPairs = 16;
  const RateEdge<kTerms>& rate_;
  std::int32_t from_[kPairs] = {}, to_[kPairs] = {};  // no patch is its own partner
  float cost_[kPairs] = {};
};

/// How the CPU joins patches: with lists of the patches and of the edges between them, both of
/// which soon are few. Only long lists are worth more than one thread.
template <int kTerms>
class PatchJoining {
 public:
  PatchJoining(const Context& context, const PatchState& s, const PixelSize* pixel)
      : context_(context),
        s_(s),
        pixel_(pixel),
        roots_(s.joining),  // what CUDA keeps there, the pairs and groups of later
        joins_(s.joined),
        targets_(s.group),
        edges_(reinterpret_cast<Edge*>(s.pair)) {
    static_assert(sizeof(Edge) == sizeof(*s.pair));
    for (std::int32_t cell = 0; cell < s.cells; ++cell) {
      if (s.root[cell] == cell) roots_[root_count_++] = cell;
    }
    for (std::int32_t row = 0, cell = 0; row < s.rows; ++row) {
      for (std::int32_t column = 0; column < s.columns; ++column, ++cell) {
        if (s.root[cell] < 0) continue;
        if (column + 1 < s.columns) list_edge({2 * cell, cell + 1});
        if (row + 1 < s.rows) list_edge({2 * cell + 1, cell + s.columns});
      }
    }
  }

  void run(int most_rounds) {
    for (int round = 0; round < most_rounds; ++round) {
      rate({s_, pixel_, round});
      for (std::int32_t k = 0; k < root_count_; ++k) ChooseTarget{s_}(roots_[k]);
      if (!join(round)) return;
      for (std::int32_t cell = 0; cell < s_.cells; ++cell) FollowRoot{s_}(cell);
      keep(roots_, root_count_, [&](std::int32_t cell) { return s_.root[cell] == cell; });
      keep(edges_, edge_count_, [&](const Edge& edge) { return is_between_patches(edge); });
    }
  }

 private:
  /// The number of an edge, and the cell that it leads to.
  struct Edge {
    std::int32_t number, to;
  };

  bool is_between_patches(const Edge& edge) const {
    const std::int32_t to = s_.root[edge.to];
    return to >= 0 && to != s_.root[edge.number / 2];
  }
  void list_edge(const Edge& edge) {
    if (is_between_patches(edge)) edges_[edge_count_++] = edge;
  }

  /// Calls function(k) for each of a list, on more than one thread where it is long.
  template <class Function>
  void each(std::int32_t count, std::int64_t at_once, const Function& function) const {
    const auto some = [&](std::int64_t begin, std::int64_t end) {
      function(static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end));
    };
    if (count >= 4 * at_once) {
      for_each_chunk(context_, count, at_once, some);
    } else {
      some(0, count);
    }
  }

  void rate(const RateEdge<kTerms>& rate_edge) const {
    constexpr std::int64_t kEdgesAtOnce = 128;
    each(edge_count_, kEdgesAtOnce, [&](std::int32_t begin, std::int32_t end) {
      LastCosts<kTerms> costs(rate_edge);
      for (std::int32_t k = begin; k < end; ++k) rate_edge(edges_[k].number, edges_[k].to, costs);
    });
  }

  /// False when no patch joins another.
  bool join(int round) const {
    constexpr std::int64_t kPatchesAtOnce = 64;
    std::int32_t joins = 0, targets = 0;
    for (std::int32_t k = 0; k < root_count_; ++k) {
      if (s_.target[roots_[k]] >= 0) joins_[joins++] = roots_[k];
    }
    each(joins, kPatchesAtOnce, [&](std::int32_t begin, std::int32_t end) {
      for (std::int32_t k = begin; k < end; ++k) move_to_target(s_, joins_[k]);
    });
    for (std::int32_t k = 0; k < joins; ++k) {
      const std::int32_t target = s_.root[joins_[k]];
      add_sums(s_.sums[target], s_.sums[joins_[k]]);
      if (s_.changed[target] == round + 1) continue;
      s_.changed[target] = round + 1;
      targets_[targets++] = target;
    }
    each(targets, kPatchesAtOnce, [&](std::int32_t begin, std::int32_t end) {
      for (std::int32_t k = begin; k < end; ++k) {
        finish_joined<kTerms>(s_, *pixel_, targets_[k], round);
      }
    });
    return joins > 0;
  }

  template <class Element, class Condition>
  static void keep(Element* list, std::int32_t& count, const Condition& condition) {
    std::int32_t kept = 0;
    for (std::int32_t k = 0; k < count; ++k) {
      if (condition(list[k])) list[kept++] = list[k];
    }
    count = kept;
  }

  const Context& context_;
  const PatchState& s_;
  const PixelSize* pixel_;
  std::int32_t* roots_;
  std::int32_t* joins_;
  std::int32_t* targets_;
  Edge* edges_;
  std::int32_t root_count_ = 0, edge_count_ = 0;
};

}  // namespace sextant::detail::segment
