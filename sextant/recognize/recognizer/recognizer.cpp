// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer.h"

#include <algorithm>

#include "sextant/core/for_each.h"
#include "sextant/recognize/recognizer/acceptance.h"
#include "sextant/recognize/recognizer/batch.h"
#include "sextant/recognize/recognizer/packs.h"
#include "sextant/recognize/recognizer/refine.h"
#include "sextant/recognize/recognizer/select.h"
#include "sextant/recognize/recognizer/sources.h"
#include "sextant/recognize/recognizer/stages.h"
#include "sextant/recognize/recognizer/step_clock.h"

namespace sextant {

using namespace detail::recognizer;

namespace {

void keep_best(std::vector<Hypothesis>& poses, std::size_t most) {
  std::stable_sort(poses.begin(), poses.end(),
                   [](const Hypothesis& a, const Hypothesis& b) { return a.quality > b.quality; });
  if (poses.size() > most) poses.resize(most);
}

/// Keeps two thirds of `most` by agreement, and of the rest those with the most votes: an object
/// that a sensor shows badly agrees less than clutter does by chance.
void keep_best_of_both(std::vector<Hypothesis>& poses, std::size_t most) {
  keep_best(poses, poses.size());
  const std::size_t agreeing = std::min(poses.size(), by_agreement(most));
  std::stable_sort(poses.begin() + static_cast<std::ptrdiff_t>(agreeing), poses.end(),
                   [](const Hypothesis& a, const Hypothesis& b) { return a.votes > b.votes; });
  if (poses.size() > most) poses.resize(most);
}

/// How well each pose agrees with the frame, by every `step`-th sample.
void judge(const Context& context, const SceneFrame& scene, const Model& model, int step,
           std::vector<Hypothesis>& poses) {
  const FrameView frame = scene.view();
  const ModelView view = model.view();
  for_each_chunk(context, static_cast<std::int64_t>(poses.size()), 64,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i) {
                     Hypothesis& pose = poses[static_cast<std::size_t>(i)];
                     pose.quality = visible_agreement(frame, view, pose.camera_from_object, step);
                   }
                 });
}

struct Candidate {
  Rigid3d camera_from_object;
  Compared compared;
  double logit = 0;
};

void sort_by_logit(std::vector<Candidate>& candidates) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.logit > b.logit; });
}

}  // namespace

struct Recognizer::State {
  Context context;
  RecognizeOptions options;
  PoseSources sources;
  DescriptorSources descriptors;
  std::vector<Model> models;
  std::vector<ModelView> bodies;           ///< on the CPU: the objects, then their packs
  std::vector<std::int32_t> first_pack;    ///< see PackBodies
  RenderScene meshes;                      ///< of the bodies
  std::unique_ptr<BatchRecognizer> batch;  ///< on CUDA

  std::vector<Hypothesis> propose(const SceneFrame& scene, const RecognizeHints& hints,
                                  const Model& model, std::vector<Hypothesis> poses,
                                  StepClock& clock) const;
  std::vector<Candidate> refine_all(const SceneFrame& scene, const Model& model,
                                    const std::vector<Hypothesis>& poses) const;
  void fit_outlines(BodyVerifier& verifier, std::int32_t object,
                    std::vector<Candidate>& candidates) const;
};

Recognizer::Recognizer(const Context& context, std::span<const LearnedObject> objects,
                       const RecognizeOptions& options) {
  check_options(options);
  const PoseSources sources = pose_sources(options.sources);
  require(context.is_cpu() || !(sources.tensors || sources.shot),
          "sources: on CUDA poses are proposed by pairs of points alone, not by ", options.sources);
  const Context host = context.is_cpu() ? context : Context::cpu();
  state_ = std::make_unique<State>(State{
      context, options, sources, DescriptorSources(host, objects, sources), {}, {}, {}, {}, {}});
  PointPairOptions pairs;
  pairs.reference_step = options.reference_step;
  for (const LearnedObject& object : objects) {
    state_->models.push_back(make_model(host, object, pairs));
  }
  if (context.is_cuda()) {
    state_->batch = std::make_unique<BatchRecognizer>(context, state_->models, options);
    return;
  }
  PackBodies packs = make_pack_bodies(state_->models);
  std::vector<const TriangleMesh*> meshes;
  for (const Model& model : state_->models) {
    meshes.push_back(&model.render_mesh);
    state_->bodies.push_back(model.view());
  }
  for (const TriangleMesh& mesh : packs.meshes) meshes.push_back(&mesh);
  state_->bodies.insert(state_->bodies.end(), packs.views.begin(), packs.views.end());
  state_->first_pack = std::move(packs.first);
  state_->meshes = RenderScene(context, meshes);
}

Recognizer::~Recognizer() = default;
Recognizer::Recognizer(Recognizer&&) noexcept = default;
Recognizer& Recognizer::operator=(Recognizer&&) noexcept = default;

/// Of the given poses and those that pairs of points vote for, the ones that agree best with the
/// frame, one for each cluster.
std::vector<Hypothesis> Recognizer::State::propose(const SceneFrame& scene,
                                                   const RecognizeHints& hints, const Model& model,
                                                   std::vector<Hypothesis> poses,
                                                   StepClock& clock) const {
  if (sources.point_pairs) {
    const PointSamples samples =
        sample_scene(context, scene, hints.mask, model.leaf_m, model.diameter_m);
    clock.stop("sample");
    for (const PoseVote& vote :
         vote_for_poses(context, model.pairs, samples.points, samples.normals)) {
      poses.push_back({vote.scene_from_model, 0, vote.votes});
    }
    clock.stop("vote");
  }
  std::erase_if(poses, [&](const Hypothesis& pose) {
    return !((pose.camera_from_object * model.centre).z > 0);
  });
  // Votes say little where much else is in view: every pose is compared with the frame.
  judge(context, scene, model, kCoarseStep, poses);
  keep_best(poses, std::max(kLeastVotes, poses.size() / kVotesShare));
  poses = cluster(model, std::move(poses), kClusterShare * model.diameter_m, kClusterAngle_rad);
  keep_best(poses, static_cast<std::size_t>(options.clusters));
  judge(context, scene, model, 1, poses);
  keep_best_of_both(poses, static_cast<std::size_t>(options.refined));
  clock.stop("cluster");
  return poses;
}

/// Refined poses that differ.
std::vector<Candidate> Recognizer::State::refine_all(const SceneFrame& scene, const Model& model,
                                                     const std::vector<Hypothesis>& poses) const {
  std::vector<Rigid3d> refined(poses.size());
  const FrameView frame = scene.view();
  const ModelView view = model.view();
  for_each_chunk(context, static_cast<std::int64_t>(poses.size()), 2,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i) {
                     const auto at = static_cast<std::size_t>(i);
                     refined[at] = refine(frame, view, poses[at].camera_from_object);
                   }
                 });
  std::vector<Candidate> candidates;
  for (const Rigid3d& pose : refined) {
    const auto is_twin = [&](const Candidate& other) {
      return is_same_pose(model, cast<float>(other.camera_from_object), cast<float>(pose),
                          kTwinShare * model.diameter_m, kTwinAngle_rad);
    };
    if (std::any_of(candidates.begin(), candidates.end(), is_twin)) continue;
    candidates.push_back({pose, {}, 0});
  }
  return candidates;
}

/// Moves the best candidates so that their outlines meet the edges of the measured surface, as far
/// as their score grows: it tells what depths alone leave open, such as where a box ends.
void Recognizer::State::fit_outlines(BodyVerifier& verifier, std::int32_t object,
                                     std::vector<Candidate>& candidates) const {
  const std::size_t count = std::min(candidates.size(), static_cast<std::size_t>(options.polished));
  std::vector<Candidate> moving(candidates.begin(),
                                candidates.begin() + static_cast<std::ptrdiff_t>(count));
  for (const double least_logit : kLeastLogit) {
    std::vector<std::size_t> moved;
    std::vector<Rigid3d> poses;
    for (std::size_t i = 0; i < count; ++i) {
      Candidate& c = moving[i];
      if (!(c.logit > least_logit)) continue;
      c.camera_from_object =
          outline_step(verifier.view(object), c.camera_from_object, c.compared.equations);
      poses.push_back(c.camera_from_object);
      moved.push_back(i);
    }
    std::vector<Compared> compared = verifier.verify(object, poses);
    for (std::size_t k = 0; k < moved.size(); ++k) {
      const std::size_t i = moved[k];
      moving[i].compared = std::move(compared[k]);
      moving[i].logit = shape_logit(moving[i].compared.terms);
      if (moving[i].logit > candidates[i].logit) candidates[i] = moving[i];
    }
  }
}

Recognition Recognizer::recognize(ImageView<const float> depth_m, const Camera& camera,
                                  const RecognizeHints& hints, const Progress& progress,
                                  RecognitionTrace* trace) const {
  const Context& context = state_->context;
  const std::vector<Model>& models = state_->models;
  if (hints.mask.data) {
    require_same_size(Context::cpu(1), hints.mask, camera, "hints.mask", "camera");
  }
  for (const ObjectPose& pose : hints.poses) {
    require(pose.object_index >= 0 && static_cast<std::size_t>(pose.object_index) < models.size(),
            "hints.poses: object_index ", pose.object_index, " is not in 0..",
            static_cast<std::int64_t>(models.size()) - 1);
  }
  if (state_->batch) {
    const auto count = static_cast<std::int64_t>(models.size());
    report(progress, 0, count);
    Recognition found = state_->batch->recognize(models, depth_m, camera, hints, trace);
    report(progress, count, count);
    return found;
  }
  Recognition recognition;
  StepClock clock(context, recognition.times);
  const SceneFrame scene = prepare_scene(context, depth_m, camera, state_->options);
  clock.stop("prepare");
  std::vector<std::vector<Hypothesis>> described =
      state_->descriptors.propose(context, scene, hints.mask);
  clock.stop("describe");
  Workspace workspace;
  BodyVerifier verifier(context, scene.view(),
                        {state_->bodies, state_->bodies.data(), &state_->meshes}, workspace);
  std::vector<Explanation> pool;
  std::vector<ObjectPose> boxes;
  for (std::size_t o = 0; o < models.size(); ++o) {
    report(progress, static_cast<std::int64_t>(o), static_cast<std::int64_t>(models.size()));
    const Model& model = models[o];
    if (scene.measured < 100) continue;
    const auto index = static_cast<std::int32_t>(o);
    if (hints.budget_ms > 0 && clock.total_ms() > hints.budget_ms) {
      recognition.complete = false;
      break;
    }
    std::vector<Hypothesis> poses =
        state_->propose(scene, hints, model, std::move(described[o]), clock);
    for (const ObjectPose& pose : hints.poses) {
      if (pose.object_index == index) {
        poses.insert(poses.begin(), {cast<float>(pose.camera_from_object), 1, 0});
      }
    }
    std::vector<Candidate> candidates = state_->refine_all(scene, model, poses);
    clock.stop("refine");
    if (trace) {
      for (const Hypothesis& pose : poses) {
        trace->voted.push_back({index, cast<double>(pose.camera_from_object)});
      }
      for (const Candidate& c : candidates) {
        trace->refined.push_back({index, c.camera_from_object});
      }
    }
    std::vector<Rigid3d> to_verify;
    to_verify.reserve(candidates.size());
    for (const Candidate& c : candidates) to_verify.push_back(c.camera_from_object);
    std::vector<Compared> compared = verifier.verify(index, to_verify);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      candidates[i].compared = std::move(compared[i]);
      candidates[i].logit = shape_logit(candidates[i].compared.terms);
    }
    sort_by_logit(candidates);
    clock.stop("verify");
    state_->fit_outlines(verifier, index, candidates);
    sort_by_logit(candidates);
    clock.stop("polish");
    if (candidates.size() > kMostRejected) candidates.resize(kMostRejected);
    // Pixels are asked for where they decide: of what is sure enough.
    to_verify.clear();
    std::vector<std::size_t> sure;
    for (const Candidate& c : candidates) {
      pool.push_back(
          explanation(model, verified_pose(scene.noise, model.view(), index, c.camera_from_object,
                                           c.compared.terms, c.compared.equations)));
      if (model.box) boxes.push_back({index, c.camera_from_object});
      if (!may_be_told(pool.back().score_among_several, state_->options.accept)) continue;
      to_verify.push_back(c.camera_from_object);
      sure.push_back(pool.size() - 1);
    }
    compared = verifier.verify(index, to_verify, {.pixels = true});
    for (std::size_t i = 0; i < sure.size(); ++i)
      pool[sure[i]].pixels = std::move(compared[i].pixels);
    clock.stop("verify");
  }
  if (recognition.complete)
    add_packs(models, state_->first_pack, boxes, scene, state_->options.accept, verifier, pool);
  clock.stop("packs");
  select(scene, models, state_->options.accept, std::move(pool), recognition);
  report(progress, static_cast<std::int64_t>(models.size()),
         static_cast<std::int64_t>(models.size()));
  clock.stop("select");
  return recognition;
}

}  // namespace sextant
