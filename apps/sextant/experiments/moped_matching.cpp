// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <map>

#include "apps/sextant/experiments/experiments.h"
#include "apps/sextant/experiments/moped_photos.h"
#include "sextant/core/error.h"

namespace sextant::app {

namespace {

/// A column of the paper's Table 2.
struct Strategy {
  const char* name;
  PhotoMatchOptions options;
  std::optional<double> paper_matches, paper_right, paper_objects, paper_ms;
};
const Strategy kStrategies[] = {
    {"OBJ_MATCH", {PhotoMatchStrategy::kEachObject}, 3893.6, 449.2, 8.0, 498.586},
    {"k = 90", {PhotoMatchStrategy::kNearest, 90}, 3624.9, 428.9, 8.2, 140.36},
    {"k = 30", {PhotoMatchStrategy::kNearest, 30}, {}, {}, {}, {}},
    {"DB_MATCH", {PhotoMatchStrategy::kNearest, 2}, 1778.4, 394.7, 7.5, 129.85}};

/// Whom an object needs at least, to be found (the paper: 8 to 10 in practice).
constexpr int kEnough = 8;
constexpr int kTurns = 3;

/// What a strategy gives in one photograph: the matches, and what they cost at best.
struct Matched {
  std::vector<PhotoMatch> matches;
  double ms = INFINITY;
};

Matched match_timed(const Context& context, const SiftFeatures& features, const Camera& camera,
                    const ResidentAppearance& appearance, const PhotoMatchOptions& options) {
  Matched result;
  for (int turn = 0; turn < kTurns; ++turn) {
    result.ms = std::min(result.ms, measure::milliseconds([&] {
                           result.matches =
                               match_photo(context, features, camera, appearance, options);
                         }));
  }
  return result;
}

void add_strategy(const Context& context, const MopedPhotos& data,
                  const std::vector<SiftFeatures>& features, const Strategy& strategy,
                  std::vector<measure::Row>& rows) {
  double matches = 0, right = 0, objects = 0;
  std::vector<double> ms;
  for (std::size_t photo = 0; photo < data.photos.size(); ++photo) {
    const Matched found =
        match_timed(context, features[photo], data.camera, data.appearance, strategy.options);
    ms.push_back(found.ms);
    matches += static_cast<double>(found.matches.size());
    for (const MopedDetection& detection : data.detections) {
      if (detection.photo != photo || detection.inliers < kSureInliers) continue;
      const int supporting = support(data, detection, found.matches);
      right += supporting;
      objects += supporting >= kEnough;
    }
  }
  const auto photos = static_cast<double>(data.photos.size());
  const auto add = [&](const char* what, const char* unit, double ours,
                       const std::optional<double>& paper) {
    rows.push_back({std::string(strategy.name) + ", " + what, unit, {}, ours, {}, {}, paper});
  };
  add("correspondences", "a photo", matches / photos, strategy.paper_matches);
  add("of these at the reference's poses", "a photo", right / photos, strategy.paper_right);
  add("objects with 8 of these", "a photo", objects / photos, strategy.paper_objects);
  add("time", "ms", measure::spread_of(ms).median, strategy.paper_ms);
}

/// With MOPED's own rule, two neighbours of the whole library whose squared distances have a ratio
/// of 0.8: what supports the reference's poses, as a share of what it counted itself.
void add_reference(const Context& context, const MopedPhotos& data,
                   const std::vector<SiftFeatures>& features, std::vector<measure::Row>& rows) {
  struct Counts {
    double ours = 0, reference = 0;
  };
  std::map<std::string, Counts> counts;
  const PhotoMatchOptions rule{PhotoMatchStrategy::kNearest, 2, std::sqrt(0.8f)};
  for (std::size_t photo = 0; photo < data.photos.size(); ++photo) {
    const auto matches = match_photo(context, features[photo], data.camera, data.appearance, rule);
    for (const MopedDetection& detection : data.detections) {
      if (detection.photo != photo || detection.inliers < kSureInliers) continue;
      Counts& count = counts[data.objects[static_cast<std::size_t>(detection.object)]];
      count.ours += support(data, detection, matches);
      count.reference += detection.inliers;
    }
  }
  constexpr double kGoal = 90;
  for (const auto& [name, count] : counts) {
    const double share = 100 * count.ours / count.reference;
    rows.push_back(
        {"inliers of " + name + ", of the reference's", "%", {}, share, kGoal, share >= kGoal});
  }
}

/// Fig. 6.
void add_growth(const Context& context, const MopedPhotos& data, const SiftFeatures& features,
                std::vector<measure::Row>& rows) {
  for (const int objects : {5, 10, 20, 40, 80}) {
    const ResidentAppearance appearance = with_objects(context, data.appearance, objects);
    const std::string size = std::to_string(objects) + " models, ";
    rows.push_back(
        {size + "points", "", {}, static_cast<double>(appearance.points.size()), {}, {}});
    for (const Strategy& strategy : kStrategies) {
      const double ms =
          match_timed(context, features, data.camera, appearance, strategy.options).ms;
      rows.push_back({size + strategy.name, "ms", {}, ms, {}, {}});
    }
  }
}

}  // namespace

std::vector<measure::Row> moped_matching(const Context& context) {
  require(context.is_cpu(), "moped-matching: runs on the CPU alone; take --device cpu");
  const MopedPhotos data = read_moped_photos(context, "moped-matching");
  std::vector<SiftFeatures> features;
  double count = 0;
  for (const Image<Rgb8>& photo : data.photos) {
    features.push_back(compute_sift(context, photo));
    count += features.back().count;
  }
  std::vector<measure::Row> rows;
  rows.push_back({"photographs", "", {}, static_cast<double>(data.photos.size()), {}, {}});
  rows.push_back(
      {"features", "a photo", {}, count / static_cast<double>(data.photos.size()), {}, {}});
  rows.push_back({"models", "", {}, static_cast<double>(data.objects.size()), {}, {}});
  rows.push_back(
      {"points of models", "", {}, static_cast<double>(data.appearance.points.size()), {}, {}});
  for (const Strategy& strategy : kStrategies) {
    add_strategy(context, data, features, strategy, rows);
  }
  add_reference(context, data, features, rows);
  add_growth(context, data, features.front(), rows);
  return rows;
}

}  // namespace sextant::app
