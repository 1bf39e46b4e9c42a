// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/image_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sextant/io/file.h"
#include "sextant/io/jpeg.h"
#include "sextant/io/png.h"
#include "tests/error_message.h"
#include "tests/make_image.h"
#include "tests/shared_data.h"
#include "tests/temporary_folder.h"

namespace sextant {
namespace {

using testing::error_message;
using testing::mentions;
using testing::shared_data;
using testing::TemporaryFolder;

Image<Rgb8> ramp(int width, int height) {
  return testing::make_image<Rgb8>(width, height, [](int u, int v) {
    return Rgb8{static_cast<std::uint8_t>(u), static_cast<std::uint8_t>(v), 9};
  });
}

TEST(ReadImage, GoesByTheContentNotTheName) {
  const TemporaryFolder folder;
  write_png(folder / "png.jpg", ramp(20, 10));
  write_jpeg(folder / "jpeg.png", ramp(21, 11));
  EXPECT_EQ(read_image(folder / "png.jpg").width(), 20);
  EXPECT_EQ(read_image(folder / "jpeg.png").width(), 21);
  EXPECT_EQ(image_info(folder / "png.jpg").format, ImageFormat::kPng);
  EXPECT_EQ(image_info(folder / "jpeg.png").format, ImageFormat::kJpeg);
}

TEST(ReadImage, RefusesOtherFilesWithTheirFirstBytes) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "x.ppm", [](FileWriter& writer) { writer.write("P7 20 10"); });
  const std::string message = error_message([&] { read_image(folder / "x.ppm"); });
  EXPECT_TRUE(mentions(message, (folder / "x.ppm").string()));
  EXPECT_TRUE(mentions(message, "neither PNG, JPEG, PGM, PPM nor TIFF"));
  EXPECT_TRUE(mentions(message, "50 37 20 32 30"));
  write_file_atomically(folder / "x.png", [](FileWriter&) {});
  EXPECT_TRUE(mentions(error_message([&] { read_image(folder / "x.png"); }), "is empty"));
  EXPECT_TRUE(mentions(error_message([&] { image_info(folder / "none.png"); }), "No such file"));
}

TEST(WriteImage, GoesByTheExtension) {
  const TemporaryFolder folder;
  for (const char* name : {"a.png", "A.PNG"}) {
    write_image(folder / name, ramp(20, 10));
    EXPECT_EQ(image_info(folder / name).format, ImageFormat::kPng);
    EXPECT_EQ(read_image(folder / name)(7, 3), (Rgb8{7, 3, 9}));
  }
  for (const char* name : {"b.jpg", "b.jpeg", "B.JPG"}) {
    write_image(folder / name, ramp(20, 10));
    EXPECT_EQ(image_info(folder / name).format, ImageFormat::kJpeg);
  }
  const std::string message = error_message([&] { write_image(folder / "x.tiff", ramp(2, 2)); });
  EXPECT_TRUE(mentions(message, ".tiff"));
  EXPECT_TRUE(mentions(message, ".png, .jpg or .jpeg"));
  EXPECT_THROW(write_image(folder / "noextension", ramp(2, 2)), Error);
}

TEST(ImageInfo, TellsSizeChannelsAndDepth) {
  const TemporaryFolder folder;
  Image<float> depth_m(Context::cpu(1), 32, 24);
  for (float& z_m : depth_m.pixels().host()) z_m = 1.0f;
  write_depth_png(folder / "depth.png", depth_m);
  const ImageInfo depth = image_info(folder / "depth.png");
  EXPECT_EQ(depth.width, 32);
  EXPECT_EQ(depth.height, 24);
  EXPECT_EQ(depth.channels, 1);
  EXPECT_EQ(depth.bit_depth, 16);
  write_jpeg(folder / "x.jpg", ramp(20, 10));
  const ImageInfo photo = image_info(folder / "x.jpg");
  EXPECT_EQ(photo.width, 20);
  EXPECT_EQ(photo.height, 10);
  EXPECT_EQ(photo.channels, 3);
  EXPECT_EQ(photo.bit_depth, 8);
  EXPECT_STREQ(to_string(photo.format), "JPEG");
}

std::vector<std::filesystem::path> images_below(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string extension = entry.path().extension().string();
    if (entry.is_regular_file() &&
        (extension == ".png" || extension == ".jpg" || extension == ".jpeg")) {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

TEST(ReadImage, LoadsCapturedPictures) {
  const auto folder = shared_data("");
  if (!folder) GTEST_SKIP() << "the captured data is not here";
  const std::vector<std::filesystem::path> paths = images_below(*folder);
  if (paths.empty()) GTEST_SKIP() << "no picture below " << *folder;
  constexpr std::size_t kMostFiles = 40;
  const std::size_t step = (paths.size() + kMostFiles - 1) / kMostFiles;
  for (std::size_t i = 0; i < paths.size(); i += step) {
    SCOPED_TRACE(paths[i]);
    const ImageInfo info = image_info(paths[i]);
    const Image<Rgb8> image = read_image(paths[i]);
    EXPECT_EQ(image.width(), info.width);
    EXPECT_EQ(image.height(), info.height);
    const auto pixels = image.pixels().host();
    EXPECT_TRUE(std::any_of(pixels.begin(), pixels.end(), [&](const Rgb8& pixel) {
      return !(pixel == pixels[0]);
    })) << "all pixels are equal";
    if (info.format != ImageFormat::kPng || info.channels != 1 || info.bit_depth != 16) continue;
    const Image<float> depth_m = read_depth_png(paths[i]);
    const auto depths = depth_m.pixels().host();
    EXPECT_TRUE(std::any_of(depths.begin(), depths.end(), [](float z_m) { return z_m > 0; }));
    const auto written = encode_depth_png(depth_m, "again.png");
    const Image<float> again = read_depth_png(written, "again.png");
    for (std::size_t k = 0; k < depths.size(); ++k) {
      const float z_m = again.pixels().data()[k];
      ASSERT_TRUE(z_m == depths[k] || (std::isnan(z_m) && std::isnan(depths[k])));
    }
  }
}

}  // namespace
}  // namespace sextant
