// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/photo_poses/hypotheses.h"
#include "sextant/recognize/photo_poses/mean_shift.h"

namespace sextant::detail::photo_poses {
namespace {

/// The clusters of one object in one photograph.
std::vector<PhotoCluster> clusters_of(const Problem& problem, std::int32_t object,
                                      std::int32_t photo, std::span<const std::int32_t> matches) {
  const PhotoPoseOptions& o = problem.options;
  std::vector<PhotoCluster> clusters;
  if (matches.size() < static_cast<std::size_t>(o.agree_points)) return clusters;
  std::vector<Vec2d> places;
  for (const std::int32_t m : matches) {
    places.push_back(problem.matches[static_cast<std::size_t>(m)].at_px);
  }
  const std::vector<std::int32_t> labels =
      o.clustering == PlaceClustering::kMeanShift
          ? mean_shift(places, o.cluster_radius_px, o.merge_px)
          : agglomerate(places, o.cluster_radius_px, o.merge_px);
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const auto label = static_cast<std::size_t>(labels[i]);
    if (label >= clusters.size()) clusters.push_back({object, photo, {}});
    clusters[label].matches.push_back(matches[i]);
  }
  std::erase_if(clusters, [&](const PhotoCluster& cluster) {
    return cluster.matches.size() < static_cast<std::size_t>(o.agree_points);
  });
  return clusters;
}

}  // namespace

std::vector<PhotoCluster> make_clusters(const Problem& problem) {
  struct Group {
    std::int32_t object, photo;
    std::vector<std::int32_t> matches;
  };
  std::vector<Group> groups;
  std::vector<std::int64_t> costs;
  for (std::size_t object = 0; object < problem.of_object.size(); ++object) {
    std::vector<std::vector<std::int32_t>> of_photo(problem.views.size());
    for (const std::int32_t m : problem.of_object[object]) {
      const PhotoObservation& o = problem.matches[static_cast<std::size_t>(m)];
      of_photo[static_cast<std::size_t>(o.camera)].push_back(m);
    }
    for (std::size_t photo = 0; photo < of_photo.size(); ++photo) {
      if (of_photo[photo].empty()) continue;
      costs.push_back(static_cast<std::int64_t>(of_photo[photo].size()));
      groups.push_back({static_cast<std::int32_t>(object), static_cast<std::int32_t>(photo),
                        std::move(of_photo[photo])});
    }
  }
  std::vector<std::vector<PhotoCluster>> found(groups.size());
  for_largest_first(problem.context, costs, [&](std::size_t i) {
    found[i] = clusters_of(problem, groups[i].object, groups[i].photo, groups[i].matches);
  });
  std::vector<PhotoCluster> clusters;
  for (std::vector<PhotoCluster>& of_group : found) {
    for (PhotoCluster& cluster : of_group) clusters.push_back(std::move(cluster));
  }
  return clusters;
}

}  // namespace sextant::detail::photo_poses
