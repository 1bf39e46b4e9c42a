// SPDX-License-Identifier: Apache-2.0
// What the score of a pose in photographs is fitted to, and whether it holds: drawn cards and
// sleeves, with models that are a little wrong and strangers that look like them in part.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "apps/sextant/command/progress_bar.h"
#include "apps/sextant/experiments/card_scenes.h"
#include "apps/sextant/experiments/experiments.h"
#include "sextant/core/cholesky.h"
#include "sextant/core/error.h"
#include "sextant/core/random.h"
#include "sextant/learn/learn_picture.h"
#include "sextant/recognize/photo_recognizer.h"

namespace sextant::app {

namespace {

constexpr int kCards = 8, kSleeves = 4, kScenes = 120;
constexpr int kFewest = 5;                              ///< features of a pose
constexpr double kRight_m = 0.05, kRight_rad = 0.1745;  ///< MOPED's bounds: 5 cm and 10 degrees

/// A thing of one or four printed sides.
struct Body {
  std::vector<std::size_t> cards;
  std::vector<Rigid3d> body_from_card;
};

/// Things that are learned and what looks like them; another number, other things.
struct World {
  std::vector<DrawnCard> cards, strangers;
  std::vector<Body> bodies;
  std::vector<LearnedObject> objects;
};

/// Structure from motion is not exact either: noise, a wrong scale and a bend.
void spoil(LearnedObject& object, const Random& random) {
  const double noise_m = 0.0008 * double(random.uniform(0));
  const double scale = 1 + 0.02 * random.normal(1), bend = 1.5 * random.normal(2);
  std::uint64_t draw = 10;
  for (Vec3f& p : object.appearance.points.host()) {
    Vec3d q = cast<double>(p) * scale;
    q.z += bend * (q.x * q.x + 0.5 * q.y * q.y);
    q += Vec3d{random.normal(draw), random.normal(draw + 1), random.normal(draw + 2)} * noise_m;
    draw += 3;
    p = cast<float>(q);
  }
}

World make_world(std::uint64_t number) {
  World world;
  const std::uint64_t first = 1000 * number;
  for (std::uint64_t i = 0; i < kCards + 4 * kSleeves; ++i) {
    world.cards.push_back(draw_card(first + i));
  }
  for (std::uint64_t i = 0; i < 8; ++i) {
    // Half of the strangers share a part with something that is learned.
    world.strangers.push_back(
        draw_card(first + 500 + i, i % 2 ? 0.2 + 0.04 * double(i) : 0, first + i));
  }
  for (std::size_t i = 0; i < kCards; ++i) world.bodies.push_back({{i}, {Rigid3d{}}});
  for (std::size_t i = 0; i < kSleeves; ++i) {
    Body sleeve;
    for (std::size_t side = 0; side < 4; ++side) {
      const Mat3d turn = exp_rotation(Vec3d{0, 1.5707963267948966 * double(side), 0});
      sleeve.cards.push_back(kCards + 4 * i + side);
      sleeve.body_from_card.push_back({turn, turn * Vec3d{0, 0, -0.0315}});
    }
    world.bodies.push_back(std::move(sleeve));
  }
  for (std::size_t b = 0; b < world.bodies.size(); ++b) {
    const Body& body = world.bodies[b];
    std::vector<Vec3f> points;
    std::vector<std::uint8_t> descriptors;
    for (std::size_t side = 0; side < body.cards.size(); ++side) {
      const DrawnCard& card = world.cards[body.cards[side]];
      const LearnedObject flat =
          learn_picture(Context::cpu(), "side", card.picture().view(), card.width_m);
      for (const Vec3f& p : flat.appearance.points.host()) {
        points.push_back(cast<float>(body.body_from_card[side] * cast<double>(p)));
      }
      const auto bytes = flat.appearance.descriptors.host();
      descriptors.insert(descriptors.end(), bytes.begin(), bytes.end());
    }
    LearnedObject object;
    object.name = "body " + std::to_string(b);
    object.diameter_m = body.cards.size() > 1 ? 0.125 : 0.108;
    object.appearance.points = copy(Context::cpu(), points);
    object.appearance.descriptors = copy(Context::cpu(), descriptors);
    spoil(object, Random{91 + number, b});
    world.objects.push_back(std::move(object));
  }
  return world;
}

struct Truth {
  int object;
  Rigid3d camera_from_object;
};

struct Scene {
  Camera camera;
  std::vector<PlacedCard> cards;
  std::vector<Truth> truth;
  PhotoFlaws flaws;
};

Scene make_scene(const World& world, std::uint64_t seed) {
  const Random random{seed, 5};
  std::uint64_t draw = 0;
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * double(random.uniform(draw++));
  };
  Scene scene;
  scene.camera = card_camera(uniform(0, 1) < 0.5 ? 480 : 640);
  scene.flaws = {uniform(1, 6), uniform(0, 1.2)};
  const auto any_pose = [&] {
    const double z = 0.2 * std::pow(7.0, uniform(0, 1));
    const double x = uniform(-0.5, 0.5) * z, y = uniform(-0.36, 0.36) * z;
    const double axis = uniform(-3.1416, 3.1416), tilt = uniform(0, 1.25);
    const Mat3d roll = exp_rotation(Vec3d{0, 0, uniform(-3.1416, 3.1416)});
    return Rigid3d{exp_rotation(Vec3d{std::cos(axis) * tilt, std::sin(axis) * tilt, 0}) * roll,
                   {x, y, z}};
  };
  for (int i = 0; i < 6; ++i) {
    const auto object = random.below(static_cast<std::uint32_t>(world.bodies.size()), draw++);
    const Body& body = world.bodies[object];
    const Rigid3d pose = any_pose();
    scene.truth.push_back({static_cast<int>(object), pose});
    for (std::size_t side = 0; side < body.cards.size(); ++side) {
      scene.cards.push_back({&world.cards[body.cards[side]], static_cast<int>(object),
                             pose * body.body_from_card[side]});
    }
  }
  for (int i = 0; i < 4; ++i) {
    const auto which = random.below(static_cast<std::uint32_t>(world.strangers.size()), draw++);
    scene.cards.push_back({&world.strangers[which], -1, any_pose()});
  }
  return scene;
}

struct Judged {
  PhotoPoseTerms terms;
  double score = 0;
  bool right = false;
};

bool is_right(const PhotoDetection& found, const Scene& scene) {
  return std::any_of(scene.truth.begin(), scene.truth.end(), [&](const Truth& truth) {
    const Rigid3d rest = inverse(truth.camera_from_object) * found.world_from_object;
    return truth.object == found.object_index && norm(rest.translation) < kRight_m &&
           rotation_angle(rest.rotation) < kRight_rad;
  });
}

/// Every pose that is left at the end, whatever its score.
std::vector<Judged> judge(const Context& context, std::uint64_t world_number) {
  const World world = make_world(world_number);
  PhotoRecognizeOptions options;
  options.poses.accept = 0;
  // Poses of few features, most of them wrong, have scores too.
  options.poses.agree_points = options.poses.group_points = kFewest;
  options.poses.refine_points = options.poses.final_points = kFewest;
  options.poses.group_score = options.poses.final_score = 1;
  PhotoRecognizer recognizer(context, world.objects, options);
  std::vector<Judged> all;
  ProgressBar bar("looking at drawn photographs", {"photographs", 1});
  const Progress progress = bar.callback();
  for (std::uint64_t i = 0; i < kScenes; ++i) {
    report(progress, static_cast<std::int64_t>(i), kScenes);
    const std::uint64_t seed = 10000 * world_number + i;
    const Scene scene = make_scene(world, seed);
    const Image<std::uint8_t> photo =
        photograph_cards(scene.cards, scene.camera, scene.flaws, seed);
    for (const PhotoDetection& d : recognizer.recognize(photo, scene.camera).detections) {
      all.push_back({d.terms, d.score, is_right(d, scene)});
    }
  }
  return all;
}

constexpr int kTerms = kPhotoScoreTerms;

/// The logistic regression of being right on the terms of the score, with a weak pull to zero.
std::array<double, kTerms> fit(const std::vector<Judged>& all) {
  std::array<double, kTerms> weights{};
  for (int round = 0; round < 50; ++round) {
    SymN<double, kTerms> hessian;
    double gradient[kTerms];
    for (int i = 0; i < kTerms; ++i) {
      hessian.at(i, i) = 1e-2;
      gradient[i] = -1e-2 * weights[static_cast<std::size_t>(i)];
    }
    for (const Judged& judged : all) {
      const std::array<double, kTerms> x = photo_score_terms(judged.terms);
      double logit = 0;
      for (std::size_t i = 0; i < kTerms; ++i) logit += weights[i] * x[i];
      const double p = 1 / (1 + std::exp(-logit));
      double row[kTerms];
      std::copy(x.begin(), x.end(), row);
      hessian.add_outer(row, p * (1 - p));
      for (std::size_t i = 0; i < kTerms; ++i)
        gradient[i] += ((judged.right ? 1.0 : 0.0) - p) * x[i];
    }
    const auto factors = cholesky(hessian);
    require(factors.ok, "photo-score: the fit has no answer");
    factors.solve(gradient);
    double moved = 0;
    for (std::size_t i = 0; i < kTerms; ++i) {
      weights[i] += gradient[i];
      moved += std::abs(gradient[i]);
    }
    if (moved < 1e-9) break;
  }
  return weights;
}

}  // namespace

std::vector<measure::Row> photo_score(const Context& context) {
  require(context.is_cpu(), "photo-score: runs on the CPU alone; take --device cpu");
  std::vector<measure::Row> rows;
  const std::vector<Judged> first = judge(context, 1);
  const std::array<double, kTerms> weights = fit(first);
  const char* const kNames[kTerms] = {"one", "log agreeing", "share", "log turn", "few"};
  for (std::size_t i = 0; i < kTerms; ++i) {
    rows.push_back({std::string("fitted weight of ") + kNames[i], "", {}, weights[i], {}, {}});
  }
  // Other cards, other scenes.
  const std::vector<Judged> second = judge(context, 2);
  double apart = 0, accepted = 0, wrong = 0;
  constexpr double kEdges[] = {0, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0001};
  for (std::size_t bin = 0; bin + 1 < std::size(kEdges); ++bin) {
    double count = 0, sum = 0, good = 0;
    for (const Judged& judged : second) {
      // What recognition would not have told.
      if (judged.terms.agreeing < PhotoPoseOptions{}.final_points) continue;
      if (judged.score < kEdges[bin] || judged.score >= kEdges[bin + 1]) continue;
      count += 1;
      sum += judged.score;
      good += judged.right ? 1 : 0;
    }
    if (!(count > 0)) continue;
    char name[64];
    std::snprintf(name, sizeof name, "score %.2f to %.2f", kEdges[bin],
                  std::min(kEdges[bin + 1], 1.0));
    rows.push_back({std::string(name) + ", poses", "", {}, count, {}, {}});
    rows.push_back({std::string(name) + ", mean score", "%", {}, 100 * sum / count, {}, {}});
    rows.push_back({std::string(name) + ", right", "%", {}, 100 * good / count, {}, {}});
    if (kEdges[bin] < 0.5) continue;
    apart += std::abs(sum - good);
    accepted += count;
    wrong += count - good;
  }
  const double error = 100 * apart / std::max(accepted, 1.0);
  rows.push_back({"accepted poses", "", {}, accepted, {}, {}});
  rows.push_back({"wrong ones of these", "%", {}, 100 * wrong / std::max(accepted, 1.0), {}, {}});
  rows.push_back({"calibration error of accepted poses", "%", {}, error, 5, error <= 5});
  return rows;
}

}  // namespace sextant::app
