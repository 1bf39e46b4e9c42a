// SPDX-License-Identifier: Apache-2.0
#include "sextant/learn/learn_views/register_views.h"

#include <algorithm>
#include <numeric>

#include "sextant/core/for_each.h"
#include "sextant/learn/progress/for_each_reported.h"
#include "sextant/match/descriptors.h"
#include "sextant/pose/pose_graph.h"
#include "sextant/pose/ransac_alignment.h"

namespace sextant::detail::learn_views {

namespace {

/// A pair of views whose relative pose was measured and checked.
struct Edge {
  int a = 0, b = 0;
  Alignment alignment;  ///< of b with a as the target
  double overlap = 0, agreement = 0;
  int circles = 0;  ///< of three views that it closes
  int open = 0;     ///< ... and that it does not
};

/// Lengths that follow from the size of the object.
struct Scales {
  double diagonal_m;
  double tolerance_m() const { return clamp(0.02 * diagonal_m, 0.003, 0.02); }
  double outlier_m() const { return clamp(0.02 * diagonal_m, 0.003, 0.05); }
  /// What the poses of three views around a circle may miss, at the object.
  double circle_m() const { return 0.06 * diagonal_m; }
};

/// Neighbouring pixels of a Kinect err together.
constexpr float kSharedError = 13;

enum class PairFailure { kNone, kNoMatches, kNoMotion, kSlides, kDisagrees };

/// How far two motions of views are apart, at the object.
double apart_m(const Rigid3d& p, const Rigid3d& q, const Vec3d& at, const Scales& scales) {
  return norm(p * at - q * at) +
         0.5 * scales.diagonal_m * rotation_angle(transpose(p.rotation) * q.rotation);
}

struct PairOutcome {
  Edge edge;
  PairFailure failure = PairFailure::kNoMatches;
};

AlignOptions align_options(const Scales& scales, double start_m) {
  AlignOptions options;
  options.max_distance_m = static_cast<float>(start_m);
  options.fine_distance_m = static_cast<float>(scales.tolerance_m());
  options.shared_error = kSharedError;
  options.most_points = 6000;
  return options;
}

/// Aligns b with a from a first pose on, and checks the result in both views.
PairOutcome align_pair(const std::vector<PreparedView>& views, int a, int b,
                       const Rigid3d& a_from_b, double start_m, const Scales& scales,
                       const ReconstructOptions& options) {
  const Context one = Context::cpu(1);
  const PreparedView& view_a = views[static_cast<std::size_t>(a)];
  const PreparedView& view_b = views[static_cast<std::size_t>(b)];
  PairOutcome outcome;
  outcome.edge.a = a;
  outcome.edge.b = b;
  Alignment& alignment = outcome.edge.alignment;
  alignment = align(one, view_b.aligned, view_a.aligned, a_from_b, align_options(scales, start_m));
  if (alignment.stop == AlignStop::kTooFew) {
    outcome.failure = PairFailure::kNoMotion;
    return outcome;
  }
  if (alignment.degenerate > 0) {
    outcome.failure = PairFailure::kSlides;
    return outcome;
  }
  const Rigid3d& pose = alignment.target_from_source;
  const Agreement in_a = agreement(view_a, view_b, pose, scales.tolerance_m());
  const Agreement in_b = agreement(view_b, view_a, inverse(pose), scales.tolerance_m());
  outcome.edge.agreement = std::min(in_a.share(), in_b.share());
  outcome.edge.overlap = std::min(in_a.overlap(), in_b.overlap());
  const bool good = outcome.edge.agreement >= static_cast<double>(options.least_agreement) &&
                    outcome.edge.overlap >= static_cast<double>(options.least_overlap);
  outcome.failure = good ? PairFailure::kNone : PairFailure::kDisagrees;
  return outcome;
}

/// Matches, fits and aligns two views about which nothing is known.
PairOutcome join_pair(const std::vector<PreparedView>& views, int a, int b, const Scales& scales,
                      const ReconstructOptions& options) {
  const Context one = Context::cpu(1);
  const PreparedView& to = views[static_cast<std::size_t>(a)];
  const PreparedView& from = views[static_cast<std::size_t>(b)];
  constexpr int kCandidates = 2;
  std::vector<Vec3f> source, target, source_normals, target_normals;
  for (std::size_t radius = 0; radius < from.described.size(); ++radius) {
    const DescribedPoints& p = from.described[radius];
    const DescribedPoints& q = to.described[radius];
    const NearestDescriptors nearest = nearest_descriptors(
        one, DescriptorRows<float>{p.shot.values, p.shot.length},
        DescriptorRows<float>{q.shot.values, q.shot.length}, {.k = kCandidates});
    for (std::int64_t i = 0; i < nearest.indices.size(); ++i) {
      const std::int32_t match = nearest.indices.data()[i];
      if (match < 0) continue;
      source.push_back(p.points.data()[i / kCandidates]);
      source_normals.push_back(p.normals.data()[i / kCandidates]);
      target.push_back(q.points.data()[match]);
      target_normals.push_back(q.normals.data()[match]);
    }
  }
  RansacAlignmentOptions ransac;
  ransac.trials = options.trials;
  ransac.inlier_distance_m = static_cast<float>(0.03 * scales.diagonal_m);
  ransac.normal_angle_rad = 0.6f;
  ransac.seed = options.seed;
  const RansacAlignment fit = ransac_alignment(
      one, {view_of(source), view_of(target), view_of(source_normals), view_of(target_normals)},
      ransac);
  if (!fit.found) return {};
  return align_pair(views, a, b, fit.target_from_source, 0.06 * scales.diagonal_m, scales, options);
}

/// Views that follow each other are often as far apart as those before and after them, on a
/// turntable always: where two of them could not be joined, or not well, the motions of their
/// neighbours are tried.
void carry_motions_on(const Context& context, const std::vector<PreparedView>& views,
                      const std::vector<std::pair<int, int>>& pairs, const Scales& scales,
                      const ReconstructOptions& options, std::vector<PairOutcome>& outcomes) {
  const int count = static_cast<int>(views.size());
  // Where the pair (v, v + 1) stands in the list, the last with the first one as well.
  std::vector<std::size_t> place(static_cast<std::size_t>(count), pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto [a, b] = pairs[i];
    if (b == a + 1) place[static_cast<std::size_t>(a)] = i;
    if (a == 0 && b == count - 1 && count > 2) place[static_cast<std::size_t>(b)] = i;
  }
  std::vector<Rigid3d> known;
  for (int v = 0; v < count; ++v) {
    const std::size_t i = place[static_cast<std::size_t>(v)];
    if (i == pairs.size() || outcomes[i].failure != PairFailure::kNone) continue;
    const Rigid3d& pose = outcomes[i].edge.alignment.target_from_source;
    known.push_back(outcomes[i].edge.a == v ? pose : inverse(pose));
  }
  if (known.empty()) return;
  // The motion that lies nearest to all others.
  const Vec3d centre = cast<double>(views[0].surface.points.host().empty()
                                        ? Vec3f{}
                                        : Vec3f{0, 0, static_cast<float>(scales.diagonal_m * 3)});
  const auto apart = [&](const Rigid3d& a, const Rigid3d& b) {
    return norm(a * centre - b * centre) +
           0.5 * scales.diagonal_m * rotation_angle(transpose(a.rotation) * b.rotation);
  };
  std::size_t best = 0;
  double least = INFINITY;
  for (std::size_t i = 0; i < known.size(); ++i) {
    double sum = 0;
    for (const Rigid3d& other : known) sum += std::min(apart(known[i], other), scales.diagonal_m);
    if (sum < least) {
      least = sum;
      best = i;
    }
  }
  const Rigid3d typical = known[best];
  for_each_chunk(context, count, 1, [&](std::int64_t begin, std::int64_t) {
    const std::size_t i = place[static_cast<std::size_t>(begin)];
    if (i == pairs.size()) return;
    const auto [a, b] = pairs[i];
    const Rigid3d guess = a == static_cast<int>(begin) ? typical : inverse(typical);
    PairOutcome tried = align_pair(views, a, b, guess, 0.06 * scales.diagonal_m, scales, options);
    const bool better = outcomes[i].failure != PairFailure::kNone ||
                        tried.edge.alignment.rms_m < outcomes[i].edge.alignment.rms_m;
    if (tried.failure == PairFailure::kNone && better) outcomes[i] = tried;
  });
}

/// Wrong poses fit worse: pairs whose residuals are several times those of the others are dropped.
void drop_rough_edges(std::vector<Edge>& edges) {
  constexpr double kRough = 5;
  std::vector<double> rms;
  for (const Edge& edge : edges) rms.push_back(edge.alignment.rms_m);
  if (rms.size() < 4) return;
  std::nth_element(rms.begin(), rms.begin() + static_cast<std::ptrdiff_t>(rms.size() / 2),
                   rms.end());
  const double limit = kRough * rms[rms.size() / 2];
  std::erase_if(edges, [&](const Edge& edge) { return edge.alignment.rms_m > limit; });
}

std::vector<std::pair<int, int>> pairs_to_try(const std::vector<PreparedView>& views) {
  constexpr int kAllPairs = 40, kApart = 8;
  std::vector<std::pair<int, int>> pairs;
  const int count = static_cast<int>(views.size());
  for (int a = 0; a < count; ++a) {
    for (int b = a + 1; b < count; ++b) {
      const int apart = std::min(b - a, count - (b - a));
      if (count > kAllPairs && apart > kApart) continue;
      if (views[static_cast<std::size_t>(a)].points > 0 &&
          views[static_cast<std::size_t>(b)].points > 0) {
        pairs.emplace_back(a, b);
      }
    }
  }
  return pairs;
}

Rigid3d a_from_b(const Edge& edge, int a) {
  const Rigid3d& pose = edge.alignment.target_from_source;
  return edge.a == a ? pose : inverse(pose);
}

/// Counts for each edge the circles of three views that close, and those that do not.
void count_circles(std::vector<Edge>& edges, const Scales& scales) {
  for (Edge& edge : edges) edge.circles = edge.open = 0;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    for (std::size_t j = i + 1; j < edges.size(); ++j) {
      for (std::size_t k = j + 1; k < edges.size(); ++k) {
        // Three edges make a circle when every view is named twice.
        const int a = edges[i].a, b = edges[i].b;
        const auto joins = [](const Edge& e, int x, int y) {
          return (e.a == x && e.b == y) || (e.a == y && e.b == x);
        };
        int c = -1;
        if (edges[j].a == a || edges[j].a == b) c = edges[j].b;
        if (edges[j].b == a || edges[j].b == b) c = c < 0 ? edges[j].a : -1;
        if (c < 0) continue;
        const bool first = joins(edges[j], b, c) && joins(edges[k], c, a);
        const bool second = joins(edges[k], b, c) && joins(edges[j], c, a);
        if (!first && !second) continue;
        const Edge& bc = first ? edges[j] : edges[k];
        const Edge& ca = first ? edges[k] : edges[j];
        const Rigid3d around = a_from_b(edges[i], a) * a_from_b(bc, b) * a_from_b(ca, c);
        const bool closes =
            apart_m(around, {}, edges[i].alignment.centre_m, scales) < scales.circle_m();
        for (std::size_t at : {i, j, k}) (closes ? edges[at].circles : edges[at].open) += 1;
      }
    }
  }
}

/// The views in groups whose poses among each other are sure.
struct Groups {
  std::vector<std::size_t> of;           ///< the group of each view
  std::vector<Rigid3d> group_from_view;  ///< the pose of each view in its group

  explicit Groups(std::size_t views) : of(views), group_from_view(views) {
    std::iota(of.begin(), of.end(), std::size_t{0});
  }
  std::size_t of_view(int view) const { return of[static_cast<std::size_t>(view)]; }
  /// What an edge says about the groups of its ends.
  Rigid3d a_group_from_b_group(const Edge& edge) const {
    return group_from_view[static_cast<std::size_t>(edge.a)] * edge.alignment.target_from_source *
           inverse(group_from_view[static_cast<std::size_t>(edge.b)]);
  }
  void join(const Edge& edge) {
    const std::size_t kept = of_view(edge.a), moved = of_view(edge.b);
    const Rigid3d kept_from_moved = a_group_from_b_group(edge);
    for (std::size_t v = 0; v < of.size(); ++v) {
      if (of[v] != moved) continue;
      of[v] = kept;
      group_from_view[v] = kept_from_moved * group_from_view[v];
    }
  }
};

/// Two groups are joined where most edges between them, and at least two that share no view, say
/// the same about them: such edges close a longer circle. Returns whether two were.
bool join_groups(const std::vector<Edge>& edges, const Scales& scales, Groups& groups) {
  for (const Edge& edge : edges) {
    const std::size_t g = groups.of_view(edge.a), h = groups.of_view(edge.b);
    if (g == h) continue;
    const Rigid3d said = groups.a_group_from_b_group(edge);
    const Vec3d at = groups.group_from_view[static_cast<std::size_t>(edge.b)] *
                     (inverse(edge.alignment.target_from_source) * edge.alignment.centre_m);
    int all = 0, same = 0;
    bool apart = false;
    for (const Edge& other : edges) {
      const std::size_t i = groups.of_view(other.a), j = groups.of_view(other.b);
      if (!((i == g && j == h) || (i == h && j == g))) continue;
      const Rigid3d says = groups.a_group_from_b_group(other);
      ++all;
      if (!(apart_m(said, i == g ? says : inverse(says), at, scales) < scales.circle_m())) continue;
      ++same;
      apart = apart ||
              (other.a != edge.a && other.a != edge.b && other.b != edge.a && other.b != edge.b);
    }
    if (!apart || 2 * same <= all) continue;
    groups.join(edge);
    return true;
  }
  return false;
}

/// Poses along the edges that circles confirm, in the largest group of views that they join.
void join_confirmed(const std::vector<Edge>& edges, const Scales& scales,
                    Registration& registration) {
  const std::size_t count = registration.world_from_view.size();
  std::vector<std::size_t> order(edges.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) {
    const Edge &a = edges[x], &b = edges[y];
    if (a.circles != b.circles) return a.circles > b.circles;
    return a.agreement * a.overlap > b.agreement * b.overlap;
  });
  Groups groups(count);
  for (std::size_t at : order) {
    const Edge& edge = edges[at];
    if (edge.circles <= edge.open || groups.of_view(edge.a) == groups.of_view(edge.b)) continue;
    groups.join(edge);
  }
  while (join_groups(edges, scales, groups)) {
  }
  std::vector<int> size(count, 0);
  for (std::size_t g : groups.of) ++size[g];
  const auto largest =
      static_cast<std::size_t>(std::max_element(size.begin(), size.end()) - size.begin());
  for (std::size_t v = 0; v < count; ++v) {
    registration.joined[v] = groups.of[v] == largest && size[largest] > 1 ? 1 : 0;
    registration.world_from_view[v] =
        registration.joined[v] ? groups.group_from_view[v] : Rigid3d{};
  }
}

/// Edges that the poses found contradict are no part of what these are relaxed over.
void drop_contradicted_edges(const Scales& scales, const Registration& registration,
                             std::vector<Edge>& edges) {
  std::erase_if(edges, [&](const Edge& edge) {
    const auto a = static_cast<std::size_t>(edge.a), b = static_cast<std::size_t>(edge.b);
    if (!registration.joined[a] || !registration.joined[b]) return true;
    const Rigid3d pose = inverse(registration.world_from_view[a]) * registration.world_from_view[b];
    const Vec3d at = inverse(edge.alignment.target_from_source) * edge.alignment.centre_m;
    return !(apart_m(pose, edge.alignment.target_from_source, at, scales) < 2 * scales.circle_m());
  });
}

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
                const Scales& scales) {
  constexpr double kLeastSeen = 150, kLeastShare = 0.9;
  const auto against = [&](const Agreement& there) {
    return there.supported + there.violated >= kLeastSeen && there.share() < kLeastShare;
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
      if (contradict(views[w], views[view], motion, scales)) return false;
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

/// A chain of pairs that all fit can still close a wrong circle. With the final poses every two
/// views are compared, whether they were aligned or not, and where one sees through what the other
/// measured, the view that contradicts most others is left out, until none is left that does.
void drop_contradictions(const Context& context, const std::vector<PreparedView>& views,
                         const Scales& scales, Registration& registration) {
  const auto count = static_cast<std::int64_t>(views.size());
  std::vector<char> contradicts(views.size() * views.size(), 0);
  for_each_chunk(context, count * count, 8, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto a = static_cast<std::size_t>(i / count), b = static_cast<std::size_t>(i % count);
      if (a >= b || !registration.joined[a] || !registration.joined[b]) continue;
      const Rigid3d motion =
          inverse(registration.world_from_view[a]) * registration.world_from_view[b];
      contradicts[static_cast<std::size_t>(i)] =
          contradict(views[a], views[b], motion, scales) ? 1 : 0;
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
    if (most == 0) break;
    leave_out(worst,
              "with the pose found it sees through what " + std::to_string(most) +
                  (most == 1 ? " other view measured" : " other views measured"),
              registration);
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
  drop_contradictions(context, views, scales, registration);
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

}  // namespace sextant::detail::learn_views
