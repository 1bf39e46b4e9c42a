// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/learn/learn_progress.h"
#include "sextant/learn/learn_views/prepare_view.h"

namespace sextant::detail::learn_views {

/// One view as the merged surface takes it.
struct MergedView {
  const PreparedView* view = nullptr;
  const Image<Rgb8>* color = nullptr;  ///< null without
  Rigid3d camera_from_object;
};

/// Averages the views' distances in a grid over the box and draws the surface where they change
/// sign, as a mesh on the host with outward normals and colours. Empty where nothing was seen.
TriangleMesh merge_views(const Context& context, const std::vector<MergedView>& views,
                         const Bounds& box, float voxel_m, const LearnProgress& progress);

}  // namespace sextant::detail::learn_views
