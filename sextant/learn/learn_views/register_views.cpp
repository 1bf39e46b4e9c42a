// SPDX-License-Identifier: Apache-2.0
#include "sextant/learn/learn_views/register_views.h"

#include <algorithm>

#include "sextant/core/for_each.h"
#include "sextant/learn/learn_views/view_circles.h"
#include "sextant/learn/learn_views/view_pairs.h"
#include "sextant/learn/progress/for_each_reported.h"
#include "sextant/pose/pose_graph.h"

namespace sextant::detail::learn_views {

namespace {

/// The inverse of a covariance, by its eigenvectors.
SymN<double, 6> information_of(const SymN<double, 6>& covariance) {
  const EigenN<double, 6> e = eigen_jacobi(covariance);
  SymN<double, 6> information;
  for (int k = 0; k < 6; ++k) {
    const double value = max_of(e.values[k], 1e-9 * e.values[5]);
    information.add_outer(e.vectors[k], value > 0 ? 1 / value : 0.0);
  }
  return information;
}

/// Relaxes the poses of the joined views over the edges between them. Returns what is left of each
/// edge, in their order; infinite for edges to views that are not joined.
std::vector<double> relax(const std::vector<Edge>& edges, const Scales& scales,
                          Registration& registration) {
  std::vector<std::int32_t> place(registration.joined.size(), -1);
  std::vector<Rigid3d> poses;
  for (std::size_t v = 0; v < place.size(); ++v) {
    if (!registration.joined[v]) continue;
    place[v] = static_cast<std::int32_t>(poses.size());
    poses.push_back(registration.world_from_view[v]);
  }
  std::vector<PoseEdge> graph;
  std::vector<std::size_t> edge_of;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const Edge& edge = edges[i];
    const std::int32_t a = place[static_cast<std::size_t>(edge.a)];
    const std::int32_t b = place[static_cast<std::size_t>(edge.b)];
    if (a < 0 || b < 0) continue;
    graph.push_back({a, b, edge.alignment.target_from_source,
                     information_of(edge.alignment.covariance), edge.alignment.centre_m});
    edge_of.push_back(i);
  }
  const PoseGraphResult relaxed = relax_poses(
      poses, graph, {.outlier_m = scales.outlier_m(), .length_m = 0.5 * scales.diagonal_m});
  for (std::size_t v = 0; v < place.size(); ++v) {
    if (place[v] >= 0) {
      registration.world_from_view[v] = relaxed.world_from_view[static_cast<std::size_t>(place[v])];
    }
  }
  std::vector<double> left(edges.size(), INFINITY);
  for (std::size_t k = 0; k < edge_of.size(); ++k) left[edge_of[k]] = relaxed.edge_error_m[k];
  return left;
}

void keep_pairs(const std::vector<Edge>& edges, const std::vector<double>& left,
                Registration& registration) {
  registration.pairs.clear();
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const Edge& edge = edges[i];
    registration.pairs.push_back(
        {edge.a, edge.b, edge.overlap, edge.agreement, edge.alignment.rms_m, left[i]});
  }
}

/// Whether one of two views sees through what the other one measured, or sees it outside a mask.
bool contradict(const PreparedView& a, const PreparedView& b, const Rigid3d& a_from_b,
                const Scales& scales, const ContradictionLimits& limits) {
  constexpr double kLeastSeen = 150;
  const auto against = [&](const Agreement& there) {
    return there.supported + there.violated >= kLeastSeen &&
           there.share() < limits.least_agreement &&
           there.violated > limits.most_violated * there.in_view;
  };
  return against(agreement(a, b, a_from_b, 2 * scales.tolerance_m())) ||
         against(agreement(b, a, inverse(a_from_b), 2 * scales.tolerance_m()));
}

void leave_out(std::size_t view, std::string reason, Registration& registration) {
  registration.joined[view] = 0;
  registration.reasons[view] = std::move(reason);
  std::erase_if(registration.pairs, [&](const JoinedPair& pair) {
    return pair.a == static_cast<int>(view) || pair.b == static_cast<int>(view);
  });
}

Vec3d middle_of(const PreparedView& view) {
  Vec3d sum{};
  for (const Vec3f& p : view.surface.points.host()) {
    if (is_finite(p)) sum = sum + cast<double>(p);
  }
  return sum / static_cast<double>(view.points);
}

/// An object that looks alike from several sides has views that fit as well elsewhere: where
/// another view was taken. Lists those that do so without contradicting any other view.
void find_alike(const Context& context, const std::vector<PreparedView>& views,
                const Scales& scales, const ReconstructOptions& options,
                const LearnProgress& progress, Registration& registration) {
  constexpr double kElsewhere_rad = 0.35;
  std::vector<std::pair<int, int>> pairs;
  for (std::size_t a = 0; a < views.size(); ++a) {
    for (std::size_t b = a + 1; b < views.size(); ++b) {
      if (registration.joined[a] && registration.joined[b]) pairs.emplace_back(a, b);
    }
  }
  const auto fits_at = [&](std::size_t view, const Rigid3d& place) {
    const Rigid3d& found = registration.world_from_view[view];
    if (rotation_angle(transpose(found.rotation) * place.rotation) < kElsewhere_rad) return false;
    for (std::size_t w = 0; w < views.size(); ++w) {
      if (w == view || !registration.joined[w]) continue;
      const Rigid3d motion = inverse(registration.world_from_view[w]) * place;
      if (contradict(views[w], views[view], motion, scales, kFoundPoses)) {
        return false;
      }
    }
    return true;
  };
  std::vector<char> first_fits(pairs.size(), 0), second_fits(pairs.size(), 0);
  learn::for_each_reported(
      context, static_cast<std::int64_t>(pairs.size()), "doubts", progress,
      [&](std::int64_t number) {
        const auto i = static_cast<std::size_t>(number);
        const auto a = static_cast<std::size_t>(pairs[i].first);
        const auto b = static_cast<std::size_t>(pairs[i].second);
        const Rigid3d guess{Mat3d::identity(), middle_of(views[a]) - middle_of(views[b])};
        const PairOutcome alike = align_pair(views, pairs[i].first, pairs[i].second, guess,
                                             0.06 * scales.diagonal_m, scales, options);
        if (alike.failure != PairFailure::kNone) return;
        const Rigid3d& motion = alike.edge.alignment.target_from_source;
        first_fits[i] = fits_at(a, registration.world_from_view[b] * inverse(motion)) ? 1 : 0;
        second_fits[i] = fits_at(b, registration.world_from_view[a] * motion) ? 1 : 0;
      });
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (first_fits[i]) registration.alike.push_back(pairs[i].first);
    if (second_fits[i]) registration.alike.push_back(pairs[i].second);
  }
}

const char* reason_of(PairFailure failure) {
  switch (failure) {
    case PairFailure::kNoMatches:
      return "no other view has enough matching points";
    case PairFailure::kNoMotion:
      return "aligned with no other view";
    case PairFailure::kSlides:
      return "its shape slides on the other views (too round or flat)";
    default:
      return "does not fit to the other views where they overlap, or overlaps too little";
  }
}

}  // namespace

Registration register_views(const Context& context, std::vector<PreparedView>& views,
                            double diagonal_m, const ReconstructOptions& options,
                            const LearnProgress& progress) {
  const Scales scales{diagonal_m};
  Registration registration;
  registration.world_from_view.resize(views.size());
  registration.joined.assign(views.size(), 0);
  registration.reasons.resize(views.size());
  const std::vector<std::pair<int, int>> pairs = pairs_to_try(views);
  std::vector<PairOutcome> outcomes(pairs.size());
  learn::for_each_reported(
      context, static_cast<std::int64_t>(pairs.size()), "pairs", progress, [&](std::int64_t i) {
        const auto [a, b] = pairs[static_cast<std::size_t>(i)];
        outcomes[static_cast<std::size_t>(i)] = join_pair(views, a, b, scales, options);
      });
  carry_motions_on(context, views, pairs, scales, options, outcomes);
  std::vector<Edge> edges;
  std::vector<PairFailure> best(views.size(), PairFailure::kNoMatches);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].failure == PairFailure::kNone) edges.push_back(outcomes[i].edge);
    for (int v : {pairs[i].first, pairs[i].second}) {
      PairFailure& mine = best[static_cast<std::size_t>(v)];
      if (outcomes[i].failure == PairFailure::kNone) {
        mine = PairFailure::kNone;
      } else if (mine != PairFailure::kNone) {
        mine = std::max(mine, outcomes[i].failure);
      }
    }
  }
  drop_rough_edges(edges);
  count_circles(edges, scales);
  for (const Edge& edge : edges) {
    registration.circles += edge.circles;
    registration.open += edge.open;
  }
  registration.circles /= 3;
  registration.open /= 3;
  join_confirmed(edges, scales, registration);
  drop_contradicted_edges(scales, registration, edges);
  const std::vector<double> left = relax(edges, scales, registration);
  keep_pairs(edges, left, registration);
  std::erase_if(registration.pairs,
                [&](const JoinedPair& pair) { return !(pair.error_m < 3 * scales.outlier_m()); });
  for (std::size_t v = 0; v < views.size(); ++v) {
    if (registration.joined[v]) continue;
    registration.reasons[v] = views[v].points == 0 ? "no object was found in it"
                              : best[v] == PairFailure::kNone
                                  ? "fits only to views that the others contradict"
                                  : reason_of(best[v]);
  }
  refine_poses(context, views, diagonal_m, options, progress, registration);
  drop_contradictions(context, views, diagonal_m, kFoundPoses, registration);
  find_alike(context, views, scales, options, progress, registration);
  return registration;
}

void refine_poses(const Context& context, const std::vector<PreparedView>& views, double diagonal_m,
                  const ReconstructOptions& options, const LearnProgress& progress,
                  Registration& registration) {
  const Scales scales{diagonal_m};
  for (int round = 0; round < options.rounds; ++round) {
    std::vector<std::pair<int, int>> pairs = pairs_to_try(views);
    std::erase_if(pairs, [&](const std::pair<int, int>& pair) {
      return !registration.joined[static_cast<std::size_t>(pair.first)] ||
             !registration.joined[static_cast<std::size_t>(pair.second)];
    });
    std::vector<PairOutcome> outcomes(pairs.size());
    learn::for_each_reported(
        context, static_cast<std::int64_t>(pairs.size()), "alignment", progress,
        [&](std::int64_t i) {
          const auto [a, b] = pairs[static_cast<std::size_t>(i)];
          const Rigid3d guess = inverse(registration.world_from_view[static_cast<std::size_t>(a)]) *
                                registration.world_from_view[static_cast<std::size_t>(b)];
          const PreparedView& view_a = views[static_cast<std::size_t>(a)];
          const PreparedView& view_b = views[static_cast<std::size_t>(b)];
          const Agreement there = agreement(view_a, view_b, guess, 2 * scales.tolerance_m());
          if (there.overlap() < static_cast<double>(options.least_overlap)) return;
          outcomes[static_cast<std::size_t>(i)] =
              align_pair(views, a, b, guess, 2 * scales.tolerance_m(), scales, options);
        });
    std::vector<Edge> edges;
    for (const PairOutcome& outcome : outcomes) {
      if (outcome.failure == PairFailure::kNone) edges.push_back(outcome.edge);
    }
    drop_rough_edges(edges);
    if (edges.empty()) return;
    keep_pairs(edges, relax(edges, scales, registration), registration);
  }
}

void drop_contradictions(const Context& context, const std::vector<PreparedView>& views,
                         double diagonal_m, const ContradictionLimits& limits,
                         Registration& registration) {
  const Scales scales{diagonal_m};
  const auto count = static_cast<std::int64_t>(views.size());
  std::vector<char> contradicts(views.size() * views.size(), 0);
  for_each_chunk(context, count * count, 8, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto a = static_cast<std::size_t>(i / count), b = static_cast<std::size_t>(i % count);
      if (a >= b || !registration.joined[a] || !registration.joined[b]) continue;
      const Rigid3d motion =
          inverse(registration.world_from_view[a]) * registration.world_from_view[b];
      contradicts[static_cast<std::size_t>(i)] =
          contradict(views[a], views[b], motion, scales, limits) ? 1 : 0;
    }
  });
  for (;;) {
    std::size_t worst = 0;
    int most = 0;
    for (std::size_t v = 0; v < views.size(); ++v) {
      if (!registration.joined[v]) continue;
      int mine = 0;
      for (std::size_t w = 0; w < views.size(); ++w) {
        if (!registration.joined[w]) continue;
        mine += contradicts[v * views.size() + w] || contradicts[w * views.size() + v] ? 1 : 0;
      }
      if (mine > most) {
        most = mine;
        worst = v;
      }
    }
    const auto joined = std::count(registration.joined.begin(), registration.joined.end(), 1);
    if (most == 0 || most < limits.least_share * static_cast<double>(joined - 1)) break;
    leave_out(worst,
              "with its pose it sees through what " + std::to_string(most) +
                  (most == 1 ? " other view measured" : " other views measured"),
              registration);
  }
}

}  // namespace sextant::detail::learn_views
