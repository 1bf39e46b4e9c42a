// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/pose/reprojection.h"

namespace sextant {

/// Finds the pose near `start` with the least sum of squared distances in metres between the
/// points of the object and the rays on which they are seen: |(I - v vᵀ) (T p - c)|² with the
/// camera's centre c and the ray's direction v, both in the world's frame. Rays of several cameras
/// count alike. A point behind the camera that saw it has residuals of 10 - s, where s < 0 is how
/// far along the ray it lies.
///
/// Distances in metres make far points weigh more than reprojection does. What is said there of
/// few observations and of errors holds here; `squared_residuals` is not used.
PhotoFit fit_backprojection(std::span<const PinholeView> views,
                            std::span<const PhotoObservation> observations,
                            const Rigid3d& world_from_object, const PhotoFitOptions& options = {});

}  // namespace sextant
