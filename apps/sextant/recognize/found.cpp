// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/recognize/found.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "apps/sextant/input/depth_map.h"
#include "sextant/depth/surface_from_depth.h"
#include "sextant/geometry/transform.h"
#include "sextant/io/pose_json.h"
#include "sextant/render/label_colors.h"

namespace sextant::app {

namespace {

using nlohmann::json;

void add_pose(const SeenFrame& frame, const Detection& found, json& document) {
  document["camera_from_object"] = pose_to_json(found.camera_from_object);
  if (!frame.is_points) return;
  document["scene_from_object"] = pose_to_json(file_from_camera(frame) * found.camera_from_object);
}

json detection_to_json(const SeenFrame& frame, const Detection& found) {
  json document{{"object", found.object},         {"score", found.score},
                {"covariance", found.covariance}, {"open", found.open},
                {"visible", found.visible},       {"occluded", found.occluded},
                {"symmetric", found.symmetric},   {"pixels", found.pixels.size()}};
  add_pose(frame, found, document);
  return document;
}

json rejected_to_json(const SeenFrame& frame, const Detection& found) {
  json terms = json::object();
  for_each_term(found.terms, [&](const char* name, float value) { terms[name] = value; });
  json document{{"object", found.object},
                {"score", found.score},
                {"reason", found.reason},
                {"terms", std::move(terms)}};
  add_pose(frame, found, document);
  return document;
}

/// The deviation of the place along the axes of the frame that poses are told in.
Vec3d sigma_m(const SeenFrame& frame, const Detection& found) {
  const auto at = [&](std::size_t i, std::size_t j) {
    return found.covariance[6 * (3 + i) + 3 + j];
  };
  const Mat3d covariance{{{at(0, 0), at(0, 1), at(0, 2)},
                          {at(1, 0), at(1, 1), at(1, 2)},
                          {at(2, 0), at(2, 1), at(2, 2)}}};
  const Mat3d& r = frame.scene_from_camera.rotation;
  const Mat3d turned = r * covariance * transpose(r);
  return {std::sqrt(turned.row[0].x), std::sqrt(turned.row[1].y), std::sqrt(turned.row[2].z)};
}

TriangleMesh cloud_of_depth(const SeenFrame& frame) {
  TriangleMesh cloud;
  cloud.vertices = surface_from_depth(Context::cpu(), frame.depth_m, frame.camera);
  return cloud;
}

/// The detection of each point of the scene. Where points are in no rows, a point has that of the
/// pixel in which it is seen, unless it lies behind the surface there.
std::vector<std::int32_t> detection_of_points(const SeenFrame& frame,
                                              const std::vector<std::int32_t>& pixels) {
  if (!frame.is_points || frame.has_rows) return pixels;
  constexpr float kBehind_m = 0.005f;
  const Buffer<Vec3f> seen = transform_points(Context::cpu(), inverse(frame.scene_from_camera),
                                              frame.scene.vertices.points);
  std::vector<std::int32_t> detections;
  for (const Vec3f& p : seen.host()) {
    std::int32_t detection = 0;
    const Vec2d at = project(frame.camera, cast<double>(p));
    if (std::isfinite(at.x) && std::abs(at.x) < 1e6 && std::abs(at.y) < 1e6) {
      const auto u = static_cast<int>(std::lround(at.x)), v = static_cast<int>(std::lround(at.y));
      if (frame.depth_m.view().contains(u, v) && p.z < frame.depth_m(u, v) + kBehind_m) {
        detection =
            pixels[static_cast<std::size_t>(v) * static_cast<std::size_t>(frame.camera.width) +
                   static_cast<std::size_t>(u)];
      }
    }
    detections.push_back(detection);
  }
  return detections;
}

}  // namespace

json found_to_json(const std::string& file, const std::string& device, const SeenFrame& frame,
                   const Recognition& found, bool explain) {
  json times = json::object(), detections = json::array(), rejected = json::array();
  for (const StepTime& time : found.times) times[time.step] = time.ms;
  for (const Detection& d : found.detections) detections.push_back(detection_to_json(frame, d));
  if (explain) {
    for (const Detection& d : found.rejected) rejected.push_back(rejected_to_json(frame, d));
  }
  json document{{"frame", file},
                {"device", device},
                {"times_ms", std::move(times)},
                {"detections", std::move(detections)},
                {"rejected", std::move(rejected)}};
  summarize_depth(frame.depth_m).add_to(document["depth"]);
  if (!frame.is_points) {
    document["depth"]["unit_m"] = frame.unit_m;
    document["depth"]["unit_from"] = frame.unit_from;
  }
  if (frame.is_points) document["scene_from_camera"] = pose_to_json(file_from_camera(frame));
  return document;
}

std::string found_to_text(const std::string& file, const SeenFrame& frame, const Recognition& found,
                          bool explain) {
  std::string text = file + ": ";
  if (found.detections.empty()) {
    text += "nothing known was found\n";
  } else {
    text += fmt::format("{} found, poses from the {}\n", found.detections.size(),
                        frame.is_points ? "file's frame" : "camera");
  }
  for (const Detection& d : found.detections) {
    const Vec3d sigma = sigma_m(frame, d) * 1000.0;
    text += fmt::format(
        "  {:<20} {:.2f}  {}, {:.0f} % visible, deviation ({:.2f}, {:.2f}, {:.2f}) mm{}{}\n",
        d.object, d.score, pose_text(file_from_camera(frame) * d.camera_from_object),
        100 * d.visible, sigma.x, sigma.y, sigma.z, d.symmetric ? ", symmetric" : "",
        d.open.empty() ? "" : fmt::format(", open in {} of 6 directions", d.open.size()));
  }
  if (explain) {
    for (const Detection& d : found.rejected) {
      text += fmt::format("  rejected: {:<20} {:.2f}  {}: {}\n", d.object, d.score,
                          pose_text(file_from_camera(frame) * d.camera_from_object), d.reason);
    }
  }
  const DepthSummary depth = summarize_depth(frame.depth_m);
  text += fmt::format("  {} pixels with depth{}", depth.valid_pixels, depth.text());
  if (!frame.is_points) {
    text += fmt::format(", {:.6g} m a step ({})", frame.unit_m, frame.unit_from);
  }
  text += "\n";
  return text + times_text(found.times);
}

std::string pose_text(const Rigid3d& pose) {
  const Vec3d& t = pose.translation;
  const Vec3d turn = log_rotation(pose.rotation) * (180 / std::numbers::pi);
  return fmt::format("at ({:.4f}, {:.4f}, {:.4f}) m, turned by ({:.1f}, {:.1f}, {:.1f}) degrees",
                     t.x, t.y, t.z, turn.x, turn.y, turn.z);
}

std::string times_text(const std::vector<StepTime>& times) {
  std::string steps;
  double sum_ms = 0;
  for (const StepTime& time : times) {
    steps += fmt::format("{}{} {:.0f}", steps.empty() ? "" : ", ", time.step, time.ms);
    sum_ms += time.ms;
  }
  return fmt::format("  {:.0f} ms: {}\n", sum_ms, steps);
}

std::vector<std::int32_t> detection_of_pixels(const SeenFrame& frame, const Recognition& found) {
  std::vector<std::int32_t> detections(static_cast<std::size_t>(frame.depth_m.pixels().size()));
  for (std::size_t i = 0; i < found.detections.size(); ++i) {
    for (const std::int32_t pixel : found.detections[i].pixels) {
      detections[static_cast<std::size_t>(pixel)] = static_cast<std::int32_t>(i) + 1;
    }
  }
  return detections;
}

TriangleMesh segmented_cloud(const SeenFrame& frame, const Recognition& found) {
  constexpr Rgb8 kGrey{128, 128, 128};
  const Context host = Context::cpu();
  TriangleMesh cloud = frame.is_points ? copy(host, frame.scene) : cloud_of_depth(frame);
  const std::vector<std::int32_t> detections =
      detection_of_points(frame, detection_of_pixels(frame, found));
  std::vector<Rgb8> colors;
  colors.reserve(detections.size());
  for (const std::int32_t number : detections) {
    colors.push_back(number > 0 ? color_of_detection(number) : kGrey);
  }
  cloud.vertices.colors = copy(host, colors);
  std::erase_if(cloud.vertices.attributes,
                [](const Attribute& a) { return a.name == "detection"; });
  cloud.vertices.attributes.push_back({"detection", copy(host, detections)});
  return cloud;
}

Rgb8 color_of_detection(std::int32_t number) { return label_color(number); }

}  // namespace sextant::app
