// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "sextant/core/vec.h"

namespace sextant::detail::evaluated_model {

/// Finds the distance to the nearest of a set of points, in double and without approximation: a
/// balanced tree whose nodes split the widest axis of their points at the median.
class PointTree {
 public:
  explicit PointTree(std::vector<Vec3d> points) : points_(std::move(points)) {
    nodes_.resize(1);
    build(0, 0, points_.size());
  }

  /// Infinite without points.
  double nearest_sq(const Vec3d& query) const {
    double best = std::numeric_limits<double>::infinity();
    if (!points_.empty()) search(0, query, best);
    return best;
  }

 private:
  static constexpr std::size_t kLeaf = 12;

  struct Node {
    std::size_t first = 0, last = 0;  ///< of a leaf
    std::int32_t children = -1;       ///< the first of two; -1 for a leaf
    int axis = 0;
    double split = 0;
  };

  static double coordinate(const Vec3d& p, int axis) {
    return axis == 0 ? p.x : (axis == 1 ? p.y : p.z);
  }

  void build(std::size_t node, std::size_t first, std::size_t last) {
    nodes_[node].first = first;
    nodes_[node].last = last;
    if (last - first <= kLeaf) return;
    Vec3d low = points_[first], high = low;
    for (std::size_t i = first; i < last; ++i) {
      const Vec3d& p = points_[i];
      low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
      high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
    }
    const Vec3d size = high - low;
    const int axis = size.x >= size.y && size.x >= size.z ? 0 : (size.y >= size.z ? 1 : 2);
    const std::size_t middle = (first + last) / 2;
    std::nth_element(points_.begin() + static_cast<std::ptrdiff_t>(first),
                     points_.begin() + static_cast<std::ptrdiff_t>(middle),
                     points_.begin() + static_cast<std::ptrdiff_t>(last),
                     [axis](const Vec3d& a, const Vec3d& b) {
                       return coordinate(a, axis) < coordinate(b, axis);
                     });
    nodes_[node].axis = axis;
    nodes_[node].split = coordinate(points_[middle], axis);
    const std::size_t children = nodes_.size();
    nodes_[node].children = static_cast<std::int32_t>(children);
    nodes_.resize(children + 2);
    build(children, first, middle);
    build(children + 1, middle, last);
  }

  void search(std::size_t index, const Vec3d& query, double& best) const {
    const Node& node = nodes_[index];
    if (node.children < 0) {
      for (std::size_t i = node.first; i < node.last; ++i) {
        best = std::min(best, norm_sq(points_[i] - query));
      }
      return;
    }
    const double beyond = coordinate(query, node.axis) - node.split;
    const std::size_t near = static_cast<std::size_t>(node.children) + (beyond >= 0 ? 1 : 0);
    const std::size_t far = static_cast<std::size_t>(node.children) + (beyond >= 0 ? 0 : 1);
    search(near, query, best);
    if (beyond * beyond < best) search(far, query, best);
  }

  std::vector<Vec3d> points_;
  std::vector<Node> nodes_;
};

}  // namespace sextant::detail::evaluated_model
