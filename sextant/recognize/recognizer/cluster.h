// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/workspace.h"
#include "sextant/match/point_pairs.h"
#include "sextant/recognize/recognizer/poses_math.h"
#include "sextant/recognize/recognizer/stages.h"

// Poses of several objects joined, each to the first of its object that is the same within limits
// and was joined to none itself. That one leads them.

namespace sextant::detail::recognizer {

/// Votes from the best agreement down: those of object m are order[first[m] .. first[m + 1] - 1].
struct SortedVotes {
  const PoseVote* all;
  const std::uint32_t* order;
  const std::int32_t* first;

  SEXTANT_HD std::int32_t size(std::int32_t m) const {
    const std::int32_t all_of_it = first[m + 1] - first[m];
    const std::int32_t most = max_of(static_cast<std::int32_t>(kLeastVotes),
                                     all_of_it / static_cast<std::int32_t>(kVotesShare));
    return min_of(all_of_it, most);
  }
  SEXTANT_HD std::uint32_t number(std::int32_t m, std::int32_t k) const {
    return order[first[m] + k];
  }
  SEXTANT_HD Rigid3f pose(std::uint32_t number) const { return all[number].scene_from_model; }
  SEXTANT_HD float votes(std::uint32_t number) const { return all[number].votes; }
};

/// Refined poses, `slots` places for each object.
struct RefinedPoses {
  const Rigid3d* all;
  const std::int32_t* counts;
  std::int32_t slots;

  SEXTANT_HD std::int32_t size(std::int32_t m) const { return counts[m]; }
  SEXTANT_HD std::uint32_t number(std::int32_t m, std::int32_t k) const {
    return static_cast<std::uint32_t>(m * slots + k);
  }
  SEXTANT_HD Rigid3f pose(std::uint32_t number) const { return cast<float>(all[number]); }
  SEXTANT_HD float votes(std::uint32_t) const { return 0; }
};

struct ClusterLimits {
  float distance_share;  ///< of the diameter
  float trace;           ///< see least_trace
};

/// `capacity` places for each object, of which counts[m] are used; others that would lead are left
/// out.
struct Clusters {
  std::int32_t capacity = 0;
  std::uint32_t* leaders = nullptr;
  float* votes = nullptr;    ///< of all that were joined
  Vec3f* centres = nullptr;  ///< of the leaders
  std::int32_t* counts = nullptr;
};
Clusters take_clusters(const Context& context, std::int64_t models, std::int64_t capacity,
                       Workspace& workspace);

/// How near centres of the same pose are, before turns and symmetries are looked at.
SEXTANT_HD inline float centre_reach_m(const ModelView& model, const ClusterLimits& limits) {
  return 1.001f * limits.distance_share * model.diameter_m + model.shift_m;
}

void cluster_votes(const Context& context, View<const ModelView> models, const SortedVotes& votes,
                   const ClusterLimits& limits, const Clusters& clusters);
void cluster_refined(const Context& context, View<const ModelView> models,
                     const RefinedPoses& poses, const ClusterLimits& limits,
                     const Clusters& clusters);

template <class Poses>
void cluster_cuda(const Context& context, View<const ModelView> models, const Poses& poses,
                  const ClusterLimits& limits, const Clusters& clusters);

}  // namespace sextant::detail::recognizer
