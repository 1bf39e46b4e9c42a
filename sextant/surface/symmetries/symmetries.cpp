// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/symmetries.h"

#include <algorithm>
#include <numbers>

#include "sextant/core/eigen3.h"
#include "sextant/surface/symmetries/groups.h"

namespace sextant {

using namespace detail::symmetries;

namespace {

constexpr double kPi = std::numbers::pi;

Symmetries ball_about(const Vec3d& centre) {
  Symmetries s;
  for (const Vec3d& axis : {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}}) {
    s.continuous.push_back({axis, centre});
  }
  return s;
}

/// A body of revolution, with a half turn across its axis where one holds.
Symmetries revolution(const SelfSurface& surface, const ContinuousSymmetry& axis,
                      double tolerance) {
  Symmetries s;
  s.continuous.push_back(axis);
  const Vec3d across = detail::any_perpendicular(axis.axis);
  const Rigid3d near = refined(surface, turn_about({across, surface.centre()}, kPi));
  // Where along the axis the half turn is, is all that is open.
  const Vec3d found = axis_of(near, kPi, surface.centre()).point_m;
  const ContinuousSymmetry flip{across,
                                axis.point_m + axis.axis * dot(axis.axis, found - axis.point_m)};
  const Rigid3d motion = turn_about(flip, kPi);
  if (surface.holds(motion, tolerance * surface.extent_across(flip))) s.discrete.push_back(motion);
  return s;
}

Symmetries shape_symmetries(const Context& context, const SelfSurface& surface, double tolerance,
                            const Progress& progress) {
  if (is_ball(surface, tolerance)) return ball_about(surface.centre());
  const std::vector<FoundAxis> axes = find_axes(context, surface, tolerance, progress);
  for (const FoundAxis& found : axes) {
    if (found.continuous) return revolution(surface, found.axis, tolerance);
  }
  Symmetries s;
  s.discrete = largest_group(context, surface, axes, tolerance);
  return s;
}

/// The turns about an axis, and the half turns across it, that colours leave of a body of
/// revolution.
Symmetries colored_revolution(const SelfSurface& surface, const Symmetries& shape,
                              double tolerance) {
  const ContinuousSymmetry& axis = shape.continuous.front();
  const auto holds = [&](const Rigid3d& m) { return surface.colors_hold(m, tolerance); };
  const auto all_turns_hold = [&](int order) {
    for (int i = 1; i < order; ++i) {
      if (!holds(turn_about(axis, 2 * kPi * i / order))) return false;
    }
    return true;
  };
  Symmetries s;
  int order = 1;
  if (all_turns_hold(17)) {  // no pattern of at most 12 parts has these
    s.continuous.push_back(axis);
  } else {
    for (int n = 12; n >= 2 && order == 1; --n) {
      if (all_turns_hold(n)) order = n;
    }
  }
  std::vector<Rigid3d> turns{Rigid3d{}};
  for (int i = 1; i < order; ++i) turns.push_back(turn_about(axis, 2 * kPi * i / order));
  s.discrete.assign(turns.begin() + 1, turns.end());
  if (shape.discrete.empty()) return s;
  // Of the half turns across the axis, the colours may have some; with one, those that follow.
  constexpr int kTried = 144;
  for (int i = 0; i < kTried; ++i) {
    const Rigid3d flip = turn_about(axis, 2 * kPi * i / kTried) * shape.discrete.front();
    if (!holds(flip)) continue;
    for (const Rigid3d& turn : turns) s.discrete.push_back(turn * flip);
    break;
  }
  return s;
}

/// The largest subgroup that greedy growth finds among motions whose colours hold.
Symmetries colored_group(const SelfSurface& surface, const Symmetries& shape, double tolerance) {
  const auto find = [&](const Mat3d& rotation) {
    return std::find_if(shape.discrete.begin(), shape.discrete.end(), [&](const Rigid3d& m) {
      return rotation_angle(transpose(m.rotation) * rotation) < 1e-3;
    });
  };
  std::vector<Rigid3d> good;
  for (const Rigid3d& m : shape.discrete) {
    if (surface.colors_hold(m, tolerance)) good.push_back(m);
  }
  const auto is_good = [&](const Mat3d& rotation) {
    return std::any_of(good.begin(), good.end(), [&](const Rigid3d& m) {
      return rotation_angle(transpose(m.rotation) * rotation) < 1e-3;
    });
  };
  std::vector<Mat3d> generators;
  RotationGroup group{Mat3d::identity()};
  for (const Rigid3d& m : good) {
    std::vector<Mat3d> more = generators;
    more.push_back(m.rotation);
    const RotationGroup larger = closure(more);
    const bool all_good =
        std::all_of(larger.begin() + (larger.empty() ? 0 : 1), larger.end(), is_good);
    if (larger.size() <= group.size() || !all_good) continue;
    generators = more;
    group = larger;
  }
  Symmetries s;
  for (std::size_t i = 1; i < group.size(); ++i) {
    const auto found = find(group[i]);
    if (found != shape.discrete.end()) s.discrete.push_back(*found);
  }
  return s;
}

Symmetries appearance_symmetries(const SelfSurface& surface, const Symmetries& shape,
                                 double tolerance) {
  if (!surface.has_colors() || shape.none()) return shape;
  if (shape.continuous.empty()) return colored_group(surface, shape, tolerance);
  if (shape.continuous.size() == 1) return colored_revolution(surface, shape, tolerance);
  // A ball is either of one colour or has none of its symmetries left that could be listed.
  for (const ContinuousSymmetry& axis : shape.continuous) {
    for (int i = 1; i < 17; ++i) {
      if (!surface.colors_hold(turn_about(axis, 2 * kPi * i / 17), tolerance)) return {};
    }
  }
  return shape;
}

}  // namespace

FoundSymmetries find_symmetries(const Context& context, const TriangleMesh& object,
                                const SymmetryOptions& options, const Progress& progress) {
  check_options(options);
  require(context.is_cpu() && object.device().kind == DeviceKind::kCpu,
          "find_symmetries: runs on the host; the context is on ", to_string(context.device()),
          ", the object on ", to_string(object.device()));
  check_mesh(object);
  const SelfSurface surface(context, object);
  if (surface.empty()) return {};
  FoundSymmetries found;
  found.shape = shape_symmetries(context, surface, double{options.tolerance}, progress);
  found.appearance = appearance_symmetries(surface, found.shape, double{options.color_tolerance});
  return found;
}

}  // namespace sextant
