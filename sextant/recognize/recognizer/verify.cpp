// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer/verify.h"

#include <algorithm>

#include "sextant/core/for_each.h"

namespace sextant::detail::recognizer {

namespace {

constexpr int kBatch = 32;

}  // namespace

Verifier::Verifier(const Context& context, const SceneFrame& scene, const Model& model,
                   const RenderScene& meshes, int mesh)
    : context_(context), scene_(scene), model_(model), meshes_(meshes), mesh_(mesh) {
  rendering_.width = kCropCells;
  rendering_.height = kCropCells;
}

Crop Verifier::crop_of(const Rigid3d& pose) const {
  const Vec3d centre = pose * cast<double>(model_.centre);
  const Camera frame = cast<double>(scene_.camera);
  Crop crop;
  crop.camera = frame;
  crop.camera.width = crop.camera.height = kCropCells;
  if (!(centre.z > 0)) {
    crop.camera.cx_px = crop.camera.cy_px = -1e6;  // behind the camera: nothing is rendered
    return crop;
  }
  const double near = std::max(centre.z - model_.radius_m, 0.3 * centre.z);
  const double reach_px = frame.fx_px * (model_.radius_m + kOutlineWalk * model_.diameter_m) / near + 3;
  crop.stride = std::max(1, static_cast<int>(std::ceil(2 * reach_px / kCropCells)));
  const Vec2d middle = project(frame, centre);
  crop.first_u = static_cast<int>(std::lround(middle.x)) - crop.stride * kCropCells / 2;
  crop.first_v = static_cast<int>(std::lround(middle.y)) - crop.stride * kCropCells / 2;
  crop.camera.fx_px = frame.fx_px / crop.stride;
  crop.camera.fy_px = frame.fy_px / crop.stride;
  crop.camera.cx_px = (frame.cx_px - crop.first_u) / crop.stride;
  crop.camera.cy_px = (frame.cy_px - crop.first_v) / crop.stride;
  return crop;
}

float Verifier::weakest(const PoseEquations<double>& equations) const {
  const PoseDirections along = pose_directions(equations, 0.5 * model_.diameter_m);
  const double information = along.information[model_.free_turns] * equations.weight;
  const double deviation = 1 / std::sqrt(std::max(information, 1e-12));
  return static_cast<float>(std::min(deviation / model_.diameter_m, 1.0));
}

std::vector<Compared> Verifier::verify(std::span<const Rigid3d> poses, const CompareWants& wants) {
  std::vector<Compared> results(poses.size());
  RenderOptions options;
  options.normals = true;
  for (std::size_t first = 0; first < poses.size(); first += kBatch) {
    const std::size_t count = std::min<std::size_t>(kBatch, poses.size() - first);
    std::vector<Crop> crops;
    std::vector<Camera> cameras;
    std::vector<Instance> instances;
    for (std::size_t k = 0; k < count; ++k) {
      crops.push_back(crop_of(poses[first + k]));
      cameras.push_back(crops.back().camera);
      instances.push_back({mesh_, static_cast<std::int32_t>(k), 0, cast<float>(poses[first + k])});
    }
    rendering_.views = static_cast<int>(count);
    render_into(context_, meshes_, view_of(std::as_const(cameras)),
                view_of(std::as_const(instances)), options, rendering_, workspace_);
    for_each_chunk(
        context_, static_cast<std::int64_t>(count), 2, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t k = begin; k < end; ++k) {
            const int view = static_cast<int>(k);
            Compared& result = results[first + static_cast<std::size_t>(k)];
            result = compare(scene_, model_.diameter_m,
                             cast<float>(poses[first + static_cast<std::size_t>(k)] *
                                         cast<double>(model_.centre)),
                             crops[static_cast<std::size_t>(k)], rendering_.depth_m_of(view),
                             rendering_.normals_of(view), wants);
            if (wants.equations) result.terms.weakest = weakest(result.equations);
          }
        });
  }
  return results;
}

}  // namespace sextant::detail::recognizer
