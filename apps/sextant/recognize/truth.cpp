// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/recognize/truth.h"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>

#include "sextant/io/json_file.h"

namespace sextant::app {

namespace {

using nlohmann::json;

Rigid3d pose_of(const json& rows) {
  Rigid3d pose;
  double t[3];
  for (std::size_t i = 0; i < 3; ++i) {
    const json& row = rows.at(i);
    pose.rotation.row[i] = {row.at(0).get<double>(), row.at(1).get<double>(),
                            row.at(2).get<double>()};
    t[i] = row.at(3).get<double>();
  }
  pose.translation = {t[0], t[1], t[2]};
  return pose;
}

/// How far the middle of an object is from the true one, for the equivalent pose that is turned
/// least. Origins may lie far from their objects.
PoseDifference difference_of(const LearnedObject& object, const Rigid3d& found,
                             const Rigid3d& truth) {
  const Bounds box = bounds(Context::cpu(), object.mesh.vertices.points);
  const Vec3d middle = box.empty() ? Vec3d{} : cast<double>(box.low + box.high) / 2.0;
  const Rigid3d same = nearest_equivalent(object.shape_symmetries, found, truth);
  return {rotation_angle(transpose(truth.rotation) * same.rotation),
          norm(same * middle - truth * middle)};
}

/// The nearest object of the name that no detection has yet; -1 without one.
int nearest(const std::vector<TrueObject>& truth, const std::vector<bool>& taken,
            const LearnedObject& object, const Detection& found, PoseDifference& difference) {
  int best = -1;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (taken[i] || truth[i].name != found.object) continue;
    const PoseDifference d =
        difference_of(object, found.camera_from_object, truth[i].camera_from_object);
    // Farther off than half of itself it is another place.
    if (d.translation_m > 0.5 * object.diameter_m) continue;
    if (best >= 0 && d.translation_m >= difference.translation_m) continue;
    best = static_cast<int>(i);
    difference = d;
  }
  return best;
}

}  // namespace

std::vector<TrueObject> read_truth(const std::filesystem::path& file) {
  const json document = read_json_file(file);
  std::vector<TrueObject> truth;
  try {
    for (const json& object : document.at("objects")) {
      truth.push_back({object.at("name").get<std::string>(),
                       pose_of(object.at("camera_from_object")),
                       object.value("visible_fraction", 1.0)});
    }
  } catch (const json::exception&) {
    fail(file.string(), ": expected objects with name and camera_from_object, as 'sextant synth' ",
         "writes them");
  }
  return truth;
}

void tell_truth(const std::vector<TrueObject>& truth, const std::vector<LearnedObject>& objects,
                const Recognition& found, Result& result) {
  const auto is_known = [&](const TrueObject& object) {
    return std::any_of(objects.begin(), objects.end(),
                       [&](const LearnedObject& known) { return known.name == object.name; });
  };
  std::vector<bool> taken(truth.size());
  json list = json::array();
  result.text += "  beside the truth:\n";
  for (const Detection& d : found.detections) {
    PoseDifference difference;
    const LearnedObject& object = objects[static_cast<std::size_t>(d.object_index)];
    const int at = nearest(truth, taken, object, d, difference);
    if (at < 0) {
      result.text += fmt::format("    {:<20} none is there\n", d.object);
      list.push_back({{"object", d.object}, {"is", "false"}});
      continue;
    }
    taken[static_cast<std::size_t>(at)] = true;
    result.text += fmt::format("    {:<20} {:.1f} mm and {:.1f} degrees off\n", d.object,
                               1000 * difference.translation_m,
                               difference.rotation_rad * 180 / std::numbers::pi);
    list.push_back({{"object", d.object},
                    {"is", "found"},
                    {"distance_m", difference.translation_m},
                    {"angle_rad", difference.rotation_rad}});
  }
  int strangers = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (!is_known(truth[i])) {
      ++strangers;
    } else if (!taken[i]) {
      result.text += fmt::format("    {:<20} missed; {:.0f} % of it are visible\n", truth[i].name,
                                 100 * truth[i].visible);
      list.push_back({{"object", truth[i].name}, {"is", "missed"}, {"visible", truth[i].visible}});
    }
  }
  if (strangers > 0) {
    result.text += fmt::format("    and {} objects that are not looked for\n", strangers);
  }
  result.document["truth"] = std::move(list);
}

}  // namespace sextant::app
