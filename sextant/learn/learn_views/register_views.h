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

/// When two views contradict each other, and which are left out because of it.
struct ContradictionLimits {
  double least_agreement = 0;  ///< share of what both see that must agree
  double most_violated = 0;    ///< share of a view's points that another may see through
  double least_share = 0;      ///< of the other views, that one must contradict to be left out
};
/// Poses that were found must leave no doubt.
inline constexpr ContradictionLimits kFoundPoses{0.9, 0, 0};
/// Measured poses are a little off, and views from opposite sides have little in common but rims
/// and what is left of a support. Wrong poses make views see through a large part of others.
inline constexpr ContradictionLimits kGivenPoses{0.7, 0.2, 1.0 / 3};

/// A chain of pairs that all fit can still close a wrong circle, and poses that were given can be
/// wrong. With the final poses every two views are compared, whether they were aligned or not, and
/// where one sees through what the other measured, the view that contradicts most others is left
/// out, until none is left that contradicts at least the share of the others that the limits name.
void drop_contradictions(const Context& context, const std::vector<PreparedView>& views,
                         double diagonal_m, const ContradictionLimits& limits,
                         Registration& registration);

}  // namespace sextant::detail::learn_views
