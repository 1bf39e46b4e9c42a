// SPDX-License-Identifier: Apache-2.0
#include "sextant/pose/descriptor_alignment.h"

#include "sextant/descriptor/keypoints.h"
#include "sextant/descriptor/shot.h"
#include "sextant/geometry/gather.h"
#include "sextant/match/descriptors.h"

namespace sextant {

namespace {

struct Described {
  Buffer<Vec3f> points, normals;
  ShotDescriptors shot;
};

Described describe(const Context& context, const Surface& surface, float leaf_m, float radius_m) {
  Described described;
  const Buffer<std::int32_t> keypoints =
      uniform_keypoints(context, surface.points, {.leaf_m = leaf_m});
  described.points = gather<Vec3f>(context, surface.points, keypoints);
  described.normals = gather<Vec3f>(context, surface.normals, keypoints);
  described.shot = compute_shot(context, ShotSurface{surface.points, surface.normals},
                                keypoints.view(), {.radius_m = radius_m});
  return described;
}

}  // namespace

RansacAlignment align_by_descriptors(const Context& context, const Surface& source,
                                     const Surface& target,
                                     const DescriptorAlignmentOptions& options) {
  check_options(options);
  require(context.is_cpu(), "align_by_descriptors: runs on the host, the context on ",
          to_string(context.device()));
  for (const Surface* surface : {&source, &target}) {
    check_surface(*surface);
    require_on(context, surface->points.view(), "surface.points");
    require(surface->size() == 0 || !surface->normals.empty(),
            "align_by_descriptors: a surface has no normals; estimate them first");
  }
  const float diagonal_m = min_of(bounds(context, source.points).diagonal_m(),
                                  bounds(context, target.points).diagonal_m());
  RansacAlignment none;
  none.reason = "a surface has no extent";
  if (!(diagonal_m > 0)) return none;
  const float radius_m = options.shot_radius_m > 0 ? options.shot_radius_m : 0.1f * diagonal_m;
  const float leaf_m = options.leaf_m > 0 ? options.leaf_m : radius_m / 6;
  const Described from = describe(context, source, leaf_m, radius_m);
  const Described to = describe(context, target, leaf_m, radius_m);
  constexpr int kCandidates = 2;
  const NearestDescriptors nearest = nearest_descriptors(
      context, DescriptorRows<float>{from.shot.values, from.shot.length},
      DescriptorRows<float>{to.shot.values, to.shot.length}, {.k = kCandidates});
  std::vector<Vec3f> p, q, p_normals, q_normals;
  for (std::int64_t i = 0; i < nearest.indices.size(); ++i) {
    const std::int32_t match = nearest.indices.data()[i];
    if (match < 0) continue;
    p.push_back(from.points.data()[i / kCandidates]);
    p_normals.push_back(from.normals.data()[i / kCandidates]);
    q.push_back(to.points.data()[match]);
    q_normals.push_back(to.normals.data()[match]);
  }
  RansacAlignmentOptions ransac;
  ransac.trials = options.trials;
  ransac.inlier_distance_m =
      options.inlier_distance_m > 0 ? options.inlier_distance_m : 0.03f * diagonal_m;
  ransac.seed = options.seed;
  return ransac_alignment(context, {view_of(p), view_of(q), view_of(p_normals), view_of(q_normals)},
                          ransac);
}

}  // namespace sextant
