// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/cloud.h"

namespace sextant::app {

/// A closed body about 0.2 m across with bumps of all sizes, on the host: points spread evenly over
/// it (a Fibonacci lattice of directions) and its exact outward normals.
Cloud bumpy_body(std::int64_t points);

/// Its area in square metres, to a per cent.
double bumpy_body_area_sq_m();

}  // namespace sextant::app
