// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/photo_poses/score.h"

namespace sextant::detail::photo_poses {
namespace {

/// log10 of n over k.
double log_choose(double n, double k) {
  return (std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1)) / 2.302585092994046;
}

/// Mean and second moments of places in one photograph.
struct Spread {
  double count = 0, u = 0, v = 0, uu = 0, uv = 0, vv = 0;
  void add(const Vec2d& p) {
    count += 1;
    u += p.x;
    v += p.y;
    uu += p.x * p.x;
    uv += p.x * p.y;
    vv += p.y * p.y;
  }
  Vec2d mean() const { return {u / count, v / count}; }
  /// Variances along the axes and their product.
  double xx() const { return max_of(uu / count - u / count * (u / count), 0.0); }
  double yy() const { return max_of(vv / count - v / count * (v / count), 0.0); }
  double xy() const { return uv / count - u / count * (v / count); }
  double smaller() const {
    const double mean = 0.5 * (xx() + yy()), half = 0.5 * (xx() - yy());
    return std::sqrt(max_of(mean - std::sqrt(half * half + xy() * xy()), 0.0));
  }
};

}  // namespace

PhotoPoseTerms terms_of(const Problem& problem, const PhotoHypothesis& pose) {
  const PhotoPoseOptions& o = problem.options;
  const std::vector<Rigid3d> in_cameras = poses_in_cameras(problem, pose.world_from_object);
  PhotoPoseTerms terms;
  std::vector<Spread> spreads(problem.views.size());
  double squares = 0;
  const double sigma_sq = static_cast<double>(o.sigma_px) * o.sigma_px;
  for (const std::int32_t m : pose.matches) {
    const PhotoObservation& match = problem.matches[static_cast<std::size_t>(m)];
    const double error = error_sq_px(problem, in_cameras, m);
    spreads[static_cast<std::size_t>(match.camera)].add(match.at_px);
    squares += error;
    terms.q_score += 1 / (1 + error / sigma_sq);
    terms.agreeing += 1;
  }
  if (!(terms.agreeing > 0)) return terms;
  terms.rms_px = std::sqrt(squares / terms.agreeing);
  // The object's other matches within 2.5 deviations of those that agree: a filled outline is 2.
  double within = 0, area_px_sq = 0;
  for (const std::int32_t m : problem.of_object[static_cast<std::size_t>(pose.object)]) {
    const PhotoObservation& match = problem.matches[static_cast<std::size_t>(m)];
    const Spread& s = spreads[static_cast<std::size_t>(match.camera)];
    if (s.count < 1) continue;
    const double xx = s.xx() + 25, yy = s.yy() + 25, xy = s.xy();
    const Vec2d p = match.at_px - s.mean();
    const double far = (yy * p.x * p.x - 2 * xy * p.x * p.y + xx * p.y * p.y) / (xx * yy - xy * xy);
    within += far < 6.25 ? 1 : 0;
  }
  for (const Spread& s : spreads) {
    if (s.count < 1) continue;
    terms.spread_px = max_of(terms.spread_px, s.smaller());
    area_px_sq += 19.63 * std::sqrt((s.xx() + 25) * (s.yy() + 25) - s.xy() * s.xy());
  }
  within = max_of(within, terms.agreeing);
  terms.share = terms.agreeing / within;
  // Three matches make up to four poses; each further one agrees by chance with the share of the
  // outline that the limit covers.
  const double hit = min_of(3.1416 * static_cast<double>(o.refine_px_sq) / area_px_sq, 0.5);
  terms.chance = 0.602 + log_choose(within, 3) + log_choose(within - 3, terms.agreeing - 3) +
                 (terms.agreeing - 3) * std::log10(hit);
  return terms;
}

double score_of(const PhotoPoseTerms& terms) {
  if (terms.agreeing < 4) return 0;
  // Fitted by `sextant reproduce photo-score`: right is within 5 cm and 10 degrees.
  constexpr double kWeights[kPhotoScoreTerms] = {-6.608, 0.2006, 3.557, -1.007, 6.182};
  const std::array<double, kPhotoScoreTerms> x = photo_score_terms(terms);
  double logit = 0;
  for (std::size_t i = 0; i < kPhotoScoreTerms; ++i) logit += kWeights[i] * x[i];
  return 1 / (1 + std::exp(-logit));
}

}  // namespace sextant::detail::photo_poses

namespace sextant {

std::array<double, kPhotoScoreTerms> photo_score_terms(const PhotoPoseTerms& terms) {
  return {1, std::log(max_of(terms.agreeing, 1.0)), terms.share,
          std::log(clamp(terms.turn_rad, 1e-4, 3.0)),
          min_of(std::log(max_of(terms.agreeing, 1.0) / 8), 0.0)};
}

}  // namespace sextant
