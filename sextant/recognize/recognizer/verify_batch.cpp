// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer/verify_batch.h"

#include "sextant/core/cuda/dispatch.h"
#include "sextant/core/for_each.h"
#include "sextant/recognize/recognizer/compare.h"
#include "sextant/render/rasterize.h"

namespace sextant::detail::recognizer {

namespace {

constexpr std::size_t kBatch = 32;  // poses that are rendered before they are compared

void verify_cpu(const Context& context, const RenderScene& meshes, const VerifyJob& job,
                std::span<const std::int64_t> places, Rendering& rendering, Workspace& workspace) {
  std::vector<Crop> crops;
  std::vector<Camera> cameras;
  std::vector<Instance> instances;
  for (const std::int64_t place : places) {
    const std::int32_t m = job.list.object_of(place);
    const Rigid3d& pose = job.list.poses[place];
    crops.push_back(crop_of(job.frame.camera, job.models[m], pose));
    cameras.push_back(crops.back().camera);
    instances.push_back({m, static_cast<std::int32_t>(instances.size()), 0, cast<float>(pose)});
  }
  rendering.views = static_cast<int>(places.size());
  RenderOptions options;
  options.normals = true;
  render_into(context, meshes, view_of(std::as_const(cameras)), view_of(std::as_const(instances)),
              options, rendering, workspace);
  for_each_chunk(context, static_cast<std::int64_t>(places.size()), 2,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t k = begin; k < end; ++k) {
                     const std::int64_t place = places[static_cast<std::size_t>(k)];
                     const ModelView& model = job.models[job.list.object_of(place)];
                     const Vec3d centre = job.list.poses[place] * cast<double>(model.centre);
                     job.sums[place] = compare_cells(
                         job.frame, model, cast<float>(centre), crops[static_cast<std::size_t>(k)],
                         rendering.depth_m_of(static_cast<int>(k)),
                         rendering.normals_of(static_cast<int>(k)),
                         job.supported ? job.supported + place * kMaskWords : nullptr);
                   }
                 });
}

void verify_cpu(const Context& context, const RenderScene& meshes, const VerifyJob& job,
                Workspace& workspace) {
  std::vector<std::int64_t> places;
  for (std::int64_t place = 0; place < job.list.size; ++place) {
    if (job.list.object_of(place) >= 0) places.push_back(place);
  }
  Rendering rendering;
  rendering.width = rendering.height = kCropCells;
  for (std::size_t first = 0; first < places.size(); first += kBatch) {
    const std::size_t count = std::min(kBatch, places.size() - first);
    verify_cpu(context, meshes, job, std::span(places).subspan(first, count), rendering, workspace);
  }
}

}  // namespace

void verify_all(const Context& context, const RenderScene& meshes, const VerifyJob& job,
                Workspace& workspace) {
  on_device(
      context, [&] { verify_cuda(context, meshes.view(), job, workspace); },
      [&] { verify_cpu(context, meshes, job, workspace); });
}

}  // namespace sextant::detail::recognizer
