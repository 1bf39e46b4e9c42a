// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/views_folder.h"

#include <gtest/gtest.h>

#include <fstream>

#include "sextant/io/depth_file.h"
#include "sextant/io/image_file.h"
#include "sextant/io/views_folder/poses.h"
#include "tests/error_message.h"
#include "tests/temporary_folder.h"

namespace sextant {
namespace {

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// Views 2 and 10 of 8 × 6 pixels, the first with a mask.
class ViewsFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const Context host = Context::cpu();
    for (const char* name : {"2", "10"}) {
      Image<float> depth_m(host, 8, 6);
      for (float& d : depth_m.pixels().host()) d = 0.5f;
      depth_m(0, 0) = NAN;
      write_depth(folder_ / (std::string("depth_") + name + ".png"), depth_m.view());
      Image<Rgb8> color(host, 8, 6);
      for (Rgb8& c : color.pixels().host()) c = {10, 20, 30};
      write_image(folder_ / (std::string("color_") + name + ".png"), color.view());
    }
    Image<Rgb8> mask(host, 8, 6);
    for (Rgb8& c : mask.pixels().host()) c = {0, 0, 0};
    mask(3, 2) = {255, 255, 255};
    write_image(folder_ / "mask_2.png", mask.view());
    write_text(folder_ / "camera.json",
               R"({"width": 8, "height": 6, "fx": 10, "fy": 10, "cx": 3.5, "cy": 2.5})");
  }
  std::string message(const ViewsFolderOptions& options = {}) const {
    return testing::error_message([&] { read_views_folder(folder_.path(), options); });
  }
  testing::TemporaryFolder folder_;
};

TEST_F(ViewsFolderTest, ReadsViewsInTheOrderOfTheirNumbers) {
  const std::vector<RgbdView> views = read_views_folder(folder_.path());
  ASSERT_EQ(views.size(), 2u);
  EXPECT_EQ(views[0].name, "2");
  EXPECT_EQ(views[1].name, "10");
  EXPECT_TRUE(std::isnan(views[0].depth_m(0, 0)));
  EXPECT_NEAR(views[0].depth_m(1, 1), 0.5f, 1e-6f);
  EXPECT_EQ(views[1].color(4, 4), (Rgb8{10, 20, 30}));
  EXPECT_EQ(views[0].mask(3, 2), 255);
  EXPECT_EQ(views[0].mask(2, 3), 0);
  EXPECT_TRUE(views[1].mask.empty());
  EXPECT_EQ(views[0].camera.fx_px, 10);
  EXPECT_FALSE(views[0].world_from_camera.has_value());
  EXPECT_TRUE(read_views_folder(folder_.path(), {.masks = false})[0].mask.empty());
}

TEST_F(ViewsFolderTest, ReadsPosesOfBothForms) {
  write_text(folder_ / "poses.csv",
             "name, tx, ty, tz, qx, qy, qz, qw\n# a remark\n002, 1, 2, 3, 0, 0, 0.70710678, "
             "0.70710678\n10 0 0 0 0 0 0 1\n11 0 0 0 0 0 0 1\n");
  std::vector<RgbdView> views = read_views_folder(folder_.path());
  const Vec3d x = *views[0].world_from_camera * Vec3d{1, 0, 0};
  EXPECT_LT(norm(x - Vec3d{1, 3, 3}), 1e-6);
  EXPECT_FALSE(
      read_views_folder(folder_.path(), {.poses = false})[0].world_from_camera.has_value());
  // JSON comes first, and camera_from_object is the other way round.
  write_text(folder_ / "poses.json", R"({"camera_from_object": {
      "2": [0,-1,0,1, 1,0,0,2, 0,0,1,3, 0,0,0,1], "10": [1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1]}})");
  views = read_views_folder(folder_.path());
  EXPECT_LT(norm(*views[0].world_from_camera * Vec3d{1, 3, 3} - Vec3d{1, 0, 0}), 1e-9);
}

TEST_F(ViewsFolderTest, TakesTheMatrixOfIntrinsicTxt) {
  std::filesystem::remove(folder_ / "camera.json");
  EXPECT_NE(message().find("has no camera.json"), std::string::npos) << message();
  write_text(folder_ / "Intrinsic.txt", "20 0 4\n0 21 3\n0 0 1");
  EXPECT_EQ(read_views_folder(folder_.path())[0].camera.fy_px, 21);
  write_text(folder_ / "Intrinsic.txt", "20 0 4\n0 21");
  EXPECT_NE(message().find("3x3"), std::string::npos) << message();
}

TEST_F(ViewsFolderTest, OneClearLineForWhatIsWrong) {
  write_text(folder_ / "poses.csv", "2 0 0 0 0 0 0 1\n");
  EXPECT_NE(message().find("1 poses for 2 views, and none for view 10"), std::string::npos)
      << message();
  write_text(folder_ / "poses.csv", "2 0 0 0 0 0 0 1\n10 0 0 0 0 0 0 2\n");
  EXPECT_NE(message().find("poses.csv:2"), std::string::npos) << message();
  write_text(folder_ / "poses.csv", "2 0 0 0 0 0 0 1\n10 0 0 0 0 0 x 1\n");
  EXPECT_NE(message().find("no number"), std::string::npos) << message();
  write_text(folder_ / "poses.json",
             R"({"world_from_camera": {"2": [2,0,0,0,0,2,0,0,0,0,2,0,0,0,0,1]}})");
  EXPECT_NE(message().find("no rigid motion"), std::string::npos) << message();
  write_text(folder_ / "poses.json", R"({"poses": {}})");
  EXPECT_NE(message().find("camera_from_object"), std::string::npos) << message();
  std::filesystem::remove(folder_ / "poses.json");
  std::filesystem::remove(folder_ / "poses.csv");
  Image<Rgb8> small(Context::cpu(), 4, 3);
  for (Rgb8& c : small.pixels().host()) c = {1, 2, 3};
  write_image(folder_ / "color_10.png", small.view());
  EXPECT_NE(message().find("is 4 x 3 px, but depth_10.png is 8 x 6"), std::string::npos)
      << message();
  EXPECT_EQ(message().find('\n'), std::string::npos);
  const testing::TemporaryFolder empty;
  EXPECT_THROW(read_views_folder(empty.path()), Error);
  EXPECT_THROW(read_views_folder(empty / "nowhere"), Error);
}

}  // namespace
}  // namespace sextant
