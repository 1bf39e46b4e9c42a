// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer/cluster.h"

#include "sextant/core/cuda/dispatch.h"
#include "sextant/core/for_each.h"

namespace sextant::detail::recognizer {

namespace {

template <class Poses>
void cluster_model(const ModelView& model, std::int32_t m, const Poses& poses,
                   const ClusterLimits& limits, const Clusters& clusters) {
  const std::int64_t base = std::int64_t{m} * clusters.capacity;
  const float reach_m = centre_reach_m(model, limits);
  const float distance_m = limits.distance_share * model.diameter_m;
  std::int32_t count = 0;
  for (std::int32_t k = 0; k < poses.size(m); ++k) {
    const std::uint32_t number = poses.number(m, k);
    const Rigid3f pose = poses.pose(number);
    const Vec3f centre = pose * model.centre;
    std::int32_t leader = 0;
    for (; leader < count; ++leader) {
      if (norm_sq(clusters.centres[base + leader] - centre) > reach_m * reach_m) continue;
      const Rigid3f other = poses.pose(clusters.leaders[base + leader]);
      if (same_pose(model, other, pose, distance_m, limits.trace)) break;
    }
    if (leader < count) {
      clusters.votes[base + leader] += poses.votes(number);
    } else if (count < clusters.capacity) {
      clusters.leaders[base + count] = number;
      clusters.votes[base + count] = poses.votes(number);
      clusters.centres[base + count] = centre;
      ++count;
    }
  }
  clusters.counts[m] = count;
}

template <class Poses>
void cluster_cpu(const Context& context, View<const ModelView> models, const Poses& poses,
                 const ClusterLimits& limits, const Clusters& clusters) {
  for_each_chunk(context, models.size, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t m = begin; m < end; ++m) {
      cluster_model(models[m], static_cast<std::int32_t>(m), poses, limits, clusters);
    }
  });
}

}  // namespace

Clusters take_clusters(const Context& context, std::int64_t models, std::int64_t capacity,
                       Workspace& workspace) {
  const std::int64_t places = models * capacity;
  return {static_cast<std::int32_t>(capacity), workspace.take<std::uint32_t>(context, places).data,
          workspace.take<float>(context, places).data, workspace.take<Vec3f>(context, places).data,
          workspace.take<std::int32_t>(context, models).data};
}

void cluster_votes(const Context& context, View<const ModelView> models, const SortedVotes& votes,
                   const ClusterLimits& limits, const Clusters& clusters) {
  on_device(
      context, [&] { cluster_cuda(context, models, votes, limits, clusters); },
      [&] { cluster_cpu(context, models, votes, limits, clusters); });
}

void cluster_refined(const Context& context, View<const ModelView> models,
                     const RefinedPoses& poses, const ClusterLimits& limits,
                     const Clusters& clusters) {
  on_device(
      context, [&] { cluster_cuda(context, models, poses, limits, clusters); },
      [&] { cluster_cpu(context, models, poses, limits, clusters); });
}

}  // namespace sextant::detail::recognizer
