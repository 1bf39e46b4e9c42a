// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer/select.h"

#include <algorithm>
#include <numeric>

namespace sextant::detail::recognizer {

namespace {

constexpr double kOverlap = 0.5;  // of a pose's pixels that a better one may explain

std::array<double, 36> full_matrix(const SymN<double, 6>& c) {
  std::array<double, 36> full{};
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      const int at = 6 * i + j;
      full[static_cast<std::size_t>(at)] = c.at(i, j);
    }
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

/// Pixels of the given map under those of the scene frame, ascending.
std::vector<std::int32_t> given_pixels(const SceneFrame& scene,
                                       const std::vector<std::int32_t>& pixels) {
  std::vector<std::int32_t> given;
  for (const std::int32_t pixel : pixels) {
    const int u = pixel % scene.camera.width * scene.averaged;
    const int v = pixel / scene.camera.width * scene.averaged;
    for (int y = 0; y < scene.averaged; ++y) {
      for (int x = 0; x < scene.averaged; ++x) {
        given.push_back((v + y) * scene.given_width + u + x);
      }
    }
  }
  std::sort(given.begin(), given.end());
  return given;
}

}  // namespace

Explanation explanation(const Model& model, const VerifiedPose& verified) {
  Explanation result;
  Detection& found = result.found;
  found.object = model.name;
  found.object_index = verified.object_index;
  found.camera_from_object = verified.camera_from_object;
  found.score = verified.score;
  found.centre_m = cast<double>(model.centre);
  found.covariance = full_matrix(verified.covariance);
  found.visible = verified.terms.supported;
  found.occluded = verified.terms.occluded;
  found.symmetric = model.symmetries.size() > 1;
  found.terms = verified.terms;
  return result;
}

Detection rejection(const Model& model, const VerifiedPose& verified) {
  Detection found = explanation(model, verified).found;
  found.reason = reason_of(found.terms);
  return found;
}

void select(const SceneFrame& scene, float accept, std::vector<Explanation> pool,
            Recognition& recognition) {
  std::vector<std::size_t> order(pool.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return pool[a].found.score > pool[b].found.score;
  });
  std::vector<std::int32_t> owner(
      static_cast<std::size_t>(scene.camera.width) * static_cast<std::size_t>(scene.camera.height),
      -1);
  for (const std::size_t at : order) {
    Explanation& entry = pool[at];
    Detection& found = entry.found;
    std::size_t taken = 0;
    std::int32_t by = -1;
    for (const std::int32_t pixel : entry.pixels) {
      const std::int32_t who = owner[static_cast<std::size_t>(pixel)];
      if (who < 0) continue;
      ++taken;
      by = who;
    }
    if (!(found.score >= accept)) {
      found.reason = reason_of(found.terms);
    } else if (static_cast<double>(taken) > kOverlap * static_cast<double>(entry.pixels.size())) {
      found.reason = "a better pose explains the same pixels: " +
                     recognition.detections[static_cast<std::size_t>(by)].object;
    }
    if (!found.reason.empty()) {
      recognition.rejected.push_back(std::move(found));
      continue;
    }
    const auto number = static_cast<std::int32_t>(recognition.detections.size());
    std::vector<std::int32_t> own;
    for (const std::int32_t pixel : entry.pixels) {
      std::int32_t& who = owner[static_cast<std::size_t>(pixel)];
      if (who >= 0) continue;
      who = number;
      own.push_back(pixel);
    }
    found.pixels = given_pixels(scene, own);
    recognition.detections.push_back(std::move(found));
  }
}

}  // namespace sextant::detail::recognizer
