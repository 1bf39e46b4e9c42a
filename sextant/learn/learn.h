// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/learn/learn_mesh.h"
#include "sextant/library/library.h"

namespace sextant {

/// Learns an object from its mesh (learn_mesh) into a library, in the place of the one of that
/// name. When it throws, also Cancelled, the library is as it was:
///
///   Library library("objects.sxt");
///   learn(context, library, "milk", read_geometry("milk.ply", {.unit_m = 0.001}));
///
/// What passes for the object is not looked for, which takes a recogniser: `sextant learn` and
/// find_lookalikes (recognize/lookalikes.h) do that.
inline void learn(const Context& context, Library& library, const std::string& name,
                  const TriangleMesh& mesh, const LearnMeshOptions& options = {},
                  const LearnProgress& progress = {}, const Camera& camera = learning_camera()) {
  check_object_name(name);
  library.put(learn_mesh(context, name, mesh, options, progress, camera));
}

}  // namespace sextant
