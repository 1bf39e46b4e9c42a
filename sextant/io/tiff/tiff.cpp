// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/tiff.h"

#include "sextant/io/file.h"
#include "sextant/io/tiff/pixels.h"

namespace sextant {

using namespace detail::tiff;

namespace {

std::string describe(const Directory& d) {
  return std::to_string(d.samples) + (d.samples == 1 ? " channel of " : " channels of ") +
         std::to_string(d.bits) + (d.format == kFloat ? "-bit floats" : " bits");
}

/// The number that becomes white in 8 bits.
template <class T>
std::uint8_t shade(const std::vector<std::byte>& pixels, std::size_t i) {
  if constexpr (sizeof(T) == 1) return sample<T>(pixels, i);
  return static_cast<std::uint8_t>((sample<T>(pixels, i) * 255u + 32767u) / 65535u);
}

template <class T>
Image<Rgb8> picture_of(const Directory& d, const std::vector<std::byte>& pixels) {
  Image<Rgb8> image(Context::cpu(1), static_cast<int>(d.width), static_cast<int>(d.height));
  const auto samples = static_cast<std::size_t>(d.samples);
  std::size_t i = 0;
  for (Rgb8& pixel : image.pixels().host()) {
    const std::size_t color = d.photometric == kRgb ? 1 : 0;
    pixel = {shade<T>(pixels, i), shade<T>(pixels, i + color), shade<T>(pixels, i + 2 * color)};
    if (d.photometric == kWhiteIsZero) {
      const auto inverse = static_cast<std::uint8_t>(255 - pixel.x);
      pixel = {inverse, inverse, inverse};
    }
    i += samples;
  }
  return image;
}

}  // namespace

bool is_tiff(std::span<const std::byte> file) {
  if (file.size() < 8) return false;
  const auto starts = [&](int a, int b, int c, int d) {
    return file[0] == std::byte(a) && file[1] == std::byte(b) && file[2] == std::byte(c) &&
           file[3] == std::byte(d);
  };
  return starts('I', 'I', 42, 0) || starts('M', 'M', 0, 42) || starts('I', 'I', 43, 0) ||
         starts('M', 'M', 0, 43);
}

ImageInfo tiff_info(std::span<const std::byte> file, const std::string& name) {
  const Directory directory = read_directory(file, name);
  return {.format = ImageFormat::kTiff,
          .width = static_cast<int>(directory.width),
          .height = static_cast<int>(directory.height),
          .channels = static_cast<int>(directory.samples),
          .bit_depth = static_cast<int>(directory.bits),
          .floating = directory.format == kFloat};
}

Image<float> read_grey_tiff(std::span<const std::byte> file, const std::string& name) {
  const Directory d = read_directory(file, name);
  require(d.samples == 1 && d.bits >= 16, name, ": is a TIFF of ", describe(d),
          "; a depth map has one channel of 16-bit integers or of floats");
  require(d.photometric == kBlackIsZero, name, ": its TIFF photometric interpretation is ",
          d.photometric, "; that of a depth map is 1, black is zero");
  const std::vector<std::byte> pixels = decode_pixels(d, name);
  Image<float> image(Context::cpu(1), static_cast<int>(d.width), static_cast<int>(d.height));
  const std::span<float> to = image.pixels().host();
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] = d.bits == 16   ? static_cast<float>(sample<std::uint16_t>(pixels, i))
            : d.bits == 32 ? sample<float>(pixels, i)
                           : static_cast<float>(sample<double>(pixels, i));
  }
  return image;
}

Image<Rgb8> read_tiff(std::span<const std::byte> file, const std::string& name) {
  const Directory d = read_directory(file, name);
  const bool grey = d.photometric == kBlackIsZero || d.photometric == kWhiteIsZero;
  require(grey || (d.photometric == kRgb && d.samples >= 3), name,
          ": its TIFF photometric interpretation is ", d.photometric, " with ", describe(d),
          "; grey (0, 1) and RGB (2) are understood");
  require(d.format != kFloat, name, ": is a TIFF of ", describe(d), ", which is no picture");
  const std::vector<std::byte> pixels = decode_pixels(d, name);
  return d.bits == 8 ? picture_of<std::uint8_t>(d, pixels) : picture_of<std::uint16_t>(d, pixels);
}

Image<Rgb8> read_tiff(const std::filesystem::path& path) {
  return read_tiff(read_file(path, kMaxImageFileBytes), path.string());
}

}  // namespace sextant
