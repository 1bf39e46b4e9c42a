// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer/select.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace sextant::detail::recognizer {

namespace {

constexpr float kLeastOfMember = 0.1f;  // that is seen of a box of a pack to tell of it
constexpr double kOverlap = 0.5;        // of a pose's pixels that a better one may explain

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

namespace {

/// What is chosen of a pool.
struct Choice {
  std::vector<std::size_t> chosen;    ///< from the highest score down
  std::vector<std::int32_t> instead;  ///< of each entry: a chosen one that explains the same, or -1
  std::vector<std::size_t> order;     ///< all from the highest score down
};

std::size_t image_size(const SceneFrame& scene) {
  return static_cast<std::size_t>(scene.camera.width) *
         static_cast<std::size_t>(scene.camera.height);
}

Choice choose(const SceneFrame& scene, double accept, std::span<const Explanation> pool) {
  Choice choice;
  choice.instead.assign(pool.size(), -1);
  choice.order.resize(pool.size());
  std::iota(choice.order.begin(), choice.order.end(), std::size_t{0});
  std::stable_sort(choice.order.begin(), choice.order.end(), [&](std::size_t a, std::size_t b) {
    return pool[a].found.score > pool[b].found.score;
  });
  std::vector<std::int32_t> owner(image_size(scene), -1);
  for (const std::size_t at : choice.order) {
    if (!(pool[at].found.score >= accept)) break;
    std::size_t taken = 0;
    std::int32_t by = -1;
    for (const std::int32_t pixel : pool[at].pixels) {
      const std::int32_t who = owner[static_cast<std::size_t>(pixel)];
      if (who < 0) continue;
      ++taken;
      by = who;
    }
    if (static_cast<double>(taken) > kOverlap * static_cast<double>(pool[at].pixels.size())) {
      choice.instead[at] = by;
      continue;
    }
    choice.chosen.push_back(at);
    for (const std::int32_t pixel : pool[at].pixels) {
      std::int32_t& who = owner[static_cast<std::size_t>(pixel)];
      if (who < 0) who = static_cast<std::int32_t>(at);
    }
  }
  return choice;
}

bool is_seen(const Explanation::Member& member) { return member.terms.supported >= kLeastOfMember; }

/// Raises the scores of objects of which several are chosen; false where there are none.
bool expect_more(const Choice& choice, double accept, std::span<Explanation> pool) {
  std::map<std::int32_t, std::int64_t> found;
  for (const std::size_t at : choice.chosen) {
    const Explanation& entry = pool[at];
    found[entry.found.object_index] +=
        entry.members.empty() ? 1
                              : std::count_if(entry.members.begin(), entry.members.end(), is_seen);
  }
  bool several = false;
  for (Explanation& entry : pool) {
    const double score = entry.found.score;
    if (found[entry.found.object_index] < kSeveral || !may_be_told(score, accept)) continue;
    several = true;
    entry.found.score = probability(std::log(score / (1 - score)) + kSeveralLogit);
  }
  return several;
}

}  // namespace

void select(const SceneFrame& scene, float accept, std::vector<Explanation> pool,
            Recognition& recognition) {
  Choice choice = choose(scene, accept, pool);
  if (expect_more(choice, static_cast<double>(accept), pool)) choice = choose(scene, accept, pool);
  std::vector<std::int32_t> owner(image_size(scene), -1);
  const auto add = [&](Detection detection, const std::vector<std::int32_t>& pixels) {
    std::vector<std::int32_t> own;
    for (const std::int32_t pixel : pixels) {
      std::int32_t& who = owner[static_cast<std::size_t>(pixel)];
      if (who >= 0) continue;
      who = 0;
      own.push_back(pixel);
    }
    detection.pixels = given_pixels(scene, own);
    recognition.detections.push_back(std::move(detection));
  };
  for (const std::size_t at : choice.chosen) {
    const Explanation& entry = pool[at];
    if (entry.members.empty()) add(entry.found, entry.pixels);
    for (const Explanation::Member& member : entry.members) {
      if (!is_seen(member)) continue;
      Detection detection = entry.found;
      detection.camera_from_object = member.camera_from_object;
      detection.covariance = full_matrix(member.covariance);
      detection.visible = member.terms.supported;
      detection.occluded = member.terms.occluded;
      add(std::move(detection), member.pixels);
    }
  }
  for (const std::size_t at : choice.order) {
    Detection& found = pool[at].found;
    if (!(found.score >= static_cast<double>(accept))) {
      found.reason = reason_of(found.terms);
    } else if (choice.instead[at] >= 0) {
      found.reason = "a better pose explains the same pixels: " +
                     pool[static_cast<std::size_t>(choice.instead[at])].found.object;
    } else {
      continue;
    }
    recognition.rejected.push_back(std::move(found));
  }
}

}  // namespace sextant::detail::recognizer
