// SPDX-License-Identifier: Apache-2.0
#include "sextant/learn/board_poses.h"

#include <gtest/gtest.h>

#include "sextant/core/random.h"
#include "tests/board_photos.h"
#include "tests/error_message.h"

namespace sextant {
namespace {

using testing::error_message;
using testing::mentions;

constexpr Camera kCamera{1200, 900, 1100, 1100, 612, 441, {-0.08, 0, 0, 0, 0}};

/// Eight tags around a free middle.
TagBoard ring_of_tags() {
  TagBoard board;
  board.width_m = board.height_m = 0.2;
  board.tag_m = 0.03;
  board.free_low_m = {-0.04, -0.04};
  board.free_high_m = {0.04, 0.04};
  for (int i = 0; i < 9; ++i) {
    if (i == 4) continue;
    const double x = 0.075 * (i % 3 - 1), y = 0.075 * (1 - i / 3), h = 0.015;
    board.tags.push_back({i, {{{x - h, y + h}, {x + h, y + h}, {x + h, y - h}, {x - h, y - h}}}});
  }
  return board;
}

/// What a camera sees of the board, each corner off by some noise.
BoardPhoto photo_of(const TagBoard& board, const Camera& camera, const Rigid3d& camera_from_board,
                    double noise_px, std::uint64_t seed) {
  BoardPhoto photo;
  photo.name = "photo_" + std::to_string(seed);
  photo.width = camera.width;
  photo.height = camera.height;
  for (const BoardTag& tag : board.tags) {
    TagSighting seen{tag.id, {}};
    bool whole = true;
    for (std::size_t i = 0; i < 4; ++i) {
      const Random random{seed, static_cast<std::uint64_t>(4 * tag.id) + i};
      const Vec2d at =
          project(camera, camera_from_board * Vec3d{tag.corners_m[i].x, tag.corners_m[i].y, 0});
      seen.corners_px[i] = at + Vec2d{random.normal(0), random.normal(1)} * noise_px;
      whole = whole && at.x > 0 && at.y > 0 && at.x < camera.width && at.y < camera.height;
    }
    if (whole) photo.tags.push_back(seen);
  }
  return photo;
}

std::vector<BoardPhoto> photos_around(const TagBoard& board, const std::vector<Rigid3d>& poses,
                                      double noise_px) {
  std::vector<BoardPhoto> photos;
  for (std::size_t i = 0; i < poses.size(); ++i) {
    photos.push_back(photo_of(board, kCamera, poses[i], noise_px, i));
  }
  return photos;
}

double off_m(const Rigid3d& a, const Rigid3d& b) {
  return norm(inverse(a).translation - inverse(b).translation);
}

TEST(BoardPoses, KnownCamera) {
  const TagBoard board = ring_of_tags();
  const std::vector<Rigid3d> poses = testing::poses_around(6, 0.4);
  std::vector<BoardPhoto> photos = photos_around(board, poses, 0.2);
  for (BoardPhoto& photo : photos) photo.camera = kCamera;
  const BoardPoses found = find_board_poses(board, photos);
  ASSERT_EQ(found.used, 6);
  EXPECT_EQ(found.focal_deviation_px, 0);
  // Noise of 0.2 px in both coordinates.
  EXPECT_NEAR(found.rms_px, 0.28, 0.06);
  for (std::size_t i = 0; i < poses.size(); ++i) {
    EXPECT_EQ(found.views[i].tags, 8);
    EXPECT_LT(off_m(found.views[i].camera_from_board, poses[i]), 0.001) << i;
  }
}

TEST(BoardPoses, FindsTheCameraToo) {
  const TagBoard board = ring_of_tags();
  const std::vector<Rigid3d> poses = testing::poses_around(12, 0.4);
  for (const double guess : {0.0, 900.0}) {
    std::vector<BoardPhoto> photos = photos_around(board, poses, 0.2);
    for (BoardPhoto& photo : photos) photo.focal_guess_px = guess;
    const BoardPoses found = find_board_poses(board, photos);
    ASSERT_EQ(found.used, 12);
    EXPECT_GT(found.focal_guess_px, 0);
    const Camera& camera = found.views[0].camera;
    EXPECT_NEAR(camera.fx_px, kCamera.fx_px, 5 * found.focal_deviation_px);
    EXPECT_LT(found.focal_deviation_px, 8);
    EXPECT_NEAR(camera.cx_px, kCamera.cx_px, 5);
    EXPECT_NEAR(camera.cy_px, kCamera.cy_px, 5);
    EXPECT_NEAR(camera.distortion.k1, kCamera.distortion.k1, 0.03);
  }
}

TEST(BoardPoses, InkThatSpreadsDoesNotBendTheLens) {
  const TagBoard board = ring_of_tags();
  const std::vector<Rigid3d> poses = testing::poses_around(12, 0.4);
  std::vector<BoardPhoto> photos = photos_around(board, poses, 0.05);
  for (BoardPhoto& photo : photos) {
    for (TagSighting& tag : photo.tags) {
      Vec2d middle{};
      for (const Vec2d& corner : tag.corners_px) middle = middle + corner * 0.25;
      for (Vec2d& corner : tag.corners_px) {
        const Vec2d out = corner - middle;
        corner = corner - out * (0.8 / std::hypot(out.x, out.y));
      }
    }
  }
  const BoardPoses found = find_board_poses(board, photos);
  ASSERT_EQ(found.used, 12);
  EXPECT_LT(found.rms_px, 0.15);
  EXPECT_NEAR(found.views[0].camera.fx_px, kCamera.fx_px, 2);
  EXPECT_NEAR(found.views[0].camera.distortion.k1, kCamera.distortion.k1, 0.01);
}

TEST(BoardPoses, HalfABoardIsEnough) {
  const TagBoard board = ring_of_tags();
  const Rigid3d pose = testing::looking_at({0.2, 0.1, 0.3}, {0, 0, 0});
  Rigid3d aside = pose;
  aside.translation.x += 0.2;
  std::vector<BoardPhoto> photos{photo_of(board, kCamera, aside, 0.1, 1)};
  photos[0].camera = kCamera;
  ASSERT_GE(photos[0].tags.size(), 2u);
  ASSERT_LT(photos[0].tags.size(), 8u);
  const BoardPoses found = find_board_poses(board, photos);
  ASSERT_EQ(found.used, 1) << found.views[0].rejected;
  EXPECT_LT(off_m(found.views[0].camera_from_board, aside), 0.003);
}

TEST(BoardPoses, RejectsWithAReason) {
  const TagBoard board = ring_of_tags();
  const std::vector<Rigid3d> poses = testing::poses_around(7, 0.4);
  std::vector<BoardPhoto> photos = photos_around(board, poses, 0.1);
  for (BoardPhoto& photo : photos) photo.camera = kCamera;
  photos[0].tags.clear();
  photos[1].tags.insert(photos[1].tags.begin(), photos[1].tags[0]);
  for (TagSighting& tag : photos[2].tags) tag.id += 100;
  photos[3].tags.resize(1);
  std::swap(photos[4].tags[0].corners_px, photos[4].tags[5].corners_px);
  photos[5].edge_px = 9;
  const BoardPoses found = find_board_poses(board, photos);
  EXPECT_EQ(found.used, 1);
  EXPECT_TRUE(mentions(found.views[0].rejected, "shows no tag"));
  EXPECT_TRUE(mentions(found.views[1].rejected, "twice"));
  EXPECT_TRUE(mentions(found.views[2].rejected, "another board"));
  EXPECT_TRUE(mentions(found.views[3].rejected, "1 of the board's 8 tags"));
  EXPECT_TRUE(mentions(found.views[4].rejected, "px from where board.json has them"));
  EXPECT_TRUE(mentions(found.views[5].rejected, "is blurred"));
  EXPECT_TRUE(found.views[6].rejected.empty());
}

TEST(BoardPoses, SaysWhatLeavesTheFocalLengthOpen) {
  const TagBoard board = ring_of_tags();
  std::vector<Rigid3d> poses;
  for (int i = 0; i < 5; ++i) {
    Rigid3d above{{{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}}, {0.01 * i, 0, 0.4}};
    above.rotation = exp_rotation(Vec3d{0, 0, 0.3 * i}) * above.rotation;
    poses.push_back(above);
  }
  std::vector<BoardPhoto> photos = photos_around(board, poses, 0.2);
  EXPECT_TRUE(
      mentions(error_message([&] { find_board_poses(board, photos); }), "focal length open"));
  photos[1].width = 900;
  EXPECT_TRUE(mentions(error_message([&] { find_board_poses(board, photos); }), "one size"));
  photos[1].camera = kCamera;
  EXPECT_TRUE(mentions(error_message([&] { find_board_poses(board, photos); }), "is known"));
  EXPECT_EQ(find_board_poses(board, {}).used, 0);
}

}  // namespace
}  // namespace sextant
