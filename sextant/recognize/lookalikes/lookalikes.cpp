// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/lookalikes.h"

#include <algorithm>

#include "sextant/core/for_each.h"
#include "sextant/core/random.h"
#include "sextant/recognize/recognizer.h"
#include "sextant/recognize/recognizer/acceptance.h"
#include "sextant/synth/sensor_noise.h"
#include "sextant/synth/table_scene.h"

namespace sextant {

namespace {

constexpr int kEach = 2;  // of a frame, poses of the object alone and of packs of it
constexpr int kFramePoses = 2 * kEach;
constexpr double kLargestOnTable_m = 0.35;
constexpr double kLeastStretch = 0.7, kMostStretch = 1.4;

/// What a frame is taken with.
struct Shot {
  SensorModel sensor;
  float distance_m;
  int objects;
};
constexpr Shot kShots[] = {{SensorModel::kKinect, 0.85f, 11},
                           {SensorModel::kRealsense, 0.6f, 9},
                           {SensorModel::kKinectRegistered, 1.1f, 12},
                           {SensorModel::kRealsenseNear, 0.5f, 7}};

float lowest(const TriangleMesh& mesh, const Rigid3d& world_from_object) {
  const Rigid3f pose = cast<float>(world_from_object);
  float low = INFINITY;
  for (const Vec3f& p : mesh.vertices.points.host()) low = std::min(low, (pose * p).z);
  return low;
}

/// Stretches every object by its own factors; each still touches what it stands on.
void stretch(TableScene& scene, std::uint64_t seed) {
  for (std::size_t i = 0; i < scene.objects.size(); ++i) {
    SceneObject& object = scene.objects[i];
    // Every object has a mesh of its own, so that two of a kind differ.
    TriangleMesh mesh = copy(Context::cpu(), scene.meshes[static_cast<std::size_t>(object.mesh)]);
    const float before = lowest(mesh, object.world_from_object);
    const Random random{seed, i};
    const auto factor = [&](std::uint64_t axis) {
      return static_cast<float>(kLeastStretch *
                                std::pow(kMostStretch / kLeastStretch, random.uniform(axis)));
    };
    const Vec3f by{factor(0), factor(1), factor(2)};
    for (Vec3f& p : mesh.vertices.points.host()) p = {p.x * by.x, p.y * by.y, p.z * by.z};
    mesh.vertices.normals = {};
    const double lift = static_cast<double>(before - lowest(mesh, object.world_from_object));
    object.world_from_object.translation.z += lift;
    object.camera_from_object = scene.camera_from_world * object.world_from_object;
    object.mesh = static_cast<int>(scene.meshes.size()) - 1;
    scene.meshes.insert(scene.meshes.end() - 1, std::move(mesh));  // the table stays the last
  }
}

TableScene make_scene(const Shot& shot, std::uint64_t seed, const TableObjects& objects) {
  TableSceneOptions options;
  options.distance_m = shot.distance_m;
  options.stacking = 0.4f;
  // A table may be too full for its objects; then a few less stand on it.
  for (options.objects = shot.objects;; --options.objects) {
    try {
      return make_table_scene(Context::cpu(1), options, seed, objects);
    } catch (const Cancelled&) {
      throw;
    } catch (const Error&) {
      if (options.objects == 1) throw;
    }
  }
}

ClutterFrame make_frame(const Shot& shot, double scale, std::uint64_t seed,
                        const TableObjects& objects) {
  const Context context = Context::cpu(1);
  TableScene scene = make_scene(shot, seed, objects);
  stretch(scene, seed);
  const Rendering exact = render_table_scene(context, scene, {.normals = true});
  Image<float> depth_m(context, exact.width, exact.height);
  for (int v = 0; v < exact.height; ++v) {
    for (int u = 0; u < exact.width; ++u) {
      depth_m(u, v) = exact.depth_m_of(0)(u, v) * static_cast<float>(scale);
    }
  }
  return {scene.camera, add_sensor_noise(context, depth_m, exact.normals_of(0), scene.camera,
                                         sensor_noise(shot.sensor), seed)};
}

}  // namespace

double clutter_scale(double diameter_m) { return std::max(1.0, diameter_m / kLargestOnTable_m); }

std::vector<ClutterFrame> make_clutter(const Context& context, int frames, double scale,
                                       std::uint64_t seed, const LearnProgress& progress) {
  constexpr std::int64_t kBatch = 4;
  require(frames >= 0, "frames: ", frames, " is negative");
  require(std::isfinite(scale) && scale > 0, "scale: ", scale, " is not positive");
  require(context.is_cpu(), "make_clutter: runs on the CPU, the context on ",
          to_string(context.device()));
  std::vector<ClutterFrame> result(static_cast<std::size_t>(frames));
  if (frames == 0) return result;
  report(progress, "clutter", 0, frames);
  const TableObjects objects(ObjectSet::kAll);
  const auto make = [&](std::int64_t i) {
    const Random::Words w = Random{seed, static_cast<std::uint64_t>(i)}.words(0);
    result[static_cast<std::size_t>(i)] = make_frame(
        kShots[i % std::ssize(kShots)], scale, std::uint64_t{w.word[0]} << 32 | w.word[1], objects);
  };
  for (std::int64_t first = 0; first < frames; first += kBatch) {
    const std::int64_t count = std::min<std::int64_t>(kBatch, frames - first);
    for_each_chunk(context, count, 1, [&](std::int64_t i, std::int64_t) { make(first + i); });
    report(progress, "clutter", first + count, frames);
  }
  return result;
}

LearnedLookalikes find_lookalikes(const Context& context, const LearnedObject& object,
                                  std::span<const ClutterFrame> clutter,
                                  const LearnProgress& progress) {
  LearnedLookalikes result;
  result.length = detail::recognizer::kTerms;
  result.frame_poses = kFramePoses;
  const std::int64_t frame = std::int64_t{kFramePoses} * result.length;
  result.terms = Buffer<float>(Context::cpu(), frame * std::ssize(clutter));
  std::fill(result.terms.host().begin(), result.terms.host().end(), NAN);
  const Recognizer recognizer(context, std::span(&object, 1));
  float* out = result.terms.data();
  for (std::size_t i = 0; i < clutter.size(); ++i, out += frame) {
    report(progress, "lookalikes", static_cast<std::int64_t>(i), std::ssize(clutter));
    const Recognition seen = recognizer.recognize(clutter[i].depth_m, clutter[i].camera);
    float* next = out;
    using detail::recognizer::LookalikesOf;
    for (const LookalikesOf what : {LookalikesOf::kObject, LookalikesOf::kPacks}) {
      std::vector<const VerificationTerms*> best;
      for (const auto* list : {&seen.detections, &seen.rejected}) {
        for (const Detection& pose : *list) {
          if (detail::recognizer::kind_of(pose.terms) == what) best.push_back(&pose.terms);
        }
      }
      std::stable_sort(best.begin(), best.end(), [](const auto* a, const auto* b) {
        return detail::recognizer::shape_logit(*a) > detail::recognizer::shape_logit(*b);
      });
      const std::size_t count = std::min<std::size_t>(best.size(), kEach);
      for (std::size_t k = 0; k < count; ++k) {
        for_each_term(*best[k], [&](const char*, float value) { *next++ = value; });
      }
    }
  }
  report(progress, "lookalikes", std::ssize(clutter), std::ssize(clutter));
  return result;
}

bool are_understood(const LearnedLookalikes& lookalikes) {
  return lookalikes.length == detail::recognizer::kTerms;
}

}  // namespace sextant
