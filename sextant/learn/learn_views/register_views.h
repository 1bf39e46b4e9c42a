// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/learn/learn_views.h"
#include "sextant/learn/learn_views/prepare_view.h"

namespace sextant::detail::learn_views {

struct Registration {
  std::vector<Rigid3d> world_from_view;  ///< of all views; the identity for those not joined
  std::vector<char> joined;              ///< whether the pose is known
  std::vector<JoinedPair> pairs;
  std::vector<std::string> reasons;  ///< why a view was not joined; empty where it was
  int circles = 0;                   ///< of three views, that the pairs close
  int open = 0;                      ///< ... and that they do not
  std::vector<int> alike;            ///< views that fit as well from another side
};

/// Finds the poses of views among each other, in the frame of one of them.
Registration register_views(const Context& context, std::vector<PreparedView>& views,
                            double diagonal_m, const ReconstructOptions& options,
                            const LearnProgress& progress);

/// Aligns all overlapping pairs of joined views from their poses on and relaxes these.
void refine_poses(const Context& context, const std::vector<PreparedView>& views, double diagonal_m,
                  const ReconstructOptions& options, const LearnProgress& progress,
                  Registration& registration);

}  // namespace sextant::detail::learn_views
