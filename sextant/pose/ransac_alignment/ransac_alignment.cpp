// SPDX-License-Identifier: Apache-2.0
#include "sextant/pose/ransac_alignment.h"

#include "sextant/core/for_each.h"
#include "sextant/core/random.h"

namespace sextant {

namespace {

struct Search {
  const PointMatches& matches;
  const RansacAlignmentOptions& options;
  bool normals;
  float least_cosine;

  std::int64_t count() const { return matches.source.size; }

  bool agrees(const Rigid3f& motion, std::int64_t i) const {
    const float limit = options.inlier_distance_m;
    const Vec3f left = motion * matches.source[i] - matches.target[i];
    if (!(norm_sq(left) <= limit * limit)) return false;
    if (!normals) return true;
    return dot(motion.rotation * matches.source_normals[i], matches.target_normals[i]) >=
           least_cosine;
  }

  std::vector<std::int32_t> inliers(const Rigid3f& motion) const {
    std::vector<std::int32_t> list;
    for (std::int64_t i = 0; i < count(); ++i) {
      if (agrees(motion, i)) list.push_back(static_cast<std::int32_t>(i));
    }
    return list;
  }

  /// The edge between two pairs is long enough and as long in source and target.
  bool edge_fits(std::int64_t i, std::int64_t j) const {
    const float a = norm(matches.source[i] - matches.source[j]);
    const float b = norm(matches.target[i] - matches.target[j]);
    const float least = options.least_edge * options.inlier_distance_m;
    return min_of(a, b) > least && std::abs(a - b) <= options.edge_tolerance * max_of(a, b);
  }

  /// How many pairs agree with the motion of a trial's triple; 0 where it is none.
  std::int32_t score(std::int64_t trial, Rigid3d& motion) const {
    const Random random{options.seed, static_cast<std::uint64_t>(trial)};
    const auto size = static_cast<std::uint32_t>(count());
    std::int64_t at[3];
    for (int k = 0; k < 3; ++k) at[k] = random.below(size, static_cast<std::uint64_t>(k));
    if (at[0] == at[1] || at[0] == at[2] || at[1] == at[2]) return 0;
    if (!edge_fits(at[0], at[1]) || !edge_fits(at[0], at[2]) || !edge_fits(at[1], at[2])) return 0;
    Vec3f p[3], q[3];
    for (int k = 0; k < 3; ++k) {
      p[k] = matches.source[at[k]];
      q[k] = matches.target[at[k]];
    }
    const RigidFit fit = fit_rigid<float>(p, q, nullptr, 3);
    if (fit.status != RigidFitStatus::kDetermined) return 0;
    const Rigid3f candidate = cast<float>(fit.target_from_source);
    for (std::int64_t k : at) {
      if (!agrees(candidate, k)) return 0;
    }
    std::int32_t agreeing = 0;
    for (std::int64_t i = 0; i < count(); ++i) agreeing += agrees(candidate, i) ? 1 : 0;
    motion = fit.target_from_source;
    return agreeing;
  }
};

struct Best {
  std::int32_t agreeing = 0;
  Rigid3d motion;
};

}  // namespace

RansacAlignment ransac_alignment(const Context& context, const PointMatches& matches,
                                 const RansacAlignmentOptions& options) {
  check_options(options);
  require(context.is_cpu(), "ransac_alignment: runs on the host, the context on ",
          to_string(context.device()));
  require_on(context, matches.source, "source");
  require_room(context, matches.target, matches.source.size, "target");
  const bool normals = !matches.source_normals.empty() && !matches.target_normals.empty();
  if (normals) {
    require_room(context, matches.source_normals, matches.source.size, "source_normals");
    require_room(context, matches.target_normals, matches.source.size, "target_normals");
  }
  RansacAlignment result;
  if (matches.source.size < options.least_inliers) {
    result.reason = "only " + std::to_string(matches.source.size) + " correspondences";
    return result;
  }
  const Search search{matches, options, normals, std::cos(options.normal_angle_rad)};

  constexpr std::int64_t kGrain = 256;
  std::vector<Best> best(static_cast<std::size_t>((options.trials + kGrain - 1) / kGrain));
  for_each_chunk(context, options.trials, kGrain, [&](std::int64_t begin, std::int64_t end) {
    Best& mine = best[static_cast<std::size_t>(begin / kGrain)];
    for (std::int64_t trial = begin; trial < end; ++trial) {
      Rigid3d motion;
      const std::int32_t agreeing = search.score(trial, motion);
      if (agreeing > mine.agreeing) mine = {agreeing, motion};
    }
  });
  Best winner;
  for (const Best& chunk : best) {
    if (chunk.agreeing > winner.agreeing) winner = chunk;
  }
  result.target_from_source = winner.motion;
  result.inliers =
      winner.agreeing > 0 ? search.inliers(cast<float>(winner.motion)) : result.inliers;
  for (int round = 0; round < 10 && result.inliers.size() >= 3; ++round) {
    std::vector<Vec3f> p, q;
    for (std::int32_t i : result.inliers) {
      p.push_back(matches.source[i]);
      q.push_back(matches.target[i]);
    }
    const RigidFit fit =
        fit_rigid<float>(p.data(), q.data(), nullptr, static_cast<std::int64_t>(p.size()));
    std::vector<std::int32_t> inliers = search.inliers(cast<float>(fit.target_from_source));
    if (inliers.size() < result.inliers.size()) break;
    result.target_from_source = fit.target_from_source;
    result.rms_m = fit.rms_m;
    if (inliers == result.inliers) break;
    result.inliers = std::move(inliers);
  }
  result.found = result.inliers.size() >= static_cast<std::size_t>(options.least_inliers);
  if (!result.found) {
    result.reason = "at most " + std::to_string(result.inliers.size()) + " of " +
                    std::to_string(matches.source.size) + " correspondences agree";
  }
  return result;
}

}  // namespace sextant
