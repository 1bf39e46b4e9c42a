// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/mesh.h"

// Printed things: closed meshes on the host with a texture that is full of corners and edges, all
// drawn from the seed. Frame: metres, z up, standing on z = 0 around the z axis.

namespace sextant {

/// A carton with sides along the axes; the front shows towards -y. Texture 1024 × 1024.
TriangleMesh make_carton(const Vec3d& sides_m, std::uint64_t seed);

/// A closed can with a label all around. Texture 1024 × 1024.
TriangleMesh make_can(double radius_m, double height_m, std::uint64_t seed);

enum class Suit : std::int32_t { kSpades, kHearts, kDiamonds, kClubs };

/// A playing card of 63 × 88 mm, 0.4 mm thick with round corners, lying face up with its top
/// towards +y. `rank` is 1 (ace) to 13 (king). Texture 1024 × 768.
TriangleMesh make_card(int rank, Suit suit, std::uint64_t seed = 0);

}  // namespace sextant
