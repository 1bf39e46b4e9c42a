// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer/select.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "sextant/pose/open_directions.h"

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
  result.diameter_m = static_cast<double>(model.diameter_m);
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

/// An entry of a pool that is chosen.
struct Chosen {
  std::size_t at = 0;
  std::vector<std::size_t> members;  ///< of a pack, those that are told
  std::int64_t count() const { return members.empty() ? 1 : std::ssize(members); }
};

struct Choice {
  std::vector<Chosen> chosen;        ///< from the highest score down
  std::vector<std::string> instead;  ///< of each entry: why it is not chosen though it is sure
  std::vector<std::size_t> order;    ///< all from the highest score down
};

/// Who explains which pixel of the scene frame.
class Owners {
 public:
  explicit Owners(const SceneFrame& scene)
      : of_(static_cast<std::size_t>(scene.camera.width) *
                static_cast<std::size_t>(scene.camera.height),
            -1) {}

  /// Whether most of the pixels are explained; then `by` is one who does.
  bool explain(const std::vector<std::int32_t>& pixels, std::int32_t& by) const {
    std::size_t taken = 0;
    for (const std::int32_t pixel : pixels) {
      const std::int32_t who = of_[static_cast<std::size_t>(pixel)];
      if (who < 0) continue;
      ++taken;
      by = who;
    }
    return static_cast<double>(taken) > kOverlap * static_cast<double>(pixels.size());
  }
  /// Those of the pixels that nobody explained before.
  std::vector<std::int32_t> take(const std::vector<std::int32_t>& pixels, std::size_t who) {
    std::vector<std::int32_t> own;
    for (const std::int32_t pixel : pixels) {
      std::int32_t& owner = of_[static_cast<std::size_t>(pixel)];
      if (owner >= 0) continue;
      owner = static_cast<std::int32_t>(who);
      own.push_back(pixel);
    }
    return own;
  }

 private:
  std::vector<std::int32_t> of_;
};

/// The boxes of a pack that are seen and that nothing chosen before explains.
std::vector<std::size_t> free_members(const Explanation& pack, const Owners& owners) {
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < pack.members.size(); ++i) {
    const Explanation::Member& member = pack.members[i];
    std::int32_t by = -1;
    if (member.terms.supported < kLeastOfMember || owners.explain(member.pixels, by)) continue;
    members.push_back(i);
  }
  return members;
}

Choice choose(const SceneFrame& scene, double accept, std::span<const Explanation> pool) {
  Choice choice;
  choice.instead.resize(pool.size());
  choice.order.resize(pool.size());
  std::iota(choice.order.begin(), choice.order.end(), std::size_t{0});
  std::stable_sort(choice.order.begin(), choice.order.end(), [&](std::size_t a, std::size_t b) {
    return pool[a].found.score > pool[b].found.score;
  });
  Owners owners(scene);
  for (const std::size_t at : choice.order) {
    const Explanation& entry = pool[at];
    if (!(entry.found.score >= accept)) break;
    std::int32_t by = -1;
    if (owners.explain(entry.pixels, by)) {
      choice.instead[at] = "a better pose explains the same pixels: " +
                           pool[static_cast<std::size_t>(by)].found.object;
      continue;
    }
    Chosen chosen{at, free_members(entry, owners)};
    if (chosen.members.empty() && !entry.members.empty()) {
      choice.instead[at] = "none of its boxes is seen that no better pose explains";
      continue;
    }
    owners.take(entry.pixels, at);
    choice.chosen.push_back(std::move(chosen));
  }
  return choice;
}

/// Raises the scores of objects of which several are chosen; false where there are none.
bool expect_more(const Choice& choice, double accept, std::span<Explanation> pool) {
  std::map<std::int32_t, std::int64_t> found;
  for (const Chosen& chosen : choice.chosen) {
    found[pool[chosen.at].found.object_index] += chosen.count();
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
  Owners owners(scene);
  const auto add = [&](Detection detection, double diameter_m,
                       const std::vector<std::int32_t>& pixels) {
    detection.open =
        open_directions(detection.covariance, 0.5 * diameter_m, kOpenShare * diameter_m);
    detection.pixels = given_pixels(scene, owners.take(pixels, 0));
    recognition.detections.push_back(std::move(detection));
  };
  for (const Chosen& chosen : choice.chosen) {
    const Explanation& entry = pool[chosen.at];
    if (entry.members.empty()) add(entry.found, entry.diameter_m, entry.pixels);
    for (const std::size_t i : chosen.members) {
      const Explanation::Member& member = entry.members[i];
      Detection detection = entry.found;
      detection.camera_from_object = member.camera_from_object;
      detection.covariance = full_matrix(member.covariance);
      detection.visible = member.terms.supported;
      detection.occluded = member.terms.occluded;
      add(std::move(detection), entry.diameter_m, member.pixels);
    }
  }
  for (const std::size_t at : choice.order) {
    Detection& found = pool[at].found;
    if (!(found.score >= static_cast<double>(accept))) {
      found.reason = reason_of(found.terms);
    } else if (!choice.instead[at].empty()) {
      found.reason = choice.instead[at];
    } else {
      continue;
    }
    recognition.rejected.push_back(std::move(found));
  }
}

}  // namespace sextant::detail::recognizer
