// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/datasets/model_symmetries.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "sextant/evaluate/pose_error.h"

namespace sextant::app {

namespace {

constexpr double kSameSize = 0.03;

Vec3d middle_of(const Bounds& bounds) {
  return (cast<double>(bounds.low) + cast<double>(bounds.high)) * 0.5;
}

/// A rotation about a point.
Rigid3d about(const Mat3d& rotation, const Vec3d& point) {
  return {rotation, point - rotation * point};
}

/// The 23 rotations other than the identity that carry the axes onto axes.
std::vector<Mat3d> axis_rotations() {
  std::vector<Mat3d> rotations;
  std::array<int, 3> order{0, 1, 2};
  do {
    for (int signs = 0; signs < 8; ++signs) {
      Mat3d m{};
      for (int row = 0; row < 3; ++row) {
        const double one = (signs >> row & 1) != 0 ? -1.0 : 1.0;
        const int column = order[static_cast<std::size_t>(row)];
        m.row[row] = {column == 0 ? one : 0, column == 1 ? one : 0, column == 2 ? one : 0};
      }
      if (determinant(m) > 0 && rotation_angle(m) > 0.1) rotations.push_back(m);
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return rotations;
}

Bounds bounds_of(std::span<const Vec3f> points, const Mat3d& frame_from_model) {
  Bounds bounds;
  for (const Vec3f& point : points) {
    const Vec3f p = cast<float>(frame_from_model * cast<double>(point));
    bounds.low = {std::min(bounds.low.x, p.x), std::min(bounds.low.y, p.y),
                  std::min(bounds.low.z, p.z)};
    bounds.high = {std::max(bounds.high.x, p.x), std::max(bounds.high.y, p.y),
                   std::max(bounds.high.z, p.z)};
  }
  return bounds;
}

bool is_product(const Rigid3d& motion, const std::vector<Rigid3d>& factors) {
  for (const Rigid3d& a : factors) {
    for (const Rigid3d& b : factors) {
      if (rotation_angle(transpose(motion.rotation) * (a * b).rotation) < 1e-6) return true;
    }
  }
  return false;
}

}  // namespace

Symmetries box_symmetries(const Bounds& bounds) {
  const Vec3d size = cast<double>(bounds.high - bounds.low);
  const auto same = [](double a, double b) { return std::abs(a - b) < kSameSize * std::max(a, b); };
  Symmetries symmetries;
  for (const Mat3d& rotation : axis_rotations()) {
    const Vec3d turned = rotation * size;
    if (same(std::abs(turned.x), size.x) && same(std::abs(turned.y), size.y) &&
        same(std::abs(turned.z), size.z)) {
      symmetries.discrete.push_back(about(rotation, middle_of(bounds)));
    }
  }
  return symmetries;
}

Symmetries upright_box_symmetries(std::span<const Vec3f> points) {
  constexpr int kSteps = 360;  // a quarter of a degree
  double least_area = INFINITY;
  Mat3d best = Mat3d::identity();
  for (int i = 0; i < kSteps; ++i) {
    const Mat3d turn = exp_rotation(Vec3d{0, 0, 0.5 * std::numbers::pi * i / kSteps});
    const Bounds bounds = bounds_of(points, turn);
    const double area = static_cast<double>(bounds.high.x - bounds.low.x) *
                        static_cast<double>(bounds.high.y - bounds.low.y);
    if (area < least_area) {
      least_area = area;
      best = turn;
    }
  }
  Symmetries symmetries = box_symmetries(bounds_of(points, best));
  const Rigid3d frame_from_model{best, {}};
  for (Rigid3d& motion : symmetries.discrete) {
    motion = inverse(frame_from_model) * motion * frame_from_model;
  }
  return symmetries;
}

Symmetries turned_body_symmetries(const Bounds& bounds, bool both_ends_alike) {
  Symmetries symmetries;
  symmetries.continuous.push_back({{0, 0, 1}, middle_of(bounds)});
  if (both_ends_alike) {
    symmetries.discrete.push_back(
        about(exp_rotation(Vec3d{std::numbers::pi, 0, 0}), middle_of(bounds)));
  }
  return symmetries;
}

Symmetries confirmed_symmetries(const Symmetries& proposed, std::span<const Vec3f> points,
                                double share) {
  TriangleMesh cloud;
  cloud.vertices.points = Buffer<Vec3f>(Context::cpu(), static_cast<std::int64_t>(points.size()));
  std::copy(points.begin(), points.end(), cloud.vertices.points.data());
  // Without triangles the model would be given squares to draw; one triangle keeps it as it is.
  cloud.triangles = copy(Context::cpu(), std::vector<Vec3i>{{0, 0, 0}});
  const EvaluatedModel model = make_evaluated_model(0, std::move(cloud), {});
  const auto holds = [&](const Rigid3d& motion) {
    return adds_error_m(model, motion, Rigid3d{}) < share * model.diameter_m;
  };
  Symmetries confirmed;
  for (const Rigid3d& motion : proposed.discrete) {
    // One that two others make together holds with them, even where it misses the limit itself.
    if (holds(motion) || is_product(motion, confirmed.discrete)) {
      confirmed.discrete.push_back(motion);
    }
  }
  for (const ContinuousSymmetry& symmetry : proposed.continuous) {
    const auto turned = [&](double angle) { return holds(turn_about(symmetry, angle)); };
    if (turned(0.4) && turned(1.1) && turned(2.0)) confirmed.continuous.push_back(symmetry);
  }
  return confirmed;
}

}  // namespace sextant::app
