// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/workspace.h"
#include "sextant/recognize/recognizer/compare_math.h"
#include "sextant/render/scene.h"

namespace sextant::detail::recognizer {

/// Poses of several objects, by places: `slots` for each object, of which the first counts[m] and
/// no more than `most` are used; or, with `objects`, each with its object. With `wanted`, only the
/// places where it is not 0.
struct PoseList {
  const Rigid3d* poses = nullptr;
  std::int64_t size = 0;
  std::int32_t slots = 1, most = 0;
  const std::int32_t* counts = nullptr;
  const std::int32_t* objects = nullptr;
  const std::uint8_t* wanted = nullptr;

  /// The object of a place, or -1.
  SEXTANT_HD std::int32_t object_of(std::int64_t place) const {
    if (wanted && wanted[place] == 0) return -1;
    if (objects) return objects[place];
    const auto m = static_cast<std::int32_t>(place / slots);
    return place - std::int64_t{m} * slots < min_of(counts[m], most) ? m : -1;
  }
};

/// Renders poses and compares them with the frame.
struct VerifyJob {
  FrameView frame;
  const ModelView* models = nullptr;
  PoseList list;
  CompareSums* sums = nullptr;         ///< one for each place; those of places without pose stay
  std::uint32_t* supported = nullptr;  ///< kMaskWords for each place, or null
};

void verify_all(const Context& context, const RenderScene& meshes, const VerifyJob& job,
                Workspace& workspace);

void verify_cuda(const Context& context, const SceneView& meshes, const VerifyJob& job,
                 Workspace& workspace);

}  // namespace sextant::detail::recognizer
