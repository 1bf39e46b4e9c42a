// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sextant/core/sym3.h"
#include "sextant/geometry/mesh.h"
#include "sextant/geometry/symmetries.h"
#include "sextant/geometry/triangle_tree/triangle_tree.h"
#include "sextant/surface/symmetries.h"

namespace sextant::detail::symmetries {

/// A point of the surface that a motion carries along.
struct Sample {
  Vec3d point;
  Vec3d normal;   ///< outwards; zero where it is not known
  int patch = 0;  ///< neighbours that face the same way
  Vec3d color;    ///< mean of the surroundings, 0 to 1
};

/// The surface as what moved samples are compared with.
class SelfSurface {
 public:
  SelfSurface(const Context& context, const TriangleMesh& object);

  /// Whether there is enough surface to speak of symmetries.
  bool empty() const { return samples_.size() < kFewest; }
  bool has_colors() const { return colored_.has_value(); }
  /// In an order such that the first ones are spread over the whole surface.
  std::span<const Sample> samples() const { return samples_; }
  Vec3d centre() const { return centre_; }
  double diameter() const { return diameter_; }
  const Sym3d& inertia() const { return inertia_; }  ///< covariance of the surface
  /// Twice the distance of the farthest samples from an axis, at most two thirds of the diameter.
  double extent_across(const ContinuousSymmetry& axis) const;

  /// What a moved sample meets.
  struct Meeting {
    double distance = 0;  ///< positive outside; infinite where nothing is within the limit
    Vec3d normal;
  };
  Meeting meet(const Vec3d& point, const Vec3d& normal, double limit) const;

  /// Mean distance of the first `count` samples, each at most a tenth of the diameter, from a
  /// table that errs by some hundredth of it and knows no normals: 20 ns a sample.
  double rough_distance(const Rigid3d& motion, std::size_t count) const;

  /// Whether the moved surface is the surface, as find_symmetries says; `tolerance_m` is absolute.
  bool holds(const Rigid3d& motion, double tolerance_m) const;
  /// Whether colours are those of the places where samples go.
  bool colors_hold(const Rigid3d& motion, double tolerance) const;

 private:
  static constexpr std::size_t kFewest = 100;
  void take_mesh(const Context& context, const TriangleMesh& object);
  void take_cloud(const Context& context, const TriangleMesh& object);
  void measure(const Context& context);
  void color(const Context& context, std::span<const Vec3f> points, std::span<const Vec3f> normals,
             std::span<const Rgb8> colors);

  std::vector<Sample> samples_;
  int patches_ = 0;
  std::optional<TriangleTree> tree_;
  std::optional<TriangleTree> colored_;  ///< dense samples
  std::vector<Vec3d> colors_;            ///< of the dense samples, averaged
  double spacing_m_ = 0;                 ///< of a cloud; 0 for triangles
  Vec3d centre_;
  double diameter_ = 0;
  Sym3d inertia_;
  std::vector<float> distances_;  ///< at the nodes of a cubic lattice
  double lattice_step_ = 0;
  Vec3d lattice_origin_;
};

}  // namespace sextant::detail::symmetries
