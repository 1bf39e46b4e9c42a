// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "sextant/learn/learn_views.h"
#include "sextant/learn/learn_views/prepare_view.h"
#include "sextant/pose/align.h"

// Pairs of views: their relative poses, measured and checked.

namespace sextant::detail::learn_views {

/// A pair of views whose relative pose was measured and checked.
struct Edge {
  int a = 0, b = 0;
  Alignment alignment;  ///< of b with a as the target
  double overlap = 0, agreement = 0;
  int circles = 0;  ///< of three views that it closes
  int open = 0;     ///< ... and that it does not
};

/// Lengths that follow from the size of the object.
struct Scales {
  double diagonal_m;
  double tolerance_m() const { return clamp(0.02 * diagonal_m, 0.003, 0.02); }
  double outlier_m() const { return clamp(0.02 * diagonal_m, 0.003, 0.05); }
  /// What the poses of three views around a circle may miss, at the object.
  double circle_m() const { return 0.06 * diagonal_m; }
};

enum class PairFailure { kNone, kNoMatches, kNoMotion, kSlides, kDisagrees };

struct PairOutcome {
  Edge edge;
  PairFailure failure = PairFailure::kNoMatches;
};

/// How far two motions of views are apart, at the object.
double apart_m(const Rigid3d& p, const Rigid3d& q, const Vec3d& at, const Scales& scales);

/// Aligns b with a from a first pose on, and checks the result in both views.
PairOutcome align_pair(const std::vector<PreparedView>& views, int a, int b,
                       const Rigid3d& a_from_b, double start_m, const Scales& scales,
                       const ReconstructOptions& options);

/// Matches, fits and aligns two views about which nothing is known.
PairOutcome join_pair(const std::vector<PreparedView>& views, int a, int b, const Scales& scales,
                      const ReconstructOptions& options);

/// Views that follow each other are often as far apart as those before and after them, on a
/// turntable always: where two of them could not be joined, or not well, the motions of their
/// neighbours are tried.
void carry_motions_on(const Context& context, const std::vector<PreparedView>& views,
                      const std::vector<std::pair<int, int>>& pairs, const Scales& scales,
                      const ReconstructOptions& options, std::vector<PairOutcome>& outcomes);

/// Wrong poses fit worse: pairs whose residuals are several times those of the others are dropped.
void drop_rough_edges(std::vector<Edge>& edges);

/// Pairs of views with points; of many views those that lie near each other in their order.
std::vector<std::pair<int, int>> pairs_to_try(const std::vector<PreparedView>& views);

}  // namespace sextant::detail::learn_views
