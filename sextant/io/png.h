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

/// How a depth map is kept in 16-bit integers.
struct DepthPngOptions {
  double unit_m = 0.001;  ///< metres per step: 0.001 for millimetres, 0.0002 for TUM's files

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("unit_m", self.unit_m, "metres per step of the 16-bit depth (0.001 for millimetres)",
          Range{1e-9, 1e3});
  }
};

/// Reads a depth map in metres to the host from a 16-bit grey PNG; 0 in the file means that nothing
/// came back and becomes NaN. Any other PNG is refused with what it is.
Image<float> read_depth_png(const std::filesystem::path& path, const DepthPngOptions& options = {});
Image<float> read_depth_png(std::span<const std::byte> file, const std::string& name,
                            const DepthPngOptions& options = {});

/// Rounds to the nearest step. NaN, infinite, zero and negative depths become 0 (nothing came
/// back), as do depths below half a step; one beyond 65535 steps is an Error. What read_depth_png
/// gave is written back to the same integers with the same unit.
void write_depth_png(const std::filesystem::path& path, ImageView<const float> depth_m,
                     const DepthPngOptions& options = {});
std::vector<std::byte> encode_depth_png(ImageView<const float> depth_m, const std::string& name,
                                        const DepthPngOptions& options = {});

/// Reads a colour image to the host from any PNG: grey is spread over the three channels, palettes
/// are looked up, 16-bit values are scaled to 8 and alpha is dropped. Colour profiles and gamma are
/// not applied. A damaged or truncated file is an Error.
Image<Rgb8> read_png(const std::filesystem::path& path);
Image<Rgb8> read_png(std::span<const std::byte> file, const std::string& name);

/// Reads the same with 16 bits a channel; values of 8 bits are multiplied by 257.
Image<Vec3<std::uint16_t>> read_png_rgb16(std::span<const std::byte> file, const std::string& name);

/// Reads how opaque each pixel is, 0 to 255; an empty image where the file does not say.
Image<std::uint8_t> read_png_alpha(std::span<const std::byte> file, const std::string& name);

/// Write 8-bit RGB or grey.
void write_png(const std::filesystem::path& path, ImageView<const Rgb8> image);
void write_png(const std::filesystem::path& path, ImageView<const std::uint8_t> image);
std::vector<std::byte> encode_png(ImageView<const Rgb8> image, const std::string& name);
std::vector<std::byte> encode_png(ImageView<const std::uint8_t> image, const std::string& name);

bool is_png(std::span<const std::byte> file);
/// Reads the chunks before the pixels only.
ImageInfo png_info(std::span<const std::byte> file, const std::string& name);

}  // namespace sextant
