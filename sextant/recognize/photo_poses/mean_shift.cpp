// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/photo_poses/mean_shift.h"

#include <map>
#include <numeric>
#include <utility>

#include "sextant/recognize/photo_poses/place_grid.h"

namespace sextant::detail::photo_poses {
namespace {

constexpr int kMostRounds = 100;
constexpr double kStill_px = 1e-3;

/// Places brought together in squares where there are many, and the square of each.
struct Squares {
  std::vector<WeightedPlace> places;
  std::vector<std::int32_t> of_place;
};

Squares squares_of(std::span<const Vec2d> places_px, double edge_px) {
  Squares squares;
  if (places_px.size() <= kMostSinglePlaces) {
    for (std::size_t i = 0; i < places_px.size(); ++i) {
      squares.places.push_back({places_px[i], 1});
      squares.of_place.push_back(static_cast<std::int32_t>(i));
    }
    return squares;
  }
  std::map<std::pair<std::int64_t, std::int64_t>, std::int32_t> numbers;
  for (const Vec2d& p : places_px) {
    const auto square = [&](double px) {
      return static_cast<std::int64_t>(std::floor(clamp(px / edge_px, -1e15, 1e15)));
    };
    const auto [it, fresh] = numbers.try_emplace({square(p.y), square(p.x)},
                                                 static_cast<std::int32_t>(squares.places.size()));
    if (fresh) squares.places.push_back({{}, 0});
    WeightedPlace& place = squares.places[static_cast<std::size_t>(it->second)];
    place.at_px = place.at_px + p;
    place.weight += 1;
    squares.of_place.push_back(it->second);
  }
  for (WeightedPlace& place : squares.places) place.at_px = place.at_px * (1 / place.weight);
  return squares;
}

/// Gives the labels of squares to their members, numbered by first members.
std::vector<std::int32_t> labels_of_places(const Squares& squares,
                                           const std::vector<std::int32_t>& of_square) {
  std::vector<std::int32_t> fresh(squares.places.size(), -1), labels;
  std::int32_t next = 0;
  for (const std::int32_t square : squares.of_place) {
    std::int32_t& label =
        fresh[static_cast<std::size_t>(of_square[static_cast<std::size_t>(square)])];
    if (label < 0) label = next++;
    labels.push_back(label);
  }
  return labels;
}

bool near(const Vec2d& a, const Vec2d& b, double limit_px) {
  const Vec2d apart = a - b;
  return dot(apart, apart) < limit_px * limit_px;
}

/// The root of a tree of groups that joined; shortens the way to it.
std::int32_t root_of(std::vector<std::int32_t>& parents, std::int32_t node) {
  while (parents[static_cast<std::size_t>(node)] != node) {
    std::int32_t& parent = parents[static_cast<std::size_t>(node)];
    parent = parents[static_cast<std::size_t>(parent)];
    node = parent;
  }
  return node;
}

/// Joins the groups whose means are near each other; false when there are none.
bool join_near(std::vector<std::int32_t>& parents, const std::vector<WeightedPlace>& means,
               double merge_px) {
  const PlaceGrid grid(means, max_of(merge_px, 1e-6));
  bool joined = false;
  for (std::size_t i = 0; i < means.size(); ++i) {
    grid.around(means[i].at_px, [&](std::int32_t other) {
      if (other <= static_cast<std::int32_t>(i)) return;
      if (!near(means[i].at_px, means[static_cast<std::size_t>(other)].at_px, merge_px)) return;
      const std::int32_t a = root_of(parents, static_cast<std::int32_t>(i));
      const std::int32_t b = root_of(parents, other);
      if (a == b) return;
      parents[static_cast<std::size_t>(max_of(a, b))] = min_of(a, b);
      joined = true;
    });
  }
  return joined;
}

}  // namespace

std::vector<std::int32_t> mean_shift(std::span<const Vec2d> places_px, double radius_px,
                                     double merge_px) {
  const Squares squares = squares_of(places_px, radius_px / 8);
  const PlaceGrid grid(squares.places, radius_px);
  std::vector<WeightedPlace> modes;
  std::vector<std::int32_t> labels;
  for (const WeightedPlace& place : squares.places) {
    Vec2d at = place.at_px;
    for (int round = 0; round < kMostRounds; ++round) {
      const Vec2d next = grid.mean_around(at, radius_px);
      const bool still = near(next, at, kStill_px);
      at = next;
      if (still) break;
    }
    std::int32_t label = -1;
    for (std::size_t m = 0; m < modes.size() && label < 0; ++m) {
      if (near(modes[m].at_px, at, merge_px)) label = static_cast<std::int32_t>(m);
    }
    if (label < 0) {
      label = static_cast<std::int32_t>(modes.size());
      modes.push_back({at, 1});
    }
    labels.push_back(label);
  }
  return labels_of_places(squares, labels);
}

std::vector<std::int32_t> agglomerate(std::span<const Vec2d> places_px, double radius_px,
                                      double merge_px) {
  const Squares squares = squares_of(places_px, radius_px / 8);
  std::vector<std::int32_t> labels(squares.places.size());
  std::iota(labels.begin(), labels.end(), 0);
  std::vector<WeightedPlace> groups = squares.places;
  for (int round = 0; round < kMostRounds; ++round) {
    const PlaceGrid grid(groups, radius_px);
    std::vector<WeightedPlace> means;
    for (const WeightedPlace& group : groups) {
      means.push_back({grid.mean_around(group.at_px, radius_px), group.weight});
    }
    std::vector<std::int32_t> parents(groups.size());
    std::iota(parents.begin(), parents.end(), 0);
    if (!join_near(parents, means, merge_px)) break;
    std::vector<std::int32_t> fresh(groups.size(), -1);
    std::vector<WeightedPlace> joined;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const auto root = static_cast<std::size_t>(root_of(parents, static_cast<std::int32_t>(i)));
      if (fresh[root] < 0) {
        fresh[root] = static_cast<std::int32_t>(joined.size());
        joined.push_back({{}, 0});
      }
      fresh[i] = fresh[root];
      WeightedPlace& group = joined[static_cast<std::size_t>(fresh[i])];
      group.at_px = group.at_px + groups[i].at_px * groups[i].weight;
      group.weight += groups[i].weight;
    }
    for (WeightedPlace& group : joined) group.at_px = group.at_px * (1 / group.weight);
    for (std::int32_t& label : labels) label = fresh[static_cast<std::size_t>(label)];
    groups = std::move(joined);
  }
  return labels_of_places(squares, labels);
}

}  // namespace sextant::detail::photo_poses
