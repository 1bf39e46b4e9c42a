// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sextant/io/views_folder.h"
#include "sextant/learn/learn_mesh.h"

namespace sextant {

/// Lengths of 0 are taken from the size of the object.
struct ReconstructOptions {
  /// Edge of the cells that views are merged in; 0 takes a 180th of the object's diagonal, but at
  /// least 1 mm.
  float voxel_m = 0.0f;
  float shot_radius_m = 0.0f;  ///< of the descriptors that views are joined by; 0: 0.14 diagonals;
                               ///< 0.6 of it are taken as well
  int trials = 20000;          ///< of the robust fit of each pair of views
  /// Share of the points seen by both views that must agree, for a pair to count.
  float least_agreement = 0.95f;
  /// Share of a view that the other one of a pair must see.
  float least_overlap = 0.25f;
  int rounds = 3;       ///< of aligning all overlapping pairs and relaxing the poses
  bool refine = false;  ///< align views whose poses are known, too
  std::uint32_t seed = 0;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("voxel_m", self.voxel_m, "cells that views are merged in; 0: a 180th of the object",
          Range{0, 1});
    visit("join_radius_m", self.shot_radius_m,
          "of the descriptors that views are joined by; 0: 0.14 of the object", Range{0, 10});
    visit("trials", self.trials, "of the robust fit of each pair of views", Range{1, 1e8});
    visit("least_agreement", self.least_agreement,
          "share of what two views both see that must agree", Range{0, 1});
    visit("least_overlap", self.least_overlap, "share of a view that its partner must see",
          Range{0, 1});
    visit("rounds", self.rounds, "of aligning all overlapping views", Range{0, 20});
    visit("refine", self.refine, "align views whose poses are known, too");
    visit("seed", self.seed, "of the random draws", Range{0, 4294967295.0});
  }
};

/// A pair of views that was joined, for reports.
struct JoinedPair {
  int a = 0, b = 0;      ///< indices into the views given
  double overlap = 0;    ///< share of the smaller view that both see
  double agreement = 0;  ///< share of that which fits
  double rms_m = 0;      ///< along the normals
  double error_m = 0;    ///< what the poses found leave of it
};

struct ReconstructedObject {
  TriangleMesh mesh;  ///< on the host: points, outward normals, colours where views have them
  std::vector<LearnedView> views;     ///< those that were joined
  std::vector<int> used;              ///< which of the given they are
  std::vector<std::string> left_out;  ///< the names of the others, each with the reason
  std::vector<JoinedPair> pairs;
  std::vector<std::string> remarks;  ///< in words for the user
  float voxel_m = 0;
};

/// Builds the surface of an object from RGB-D views of it alone.
///
/// Background: the object is where the mask says so. Without masks, the largest plane that holds a
/// sixth of what is seen is taken for its support and removed, and of what is left the connected
/// piece nearest to the middle of the image is the object.
///
/// Poses: where all views have one, these are taken, and the object's frame is their world. Views
/// that see through what a third of the others measured are left out by name; an Error where half
/// of them do, or where the object would be twice as large as what views show of it. Else every
/// pair of views (up to 40 views; of more, those at most eight apart in a circle) is matched by
/// SHOT, fitted robustly, aligned point to plane and checked against both depth maps and masks. A
/// pair counts only in circles: three views whose motions compose to none, or two pairs that say
/// the same about two groups of views. The poses are relaxed over the pairs that count, and every
/// two views are compared; those that contradict others are left out by name. Throws Error where
/// less than 85 % of the circles close, where a view fits as well from another side, where less
/// than half of the views (or less than four) are joined, or where two views, or all, seem to look
/// from one place: give the poses then. Without them the object's frame is upright in the first
/// view that was used (x right, y away, z up) with the origin in the middle of the object.
///
/// Surface: signed distances along the rays, weighted by view angle and by the sensor's noise, are
/// averaged in a grid of voxel_m within 4 cells of the surface; where they change sign, a dual mesh
/// is drawn (surface nets). What no view saw is a hole. Pieces with less than a fiftieth of the
/// triangles are dropped. Colours are averaged over the views that see a vertex.
///
/// Runs on the host's threads, whatever the context's device, with the same result for any number
/// of threads. Nearly all time without poses goes into pairs. Errors are one line and say why.
ReconstructedObject reconstruct_views(const Context& context, std::span<const RgbdView> views,
                                      const ReconstructOptions& options = {},
                                      const LearnProgress& progress = {});

/// Reconstructs the object and learns it as learn_mesh does, for the views' camera.
LearnedObject learn_views(const Context& context, const std::string& name,
                          std::span<const RgbdView> views,
                          const ReconstructOptions& reconstruct = {},
                          const LearnMeshOptions& options = {}, const LearnProgress& progress = {});

}  // namespace sextant
