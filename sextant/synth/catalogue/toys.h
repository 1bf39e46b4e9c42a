// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/mesh.h"

// The seven objects of the tensor paper's toy library, made by code: closed meshes on the host with
// outward normals and colours, 6 to 20 cm. Frame: metres, z up, resting on z = 0 with the origin
// below the middle of the object, the front towards -y. The free-form ones are polygonised solids
// of some 25 to 50 thousand triangles; each takes about 0.1 s.

namespace sextant {

/// 8 cm, plain faces, sharp edges.
TriangleMesh make_cube();
/// A square base of 11 cm, 9 cm high, sharp edges.
TriangleMesh make_pyramid();
/// A cabinet of 10 × 9 × 16 cm with two recessed drivers and a port.
TriangleMesh make_speaker();
/// 16 cm long, on four feet, with a plated shell.
TriangleMesh make_tortoise();
/// A face of 13 × 18 cm with holes for eyes and mouth (so with three handles), lying on its rim: it
/// looks up, with the forehead towards +y.
TriangleMesh make_mask();
/// The animal, 17 cm long, on four feet: large head, round ears, thick tail.
TriangleMesh make_tasmanian_devil();
/// 8 cm wide, with stalk and leaf.
TriangleMesh make_apple();

namespace detail::catalogue {

/// Moves the mesh along z so that its lowest vertex lies on z = 0.
void rest_on_ground(TriangleMesh& mesh);

}  // namespace detail::catalogue

}  // namespace sextant
