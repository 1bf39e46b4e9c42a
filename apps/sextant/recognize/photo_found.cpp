// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/recognize/photo_found.h"

#include <fmt/format.h>

#include <cmath>

#include "apps/sextant/recognize/found.h"
#include "sextant/io/pose_json.h"

namespace sextant::app {

namespace {

using nlohmann::json;

void add_poses(const SeenPhotos& seen, bool rig, const PhotoDetection& found, json& document) {
  if (!rig) {
    document["camera_from_object"] = pose_to_json(found.world_from_object);
    return;
  }
  document["world_from_object"] = pose_to_json(found.world_from_object);
  json cameras = json::array();
  for (const PosedCamera& camera : seen.cameras) {
    cameras.push_back(pose_to_json(inverse(camera.world_from_camera) * found.world_from_object));
  }
  document["camera_from_object"] = std::move(cameras);
}

json terms_of(const PhotoPoseTerms& t) {
  return {{"agreeing", t.agreeing}, {"share", t.share},     {"spread_px", t.spread_px},
          {"rms_px", t.rms_px},     {"q_score", t.q_score}, {"chance", t.chance},
          {"turn_rad", t.turn_rad}};
}

/// Places in the photographs of the matches that agree, and their points.
json inliers_of(const PhotoRecognition& recognition, const PhotoDetection& found) {
  json list = json::array();
  for (const std::int32_t i : found.inliers) {
    const PhotoMatch& m = recognition.matches[static_cast<std::size_t>(i)];
    list.push_back({{"photo", m.photo},
                    {"at_px", {m.at_px.x, m.at_px.y}},
                    {"point_m", {m.point_m.x, m.point_m.y, m.point_m.z}}});
  }
  return list;
}

json detection_to_json(const SeenPhotos& seen, bool rig, const PhotoRecognition& recognition,
                       const PhotoDetection& found) {
  json document{{"object", found.object},
                {"score", found.score},
                {"covariance", found.covariance},
                {"views", found.views},
                {"inliers", inliers_of(recognition, found)},
                {"rms_px", found.terms.rms_px}};
  add_poses(seen, rig, found, document);
  return document;
}

json rejected_to_json(const SeenPhotos& seen, bool rig, const PhotoDetection& found) {
  json document{{"object", found.object},
                {"score", found.score},
                {"reason", found.reason},
                {"inliers", found.inliers.size()},
                {"terms", terms_of(found.terms)}};
  add_poses(seen, rig, found, document);
  return document;
}

std::string detection_text(const PhotoDetection& found, bool rig) {
  const auto sigma_mm = [&](std::size_t axis) {
    return 1000 * std::sqrt(found.covariance[7 * (3 + axis)]);
  };
  std::string text = fmt::format("  {:<20} {:.2f}  {}, {} matches", found.object, found.score,
                                 pose_text(found.world_from_object), found.inliers.size());
  if (rig) text += fmt::format(" in {} photographs", found.views);
  return text + fmt::format(", {:.2f} px, deviation ({:.2f}, {:.2f}, {:.2f}) mm\n",
                            found.terms.rms_px, sigma_mm(0), sigma_mm(1), sigma_mm(2));
}

}  // namespace

json photo_found_to_json(const PhotoMoment& moment, const std::string& device,
                         const SeenPhotos& seen, bool rig, const PhotoRecognition& found,
                         bool explain) {
  json times = json::object();
  for (const StepTime& time : found.times) times[time.step] = time.ms;
  json document{{"frame", moment.name},
                {"device", device},
                {"times_ms", times},
                {"features", found.features},
                {"matches", found.matches.size()}};
  if (rig) document["photos"] = moment.files;
  document["detections"] = json::array();
  for (const PhotoDetection& d : found.detections) {
    document["detections"].push_back(detection_to_json(seen, rig, found, d));
  }
  document["rejected"] = json::array();
  for (const PhotoDetection& d : found.rejected) {
    if (explain) document["rejected"].push_back(rejected_to_json(seen, rig, d));
  }
  return document;
}

std::string photo_found_to_text(const PhotoMoment& moment, bool rig, const PhotoRecognition& found,
                                bool explain) {
  std::string text = moment.name + ": ";
  if (found.detections.empty()) {
    text += "nothing known was found\n";
  } else {
    text += fmt::format("{} found, poses from the {}\n", found.detections.size(),
                        rig ? "world" : "camera");
  }
  for (const PhotoDetection& d : found.detections) text += detection_text(d, rig);
  for (const PhotoDetection& d : found.rejected) {
    if (!explain) break;
    text += fmt::format("  rejected: {:<20} {:.2f}  {}: {}\n", d.object, d.score,
                        pose_text(d.world_from_object), d.reason);
  }
  return text + times_text(found.times);
}

}  // namespace sextant::app
