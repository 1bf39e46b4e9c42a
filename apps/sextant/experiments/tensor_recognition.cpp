// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "apps/sextant/experiments/experiments.h"
#include "apps/sextant/experiments/object_views.h"
#include "sextant/core/random.h"
#include "sextant/match/tensors.h"

// Which object a single tensor says it belongs to (Fig. 15 of the tensor paper): the library has
// views of seven objects alone, and other views of them, at other angles and with other noise, are
// compared with it tensor by tensor.

namespace sextant::app {

namespace {

constexpr int kLearnedViews = 40;  ///< of each object: half of them exact, half with noise
constexpr int kSeenViews = 6;      ///< as in the paper
constexpr std::int64_t kLearnedTensors = 230;
constexpr std::int64_t kSeenTensors = 200;
constexpr std::size_t kObjects = 7;

JoinedTensors learn(const Context& context, const std::vector<SeenObject>& toys,
                    std::vector<std::int32_t>& objects) {
  std::vector<TensorSet> sets;
  std::vector<std::int32_t> object_of_set;
  for (std::size_t o = 0; o < toys.size(); ++o) {
    for (int v = 0; v < kLearnedViews; ++v) {
      ViewOptions options;
      options.tensors = kLearnedTensors;
      if (v % 2 == 1) options.noise = SensorModel::kKinect;
      const Rigid3d pose =
          look_at(toys[o], direction_of(v, kLearnedViews), options.distance_m, 0.7 * v);
      const std::uint64_t seed = 1000 * o + static_cast<std::uint64_t>(v);
      sets.push_back(to_host(context, tensors_of_view(context, toys[o], pose, options, seed)));
      object_of_set.push_back(static_cast<std::int32_t>(o));
    }
  }
  JoinedTensors joined = join_tensors(sets);
  for (const std::int32_t set : joined.sources) {
    objects.push_back(object_of_set[static_cast<std::size_t>(set)]);
  }
  return joined;
}

/// What the matches of one tensor say: by the best one, as in the paper, and by all of them.
struct Labels {
  std::int32_t by_best = -1;
  std::int32_t by_votes = -1;
};

Labels label(std::span<const TensorMatch> matches, const std::vector<std::int32_t>& objects) {
  Labels labels;
  std::array<double, kObjects> votes{};
  for (const TensorMatch& match : matches) {
    if (match.model < 0) break;
    const std::int32_t object = objects[static_cast<std::size_t>(match.model)];
    if (labels.by_best < 0) labels.by_best = object;
    // Few resemble as much as the best ones: steep weights.
    votes[static_cast<std::size_t>(object)] +=
        std::pow(static_cast<double>(match.correlation) * static_cast<double>(match.overlap), 8);
  }
  double most = 0.0;
  for (std::size_t o = 0; o < kObjects; ++o) {
    if (votes[o] > most) most = votes[o], labels.by_votes = static_cast<std::int32_t>(o);
  }
  return labels;
}

struct Counts {
  double right_by_best = 0, right_by_votes = 0, unlabelled = 0, all = 0;
};

}  // namespace

std::vector<measure::Row> tensor_recognition(const Context& context) {
  const std::vector<SeenObject> toys = seven_toys(context);
  std::vector<std::int32_t> objects;
  const JoinedTensors joined = learn(context, toys, objects);
  const TensorSet library = copy(context, joined.tensors);
  const TensorIndex index = index_tensors(context, library);
  const TensorMatchOptions options{.k = kMostTensorMatches};

  std::vector<measure::Row> rows;
  rows.push_back(
      {"tensors in the library", "", {}, static_cast<double>(library.capacity()), {}, {}});
  Counts all;
  std::vector<std::array<double, kObjects>> confusion(kObjects);
  for (std::size_t o = 0; o < toys.size(); ++o) {
    Counts own;
    for (int v = 0; v < kSeenViews; ++v) {
      const Random random{77, o * 100 + static_cast<std::uint64_t>(v)};
      const Vec3d direction{random.normal(0), random.normal(1), random.normal(2)};
      ViewOptions view;
      view.noise = SensorModel::kKinect;
      view.tensors = kSeenTensors;
      const Rigid3d pose = look_at(toys[o], direction, view.distance_m,
                                   6.28 * static_cast<double>(random.uniform(3)));
      const TensorSet scene = tensors_of_view(context, toys[o], pose, view,
                                              50000 + o * 100 + static_cast<std::uint64_t>(v));
      const std::vector<TensorMatch> matches =
          to_host(context, match_tensors(context, scene, index, options));
      for (std::size_t t = 0; t * options.k < matches.size(); ++t) {
        const Labels found =
            label(std::span(matches).subspan(t * options.k, static_cast<std::size_t>(options.k)),
                  objects);
        const auto truth = static_cast<std::int32_t>(o);
        own.all += 1;
        own.unlabelled += found.by_best < 0;
        own.right_by_best += found.by_best == truth;
        own.right_by_votes += found.by_votes == truth;
        if (found.by_votes >= 0) confusion[o][static_cast<std::size_t>(found.by_votes)] += 1;
      }
    }
    rows.push_back({toys[o].name + ", tensors with the right label",
                    "%",
                    {},
                    100 * own.right_by_votes / own.all,
                    {},
                    {}});
    all.all += own.all;
    all.right_by_best += own.right_by_best;
    all.right_by_votes += own.right_by_votes;
    all.unlabelled += own.unlabelled;
  }
  for (std::size_t o = 0; o < kObjects; ++o) {
    std::size_t other = o == 0 ? 1 : 0;
    for (std::size_t p = 0; p < kObjects; ++p) {
      if (p != o && confusion[o][p] > confusion[o][other]) other = p;
    }
    rows.push_back({fmt::format("{}, most often taken for {}", toys[o].name, toys[other].name),
                    "%",
                    {},
                    100 * confusion[o][other] / (all.all / kObjects),
                    {},
                    {}});
  }
  const double best = 100 * all.right_by_best / all.all;
  const double votes = 100 * all.right_by_votes / all.all;
  rows.push_back({"right by the best match alone, as in the paper", "%", {}, best, {}, {}, 84.0});
  rows.push_back(
      {"right by all 16 matches of a tensor", "%", {}, votes, 88.0, votes >= 88.0, 84.0});
  rows.push_back({"tensors without any match", "%", {}, 100 * all.unlabelled / all.all, {}, {}});
  return rows;
}

}  // namespace sextant::app
