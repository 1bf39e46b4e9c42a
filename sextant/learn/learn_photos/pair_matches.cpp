// SPDX-License-Identifier: Apache-2.0
#include "sextant/learn/learn_photos/pair_matches.h"

#include <algorithm>
#include <limits>

namespace sextant::detail::learn_photos {

namespace {

/// Features this near to each other in a photograph are the same place, seen with two directions.
constexpr double kSamePlace_px = 2;
/// Features of one place differ in scale by less, whatever the distance: photographs of one object
/// on a table are taken from distances that differ less.
constexpr float kMostScaleRatio = 4;

/// The epipolar lines in the second photograph: a x + b y + c with a² + b² = 1.
struct Lines {
  Vec3d of(const Vec2d& at_px) const {
    const Vec3d ray{(at_px.x - first.cx_px) / first.fx_px, (at_px.y - first.cy_px) / first.fy_px,
                    1};
    const Vec3d normal = cross(second_from_first.translation, second_from_first.rotation * ray);
    const double a = normal.x / second.fx_px, b = normal.y / second.fy_px;
    const Vec3d line{a, b, normal.z - a * second.cx_px - b * second.cy_px};
    return line / std::sqrt(a * a + b * b);
  }

  const PinholeView& first;
  const PinholeView& second;
  Rigid3d second_from_first;
};

struct Best {
  std::int32_t feature = -1;
  std::int32_t distance_sq = std::numeric_limits<std::int32_t>::max();
  std::int32_t second_sq = std::numeric_limits<std::int32_t>::max();  ///< of another place
};

/// Where two rays pass each other, and whether that is in front of both and in the box.
bool is_possible(const Rigid3d& world_from_first, const Rigid3d& world_from_second,
                 const Vec3d& first_ray, const Vec3d& second_ray,
                 const std::optional<Bounds>& box) {
  const Vec3d a = world_from_first.rotation * first_ray;
  const Vec3d b = world_from_second.rotation * second_ray;
  const Vec3d between = world_from_second.translation - world_from_first.translation;
  const Vec3d normal = cross(a, b);
  const double square = norm_sq(normal);
  if (!(square > 0)) return false;
  const double s = dot(cross(between, b), normal) / square;
  const double t = dot(cross(between, a), normal) / square;
  if (!(s > 0 && t > 0)) return false;
  if (!box) return true;
  // Rays that meet at a small angle meet somewhere along them: some margin is left.
  const Vec3d at = world_from_first.translation + a * s;
  const double margin = 0.1 * norm(cast<double>(box->high - box->low));
  const Vec3d low = cast<double>(box->low), high = cast<double>(box->high);
  return at.x > low.x - margin && at.y > low.y - margin && at.z > low.z - margin &&
         at.x < high.x + margin && at.y < high.y + margin && at.z < high.z + margin;
}

class PairSearch {
 public:
  PairSearch(const PinholeView& first, const PinholeView& second, const Features& first_features,
             const Features& second_features, const std::optional<Bounds>& box,
             const LearnPhotosOptions& options)
      : first_(first),
        second_(second),
        first_features_(first_features),
        second_features_(second_features),
        box_(box),
        options_(options) {}

  /// Of each feature of the first photograph the best of the second.
  std::vector<Best> best() const {
    const Rigid3d world_from_first = inverse(first_.camera_from_world);
    const Rigid3d world_from_second = inverse(second_.camera_from_world);
    const Lines lines{first_, second_, second_.camera_from_world * world_from_first};
    std::vector<Best> result(first_features_.at_px.size());
    std::vector<std::pair<std::int32_t, std::int32_t>> near;  // distance², feature
    for (std::int32_t i = 0; i < first_features_.count(); ++i) {
      const Vec2d& at = first_features_.ideal_px[i];
      const Vec3d line = lines.of(at), ray = ray_of(first_, at);
      const float sigma = first_features_.sigma_px[i];
      near.clear();
      for (std::int32_t k = 0; k < second_features_.count(); ++k) {
        const Vec2d& place = second_features_.ideal_px[k];
        if (!(std::abs(line.x * place.x + line.y * place.y + line.z) <= options_.epipolar_px)) {
          continue;
        }
        const float ratio = second_features_.sigma_px[k] / sigma;
        if (!(ratio < kMostScaleRatio && ratio * kMostScaleRatio > 1)) continue;
        if (!is_possible(world_from_first, world_from_second, ray, ray_of(second_, place), box_)) {
          continue;
        }
        near.emplace_back(
            distance_sq(first_features_.descriptor(i), second_features_.descriptor(k)), k);
      }
      result[i] = nearest(near);
    }
    return result;
  }

 private:
  Best nearest(const std::vector<std::pair<std::int32_t, std::int32_t>>& near) const {
    Best best;
    if (near.empty()) return best;
    const auto first = *std::min_element(near.begin(), near.end());
    best.distance_sq = first.first;
    best.feature = first.second;
    const Vec2d& at = second_features_.ideal_px[best.feature];
    for (const auto& [distance, feature] : near) {
      const Vec2d off = second_features_.ideal_px[feature] - at;
      if (dot(off, off) <= kSamePlace_px * kSamePlace_px) continue;
      best.second_sq = min_of(best.second_sq, distance);
    }
    return best;
  }

  const PinholeView& first_;
  const PinholeView& second_;
  const Features& first_features_;
  const Features& second_features_;
  const std::optional<Bounds>& box_;
  const LearnPhotosOptions& options_;
};

bool passes(const Best& best, const LearnPhotosOptions& options) {
  return best.feature >= 0 && best.distance_sq <= options.most_distance * options.most_distance &&
         best.distance_sq <= options.ratio * options.ratio * best.second_sq;
}

}  // namespace

std::int32_t distance_sq(const std::uint8_t* a, const std::uint8_t* b) {
  std::int32_t sum = 0;
  for (int i = 0; i < 128; ++i) {
    const std::int32_t off = std::int32_t{a[i]} - std::int32_t{b[i]};
    sum += off * off;
  }
  return sum;
}

std::vector<PairMatch> match_pair(std::span<const PinholeView> views,
                                  std::span<const Features> features, std::int32_t first,
                                  std::int32_t second, const std::optional<Bounds>& box,
                                  const LearnPhotosOptions& options) {
  const auto a = static_cast<std::size_t>(first), b = static_cast<std::size_t>(second);
  const std::vector<Best> there =
      PairSearch(views[a], views[b], features[a], features[b], box, options).best();
  const std::vector<Best> back =
      PairSearch(views[b], views[a], features[b], features[a], box, options).best();
  std::vector<PairMatch> matches;
  for (std::size_t i = 0; i < there.size(); ++i) {
    if (!passes(there[i], options)) continue;
    const Best& returned = back[static_cast<std::size_t>(there[i].feature)];
    if (returned.feature != static_cast<std::int32_t>(i) || !passes(returned, options)) continue;
    matches.push_back(
        {{first, second}, {static_cast<std::int32_t>(i), there[i].feature}, there[i].distance_sq});
  }
  return matches;
}

}  // namespace sextant::detail::learn_photos
