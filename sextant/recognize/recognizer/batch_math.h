// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/recognize/recognizer/cluster.h"
#include "sextant/recognize/recognizer/refine_math.h"
#include "sextant/recognize/recognizer/verified_pose.h"
#include "sextant/recognize/recognizer/verify_batch.h"

// One refined pose of one object on the way to its score, for host and device.

namespace sextant::detail::recognizer {

/// What verification says of a pose.
struct Verdict {
  PoseEquations<double> equations;
  VerificationTerms terms;
  double logit = 0;
};

/// Takes the refined poses that differ.
struct GatherCandidate {
  const Rigid3d* refined;
  Clusters clusters;
  Rigid3d* candidates;
  SEXTANT_HD void operator()(std::int64_t place) const {
    const std::int64_t m = place / clusters.capacity;
    if (place - m * clusters.capacity < clusters.counts[m]) {
      candidates[place] = refined[clusters.leaders[place]];
    }
  }
};

/// Makes terms and odds of the sums over cells.
struct Judge {
  VerifyJob job;
  Verdict* verdicts;
  SEXTANT_HD void operator()(std::int64_t place) const {
    const std::int32_t m = job.list.object_of(place);
    if (m < 0) return;
    const ModelView& model = job.models[m];
    const Rigid3d& pose = job.list.poses[place];
    const Vec3f centre = cast<float>(pose * cast<double>(model.centre));
    const int stride = crop_of(job.frame.camera, model, pose).stride;
    Verdict& verdict = verdicts[place];
    verdict.terms = terms_of(job.sums[place], job.frame, model, centre, stride);
    verdict.equations = job.sums[place].equations;
    verdict.logit = shape_logit(verdict.terms);
  }
};

/// Sorts the candidates of an object from the highest odds down, equal ones in their order:
/// order[m slots + rank] is the place of the candidate with the rank.
struct RankCandidate {
  PoseList list;
  const Verdict* verdicts;
  std::int32_t* order;
  SEXTANT_HD void operator()(std::int64_t place) const {
    const std::int32_t m = list.object_of(place);
    if (m < 0) return;
    const std::int64_t first = std::int64_t{m} * list.slots;
    const double own = verdicts[place].logit;
    std::int32_t rank = 0;
    for (std::int64_t other = first; other < first + list.counts[m]; ++other) {
      const double logit = verdicts[other].logit;
      rank += logit > own || (logit == own && other < place) ? 1 : 0;
    }
    order[first + rank] = static_cast<std::int32_t>(place);
  }
};

/// The best candidates of each object, `each` of them, which move.
struct Moving {
  PoseList candidates;
  const std::int32_t* order;
  std::int32_t each;
  Rigid3d* poses;
  Verdict* verdicts;
  std::uint8_t* wanted;  ///< whether it moves in this round

  SEXTANT_HD PoseList list(std::int64_t objects) const {
    return {poses, objects * each, each, each, candidates.counts, nullptr, wanted};
  }
  /// The place of the candidate that moves, or -1.
  SEXTANT_HD std::int64_t candidate(std::int64_t place) const {
    const std::int64_t m = place / each, k = place % each;
    return k < candidates.counts[m] ? order[m * candidates.slots + k] : -1;
  }
};
struct BeginMoving {
  Moving moving;
  const Verdict* verdicts;
  SEXTANT_HD void operator()(std::int64_t place) const {
    const std::int64_t from = moving.candidate(place);
    if (from < 0) return;
    moving.poses[place] = moving.candidates.poses[from];
    moving.verdicts[place] = verdicts[from];
  }
};
struct MoveOutline {
  Moving moving;
  const ModelView* models;
  double least_logit;
  SEXTANT_HD void operator()(std::int64_t place) const {
    const bool moves = moving.candidate(place) >= 0 && moving.verdicts[place].logit > least_logit;
    moving.wanted[place] = moves ? 1 : 0;
    if (!moves) return;
    moving.poses[place] = outline_step(models[place / moving.each], moving.poses[place],
                                       moving.verdicts[place].equations);
  }
};
struct KeepBetter {
  Moving moving;
  Rigid3d* candidates;
  Verdict* verdicts;
  SEXTANT_HD void operator()(std::int64_t place) const {
    const std::int64_t to = moving.candidate(place);
    if (moving.wanted[place] == 0 || !(moving.verdicts[place].logit > verdicts[to].logit)) return;
    verdicts[to] = moving.verdicts[place];
    candidates[to] = moving.poses[place];
  }
};

/// What is told of the candidates with the highest odds, `each` of an object.
struct TellVerified {
  FrameView frame;
  const ModelView* models;
  PoseList candidates;
  const std::int32_t* order;
  const Verdict* verdicts;
  std::int32_t each;
  VerifiedPose* verified;
  SEXTANT_HD void operator()(std::int64_t place) const {
    const auto m = static_cast<std::int32_t>(place / each);
    const std::int64_t k = place % each;
    if (k >= candidates.counts[m]) {
      verified[place].object_index = -1;
      return;
    }
    const std::int64_t from = order[std::int64_t{m} * candidates.slots + k];
    verified[place] = verified_pose(frame.noise, models[m], m, candidates.poses[from],
                                    verdicts[from].terms, verdicts[from].equations);
  }
};

}  // namespace sextant::detail::recognizer
