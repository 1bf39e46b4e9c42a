// SPDX-License-Identifier: Apache-2.0
#include "sextant/learn/learn_views/view_pairs.h"

#include <algorithm>

#include "sextant/core/for_each.h"
#include "sextant/match/descriptors.h"
#include "sextant/pose/ransac_alignment.h"

namespace sextant::detail::learn_views {

namespace {

/// Neighbouring pixels of a Kinect err together.
constexpr float kSharedError = 13;

AlignOptions align_options(const Scales& scales, double start_m) {
  AlignOptions options;
  options.max_distance_m = static_cast<float>(start_m);
  options.fine_distance_m = static_cast<float>(scales.tolerance_m());
  options.shared_error = kSharedError;
  options.most_points = 6000;
  return options;
}

}  // namespace

double apart_m(const Rigid3d& p, const Rigid3d& q, const Vec3d& at, const Scales& scales) {
  return norm(p * at - q * at) +
         0.5 * scales.diagonal_m * rotation_angle(transpose(p.rotation) * q.rotation);
}

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

void drop_rough_edges(std::vector<Edge>& edges) {
  constexpr double kRough = 5;
  std::vector<double> rms;
  rms.reserve(edges.size());
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

}  // namespace sextant::detail::learn_views
