// SPDX-License-Identifier: Apache-2.0
// Poses in the photographs that come with the original MOPED, by its own models.
#include <algorithm>
#include <cmath>
#include <set>

#include "apps/sextant/experiments/experiments.h"
#include "apps/sextant/experiments/moped_photos.h"
#include "sextant/core/error.h"
#include "sextant/descriptor/sift.h"
#include "sextant/recognize/photo_recognizer.h"

namespace sextant::app {

namespace {

/// The reference's poses with so many inliers are to be met.
constexpr int kGoalInliers = 40;
constexpr double kNear_m = 0.01, kNear_rad = 0.0873;

double support_of(const MopedPhotos& data, std::int32_t object, const Rigid3d& pose,
                  const std::vector<PhotoMatch>& matches) {
  double sum = 0;
  for (const PhotoMatch& m : matches) {
    if (m.object != object) continue;
    const Vec2d at = project(data.camera, pose * cast<double>(m.point_m));
    const Vec2d apart = at - Vec2d{double(m.at_px.x), double(m.at_px.y)};
    sum += 1 / (1 + dot(apart, apart) / 4);
  }
  return sum;
}

/// What one preset does in all photographs.
struct Outcome {
  double found = 0, absent = 0, sure = 0, same = 0, better = 0, missed = 0;
};

void compare(const MopedPhotos& data, std::size_t photo, const std::vector<PhotoMatch>& matches,
             const PhotoPoses& poses, Outcome& outcome) {
  for (const MopedDetection& detection : data.detections) {
    if (detection.photo != photo || detection.inliers < kGoalInliers) continue;
    outcome.sure += 1;
    const PhotoDetection* nearest = nullptr;
    double least_m = 0.05;
    for (const PhotoDetection& d : poses.detections) {
      const double apart_m =
          norm(d.world_from_object.translation - detection.camera_from_object.translation);
      if (d.object_index != detection.object || apart_m >= least_m) continue;
      nearest = &d;
      least_m = apart_m;
    }
    if (nearest == nullptr) {
      outcome.missed += 1;
      continue;
    }
    const Rigid3d rest = inverse(detection.camera_from_object) * nearest->world_from_object;
    if (least_m < kNear_m && rotation_angle(rest.rotation) < kNear_rad) {
      outcome.same += 1;
    } else if (support_of(data, detection.object, nearest->world_from_object, matches) >
               support_of(data, detection.object, detection.camera_from_object, matches)) {
      outcome.better += 1;
    }
  }
}

Outcome run_preset(const Context& context, const MopedPhotos& data,
                   const std::vector<SiftFeatures>& features, PhotoPreset preset) {
  const PhotoRecognizeOptions options = photo_recognize_options(preset);
  // Those that no photograph shows, as its notes say.
  const std::set<std::string> absent{"dasani",         "frozen_rice", "fuze_bottle",
                                     "milk_chocolate", "notebook",    "poptarts"};
  std::vector<PhotoObject> objects;
  for (const std::string& name : data.objects) objects.push_back({name, {}, 0.2});
  const PosedCamera posed{data.camera, {}};
  Outcome outcome;
  for (std::size_t photo = 0; photo < data.photos.size(); ++photo) {
    const std::vector<PhotoMatch> matches =
        match_photo(context, features[photo], data.camera, data.appearance, options.match);
    const PhotoPoses poses =
        find_photo_poses(context, matches, std::span(&posed, 1), objects, options.poses);
    for (const PhotoDetection& d : poses.detections) {
      outcome.found += 1;
      outcome.absent += absent.contains(d.object) ? 1 : 0;
    }
    compare(data, photo, matches, poses, outcome);
  }
  return outcome;
}

}  // namespace

std::vector<measure::Row> moped_poses(const Context& context) {
  require(context.is_cpu(), "moped-poses: runs on the CPU alone; take --device cpu");
  const MopedPhotos data = read_moped_photos(context, "moped-poses");
  std::vector<SiftFeatures> features;
  for (const Image<Rgb8>& photo : data.photos) features.push_back(compute_sift(context, photo));
  std::vector<measure::Row> rows;
  rows.push_back({"photographs", "", {}, static_cast<double>(data.photos.size()), {}, {}});
  for (const auto& preset : kPhotoPresets) {
    const Outcome outcome = run_preset(context, data, features, preset.value);
    const std::string name = std::string(preset.name) + ", ";
    const bool ours = preset.value == PhotoPreset::kDefault;
    const auto add = [&](const char* what, const char* unit, double value,
                         std::optional<double> goal = {}, std::optional<bool> met = {}) {
      rows.push_back({name + what, unit, {}, value, goal, met});
    };
    add("objects found", "a photo", outcome.found / static_cast<double>(data.photos.size()));
    add("poses of the reference with 40 inliers", "", outcome.sure);
    add("of these within 1 cm and 5 degrees of ours", "", outcome.same);
    add("of the others, ours has more support", "", outcome.better);
    if (ours) {
      const double explained = outcome.same + outcome.better;
      add("met or explained better", "", explained, outcome.sure, explained >= outcome.sure);
      add("absent models found", "", outcome.absent, 0, outcome.absent <= 0);
    } else {
      add("absent models found", "", outcome.absent);
    }
    add("missed", "", outcome.missed);
  }
  return rows;
}

}  // namespace sextant::app
