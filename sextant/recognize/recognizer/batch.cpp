// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer/batch.h"

#include <algorithm>

#include "sextant/core/for_each/anywhere.h"
#include "sextant/recognize/recognizer/batch_math.h"
#include "sextant/recognize/recognizer/compare.h"
#include "sextant/recognize/recognizer/propose.h"
#include "sextant/recognize/recognizer/refine_batch.h"
#include "sextant/recognize/recognizer/select.h"

namespace sextant::detail::recognizer {

namespace {

/// One frame on its way through the stages.
struct Stages {
  const Context& context;
  const RecognizeOptions& options;
  const ModelSet& models;
  FrameView frame;
  Workspace& workspace;

  template <class T>
  View<T> take(std::int64_t count) const {
    return workspace.take<T>(context, count);
  }

  /// Refined poses that differ.
  PoseList refine(const Proposals& proposals, View<Rigid3d> candidates) const {
    const View<Rigid3d> refined = take<Rigid3d>(proposals.starts.size);
    refine_all(context, frame, models.objects(), proposals.starts, proposals.counts,
               proposals.slots, refined);
    const Clusters distinct = take_clusters(context, models.size(), proposals.slots, workspace);
    cluster_refined(context, models.objects(),
                    {refined.data, proposals.counts.data, proposals.slots},
                    {kTwinShare, least_trace(kTwinAngle_rad)}, distinct);
    for_each_anywhere(context, candidates.size,
                      GatherCandidate{refined.data, distinct, candidates.data});
    return {candidates.data, candidates.size, proposals.slots, proposals.slots,
            distinct.counts, nullptr,         nullptr};
  }

  void verify(const PoseList& list, View<Verdict> verdicts) const {
    const Workspace::Scope scope(workspace);
    const VerifyJob job{frame, models.views.data(), list, take<CompareSums>(list.size).data,
                        nullptr};
    verify_all(context, models.meshes, job, workspace);
    for_each_anywhere(context, list.size, Judge{job, verdicts.data});
  }

  /// The order of the candidates, from the highest odds down.
  void rank(const PoseList& list, View<const Verdict> verdicts, View<std::int32_t> order) const {
    for_each_anywhere(context, list.size, RankCandidate{list, verdicts.data, order.data});
  }

  /// Moves the best candidates so that their outlines meet the edges of the measured surface, as
  /// far as their score grows.
  void fit_outlines(const PoseList& list, View<Rigid3d> candidates, View<Verdict> verdicts,
                    View<const std::int32_t> order) const {
    const std::int32_t each = min_of(options.polished, list.slots);
    if (each == 0) return;
    const std::int64_t places = models.size() * each;
    const View<Verdict> moved = take<Verdict>(places);
    const Moving moving{list,       order.data,
                        each,       take<Rigid3d>(places).data,
                        moved.data, take<std::uint8_t>(places).data};
    for_each_anywhere(context, places, BeginMoving{moving, verdicts.data});
    for (int round = 0; round < kOutlineRounds; ++round) {
      for_each_anywhere(context, places,
                        MoveOutline{moving, models.views.data(), kLeastLogit[round]});
      verify(moving.list(models.size()), moved);
      for_each_anywhere(context, places, KeepBetter{moving, candidates.data, verdicts.data});
    }
  }

  /// What is told of the best candidates, from the highest score down; equal ones by object.
  std::vector<const VerifiedPose*> tell(const PoseList& list, View<const Verdict> verdicts,
                                        View<const std::int32_t> order,
                                        Buffer<VerifiedPose>& told) const {
    const auto each = min_of(static_cast<std::int32_t>(kMostRejected), list.slots);
    const View<VerifiedPose> verified = take<VerifiedPose>(models.size() * each);
    for_each_anywhere(context, verified.size,
                      TellVerified{frame, models.views.data(), list, order.data, verdicts.data,
                                   each, verified.data});
    if (told.size() != verified.size) told = Buffer<VerifiedPose>::pinned(context, verified.size);
    copy<VerifiedPose>(context, verified, told);
    std::vector<const VerifiedPose*> sorted;
    sorted.reserve(static_cast<std::size_t>(told.size()));
    for (const VerifiedPose& pose : told.host()) {
      if (pose.object_index >= 0) sorted.push_back(&pose);
    }
    std::stable_sort(
        sorted.begin(), sorted.end(),
        [](const VerifiedPose* a, const VerifiedPose* b) { return a->score > b->score; });
    return sorted;
  }
};

void add_to_trace(const Context& context, View<const Rigid3d> poses,
                  View<const std::int32_t> counts, std::int32_t slots,
                  std::vector<ObjectPose>& trace) {
  const std::vector<Rigid3d> all = to_host(context, poses);
  const std::vector<std::int32_t> of_object = to_host(context, counts);
  for (std::size_t m = 0; m < of_object.size(); ++m) {
    const std::size_t first = m * static_cast<std::size_t>(slots);
    for (std::size_t k = 0; k < static_cast<std::size_t>(of_object[m]); ++k) {
      trace.push_back({static_cast<std::int32_t>(m), all[first + k]});
    }
  }
}
std::vector<Rigid3d> doubles(const std::vector<Rigid3f>& poses) {
  std::vector<Rigid3d> result;
  result.reserve(poses.size());
  for (const Rigid3f& pose : poses) result.push_back(cast<double>(pose));
  return result;
}

}  // namespace

BatchRecognizer::BatchRecognizer(const Context& context, std::span<const Model> models,
                                 const RecognizeOptions& options)
    : context_(context),
      host_(context.is_cpu() ? context : Context::cpu()),
      options_(options),
      models_(make_model_set(context, models)) {}

ImageView<const std::uint8_t> BatchRecognizer::mask_there(ImageView<const std::uint8_t> mask) {
  if (!mask.data || context_.is_cpu()) return mask;
  std::vector<std::uint8_t> rows;
  rows.reserve(static_cast<std::size_t>(mask.pixels()));
  for (int v = 0; v < mask.height; ++v) {
    rows.insert(rows.end(), mask.row(v), mask.row(v) + mask.width);
  }
  make_room(context_, mask.pixels(), mask_);
  copy<std::uint8_t>(context_, view_of(std::as_const(rows)),
                     mask_.view().subview(0, mask.pixels()));
  return {mask_.data(), mask.width, mask.height, mask.width, context_.device()};
}

Recognition BatchRecognizer::recognize(std::span<const Model> models,
                                       ImageView<const float> depth_m, const Camera& camera,
                                       const RecognizeHints& hints, RecognitionTrace* trace) {
  const std::lock_guard lock(one_frame_);
  Recognition recognition;
  StepClock clock(context_, recognition.times);
  const Workspace::Scope scope(workspace_);
  prepare_scene_into(context_, depth_m, camera, options_, scene_, workspace_);
  clock.stop("prepare");
  if (scene_.measured < 100 || models.empty()) return recognition;
  if (hints.budget_ms > 0 && clock.total_ms() > hints.budget_ms) {
    recognition.complete = false;
    return recognition;
  }
  const Stages stages{context_, options_, models_, scene_.view(), workspace_};
  const Proposals proposals = propose_all(context_, models_, scene_, mask_there(hints.mask),
                                          hints.poses, options_, clock, workspace_);
  const View<Rigid3d> candidates = stages.take<Rigid3d>(proposals.starts.size);
  const PoseList list = stages.refine(proposals, candidates);
  clock.stop("refine");
  if (trace) {
    const std::vector<Rigid3d> starts = doubles(to_host(context_, proposals.starts));
    add_to_trace(Context::cpu(1), view_of(starts), view_of(to_host(context_, proposals.counts)),
                 list.slots, trace->voted);
    add_to_trace(context_, candidates,
                 View<const std::int32_t>{list.counts, models_.size(), context_.device()},
                 list.slots, trace->refined);
  }
  const View<Verdict> verdicts = stages.take<Verdict>(candidates.size);
  const View<std::int32_t> order = stages.take<std::int32_t>(candidates.size);
  stages.verify(list, verdicts);
  stages.rank(list, verdicts, order);
  clock.stop("verify");
  stages.fit_outlines(list, candidates, verdicts, order);
  stages.rank(list, verdicts, order);
  clock.stop("polish");
  std::vector<const VerifiedPose*> told = stages.tell(list, verdicts, order, told_);
  const auto model_of = [&](const VerifiedPose& pose) -> const Model& {
    return models[static_cast<std::size_t>(pose.object_index)];
  };
  // Pixels are asked for where they decide: of what is sure enough.
  const auto unsure =
      std::stable_partition(told.begin(), told.end(), [&](const VerifiedPose* pose) {
        return may_be_told(pose->score_among_several, options_.accept);
      });
  const std::span sure(told.begin(), unsure);
  BodyVerifier verifier(context_, scene_.view(), models_.bodies(), workspace_);
  std::vector<BodyPose> to_verify;
  for (const VerifiedPose* pose : sure) {
    to_verify.push_back({pose->object_index, pose->camera_from_object});
  }
  std::vector<Compared> compared = verifier.verify(to_verify, {.pixels = true});
  std::vector<Explanation> pool;
  for (std::size_t i = 0; i < sure.size(); ++i) {
    pool.push_back(explanation(model_of(*sure[i]), *sure[i]));
    pool.back().pixels = std::move(compared[i].pixels);
  }
  std::vector<ObjectPose> boxes;
  for (const VerifiedPose* pose : told) {
    if (model_of(*pose).box) boxes.push_back({pose->object_index, pose->camera_from_object});
  }
  add_packs(models, models_.first_pack, boxes, scene_, options_.accept, verifier, pool);
  clock.stop("packs");
  select(scene_, models, options_.accept, std::move(pool), recognition);
  const std::size_t before = recognition.rejected.size();
  const auto unsure_count = static_cast<std::size_t>(told.end() - unsure);
  const std::span rest(unsure, std::min(unsure_count, kMostInResult));
  recognition.rejected.resize(before + rest.size());
  for_each_chunk(
      host_, static_cast<std::int64_t>(rest.size()), 64, [&](std::int64_t begin, std::int64_t end) {
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
          recognition.rejected[before + i] = rejection(model_of(*rest[i]), *rest[i]);
        }
      });
  // Both lists have an order already, and a detection is large.
  std::inplace_merge(recognition.rejected.begin(),
                     recognition.rejected.begin() + static_cast<std::ptrdiff_t>(before),
                     recognition.rejected.end(),
                     [](const Detection& a, const Detection& b) { return a.score > b.score; });
  if (recognition.rejected.size() > kMostInResult) recognition.rejected.resize(kMostInResult);
  clock.stop("select");
  return recognition;
}

}  // namespace sextant::detail::recognizer
