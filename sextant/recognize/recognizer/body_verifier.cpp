// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer/body_verifier.h"

#include "sextant/core/for_each.h"

namespace sextant::detail::recognizer {

std::vector<Compared> BodyVerifier::verify(std::span<const BodyPose> poses,
                                           const CompareWants& wants) {
  std::vector<Compared> results(poses.size());
  if (poses.empty()) return results;
  const auto size = static_cast<std::int64_t>(poses.size());
  std::vector<Rigid3d> moves;
  std::vector<std::int32_t> bodies;
  moves.reserve(poses.size());
  bodies.reserve(poses.size());
  for (const BodyPose& pose : poses) {
    moves.push_back(pose.camera_from_body);
    bodies.push_back(pose.body);
  }
  const Workspace::Scope scope(workspace_);
  const auto moves_there = workspace_.take<Rigid3d>(context_, size);
  const auto bodies_there = workspace_.take<std::int32_t>(context_, size);
  copy<Rigid3d>(context_, view_of(std::as_const(moves)), moves_there);
  copy<std::int32_t>(context_, view_of(std::as_const(bodies)), bodies_there);
  const auto sums_there = workspace_.take<CompareSums>(context_, size);
  const auto masks_there =
      workspace_.take<std::uint32_t>(context_, wants.pixels ? size * kMaskWords : 0);
  VerifyJob job{frame_, bodies_.there, {}, sums_there.data, nullptr};
  job.list.poses = moves_there.data;
  job.list.size = size;
  job.list.objects = bodies_there.data;
  if (wants.pixels) job.supported = masks_there.data;
  verify_all(context_, *bodies_.meshes, job, workspace_);
  const std::vector<CompareSums> sums = to_host(context_, sums_there);
  const std::vector<std::uint32_t> masks = to_host(context_, masks_there);
  const Context host = context_.is_cpu() ? context_ : Context::cpu();
  for_each_chunk(host, size, 4, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const ModelView& body = view(bodies[i]);
      const Crop crop = crop_of(frame_.camera, body, moves[i]);
      const Vec3f centre = cast<float>(moves[i] * cast<double>(body.centre));
      results[i].terms = terms_of(sums[i], frame_, body, centre, crop.stride);
      results[i].equations = sums[i].equations;
      if (!wants.pixels) continue;
      results[i].pixels = supported_pixels(frame_.camera, crop, masks.data() + i * kMaskWords);
    }
  });
  return results;
}

std::vector<Compared> BodyVerifier::verify(std::int32_t body, std::span<const Rigid3d> poses,
                                           const CompareWants& wants) {
  std::vector<BodyPose> of_body;
  of_body.reserve(poses.size());
  for (const Rigid3d& pose : poses) of_body.push_back({body, pose});
  return verify(of_body, wants);
}

}  // namespace sextant::detail::recognizer
