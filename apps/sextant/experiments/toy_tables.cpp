// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/experiments/toy_tables.h"

#include <algorithm>
#include <utility>

#include "apps/sextant/synth/table_picture.h"
#include "sextant/core/random.h"
#include "sextant/learn/learn_mesh.h"
#include "sextant/recognize/lookalikes.h"

namespace sextant::app {

namespace {

constexpr double kLeastSeen = 0.1;  // of a toy's pixels, for it to be looked for

/// Of the pixels that show it: a sensor measures nothing of what is too near.
constexpr double kLeastMeasured = 0.5;

constexpr int kClutterFrames = 16;  // in which lookalikes are looked for, as by 'sextant learn'

bool is_toy(std::string_view name) {
  return std::ranges::any_of(object_catalogue(), [&](const CatalogueEntry& entry) {
    return entry.name == name && entry.set == ObjectSet::kToys;
  });
}

/// Not every draw puts a toy first, or finds a place from which a carton hides enough of it.
TableScene draw_scene(const Context& context, const TableObjects& objects, float occlusion,
                      std::uint64_t seed) {
  constexpr std::uint64_t kDraws = 100;
  TableSceneOptions options;
  options.objects = 5;
  options.occlusion = occlusion;
  for (std::uint64_t draw = 0;; ++draw) {
    try {
      TableScene scene = make_table_scene(context, options, kDraws * seed + draw, objects);
      if (is_toy(scene.objects[0].name)) return scene;
    } catch (const Cancelled&) {
      throw;
    } catch (const Error&) {
      if (draw + 1 == kDraws) throw;
    }
    require(draw + 1 < kDraws, "no table of ", kDraws, " has a toy in the first place");
  }
}

constexpr SensorModel kSensors[] = {SensorModel::kKinect, SensorModel::kKinectRegistered,
                                    SensorModel::kRealsense, SensorModel::kRealsenseNear};
constexpr double kNearest_m = 0.6, kFarthest_m = 1.2;

/// Eight objects, three to six of them toys. Not every draw has so many, or finds room for them.
TableScene draw_mixed_scene(const Context& context, const TableObjects& objects,
                            std::uint64_t seed) {
  constexpr std::uint64_t kDraws = 100;
  TableSceneOptions options;
  options.objects = 8;
  options.distance_m =
      static_cast<float>(kNearest_m + (kFarthest_m - kNearest_m) * Random{seed, 0}.uniform(0));
  for (std::uint64_t draw = 0;; ++draw) {
    try {
      TableScene scene = make_table_scene(context, options, kDraws * seed + draw, objects);
      const auto toys = std::ranges::count_if(
          scene.objects, [](const SceneObject& object) { return is_toy(object.name); });
      if (toys >= 3 && toys <= 6) return scene;
    } catch (const Cancelled&) {
      throw;
    } catch (const Error&) {
      if (draw + 1 == kDraws) throw;
    }
    require(draw + 1 < kDraws, "no table of ", kDraws, " has three to six toys");
  }
}

/// Of the pixels that show an object of the table, those with depth.
double measured_share(const ToyTable& table, const SceneObject& object) {
  const auto id = static_cast<std::int32_t>(&object - table.scene.objects.data()) + 1;
  std::int64_t shown = 0, measured = 0;
  for (std::int64_t i = 0; i < table.ids.pixels().size(); ++i) {
    if (table.ids.pixels().data()[i] != id) continue;
    ++shown;
    measured += table.depth_m.pixels().data()[i] > 0 ? 1 : 0;
  }
  return shown > 0 ? static_cast<double>(measured) / static_cast<double>(shown) : 0;
}

ToyTable sensed_table(const Context& host, TableScene scene, SensorModel sensor,
                      std::uint64_t seed) {
  ToyTable table;
  table.scene = std::move(scene);
  TablePicture picture = take_picture(host, table.scene);
  table.depth_m = sensed_depth(host, table.scene.camera, picture.depth_m, picture.normals,
                               sensor_noise(sensor), seed);
  table.ids = std::move(picture.ids);
  return table;
}

}  // namespace

std::vector<LearnedObject> learn_toys(const Context& context) {
  const Context host = context.is_cpu() ? context : Context::cpu();
  const std::vector<ClutterFrame> clutter = make_clutter(host, kClutterFrames);
  std::vector<LearnedObject> toys;
  for (const CatalogueEntry& entry : object_catalogue()) {
    if (entry.set != ObjectSet::kToys) continue;
    LearnedObject toy = learn_mesh(host, std::string(entry.name), make_object(entry.name));
    toy.lookalikes = find_lookalikes(host, toy, clutter);
    toys.push_back(std::move(toy));
  }
  return toys;
}

ToyTable make_toy_table(const Context& context, const TableObjects& objects, float occlusion,
                        std::uint64_t seed) {
  const Context host = context.is_cpu() ? context : Context::cpu();
  return sensed_table(host, draw_scene(host, objects, occlusion, seed), SensorModel::kKinect, seed);
}

ToyTable make_mixed_table(const Context& context, const TableObjects& objects, std::uint64_t seed) {
  const Context host = context.is_cpu() ? context : Context::cpu();
  return sensed_table(host, draw_mixed_scene(host, objects, seed),
                      kSensors[seed % std::size(kSensors)], seed);
}

ToyJudge::ToyJudge(std::span<const LearnedObject> toys) {
  for (std::size_t o = 0; o < toys.size(); ++o) {
    names_.push_back(toys[o].name);
    models_.push_back(make_evaluated_model(static_cast<int>(o), copy(Context::cpu(), toys[o].mesh),
                                           toys[o].shape_symmetries, toys[o].diameter_m));
  }
}

bool ToyJudge::is_right(std::size_t toy, const Rigid3d& camera_from_object,
                        const SceneObject& truth) const {
  return criterion_error(models_[toy], camera_from_object, truth.camera_from_object,
                         {.measure = PoseMeasure::kMssd}) < 1;
}

/// As docs/evaluation.md has it: a pose that is wrong but not false.
bool ToyJudge::is_at(std::size_t toy, const Rigid3d& camera_from_object,
                     const SceneObject& truth) const {
  return pose_difference(models_[toy], camera_from_object, truth.camera_from_object).translation_m <
         0.5 * models_[toy].diameter_m;
}

JudgedTable ToyJudge::judge(const ToyTable& table, const Recognition& recognition,
                            const RecognitionTrace& trace) const {
  JudgedTable judged;
  std::vector<bool> right(recognition.detections.size(), false), wrong = right;
  for (const SceneObject& object : table.scene.objects) {
    const auto known = std::ranges::find(names_, object.name);
    if (known == names_.end()) continue;
    const auto o = static_cast<std::size_t>(known - names_.begin());
    SoughtToy toy;
    toy.hidden = 1 - object.visibility.fraction();
    for (std::size_t d = 0; d < recognition.detections.size(); ++d) {
      const Detection& detection = recognition.detections[d];
      if (detection.object_index == static_cast<std::int32_t>(o) &&
          is_right(o, detection.camera_from_object, object)) {
        right[d] = true;
        if (std::exchange(toy.found, true)) continue;  // the first one has the highest score
        toy.error =
            pose_difference(models_[o], detection.camera_from_object, object.camera_from_object);
      } else if (detection.object_index == static_cast<std::int32_t>(o)) {
        if (is_at(o, detection.camera_from_object, object)) wrong[d] = true;
      }
    }
    toy.proposed = std::ranges::any_of(trace.refined, [&](const ObjectPose& pose) {
      return pose.object_index == static_cast<std::int32_t>(o) &&
             is_right(o, pose.camera_from_object, object);
    });
    if (object.visibility.fraction() < kLeastSeen) continue;
    if (measured_share(table, object) < kLeastMeasured) continue;
    judged.toys.push_back(toy);
  }
  judged.false_reports = static_cast<int>(std::ranges::count(right, false));
  for (std::size_t d = 0; d < right.size(); ++d) {
    judged.reports.push_back({recognition.detections[d].score, right[d]});
    if (!right[d] && wrong[d]) ++judged.wrong_reports;
  }
  return judged;
}

}  // namespace sextant::app
