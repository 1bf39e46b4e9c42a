// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/file_normals.h"

#include <cmath>

namespace sextant {

namespace {

constexpr float kLengthTolerance = 1e-3f;
constexpr std::int64_t kZerosToDrop = 10;  ///< one in so many

constexpr std::int64_t kMostDistances = 40'000'000;
constexpr std::int64_t kMostAsked = 256;
constexpr std::int64_t kLeastAsked = 24;
/// At creases neighbours may point anywhere but into the opposite direction.
constexpr float kInLine = 0.7f;

/// The nearest other point with a normal; -1 without any.
std::int64_t nearest_to(const Cloud& cloud, std::int64_t index) {
  const Vec3f* points = cloud.points.data();
  const Vec3f* normals = cloud.normals.data();
  std::int64_t nearest = -1;
  float least_sq = INFINITY;
  for (std::int64_t i = 0; i < cloud.size(); ++i) {
    const float distance_sq = norm_sq(points[i] - points[index]);
    // Copies of a point say nothing; NaN is no nearer than anything.
    if (!(distance_sq < least_sq) || distance_sq == 0 || !is_finite(normals[i])) continue;
    least_sq = distance_sq;
    nearest = i;
  }
  return nearest;
}

}  // namespace

UnitNormals make_unit_normals(Cloud& cloud) {
  UnitNormals made;
  if (cloud.normals.empty()) return made;
  std::int64_t kept = 0;
  for (std::int64_t i = 0; i < cloud.size(); ++i) {
    if (!is_finite(cloud.points.data()[i])) continue;
    Vec3f& normal = cloud.normals.data()[i];
    const float length = norm(normal);
    if (length > 0.0f && length < INFINITY) {
      ++kept;
      if (std::abs(length - 1.0f) <= kLengthTolerance) continue;
      ++made.scaled;
      normal = normal / length;
    } else {
      made.zero += length == 0.0f ? 1 : 0;
      normal = {NAN, NAN, NAN};
    }
  }
  made.dropped = kept == 0 || made.zero * kZerosToDrop > made.zero + kept;
  if (made.dropped) cloud.normals = {};
  return made;
}

double share_of_opposite_normals(const Cloud& cloud) {
  if (cloud.normals.empty() || cloud.size() < 2) return 0;
  const std::int64_t asked =
      min_of(clamp(kMostDistances / cloud.size(), kLeastAsked, kMostAsked), cloud.size());
  std::int64_t same = 0, opposite = 0;
  for (std::int64_t k = 0; k < asked; ++k) {
    const std::int64_t i = (2 * k + 1) * cloud.size() / (2 * asked);
    if (i >= cloud.size() || !is_finite(cloud.points.data()[i]) ||
        !is_finite(cloud.normals.data()[i])) {
      continue;
    }
    const std::int64_t nearest = nearest_to(cloud, i);
    if (nearest < 0) continue;
    const float along = dot(cloud.normals.data()[i], cloud.normals.data()[nearest]);
    same += along > kInLine;
    opposite += along < -kInLine;
  }
  return same + opposite > 0 ? static_cast<double>(opposite) / static_cast<double>(same + opposite)
                             : 0;
}

}  // namespace sextant
