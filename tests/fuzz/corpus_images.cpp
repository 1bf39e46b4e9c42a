// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <nlohmann/json.hpp>

#include "corpus.h"
#include "sextant/io/camera_json.h"
#include "sextant/io/jpeg.h"
#include "sextant/io/png.h"
#include "tests/make_image.h"

namespace sextant::fuzz {

namespace {

using testing::make_image;

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
  }
}

void write_camera_seeds(const std::filesystem::path& root) {
  CameraFile file;
  file.camera = {640, 480, 525.5, 526.25, 319.5, 239.5, {}};
  write_seeds(root / "camera_json", "plain.json", camera_to_json(file).dump(2));
  file.camera.distortion = {-0.1, 0.02, 1e-3, -1e-4, 0.5};
  file.depth_scale_mm = 0.1;
  write_seeds(root / "camera_json", "lens.json", camera_to_json(file).dump());
}

}  // namespace

void write_image_corpus(const std::filesystem::path& root) {
  write_picture_seeds(root);
  write_camera_seeds(root);
}

}  // namespace sextant::fuzz
