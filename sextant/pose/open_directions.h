// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <vector>

namespace sextant {

/// The directions in which a covariance knows a pose no better than by `open_m`: its own directions
/// (6 × 6 row by row, rotation, then translation), where angles count as lengths at the distance
/// `length_m`. Each is a motion as long as its deviation, rotation (rad), then translation (m), so
/// that the outer products of all of them are what the covariance has of these directions; the
/// largest comes first, and the largest of its six numbers is positive. Empty where all is known.
/// Throws Error for lengths that are not positive and for a covariance that is not finite.
std::vector<std::array<double, 6>> open_directions(std::span<const double, 36> covariance,
                                                   double length_m, double open_m);

}  // namespace sextant
