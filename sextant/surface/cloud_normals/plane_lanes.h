// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/surface/cloud_normals/math.h"

namespace sextant::detail::cloud_normals {

/// The planes of a pack of neighbourhoods, found at once and then looked at one by one.
template <class Pack>
class PlaneLanes {
 public:
  explicit PlaneLanes(const Sym3<Pack>& scatter) {
    const normals::SmallestEigenvector<Pack> plane = normals::smallest_eigenvector(scatter);
    plane.vector.x.store(x_);
    plane.vector.y.store(y_);
    plane.vector.z.store(z_);
    plane.gap.store(gap_);
  }

  /// The unit normal in one lane, of either sign: careful() computes it where the closed form has
  /// lost its digits. NaN where the neighbours are too few for a plane.
  template <class Careful>
  Vec3f normal(int lane, float neighbours, const Careful& careful) const {
    if (neighbours < kLeastNeighbours) return {NAN, NAN, NAN};
    if (!(gap_[lane] > normals::kLeastGap)) return careful();
    return {x_[lane], y_[lane], z_[lane]};
  }

 private:
  float x_[Pack::kCount], y_[Pack::kCount], z_[Pack::kCount], gap_[Pack::kCount];
};

}  // namespace sextant::detail::cloud_normals
