// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/mesh.h"
#include "sextant/library/library/arrays.h"

namespace sextant::detail::library {

void write_mesh(const TriangleMesh& mesh, ArrayWriter& out);
TriangleMesh read_mesh(const ArrayReader& in);

}  // namespace sextant::detail::library
