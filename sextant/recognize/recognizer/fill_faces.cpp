// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer/fill_faces.h"

#include <algorithm>
#include <cmath>

#include "sextant/recognize/recognizer/stages.h"

namespace sextant::detail::recognizer {

namespace {

constexpr double kLeastFacing = 0.35;  // cosine to the ray of faces that are measured

double size_of(const Cuboid& box, int axis) { return box.size_m[static_cast<std::size_t>(axis)]; }

/// How boxes may stand along one side of a face: how many, where their middle is, and how much it
/// speaks for them that whole boxes end where the surface does.
struct Row {
  int count = 1;
  double middle_m = 0;
  double evidence = -1;
};

std::vector<Row> rows_between(const FaceEnd& low, const FaceEnd& high, double size_m) {
  // Whole boxes may be off by these shares of a box, and by this length if the share allows.
  constexpr double kMisfit = 0.12, kLeastMisfit_m = 0.006, kMostMisfit = 0.4;
  // By chance an end lies within this length of where a box ends, once in a box's size.
  constexpr double kGrain_m = 0.010;
  constexpr double kChance = 2, kHidden = 0.7;
  constexpr double kLeastSeen = 0.8;  // share of a box that is seen if its other end is not
  const double length_m = low.at_m + high.at_m;
  std::vector<Row> rows;
  if (low.is_seen && high.is_seen) {
    const int count = static_cast<int>(std::lround(length_m / size_m));
    const double misfit_m = std::abs(length_m - count * size_m);
    if (count >= 1 && count <= kMostInARow &&
        misfit_m < std::clamp(kLeastMisfit_m, kMisfit * size_m, kMostMisfit * size_m)) {
      const int hidden = (low.is_hidden ? 1 : 0) + (high.is_hidden ? 1 : 0);
      rows.push_back({count, 0.5 * (high.at_m - low.at_m),
                      std::log(size_m / kGrain_m) - kChance - kHidden * hidden});
      return rows;
    }
  }
  if (length_m < kLeastSeen * size_m) return rows;
  if (low.is_seen) rows.push_back({1, 0.5 * size_m - low.at_m});
  if (high.is_seen) rows.push_back({1, high.at_m - 0.5 * size_m});
  return rows;
}

bool is_same(const Pack& a, const Pack& b, double distance_m) {
  if (a.count != b.count) return false;
  if (norm(a.camera_from_pack.translation - b.camera_from_pack.translation) > distance_m) {
    return false;
  }
  for (int axis = 0; axis < 3; ++axis) {
    if (std::abs(dot(a.camera_from_pack.rotation.column(axis),
                     b.camera_from_pack.rotation.column(axis))) <
        std::cos(static_cast<double>(kTwinAngle_rad))) {
      return false;
    }
  }
  return true;
}

/// The pack with the box's last axis along the face's normal and the two others along its sides.
Pack pack_on(const Face& face, const Cuboid& box, const std::array<int, 3>& axes, const Row& a,
             const Row& b) {
  const auto [first, second, up] = axes;
  Vec3d columns[3];
  columns[first] = face.along[0];
  columns[second] = face.along[1];
  // Right-handed, whichever way the normal's axis points.
  const bool even = (first + 1) % 3 == second;
  columns[up] = cross(face.along[0], face.along[1]) * (even ? 1.0 : -1.0);
  Pack pack;
  pack.object = face.object;
  pack.camera_from_pack.rotation = Mat3d::from_columns(columns[0], columns[1], columns[2]);
  pack.camera_from_pack.translation = face.middle + face.along[0] * a.middle_m +
                                      face.along[1] * b.middle_m -
                                      face.normal * (0.5 * size_of(box, up));
  pack.count[static_cast<std::size_t>(first)] = a.count;
  pack.count[static_cast<std::size_t>(second)] = b.count;
  pack.evidence = a.evidence + b.evidence;
  return pack;
}

}  // namespace

const std::vector<BoxCounts>& pack_shapes() {
  static const std::vector<BoxCounts> shapes = [] {
    std::vector<BoxCounts> all;
    for (int z = 1; z <= kMostInARow; ++z) {
      for (int y = 1; y <= kMostInARow; ++y) {
        for (int x = 1; x <= kMostInARow; ++x) {
          const int boxes = x * y * z;
          if (std::min({x, y, z}) == 1 && boxes >= kLeastBoxes && boxes <= kMostBoxes)
            all.push_back({x, y, z});
        }
      }
    }
    return all;
  }();
  return shapes;
}

std::vector<Rigid3d> members_of(const Pack& pack, const Cuboid& box) {
  const Rigid3d box_from_object = inverse(box.object_from_box);
  const auto place = [&](int i, std::size_t axis) {
    return (i - 0.5 * (pack.count[axis] - 1)) * box.size_m[axis];
  };
  std::vector<Rigid3d> all;
  for (int z = 0; z < pack.count[2]; ++z) {
    for (int y = 0; y < pack.count[1]; ++y) {
      for (int x = 0; x < pack.count[0]; ++x) {
        Rigid3d pack_from_box;
        pack_from_box.translation = {place(x, 0), place(y, 1), place(z, 2)};
        all.push_back(pack.camera_from_pack * pack_from_box * box_from_object);
      }
    }
  }
  return all;
}

void add_faces(const Model& model, const ObjectPose& at, std::vector<Face>& faces) {
  const Cuboid& box = *model.box;
  const Rigid3d pose = at.camera_from_object * box.object_from_box;
  for (int axis = 0; axis < 3; ++axis) {
    const Vec3d outward = pose.rotation.column(axis);
    Face face;
    face.normal = dot(outward, pose.translation) < 0 ? outward : -outward;
    face.middle = pose.translation + face.normal * (0.5 * size_of(box, axis));
    if (!(-dot(face.normal, face.middle) > kLeastFacing * norm(face.middle))) continue;
    for (int side = 0; side < 2; ++side) {
      const int along = (axis + 1 + side) % 3;
      face.along[side] = pose.rotation.column(along);
      face.length_m[side] = size_of(box, along);
    }
    face.most_m = kMostInARow * *std::max_element(box.size_m.begin(), box.size_m.end());
    face.diameter_m = model.diameter_m;
    face.object = at.object_index;
    faces.push_back(face);
  }
}

void fill_face(const Face& face, const FaceEnds& ends, const Model& model,
               std::vector<Pack>& packs) {
  const auto twin_m = static_cast<double>(kTwinShare * model.diameter_m);
  const bool is_cube = is_like_a_cube(*model.box);
  std::vector<std::array<double, 3>> tried;  // sizes in the order of axes: a cube has one
  std::array<int, 3> axes{0, 1, 2};
  do {
    const std::array<double, 3> sizes{size_of(*model.box, axes[0]), size_of(*model.box, axes[1]),
                                      size_of(*model.box, axes[2])};
    const auto equal = [&](const std::array<double, 3>& other) {
      constexpr double kEqual = 0.02;
      return std::equal(sizes.begin(), sizes.end(), other.begin(), [](double x, double y) {
        return std::abs(x - y) < kEqual * std::max(x, y);
      });
    };
    if (std::any_of(tried.begin(), tried.end(), equal)) continue;
    tried.push_back(sizes);
    for (const Row& a : rows_between(ends.of[0][0], ends.of[0][1], sizes[0])) {
      for (const Row& b : rows_between(ends.of[1][0], ends.of[1][1], sizes[1])) {
        const int boxes = a.count * b.count;
        if (boxes > kMostBoxes || (boxes > 1 && (boxes < kLeastBoxes || is_cube))) continue;
        Pack pack = pack_on(face, *model.box, axes, a, b);
        const auto known = [&](const Pack& other) { return is_same(pack, other, twin_m); };
        if (std::none_of(packs.begin(), packs.end(), known)) packs.push_back(std::move(pack));
      }
    }
  } while (std::next_permutation(axes.begin(), axes.end()));
}

}  // namespace sextant::detail::recognizer
