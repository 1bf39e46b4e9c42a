// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/local_frame/math.h"
#include "sextant/descriptor/shot/math.h"

namespace sextant::detail::shot {

/// Everything that both devices need. Queries stand in cell order, results in the caller's order.
struct ShotJob {
  NeighbourGridView grid;
  const GridPoint* queries = nullptr;
  std::int64_t count = 0;
  const Vec3f* normals = nullptr;       ///< of the surface
  const Vec3f* lab = nullptr;           ///< of the surface; null without colour
  const Vec3f* keypoint_lab = nullptr;  ///< null without colour
  const Vec3f* given_frames = nullptr;  ///< null when frames are to be computed
  float radius_m = 0;
  float frame_radius_m = 0;
  ShotBins bins = ShotBins::kPcl;
  bool shape = true;
  bool exact = true;
  std::int32_t most_neighbours = 0;
  ShotSphere sphere{};
  int shape_bins = 0;
  int color_base = 0;  ///< first entry of the colour's histogram
  int length = 0;
  float* values = nullptr;
  Vec3f* frames = nullptr;  ///< may be null
  ShotStatus* status = nullptr;
};

/// A neighbour without a finite normal does not vote.
SEXTANT_HD inline bool can_vote(const Vec3f& normal) { return is_finite(normal); }

/// Takes a keypoint's position from its index; outside the surface it is NaN.
struct GatherKeypoint {
  const Vec3f* points;
  const Rgb8* colors;  ///< may be null
  std::int64_t size;
  const std::int32_t* indices;
  Vec3f* to_points;
  Rgb8* to_colors;
  SEXTANT_HD void operator()(std::int64_t i) const {
    const std::int64_t from = indices[i];
    const bool inside = from >= 0 && from < size;
    to_points[i] = inside ? points[from] : Vec3f{NAN, NAN, NAN};
    if (colors) to_colors[i] = inside ? colors[from] : Rgb8{};
  }
};

void compute_shot_cpu(const Context& context, const ShotJob& job);
void compute_shot_cuda(const Context& context, const ShotJob& job, Workspace& workspace);

}  // namespace sextant::detail::shot
