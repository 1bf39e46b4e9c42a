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
/// which soon are few. Only the first rounds are worth more than one thread.
template <int kTerms>
class PatchJoining {
 public:
  PatchJoining(const Context& context, const PatchState& s, const PixelSize* pixel)
      : context_(context),
        s_(s),
        pixel_(pixel),
        roots_(s.joining),  // what CUDA keeps there, and the pairs of later
        edges_(reinterpret_cast<std::int32_t*>(s.pair)) {
    for (std::int32_t cell = 0; cell < s.cells; ++cell) {
      if (s.root[cell] == cell) roots_[root_count_++] = cell;
    }
    for (std::int32_t edge = 0; edge < 2 * s.cells; ++edge) {
      if (is_between_patches(edge)) edges_[edge_count_++] = edge;
    }
  }

  void run(int most_rounds) {
    for (int round = 0; round < most_rounds; ++round) {
      rate({s_, pixel_, round});
      for (std::int32_t k = 0; k < root_count_; ++k) ChooseTarget{s_}(roots_[k]);
      if (!join(round)) return;
      for (std::int32_t cell = 0; cell < s_.cells; ++cell) FollowRoot{s_}(cell);
      keep(roots_, root_count_, [&](std::int32_t cell) { return s_.root[cell] == cell; });
      keep(edges_, edge_count_, [&](std::int32_t edge) { return is_between_patches(edge); });
    }
  }

 private:
  bool is_between_patches(std::int32_t edge) const {
    const std::int32_t a = s_.root[edge / 2];
    const std::int32_t other = a >= 0 ? across_edge(s_, edge) : -1;
    return other >= 0 && s_.root[other] >= 0 && s_.root[other] != a;
  }

  void rate(const RateEdge<kTerms>& rate_edge) const {
    constexpr int kLongRounds = 3;
    constexpr std::int64_t kEdgesAtOnce = 256;
    const auto rate_some = [&](std::int64_t begin, std::int64_t end) {
      LastCosts<kTerms> costs(rate_edge);
      for (std::int64_t k = begin; k < end; ++k) rate_edge(edges_[k], costs);
    };
    if (rate_edge.round < kLongRounds) {
      for_each_chunk(context_, edge_count_, kEdgesAtOnce, rate_some);
    } else {
      rate_some(0, edge_count_);
    }
  }

  /// False when no patch joins another.
  bool join(int round) const {
    bool any = false;
    for (std::int32_t k = 0; k < root_count_; ++k) {
      const std::int32_t root = roots_[k];
      if (s_.target[root] < 0) continue;
      add_joined<kTerms>(s_, root, s_.target[root]);
      any = true;
    }
    for (std::int32_t k = 0; k < root_count_ && any; ++k) {
      const std::int32_t target = s_.target[roots_[k]];
      if (target >= 0 && s_.changed[target] != round + 1) finish_joined<kTerms>(s_, target, round);
    }
    return any;
  }

  template <class Condition>
  static void keep(std::int32_t* list, std::int32_t& count, const Condition& condition) {
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
  std::int32_t* edges_;
  std::int32_t root_count_ = 0, edge_count_ = 0;
};

}  // namespace sextant::detail::segment
