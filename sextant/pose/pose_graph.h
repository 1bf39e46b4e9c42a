// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sextant/core/options.h"
#include "sextant/pose/point_to_plane.h"

namespace sextant {

/// What was measured between two views: `a_from_b`, and how well. `information` belongs to a small
/// motion (ω, v) in the frame of a about `centre_m`: the normal equations of an alignment over the
/// variance of a residual, say.
struct PoseEdge {
  std::int32_t a = 0;
  std::int32_t b = 0;
  Rigid3d a_from_b;
  SymN<double, 6> information;
  Vec3d centre_m;
};

struct PoseGraphOptions {
  int iterations = 50;
  /// An edge that is off by this much has a quarter of its say left; one that is off by far more
  /// has none.
  double outlier_m = 0.01;
  double length_m = 0.1;  ///< a turn by an angle counts as that angle times this length

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("iterations", self.iterations, "steps at most", Range{1, 1e6});
    visit("outlier_m", self.outlier_m, "edges off by this much lose three quarters of their say",
          Range{1e-9, 1e9});
    visit("length_m", self.length_m, "turns angles into lengths", Range{1e-9, 1e9});
  }
};

struct PoseGraphResult {
  std::vector<Rigid3d> world_from_view;
  std::vector<double> edge_error_m;  ///< what is left of each edge: |v| + length |ω|
  int iterations = 0;
  bool converged = false;
};

/// Finds the poses of views that agree best with what was measured between pairs of them, by
/// Gauss-Newton steps on SE(3) with the weight 1 / (1 + (error / outlier)²)² for each edge. The
/// first view keeps its pose; views that no edge joins with it keep theirs as well. The poses given
/// must be right to a few outlier_m, as those along a spanning tree are.
///
/// It runs on one thread of the host and solves a dense system: some 200 views at most are a second
/// of work. Throws Error when an edge names a view that is not there.
PoseGraphResult relax_poses(std::span<const Rigid3d> world_from_view,
                            std::span<const PoseEdge> edges, const PoseGraphOptions& options = {});

}  // namespace sextant
