// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/experiments/toy_tables.h"

#include <algorithm>

#include "apps/sextant/synth/table_picture.h"
#include "sextant/learn/learn_mesh.h"
#include "sextant/recognize/lookalikes.h"

namespace sextant::app {

namespace {

constexpr double kLeastSeen = 0.1;  // of a toy's pixels, for it to be looked for

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
  ToyTable table;
  table.scene = draw_scene(host, objects, occlusion, seed);
  TablePicture picture = take_picture(host, table.scene);
  table.depth_m = sensed_depth(host, table.scene.camera, picture.depth_m, picture.normals,
                               sensor_noise(SensorModel::kKinect), seed);
  table.ids = std::move(picture.ids);
  return table;
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

JudgedTable ToyJudge::judge(const ToyTable& table, const Recognition& recognition,
                            const RecognitionTrace& trace) const {
  JudgedTable judged;
  std::vector<bool> right(recognition.detections.size(), false);
  for (const SceneObject& object : table.scene.objects) {
    const auto known = std::ranges::find(names_, object.name);
    if (known == names_.end()) continue;
    const auto o = static_cast<std::size_t>(known - names_.begin());
    SoughtToy toy{1 - object.visibility.fraction(), false, false};
    for (std::size_t d = 0; d < recognition.detections.size(); ++d) {
      const Detection& detection = recognition.detections[d];
      if (detection.object_index == static_cast<std::int32_t>(o) &&
          is_right(o, detection.camera_from_object, object)) {
        toy.found = right[d] = true;
      }
    }
    toy.proposed = std::ranges::any_of(trace.refined, [&](const ObjectPose& pose) {
      return pose.object_index == static_cast<std::int32_t>(o) &&
             is_right(o, pose.camera_from_object, object);
    });
    if (object.visibility.fraction() >= kLeastSeen) judged.toys.push_back(toy);
  }
  judged.false_reports = static_cast<int>(std::ranges::count(right, false));
  return judged;
}

}  // namespace sextant::app
