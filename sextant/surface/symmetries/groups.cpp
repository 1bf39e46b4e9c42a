// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/symmetries/groups.h"

#include <algorithm>
#include <numbers>

namespace sextant::detail::symmetries {

namespace {

constexpr double kPi = std::numbers::pi;
constexpr std::size_t kMostElements = 60;
/// How far from a right angle two axes may have been found that form one.
constexpr double kRight_rad = 4 * kPi / 180;

Mat3d turn(const Vec3d& axis, double angle) { return exp_rotation(normalized(axis) * angle); }

bool same(const Mat3d& a, const Mat3d& b) { return rotation_angle(transpose(a) * b) < 1e-4; }

bool are_perpendicular(const Vec3d& a, const Vec3d& b) {
  return std::abs(dot(a, b)) < std::sin(kRight_rad);
}

/// The rotation group of a frame of its own, with axes given in that frame.
RotationGroup in_frame(const Mat3d& frame, std::initializer_list<std::pair<Vec3d, double>> turns) {
  std::vector<Mat3d> generators;
  for (const auto& [axis, angle] : turns) {
    generators.push_back(turn(transpose(frame) * axis, angle));
  }
  return closure(generators);
}

/// The frame nearest to three nearly perpendicular directions, by the mean of three ways to make
/// them perpendicular one after the other.
Mat3d frame_of(const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  const double hand = dot(cross(a, b), c) < 0 ? -1 : 1;
  Vec3d row[3] = {normalized(a), normalized(b), normalized(c * hand)};
  for (int round = 0; round < 20; ++round) {
    // Each direction moves half-way to the normal of the others.
    const Vec3d next[3] = {cross(row[1], row[2]), cross(row[2], row[0]), cross(row[0], row[1])};
    for (int i = 0; i < 3; ++i) row[i] = normalized(row[i] + normalized(next[i]));
  }
  row[1] = normalized(row[1] - row[0] * dot(row[0], row[1]));
  return {{row[0], row[1], cross(row[0], row[1])}};
}

/// The point nearest to the axes of a group; of a single axis the point nearest to `centre`.
Vec3d common_point(std::span<const ContinuousSymmetry> axes, const Vec3d& centre) {
  Sym3d sum{};
  Vec3d right{};
  for (const ContinuousSymmetry& c : axes) {
    const Sym3d across = Sym3d{1, 0, 0, 1, 0, 1} - outer(c.axis);
    sum = sum + across;
    right += across * (c.point_m - centre);
  }
  // A small pull to the centre decides what the axes leave open.
  const Mat3d m = to_mat3(sum + Sym3d{1, 0, 0, 1, 0, 1} * 1e-6);
  const Vec3d solution =
      (cross(m.row[1], m.row[2]) * right.x + cross(m.row[2], m.row[0]) * right.y +
       cross(m.row[0], m.row[1]) * right.z) /
      determinant(m);
  return centre + solution;
}

struct Proposal {
  RotationGroup rotations;
  Vec3d point;
};

bool is_even(const FoundAxis& axis) {
  return std::any_of(axis.orders.begin(), axis.orders.end(), [](int n) { return n % 2 == 0; });
}

void propose_solids(std::span<const FoundAxis> axes, const Vec3d& centre,
                    std::vector<Proposal>& proposals) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    for (std::size_t j = i + 1; j < axes.size(); ++j) {
      for (std::size_t k = j + 1; k < axes.size(); ++k) {
        const FoundAxis* three[] = {&axes[i], &axes[j], &axes[k]};
        const bool fits = is_even(axes[i]) && is_even(axes[j]) && is_even(axes[k]) &&
                          are_perpendicular(axes[i].axis.axis, axes[j].axis.axis) &&
                          are_perpendicular(axes[j].axis.axis, axes[k].axis.axis) &&
                          are_perpendicular(axes[k].axis.axis, axes[i].axis.axis);
        if (!fits) continue;
        const ContinuousSymmetry lines[] = {three[0]->axis, three[1]->axis, three[2]->axis};
        const Vec3d point = common_point(lines, centre);
        const Mat3d frame = frame_of(lines[0].axis, lines[1].axis, lines[2].axis);
        proposals.push_back({icosahedral(frame, false), point});
        proposals.push_back({icosahedral(frame, true), point});
        proposals.push_back({octahedral(frame), point});
        proposals.push_back({tetrahedral(frame), point});
      }
    }
  }
}

void propose_prisms(std::span<const FoundAxis> axes, const Vec3d& centre,
                    std::vector<Proposal>& proposals) {
  for (const FoundAxis& main : axes) {
    const ContinuousSymmetry alone[] = {main.axis};
    for (const int order : main.orders) {
      proposals.push_back({cyclic(main.axis.axis, order), common_point(alone, centre)});
      for (const FoundAxis& other : axes) {
        const bool fits =
            &other != &main && is_even(other) && are_perpendicular(main.axis.axis, other.axis.axis);
        if (!fits) continue;
        const ContinuousSymmetry lines[] = {main.axis, other.axis};
        proposals.push_back(
            {dihedral(main.axis.axis, order, other.axis.axis), common_point(lines, centre)});
      }
    }
  }
}

}  // namespace

RotationGroup closure(std::span<const Mat3d> generators) {
  RotationGroup group{Mat3d::identity()};
  for (std::size_t i = 0; i < group.size(); ++i) {
    for (const Mat3d& g : generators) {
      const Mat3d product = to_matrix(to_quaternion(group[i] * g));
      const bool is_new = std::none_of(group.begin(), group.end(),
                                       [&](const Mat3d& known) { return same(known, product); });
      if (!is_new) continue;
      if (group.size() == kMostElements) return {};
      group.push_back(product);
    }
  }
  return group;
}

RotationGroup cyclic(const Vec3d& axis, int order) {
  const Mat3d generator[] = {turn(axis, 2 * kPi / order)};
  return closure(generator);
}

RotationGroup dihedral(const Vec3d& axis, int order, const Vec3d& across) {
  const Vec3d perpendicular = across - axis * dot(axis, across);
  const Mat3d generators[] = {turn(axis, 2 * kPi / order), turn(perpendicular, kPi)};
  return closure(generators);
}

RotationGroup tetrahedral(const Mat3d& frame) {
  return in_frame(frame, {{{0, 0, 1}, kPi}, {{1, 1, 1}, 2 * kPi / 3}});
}

RotationGroup octahedral(const Mat3d& frame) {
  return in_frame(frame, {{{0, 0, 1}, kPi / 2}, {{1, 0, 0}, kPi / 2}});
}

RotationGroup icosahedral(const Mat3d& frame, bool other_way) {
  const double golden = std::numbers::phi;
  const Vec3d fivefold = other_way ? Vec3d{0, golden, 1} : Vec3d{0, 1, golden};
  return in_frame(frame, {{{0, 0, 1}, kPi}, {{1, 1, 1}, 2 * kPi / 3}, {fivefold, 2 * kPi / 5}});
}

std::vector<Rigid3d> largest_group(const Context& context, const SelfSurface& surface,
                                   std::span<const FoundAxis> axes, double tolerance) {
  std::vector<Proposal> proposals;
  propose_solids(axes, surface.centre(), proposals);
  propose_prisms(axes, surface.centre(), proposals);
  std::stable_sort(proposals.begin(), proposals.end(), [](const Proposal& a, const Proposal& b) {
    return a.rotations.size() > b.rotations.size();
  });
  for (const Proposal& proposal : proposals) {
    std::vector<Rigid3d> motions;
    for (std::size_t i = 1; i < proposal.rotations.size(); ++i) {
      const Mat3d& rotation = proposal.rotations[i];
      motions.push_back({rotation, proposal.point - rotation * proposal.point});
    }
    if (!motions.empty() && all_hold(context, surface, motions, tolerance)) return motions;
  }
  return {};
}

}  // namespace sextant::detail::symmetries
