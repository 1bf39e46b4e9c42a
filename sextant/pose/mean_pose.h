// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "sextant/core/rigid3.h"

namespace sextant {

/// The rotation with the least weighted sum of squared quaternion distances, signs left free: the
/// eigenvector of the largest eigenvalue of Σ w q qᵀ (Markley et al., 2007). Weights are empty for
/// equal ones. Throws Error unless there is a rotation of positive weight and as many weights as
/// rotations, none negative or not finite.
Mat3d mean_rotation(std::span<const Mat3d> rotations, std::span<const double> weights = {});

/// The mean rotation with the mean of the translations, weighted alike.
Rigid3d mean_pose(std::span<const Rigid3d> poses, std::span<const double> weights = {});

}  // namespace sextant
