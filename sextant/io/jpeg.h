// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "sextant/core/options.h"
#include "sextant/io/image_info.h"

namespace sextant {

struct JpegOptions {
  int quality = 95;  ///< from 1 (smallest) to 100 (nearest to the image)

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("quality", self.quality, "from 1 (smallest) to 100 (nearest to the image)",
          Range{1, 100});
  }
};

/// Reads a colour image to the host from a grey, colour or CMYK JPEG. The pixels stay as the sensor
/// gave them: a note to turn the picture (EXIF orientation) is not followed, because a camera's
/// intrinsics belong to the unturned image; exif.h reads it. A damaged or truncated file is an
/// Error.
Image<Rgb8> read_jpeg(const std::filesystem::path& path);
Image<Rgb8> read_jpeg(std::span<const std::byte> file, const std::string& name);

void write_jpeg(const std::filesystem::path& path, ImageView<const Rgb8> image,
                const JpegOptions& options = {});
void write_jpeg(const std::filesystem::path& path, ImageView<const std::uint8_t> image,
                const JpegOptions& options = {});
std::vector<std::byte> encode_jpeg(ImageView<const Rgb8> image, const std::string& name,
                                   const JpegOptions& options = {});
std::vector<std::byte> encode_jpeg(ImageView<const std::uint8_t> image, const std::string& name,
                                   const JpegOptions& options = {});

bool is_jpeg(std::span<const std::byte> file);
/// Reads the markers before the pixels only.
ImageInfo jpeg_info(std::span<const std::byte> file, const std::string& name);

}  // namespace sextant
