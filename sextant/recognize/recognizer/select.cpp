// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer/select.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "sextant/pose/open_directions.h"
#include "sextant/recognize/recognizer/math.h"
#include "sextant/recognize/recognizer/poses.h"
#include "sextant/recognize/recognizer/stages.h"

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
  result.score_among_several = verified.score_among_several;
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

/// Chooses by the given scores, one for each of the pool.
Choice choose(const SceneFrame& scene, double accept, std::span<const double> scores,
              std::span<const Explanation> pool) {
  Choice choice;
  choice.instead.resize(pool.size());
  choice.order.resize(pool.size());
  std::iota(choice.order.begin(), choice.order.end(), std::size_t{0});
  std::stable_sort(choice.order.begin(), choice.order.end(),
                   [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  Owners owners(scene);
  for (const std::size_t at : choice.order) {
    const Explanation& entry = pool[at];
    if (!(scores[at] >= accept)) break;
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

/// How many of each object are chosen.
std::map<std::int32_t, std::int64_t> count_chosen(const Choice& choice,
                                                  std::span<const Explanation> pool) {
  std::map<std::int32_t, std::int64_t> counts;
  for (const Chosen& chosen : choice.chosen) {
    counts[pool[chosen.at].found.object_index] += chosen.count();
  }
  return counts;
}

/// Raises the scores of objects of which several are found: by themselves, or more of them together
/// by what is asked of each among several. Tells what is chosen then.
Choice choose_expecting_more(const SceneFrame& scene, double accept, std::span<Explanation> pool) {
  std::vector<double> scores, among_several;
  for (const Explanation& entry : pool) {
    scores.push_back(entry.found.score);
    among_several.push_back(entry.score_among_several);
  }
  Choice choice = choose(scene, accept, scores, pool);
  auto found = count_chosen(choice, pool);
  auto together = count_chosen(choose(scene, accept, among_several, pool), pool);
  bool several = false;
  for (std::size_t i = 0; i < pool.size(); ++i) {
    const std::int32_t object = pool[i].found.object_index;
    if (found[object] < kSeveral && together[object] < kTogether) continue;
    if (!may_be_told(among_several[i], accept)) continue;
    several = true;
    scores[i] = pool[i].found.score = among_several[i];
  }
  return several ? choose(scene, accept, scores, pool) : choice;
}

double logit_of(double score) {
  const double p = clamp(score, 1e-12, 1 - 1e-12);
  return std::log(p / (1 - p));
}

/// Whether b is another way for the object to lie where a has it.
bool is_turned(const Model& model, const Detection& a, const Detection& b) {
  constexpr double kPlace = 0.12;  // of the diameter
  constexpr float kTurned_rad = 0.35f;
  const auto diameter = static_cast<double>(model.diameter_m);
  const Vec3d apart = a.camera_from_object * a.centre_m - b.camera_from_object * b.centre_m;
  return norm(apart) < kPlace * diameter &&
         !is_same_pose(model, cast<float>(a.camera_from_object), cast<float>(b.camera_from_object),
                       2 * model.diameter_m, kTurned_rad);
}

/// Whether b fits the depths clearly better than a though its score is hardly lower.
bool fits_better(const Detection& a, const Detection& b) {
  constexpr double kHardly = 2;   // of the logits
  constexpr double kClearly = 3;  // of the logarithm of the likelihoods
  if (logit_of(b.score) < logit_of(a.score) - kHardly) return false;
  // A gain is the logarithm of by how much smaller the deviations are than a plane's.
  const auto independent = [](const VerificationTerms& t) {
    return static_cast<double>(t.supported * t.pixels / kSharedPixels);
  };
  const auto gain = static_cast<double>(b.terms.plane_gain - a.terms.plane_gain);
  return gain * min_of(independent(a.terms), independent(b.terms)) > kClearly;
}

/// Verification looks at surfaces and outlines in general. Which way a body lies whose ends are
/// nearly alike shows in a few millimetres of depth. So of two poses that differ by a turn the one
/// that fits the depths better has the higher score, and each is as doubtful as the others are
/// likely.
void weigh_turned(std::span<const Model> models, double accept, std::span<Explanation> pool) {
  constexpr double kSharpness = 2;
  std::vector<Explanation*> sure;
  for (Explanation& entry : pool) {
    if (entry.members.empty() && may_be_told(entry.score_among_several, accept)) {
      sure.push_back(&entry);
    }
  }
  std::stable_sort(sure.begin(), sure.end(), [](const Explanation* a, const Explanation* b) {
    return a->found.score > b->found.score;
  });
  const auto are_turned = [&](const Explanation* a, const Explanation* b) {
    const auto object = a->found.object_index;
    return b->found.object_index == object &&
           is_turned(models[static_cast<std::size_t>(object)], a->found, b->found);
  };
  for (std::size_t i = 0; i < sure.size(); ++i) {
    Explanation* best = sure[i];
    for (std::size_t k = i + 1; k < sure.size(); ++k) {
      if (are_turned(best, sure[k]) && fits_better(best->found, sure[k]->found)) best = sure[k];
    }
    // One that took the place of another wrong way before is above this one already.
    if (best == sure[i] || best->found.score >= sure[i]->found.score) continue;
    std::swap(best->found.score, sure[i]->found.score);
    std::swap(best->score_among_several, sure[i]->score_among_several);
  }
  std::stable_sort(sure.begin(), sure.end(), [](const Explanation* a, const Explanation* b) {
    return a->found.score > b->found.score;
  });
  std::vector<double> shares;
  for (const Explanation* entry : sure) {
    const auto rival = std::find_if(sure.begin(), sure.end(), [&](const Explanation* other) {
      return are_turned(entry, other);
    });
    const double behind = rival == sure.end()
                              ? -INFINITY
                              : logit_of((*rival)->found.score) - logit_of(entry->found.score);
    shares.push_back(1 / (1 + std::exp(kSharpness * behind)));
  }
  for (std::size_t i = 0; i < sure.size(); ++i) {
    sure[i]->found.score *= shares[i];
    sure[i]->score_among_several *= shares[i];
    sure[i]->may_lie_otherwise = shares[i] <= 0.5;
  }
}

}  // namespace

void select(const SceneFrame& scene, std::span<const Model> models, float accept,
            std::vector<Explanation> pool, Recognition& recognition) {
  weigh_turned(models, static_cast<double>(accept), pool);
  const Choice choice = choose_expecting_more(scene, static_cast<double>(accept), pool);
  Owners owners(scene);
  const auto add = [&](Detection detection, const std::vector<std::int32_t>& pixels) {
    const Model& model = models[static_cast<std::size_t>(detection.object_index)];
    const auto diameter_m = static_cast<double>(model.diameter_m);
    detection.open =
        open_directions(detection.covariance, 0.5 * diameter_m, kOpenShare * diameter_m);
    detection.pixels = given_pixels(scene, owners.take(pixels, 0));
    recognition.detections.push_back(std::move(detection));
  };
  for (const Chosen& chosen : choice.chosen) {
    const Explanation& entry = pool[chosen.at];
    if (entry.members.empty()) add(entry.found, entry.pixels);
    for (const std::size_t i : chosen.members) {
      const Explanation::Member& member = entry.members[i];
      Detection detection = entry.found;
      detection.camera_from_object = member.camera_from_object;
      detection.covariance = full_matrix(member.covariance);
      detection.visible = member.terms.supported;
      detection.occluded = member.terms.occluded;
      add(std::move(detection), member.pixels);
    }
  }
  for (const std::size_t at : choice.order) {
    if (recognition.rejected.size() >= kMostInResult) break;
    Detection& found = pool[at].found;
    if (!(found.score >= static_cast<double>(accept))) {
      found.reason = pool[at].may_lie_otherwise ? "another way to lie there is as likely"
                                                : reason_of(found.terms);
    } else if (!choice.instead[at].empty()) {
      found.reason = choice.instead[at];
    } else {
      continue;
    }
    recognition.rejected.push_back(std::move(found));
  }
}

}  // namespace sextant::detail::recognizer
