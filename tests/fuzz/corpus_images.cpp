// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <nlohmann/json.hpp>

#include "corpus.h"
#include "sextant/io/camera_json.h"
#include "sextant/io/jpeg.h"
#include "sextant/io/png.h"
#include "sextant/io/pnm.h"
#include "sextant/io/tiff.h"
#include "tests/exif_jpeg.h"
#include "tests/make_image.h"
#include "tests/tiff_files.h"

namespace sextant::fuzz {

namespace {

using testing::make_image;
using namespace std::string_view_literals;

void write_picture_seeds(const std::filesystem::path& root) {
  const auto colour = make_image<Rgb8>(19, 13, [](int u, int v) {
    return Rgb8{static_cast<std::uint8_t>(13 * u), static_cast<std::uint8_t>(7 * v),
                static_cast<std::uint8_t>(u * v)};
  });
  const auto grey = make_image<std::uint8_t>(
      9, 24, [](int u, int v) { return static_cast<std::uint8_t>(u * u + 3 * v); });
  const auto depth_m = make_image<float>(
      16, 12, [](int u, int v) { return u == v ? NAN : 0.5f + 0.01f * static_cast<float>(u * v); });
  write_seeds(root / "png", "colour.png", encode_png(colour, "colour.png"));
  write_seeds(root / "png", "grey.png", encode_png(grey, "grey.png"));
  write_seeds(root / "png", "depth.png", encode_depth_png(depth_m, "depth.png"));
  for (const int quality : {20, 95}) {
    const std::string suffix = std::to_string(quality) + ".jpg";
    const JpegOptions options{.quality = quality};
    write_seeds(root / "jpeg", "colour" + suffix, encode_jpeg(colour, "colour", options));
    write_seeds(root / "jpeg", "grey" + suffix, encode_jpeg(grey, "grey", options));
    write_seeds(root / "jpeg", "turned" + suffix,
                testing::with_orientation(encode_jpeg(grey, "grey", options), 6, quality == 20));
  }
}

void write_depth_seeds(const std::filesystem::path& root) {
  const auto steps = make_image<std::uint16_t>(
      14, 9, [](int u, int v) { return static_cast<std::uint16_t>(500 + 37 * u * v); });
  const auto depth_m = make_image<float>(
      11, 13, [](int u, int v) { return 0.5f + 0.01f * static_cast<float>(u + v); });
  write_seeds(root / "pnm", "depth.pgm", encode_pgm(steps, "depth.pgm"));
  write_seeds(root / "pnm", "text.pgm", std::string_view("P2\n# text\n3 2\n999\n1 2 3\n4 5 999\n"));
  write_seeds(root / "pnm", "colour.ppm", std::string_view("P6 2 1 255\nabcdef"));
  write_seeds(root / "pnm", "text.ppm", std::string_view("P3 1 1 7 1 2 3"));
  write_seeds(root / "tiff", "depth16.tif", encode_tiff(steps.view(), "depth16.tif"));
  write_seeds(root / "tiff", "depth.tif", encode_tiff(depth_m.view(), "depth.tif"));
  int number = 0;
  for (const std::string_view digits :
       {testing::tiff::kPlain16, testing::tiff::kPackBits16, testing::tiff::kLzw16,
        testing::tiff::kDeflate16, testing::tiff::kLzwFloat, testing::tiff::kDeflateFloat,
        testing::tiff::kDouble, testing::tiff::kLzwColour}) {
    write_seeds(root / "tiff", "other" + std::to_string(number++) + ".tif",
                testing::tiff::bytes_of(digits));
  }
}

void write_camera_seeds(const std::filesystem::path& root) {
  CameraFile file;
  file.camera = {640, 480, 525.5, 526.25, 319.5, 239.5, {}};
  write_seeds(root / "camera_json", "plain.json", camera_to_json(file).dump(2));
  file.camera.distortion = {-0.1, 0.02, 1e-3, -1e-4, 0.5};
  file.depth_scale_mm = 0.1;
  write_seeds(root / "camera_json", "lens.json", camera_to_json(file).dump());
  write_seeds(root / "camera_json", "visp.json",
              R"({"w":640,"h":480,"depthScale":0.001,"px":607.2,"py":607.3,"u0":321.4,"v0":241.9,)"
              R"("kud":0.1,"kdu":0,"model":"perspectiveProjWithDistortion"})"sv);
  write_seeds(root / "camera_json", "ros.json",
              R"({"width":640,"height":480,"distortion_model":"plumb_bob","D":[0,0,0,0,0],)"
              R"("K":[5,0,2,0,5,1,0,0,1],"binning_x":0,"roi":{"x_offset":0}})"sv);
  write_seeds(root / "camera_json", "scene_camera.json",
              R"({"0":{"cam_K":[[5,0,2],[0,5,1],[0,0,1]],"depth_scale":0.1},"12":{"cam_K":)"
              R"({"data":[5,0,2,0,5,1,0,0,1]},"depth_units_per_m":5000}})"sv);
}

}  // namespace

void write_image_corpus(const std::filesystem::path& root) {
  write_picture_seeds(root);
  write_depth_seeds(root);
  write_camera_seeds(root);
}

}  // namespace sextant::fuzz
