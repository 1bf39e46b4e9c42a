// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer.h"

#include <algorithm>
#include <chrono>

#include "sextant/core/for_each.h"
#include "sextant/recognize/recognizer/acceptance.h"
#include "sextant/recognize/recognizer/refine.h"
#include "sextant/recognize/recognizer/verify.h"

namespace sextant {

using namespace detail::recognizer;

namespace {

constexpr float kClusterShare = 0.1f;       // of the diameter, within which votes are one pose
constexpr float kClusterAngle_rad = 0.26f;  // 15°
constexpr float kTwinShare = 0.03f;         // ... within which refined poses are one
constexpr float kTwinAngle_rad = 0.09f;     // 5°
constexpr double kWeakDirection = 0.08;     // of the strongest direction's information
constexpr double kOverlap = 0.5;            // of a pose's pixels that a better one may explain
constexpr double kSharedPixels = 15;        // that err together
constexpr std::size_t kMostVotes = 4000;    // poses with the most votes that are clustered
constexpr std::size_t kMostRejected = 50;   // that are told of an object

class Clock {
 public:
  void stop(Recognition& recognition, const char* step) {
    const auto now = std::chrono::steady_clock::now();
    const double ms = std::chrono::duration<double, std::milli>(now - begin_).count();
    begin_ = now;
    for (StepTime& time : recognition.times) {
      if (time.step == step) {
        time.ms += ms;
        return;
      }
    }
    recognition.times.push_back({step, ms});
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

struct Candidate {
  Refined refined;
  Verified verified;
  double logit = 0;
};

/// Climbs the score along the directions that the equations leave open.
void polish(Verifier& verifier, const SceneFrame& scene, const Model& model, Candidate& candidate) {
  const double diameter = model.diameter_m;
  for (int round = 0; round < 2; ++round) {
    const PoseDirections along = pose_directions(candidate.refined.equations, 0.5 * diameter);
    bool moved = false;
    for (int k = 0; k < 6 && along.information[k] < kWeakDirection * along.information[5]; ++k) {
      const double* d = along.directions[k];
      for (const double share : {0.05, 0.02}) {
        std::vector<Rigid3d> poses;
        for (const double sign : {1.0, -1.0}) {
          const double step = sign * share * diameter;
          const Twist3<double> twist{Vec3d{d[0], d[1], d[2]} * (step / along.length_m),
                                     Vec3d{d[3], d[4], d[5]} * step};
          poses.push_back(renormalized(motion_about(twist, candidate.refined.centre) *
                                       candidate.refined.camera_from_object));
        }
        const std::vector<Verified> verified = verifier.verify(poses, false);
        for (std::size_t i = 0; i < poses.size(); ++i) {
          const double logit = acceptance_logit(verified[i].terms);
          if (!(logit > candidate.logit)) continue;
          candidate.logit = logit;
          candidate.verified = verified[i];
          candidate.refined.camera_from_object = poses[i];
          moved = true;
        }
        candidate.refined.centre =
            candidate.refined.camera_from_object * cast<double>(model.centre);
      }
    }
    if (!moved) break;
    const double sigma = scene.noise.sigma_m(static_cast<float>(candidate.refined.centre.z));
    candidate.refined.equations = pose_equations(scene, model, candidate.refined.camera_from_object,
                                                 std::max(0.03 * diameter, 4 * sigma));
  }
}

std::array<double, 36> covariance_of(const SceneFrame& scene, const Model& model,
                                     const Refined& refined) {
  const PoseDirections along = pose_directions(refined.equations, 0.5 * model.diameter_m);
  const double sigma = scene.noise.sigma_m(static_cast<float>(refined.centre.z));
  const double pixels_a_leaf = std::max(
      1.0, std::pow(model.leaf_m * scene.camera.fx_px / std::max(refined.centre.z, 1e-6), 2));
  // Samples lie a leaf apart; where that is less than the pixels that err together, they share.
  const double shared = std::max(1.0, kSharedPixels / pixels_a_leaf);
  const SymN<double, 6> c =
      pose_covariance(refined.equations, along, sigma * sigma, shared, 1e-3, model.diameter_m);
  std::array<double, 36> full{};
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) full[static_cast<std::size_t>(6 * i + j)] = c.at(i, j);
  }
  return full;
}

/// What speaks most against a pose.
std::string reason_of(const VerificationTerms& t) {
  if (t.supported * t.pixels < 30) return "too little of it is seen";
  const float seen = t.supported + t.violated;
  const float known = t.confirmed + t.continues + t.falls_short + t.crease;
  if (t.violated > 0.3f * seen) return "the sensor sees through it";
  if (t.continues > 0.35f * known) return "the surface goes on beyond its outline";
  if (t.falls_short > 0.35f * known) return "the surface ends before its outline";
  if (t.normals < 0.5f) return "the surface is inclined otherwise";
  if (t.occluded > 0.6f) return "too much of it is hidden";
  return "the evidence is too weak";
}

}  // namespace

struct Recognizer::State {
  Context context;
  RecognizeOptions options;
  std::vector<Model> models;
  RenderScene meshes;
};

Recognizer::Recognizer(const Context& context, std::span<const LearnedObject> objects,
                       const RecognizeOptions& options) {
  check_options(options);
  require(context.is_cpu(), "Recognizer: runs on the CPU, the context on ",
          to_string(context.device()));
  state_ = std::make_unique<State>(State{context, options, {}, {}});
  PointPairOptions pairs;
  pairs.reference_step = options.reference_step;
  std::vector<const TriangleMesh*> meshes;
  for (const LearnedObject& object : objects) {
    state_->models.push_back(make_model(context, object, pairs));
  }
  for (const Model& model : state_->models) meshes.push_back(&model.render_mesh);
  state_->meshes = RenderScene(context, meshes);
}

Recognizer::~Recognizer() = default;
Recognizer::Recognizer(Recognizer&&) noexcept = default;
Recognizer& Recognizer::operator=(Recognizer&&) noexcept = default;

Recognition Recognizer::recognize(ImageView<const float> depth_m, const Camera& camera,
                                  const Progress& progress, RecognitionTrace* trace) const {
  const Context& context = state_->context;
  const RecognizeOptions& options = state_->options;
  const std::vector<Model>& models = state_->models;
  Recognition recognition;
  Clock clock;
  const SceneFrame scene = prepare_scene(context, depth_m, camera, options);
  clock.stop(recognition, "prepare");
  std::vector<Detection> pool;
  std::vector<std::vector<std::int32_t>> explained;  // pixels of the scene frame, for the pool
  for (std::size_t o = 0; o < models.size(); ++o) {
    report(progress, static_cast<std::int64_t>(o), static_cast<std::int64_t>(models.size()));
    const Model& model = models[o];
    if (scene.measured < 100) continue;
    const PointSamples samples = sample_scene(context, scene, model.leaf_m, model.diameter_m);
    clock.stop(recognition, "sample");
    std::vector<Hypothesis> poses;
    for (const PoseVote& vote :
         vote_for_poses(context, model.pairs, samples.points, samples.normals)) {
      if ((vote.scene_from_model * model.centre).z > 0) {
        poses.push_back({vote.scene_from_model, vote.votes});
      }
    }
    std::stable_sort(poses.begin(), poses.end(), [](const Hypothesis& a, const Hypothesis& b) {
      return a.quality > b.quality;
    });
    if (poses.size() > kMostVotes) poses.resize(kMostVotes);
    clock.stop(recognition, "vote");
    poses =
        cluster(model, std::move(poses), kClusterShare * model.diameter_m, kClusterAngle_rad, true);
    if (poses.size() > static_cast<std::size_t>(options.clusters)) {
      poses.resize(static_cast<std::size_t>(options.clusters));
    }
    for_each_chunk(context, static_cast<std::int64_t>(poses.size()), 8,
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t i = begin; i < end; ++i) {
                       Hypothesis& pose = poses[static_cast<std::size_t>(i)];
                       pose.quality = visible_agreement(scene, model, pose.camera_from_object);
                     }
                   });
    std::stable_sort(poses.begin(), poses.end(), [](const Hypothesis& a, const Hypothesis& b) {
      return a.quality > b.quality;
    });
    if (poses.size() > static_cast<std::size_t>(options.refined)) {
      poses.resize(static_cast<std::size_t>(options.refined));
    }
    if (trace) {
      for (const Hypothesis& pose : poses) {
        trace->voted.push_back(
            {static_cast<std::int32_t>(o), cast<double>(pose.camera_from_object)});
      }
    }
    clock.stop(recognition, "cluster");
    std::vector<Refined> refined(poses.size());
    for_each_chunk(context, static_cast<std::int64_t>(poses.size()), 2,
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t i = begin; i < end; ++i) {
                       const auto at = static_cast<std::size_t>(i);
                       refined[at] = refine(scene, model, poses[at].camera_from_object);
                       poses[at].camera_from_object = cast<float>(refined[at].camera_from_object);
                     }
                   });
    std::vector<Candidate> candidates;
    for (std::size_t i = 0; i < refined.size(); ++i) {
      const auto is_twin = [&](const Candidate& other) {
        return same_pose(model, cast<float>(other.refined.camera_from_object),
                         poses[i].camera_from_object, kTwinShare * model.diameter_m,
                         kTwinAngle_rad);
      };
      if (std::any_of(candidates.begin(), candidates.end(), is_twin)) continue;
      candidates.push_back({refined[i], {}, 0});
    }
    if (trace) {
      for (const Candidate& c : candidates) {
        trace->refined.push_back({static_cast<std::int32_t>(o), c.refined.camera_from_object});
      }
    }
    clock.stop(recognition, "refine");
    Verifier verifier(context, scene, model, state_->meshes, static_cast<int>(o));
    std::vector<Rigid3d> to_verify;
    for (const Candidate& c : candidates) to_verify.push_back(c.refined.camera_from_object);
    std::vector<Verified> verified = verifier.verify(to_verify, false);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      candidates[i].verified = std::move(verified[i]);
      candidates[i].logit = acceptance_logit(candidates[i].verified.terms);
    }
    const auto by_logit = [](const Candidate& a, const Candidate& b) { return a.logit > b.logit; };
    std::stable_sort(candidates.begin(), candidates.end(), by_logit);
    clock.stop(recognition, "verify");
    for (std::size_t i = 0;
         i < std::min(candidates.size(), static_cast<std::size_t>(options.polished)); ++i) {
      polish(verifier, scene, model, candidates[i]);
    }
    std::stable_sort(candidates.begin(), candidates.end(), by_logit);
    if (candidates.size() > kMostRejected) candidates.resize(kMostRejected);
    to_verify.clear();
    for (const Candidate& c : candidates) to_verify.push_back(c.refined.camera_from_object);
    verified = verifier.verify(to_verify, true);
    clock.stop(recognition, "polish");
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const VerificationTerms& terms = verified[i].terms;
      Detection found;
      found.object = model.name;
      found.object_index = static_cast<std::int32_t>(o);
      found.camera_from_object = candidates[i].refined.camera_from_object;
      found.score = probability(acceptance_logit(terms));
      found.covariance = covariance_of(scene, model, candidates[i].refined);
      found.visible = terms.supported;
      found.occluded = terms.occluded;
      found.symmetric = model.symmetries.size() > 1;
      found.terms = terms;
      pool.push_back(std::move(found));
      explained.push_back(std::move(verified[i].pixels));
    }
  }
  // From the best down; a pixel is explained once.
  std::vector<std::size_t> order(pool.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return pool[a].score > pool[b].score; });
  std::vector<std::int32_t> owner(
      static_cast<std::size_t>(scene.camera.width) * static_cast<std::size_t>(scene.camera.height),
      -1);
  for (const std::size_t i : order) {
    Detection& found = pool[i];
    std::size_t taken = 0;
    std::int32_t by = -1;
    for (const std::int32_t pixel : explained[i]) {
      const std::int32_t who = owner[static_cast<std::size_t>(pixel)];
      if (who < 0) continue;
      ++taken;
      by = who;
    }
    if (!(found.score >= options.accept)) {
      found.reason = reason_of(found.terms);
    } else if (static_cast<double>(taken) > kOverlap * static_cast<double>(explained[i].size())) {
      found.reason = "a better pose explains the same pixels: " +
                     recognition.detections[static_cast<std::size_t>(by)].object;
    }
    if (!found.reason.empty()) {
      recognition.rejected.push_back(std::move(found));
      continue;
    }
    const auto number = static_cast<std::int32_t>(recognition.detections.size());
    for (const std::int32_t pixel : explained[i]) {
      std::int32_t& who = owner[static_cast<std::size_t>(pixel)];
      if (who >= 0) continue;
      who = number;
      const int u = pixel % scene.camera.width * scene.averaged;
      const int v = pixel / scene.camera.width * scene.averaged;
      for (int y = 0; y < scene.averaged; ++y) {
        for (int x = 0; x < scene.averaged; ++x) {
          found.pixels.push_back((v + y) * scene.given_width + u + x);
        }
      }
    }
    std::sort(found.pixels.begin(), found.pixels.end());
    recognition.detections.push_back(std::move(found));
  }
  report(progress, static_cast<std::int64_t>(models.size()),
         static_cast<std::int64_t>(models.size()));
  clock.stop(recognition, "select");
  return recognition;
}

}  // namespace sextant
