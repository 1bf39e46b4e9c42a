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

std::vector<Compared> Verifier::verify(std::span<const Rigid3d> poses, const CompareWants& wants) {
  std::vector<Compared> results(poses.size());
  const FrameView frame = scene_.view();
  const ModelView model = model_.view();
  RenderOptions options;
  options.normals = true;
  for (std::size_t first = 0; first < poses.size(); first += kBatch) {
    const std::size_t count = std::min<std::size_t>(kBatch, poses.size() - first);
    std::vector<Crop> crops;
    std::vector<Camera> cameras;
    std::vector<Instance> instances;
    for (std::size_t k = 0; k < count; ++k) {
      crops.push_back(crop_of(scene_.camera, model, poses[first + k]));
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
            result = compare(frame, model,
                             cast<float>(poses[first + static_cast<std::size_t>(k)] *
                                         cast<double>(model_.centre)),
                             crops[static_cast<std::size_t>(k)], rendering_.depth_m_of(view),
                             rendering_.normals_of(view), wants);
          }
        });
  }
  return results;
}

}  // namespace sextant::detail::recognizer
