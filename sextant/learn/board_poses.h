// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sextant/core/options.h"
#include "sextant/core/rigid3.h"
#include "sextant/descriptor/tags.h"
#include "sextant/geometry/camera.h"
#include "sextant/io/tag_board.h"

namespace sextant {

/// What a photograph shows of a board.
struct BoardPhoto {
  std::string name;  ///< for messages
  int width = 0, height = 0;
  std::vector<TagSighting> tags;
  double edge_px = 0;            ///< width of the tags' edges (tag_edge_px); 0 where it is unknown
  std::optional<Camera> camera;  ///< where it is known; of all photographs or of none
  double focal_guess_px = 0;     ///< where it is not; 0 for no idea
};

struct BoardPosesOptions {
  int least_tags = 2;              ///< of the board, in a photograph
  double most_edge_px = 6;         ///< width of edges; more is blurred
  double most_rms_px = 3;          ///< distance of its corners from where the board has them
  double most_focal_share = 0.02;  ///< deviation of the focal length, where it is not known

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("least_tags", self.least_tags, "tags that a photograph must show", Range{1, 587});
    visit("most_edge_px", self.most_edge_px, "photographs with wider edges are blurred",
          Range{1, 1000});
    visit("most_rms_px", self.most_rms_px, "distance of corners from where the board has them",
          Range{0.01, 1000});
    visit("most_focal_share", self.most_focal_share, "largest deviation of the focal length",
          Range{1e-6, 1});
  }
};

/// Where a board's corner is seen.
struct BoardCornerSighting {
  std::int32_t corner = 0;  ///< 4 × the place of the tag in the board's list + the corner's
  Vec2d at_px;
};

/// The board in one photograph.
struct BoardView {
  std::string rejected;  ///< why it has no pose; empty where it has one
  Camera camera;
  Rigid3d camera_from_board;
  std::int32_t tags = 0;  ///< of the board, that it shows
  double rms_px = 0;      ///< of its corners
  std::vector<BoardCornerSighting> corners;
};

struct BoardPoses {
  std::vector<BoardView> views;   ///< one for each photograph
  std::int32_t used = 0;          ///< those with a pose
  double rms_px = 0;              ///< of the corners of all of these
  double focal_guess_px = 0;      ///< from where the focal length was sought; 0 where it was known
  double focal_deviation_px = 0;  ///< of what was found; 0 where it was known
};

/// The corners of a board in its frame: four for each tag, z = 0.
std::vector<Vec3d> board_corners_m(const TagBoard& board);

/// Finds where the cameras stood from the tags that photographs show. Where the cameras are not
/// known, one camera took all photographs, and its focal length, principal point and k1 are
/// found with the poses (adjust_bundle); without a guess several focal lengths are tried. What
/// moves the edges of all tags of a photograph alike (ink that spreads, blur) is taken out of
/// `corners`.
///
/// A photograph is rejected, with the reason, where it shows too few tags of the board, one of them
/// twice, or tags that do not lie as the board has them. Throws Error where photographs without
/// camera differ in size or do not determine the focal length, as those from straight above. Runs
/// on one thread of the host; the same bits every time.
BoardPoses find_board_poses(const TagBoard& board, std::span<const BoardPhoto> photos,
                            const BoardPosesOptions& options = {});

}  // namespace sextant
