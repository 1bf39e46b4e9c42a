// SPDX-License-Identifier: Apache-2.0
#include "sextant/evaluate/refined_truth.h"

#include <cmath>

#include "sextant/depth/deproject.h"
#include "sextant/pose/align.h"
#include "sextant/surface/normals.h"

namespace sextant {

namespace {

/// A depth map as the alignment needs it, with normals and the camera of its rows.
Surface surface_of(const Context& context, ImageView<const float> depth_m, const Camera& camera) {
  Surface surface(deproject(context, depth_m, camera));
  surface.camera = camera;
  surface.camera_rows = true;
  Image<Vec3f> normals = estimate_normals(context, surface.point_image());
  surface.normals = copy(context, normals.pixels());
  return surface;
}

/// What the camera sees of an instance that stands alone, in the camera's frame.
Surface drawn_surface(const Context& context, const EvaluatedModels& models, const Camera& camera,
                      int mesh, const Rigid3d& pose) {
  RenderOptions options;
  options.normals = true;
  const Instance instance{mesh, 0, 0, cast<float>(pose)};
  const Rendering drawn = render(context, models.scene, camera, {&instance, 1}, options);
  Surface surface(deproject(context, drawn.depth_m_of(0), camera));
  surface.normals = copy(context, drawn.normals);
  surface.camera = camera;
  surface.camera_rows = true;
  return surface;
}

std::int64_t finite_points(const Surface& surface) {
  std::int64_t count = 0;
  for (const Vec3f& p : surface.points.host()) count += is_finite(p) && p.z > 0 ? 1 : 0;
  return count;
}

RefinedTruth refine_one(const Context& context, const EvaluatedModels& models, int mesh,
                        const Camera& camera, const AlignSurface& measured, const Rigid3d& given,
                        const RefineTruthOptions& options) {
  const EvaluatedModel& model = models.models[static_cast<std::size_t>(mesh)];
  RefinedTruth result{given, TruthRefinement::kHardlySeen, {NAN, NAN}, 0};
  const Surface seen = drawn_surface(context, models, camera, mesh, given);
  AlignOptions align_options;
  align_options.association = AlignAssociation::kProjected;
  align_options.levels = 3;
  align_options.max_distance_m = static_cast<float>(options.reach * model.diameter_m);
  if (finite_points(seen) < align_options.least_pairs) return result;
  const AlignSurface source(context, seen, align_options);
  const Alignment alignment = align(context, source, measured, {}, align_options);
  const Rigid3d moved = renormalized(alignment.target_from_source * given);
  result.moved = pose_difference(model, moved, given);
  result.sliding = alignment.degenerate;
  if (alignment.stop == AlignStop::kTooFew || alignment.inlier_share < options.least_support) {
    return result;
  }
  if (result.moved.translation_m > options.most_moved * model.diameter_m ||
      result.moved.rotation_rad > options.most_turned_rad) {
    result.outcome = TruthRefinement::kTooFar;
    return result;
  }
  result.camera_from_object = moved;
  result.outcome = TruthRefinement::kMoved;
  return result;
}

}  // namespace

std::vector<RefinedTruth> refine_truth(const Context& context, const EvaluatedModels& models,
                                       const Camera& camera, ImageView<const float> measured_m,
                                       std::span<const TrueInstance> truth,
                                       const RefineTruthOptions& options) {
  require(context.is_cpu(), "refine_truth: runs on the host, the context on ",
          to_string(context.device()));
  check_options(options);
  std::vector<RefinedTruth> result;
  if (truth.empty()) return result;
  const AlignSurface measured(context, surface_of(context, measured_m, camera));
  for (const TrueInstance& instance : truth) {
    const int mesh = models.find(instance.object_id);
    require(mesh >= 0, "object ", instance.object_id, ": is in the truth but has no model");
    result.push_back(
        refine_one(context, models, mesh, camera, measured, instance.camera_from_object, options));
  }
  return result;
}

}  // namespace sextant
