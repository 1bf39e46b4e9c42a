// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer/propose.h"

#include <bit>

#include "sextant/core/for_each/anywhere.h"
#include "sextant/core/scan.h"
#include "sextant/core/sort.h"
#include "sextant/recognize/recognizer/propose_math.h"

namespace sextant::detail::recognizer {

namespace {

constexpr std::int64_t kMostModels = 4095;  // see scene_voxels

template <class T>
View<const T> upload(const Context& context, const std::vector<T>& values, Workspace& workspace) {
  const View<T> there = workspace.take<T>(context, static_cast<std::int64_t>(values.size()));
  copy<T>(context, view_of(values), there);
  return there;
}

/// An element of the device that the host needs.
std::int32_t element(const Context& context, View<const std::int32_t> values, std::int64_t i) {
  return to_host(context, values.subview(i, 1))[0];
}

/// Takes a fifth more than is needed, so that the memory serves frames that need somewhat more.
template <class T>
View<T> take_ample(const Context& context, std::int64_t count, Workspace& workspace) {
  return workspace.take<T>(context, count + count / 5).subview(0, count);
}

/// Compares poses with the frame.
template <class Judged>
void judge_all(const Context& context, std::int64_t count, const Judged& judged) {
  on_device(
      context, [&] { judge_cuda(context, count, judged); },
      [&] {
        for_each(context, count, [&](std::int64_t i) {
          const JudgedPose pose = judged.pose(i);
          judged.write(i, pose.object,
                       pose.object < 0 ? 0.0f
                                       : visible_agreement(judged.frame, judged.models[pose.object],
                                                           pose.pose, Judged::kStep));
        });
      });
}

/// Samples of the frame for every object; those of object m begin at first[m].
SceneSamples sample_all(const Context& context, const ModelSet& models, const SceneFrame& scene,
                        ImageView<const std::uint8_t> mask, Workspace& workspace) {
  std::vector<PixelGrid> grids;
  std::int64_t size = 0;
  for (const ModelView& model : std::span(models.host).first(models.first_pack.size())) {
    const int step = proposing_step(scene, model.leaf_m);
    const std::int32_t columns = (scene.camera.width + step - 1) / step;
    const std::int32_t rows = (scene.camera.height + step - 1) / step;
    grids.push_back({size, step, columns, model.leaf_m, model.diameter_m});
    size += std::int64_t{columns} * rows;
  }
  require(size < INT32_MAX, "depth_m: its pixels for ", models.size(),
          " objects are too many; look for fewer at once");
  const View<std::int32_t> before = take_ample<std::int32_t>(context, size + 1, workspace);
  const GridPixels grid{{scene.view(), scene.on_plane.data(), mask, scene.averaged},
                        upload(context, grids, workspace).data,
                        static_cast<std::int32_t>(models.size()),
                        size,
                        before.data};
  for_each_anywhere(context, size + 1, MarkProposing{grid});
  exclusive_scan<std::int32_t>(context, before, before, workspace);
  const std::int64_t count = element(context, before, size);
  const point_samples::NumberedPoints numbered{scene.points.pixels(), scene.normals.pixels(),
                                               take_ample<std::uint64_t>(context, count, workspace),
                                               take_ample<std::uint32_t>(context, count, workspace),
                                               models.size()};
  for_each_anywhere(context, size,
                    NumberProposing{grid, numbered.voxels.data, numbered.order.data});
  const View<Vec3f> points = take_ample<Vec3f>(context, count, workspace);
  const View<Vec3f> normals = take_ample<Vec3f>(context, count, workspace);
  const View<std::int32_t> first = workspace.take<std::int32_t>(context, models.size() + 1);
  samples_of_numbered_into(context, numbered, PointSamplesOptions{}.normal_angle_rad, points,
                           normals, first, workspace);
  const std::int64_t samples = element(context, first, models.size());
  return {points.subview(0, samples), normals.subview(0, samples), first};
}

}  // namespace

Proposals propose_all(const Context& context, const ModelSet& models, const SceneFrame& scene,
                      ImageView<const std::uint8_t> mask, std::span<const ObjectPose> given,
                      const RecognizeOptions& options, StepClock& clock, Workspace& workspace) {
  const std::int64_t count = models.size();
  require(count <= kMostModels, "objects: ", count, " are more than ", kMostModels,
          ", which a GPU looks for at once");
  const SceneSamples samples = sample_all(context, models, scene, mask, workspace);
  clock.stop("sample");

  const std::int64_t room = pose_vote_capacity(models.pairs, samples.points.size);
  const View<PoseVote> votes = take_ample<PoseVote>(context, room, workspace);
  const View<std::int32_t> first_vote = workspace.take<std::int32_t>(context, count + 1);
  vote_for_poses_into(context, models.pairs, samples, votes, first_vote, workspace);
  clock.stop("vote");

  const auto model_bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(count)));
  const SortBits by_model_and_rank{0, 32 + model_bits};
  const FrameView frame = scene.view();
  const View<std::uint64_t> keys = take_ample<std::uint64_t>(context, room, workspace);
  const View<std::uint32_t> order = take_ample<std::uint32_t>(context, room, workspace);
  judge_all(context, room,
            JudgeVote{frame, models.views.data(), static_cast<std::int32_t>(count), first_vote.data,
                      votes.data, keys.data, order.data});
  sort_pairs(context, keys, order, by_model_and_rank, workspace);
  const View<std::int32_t> first = workspace.take<std::int32_t>(context, count + 1);
  for_each_anywhere(context, count + 1, FirstOfModel{keys.data, room, first.data});
  const Clusters clusters = take_clusters(context, count, options.clusters, workspace);
  cluster_votes(context, models.objects(), {votes.data, order.data, first.data},
                {kClusterShare, least_trace(kClusterAngle_rad)}, clusters);

  const std::int64_t places = count * options.clusters;
  const View<std::uint64_t> ranks = workspace.take<std::uint64_t>(context, places);
  const View<std::uint32_t> ranked = workspace.take<std::uint32_t>(context, places);
  judge_all(context, places,
            JudgeLeader{frame, models.views.data(), votes.data, clusters, ranks.data, ranked.data});
  sort_pairs(context, ranks, ranked, by_model_and_rank, workspace);
  const auto refined = static_cast<std::size_t>(options.refined);
  for_each_anywhere(context, places,
                    RankByVotes{clusters, static_cast<std::int32_t>(by_agreement(refined)),
                                ranks.data, ranked.data});
  sort_pairs(context, ranks, ranked, by_model_and_rank, workspace);

  // Poses that are known beforehand, the last first.
  std::vector<Rigid3f> known;
  std::vector<std::int32_t> first_known{0};
  std::int32_t most = 0;
  for (std::int64_t m = 0; m < count; ++m) {
    for (auto pose = given.rbegin(); pose != given.rend(); ++pose) {
      if (pose->object_index == m) known.push_back(cast<float>(pose->camera_from_object));
    }
    first_known.push_back(static_cast<std::int32_t>(known.size()));
    most = std::max(most, first_known.end()[-1] - first_known.end()[-2]);
  }
  Proposals proposals;
  proposals.slots = most + options.refined;
  proposals.starts = workspace.take<Rigid3f>(context, count * proposals.slots);
  proposals.counts = workspace.take<std::int32_t>(context, count);
  for_each_anywhere(context, count * proposals.slots,
                    GatherStart{votes.data, clusters, ranked.data, options.refined,
                                upload(context, known, workspace).data,
                                upload(context, first_known, workspace).data, proposals.slots,
                                proposals.starts.data, proposals.counts.data});
  clock.stop("cluster");
  return proposals;
}

}  // namespace sextant::detail::recognizer
