// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/learn/board_poses.h"

namespace sextant::detail::board_poses {

/// The board's tags among those that a photograph shows, or the reason why they are no use.
BoardView look_for_board(const TagBoard& board, const BoardPhoto& photo,
                         const BoardPosesOptions& options);

/// Sets the pose that the corners have for this camera, and their rms; `number` is the
/// photograph's, from which the random draws follow. The view is rejected where there is none.
void find_pose(const std::vector<Vec3d>& corners_m, const Camera& camera, std::uint64_t number,
               BoardView& view);

}  // namespace sextant::detail::board_poses
