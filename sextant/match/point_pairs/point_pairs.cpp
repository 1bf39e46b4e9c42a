// SPDX-License-Identifier: Apache-2.0
#include "sextant/match/point_pairs.h"

#include "sextant/core/cuda/dispatch.h"
#include "sextant/match/point_pairs/job.h"

namespace sextant {

using namespace detail::point_pairs;

namespace {

constexpr int kReaches = 2;  // each proposes its own peaks

void check_scene(const Context& context, const SceneSamples& scene, std::int64_t models) {
  require_on(context, scene.points, "points");
  require_room(context, scene.normals, scene.points.size, "normals");
  require_room(context, scene.first, models + 1, "first");
}

std::vector<PoseVote> without_empty(std::vector<PoseVote> votes) {
  std::erase_if(votes, [](const PoseVote& vote) { return vote.reference < 0; });
  return votes;
}

void vote_all_cpu(const Context& context, const VotingJob& job, Workspace& workspace) {
  job.first_vote[0] = 0;
  for (int i = 0; i < job.count; ++i) {
    const std::int32_t begin = job.scene.first[i];
    const std::int32_t size = max_of(job.scene.first[i + 1] - begin, 0);
    vote_cpu(context, job.models[i], job.scene.points.subview(begin, size),
             job.scene.normals.subview(begin, size), job.votes_each, job.votes + job.first_vote[i],
             workspace);
    job.first_vote[i + 1] =
        job.first_vote[i] +
        static_cast<std::int32_t>(job.models[i].references(size)) * job.votes_each;
  }
}

}  // namespace

std::int64_t pose_vote_capacity(const PointPairModels& models, std::int64_t samples) {
  if (models.size() == 0) return 0;
  const PointPairModels::State& state = models.state();
  return (samples / state.least_step + models.size()) * kReaches * state.most_peaks;
}

void vote_for_poses_into(const Context& context, const PointPairModels& models,
                         const SceneSamples& scene, View<PoseVote> votes,
                         View<std::int32_t> first_vote, Workspace& workspace) {
  check_scene(context, scene, models.size());
  require(models.size() == 0 || models.device() == context.device(), "models: lie on ",
          to_string(models.device()), " but the context runs on ", to_string(context.device()));
  const std::int64_t capacity = pose_vote_capacity(models, scene.points.size);
  require(capacity <= INT32_MAX, "points: ", scene.points.size, " are too many");
  require_room(context, votes, capacity, "votes", "; see pose_vote_capacity");
  require_room(context, first_vote, models.size() + 1, "first_vote");
  if (models.size() == 0) return;
  const PointPairModels::State& state = models.state();
  const VotingJob job{state.models.data(), models.size(),  kReaches * state.most_peaks, scene,
                      votes.data,          first_vote.data};
  const Workspace::Scope scope(workspace);
  detail::on_device(
      context, [&] { vote_cuda(context, job, state.most_samples, workspace); },
      [&] { vote_all_cpu(context, job, workspace); });
}

std::vector<std::vector<PoseVote>> vote_for_poses(const Context& context,
                                                  const PointPairModels& models,
                                                  const SceneSamples& scene) {
  Buffer<PoseVote> votes(context, pose_vote_capacity(models, scene.points.size));
  Buffer<std::int32_t> first_vote(context, models.size() + 1);
  Workspace workspace;
  vote_for_poses_into(context, models, scene, votes, first_vote, workspace);
  std::vector<std::vector<PoseVote>> result;
  if (models.size() == 0) return result;
  const std::vector<std::int32_t> first = to_host(context, first_vote);
  for (std::size_t i = 0; i + 1 < first.size(); ++i) {
    result.push_back(
        without_empty(to_host(context, votes.view().subview(first[i], first[i + 1] - first[i]))));
  }
  return result;
}

std::vector<PoseVote> vote_for_poses(const Context& context, const PointPairModel& model,
                                     View<const Vec3f> points, View<const Vec3f> normals) {
  require_on(context, points, "points");
  require_room(context, normals, points.size, "normals");
  require(points.size < INT32_MAX, "points: ", points.size, " are too many");
  if (context.is_cpu()) {  // without a copy of the table
    const VotingModel voting = voting_model(model);
    const int votes_each = kReaches * voting.peaks;
    std::vector<PoseVote> votes(
        static_cast<std::size_t>(voting.references(points.size) * votes_each));
    Workspace workspace;
    vote_cpu(context, voting, points, normals, votes_each, votes.data(), workspace);
    return without_empty(std::move(votes));
  }
  const PointPairModel* const one[] = {&model};
  const Buffer<std::int32_t> first =
      copy(context, std::vector<std::int32_t>{0, static_cast<std::int32_t>(points.size)});
  return std::move(
      vote_for_poses(context, PointPairModels(context, one), {points, normals, first})[0]);
}

}  // namespace sextant
