// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/image_file.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "sextant/io/file.h"
#include "sextant/io/jpeg.h"
#include "sextant/io/png.h"
#include "sextant/io/pnm.h"
#include "sextant/io/tiff.h"

namespace sextant {

namespace {

/// PPM counts as PGM here.
ImageFormat format_of_content(std::span<const std::byte> file, const std::string& name) {
  if (is_png(file)) return ImageFormat::kPng;
  if (is_jpeg(file)) return ImageFormat::kJpeg;
  if (is_pnm(file)) return ImageFormat::kPgm;
  if (is_tiff(file)) return ImageFormat::kTiff;
  require(!file.empty(), name, ": is empty");
  std::ostringstream start;
  start << std::hex << std::setfill('0');
  for (const std::byte byte : file.first(std::min<std::size_t>(file.size(), 8))) {
    start << ' ' << std::setw(2) << std::to_integer<int>(byte);
  }
  fail(name, ": is neither PNG, JPEG, PGM, PPM nor TIFF; it begins with the bytes", start.str());
}

ImageFormat format_of_extension(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (extension == ".png") return ImageFormat::kPng;
  if (extension == ".jpg" || extension == ".jpeg") return ImageFormat::kJpeg;
  fail(path.string(), ": an image cannot be written as \"", extension,
       "\"; the extension must be .png, .jpg or .jpeg");
}

template <class T>
void write_by_extension(const std::filesystem::path& path, ImageView<const T> image) {
  if (format_of_extension(path) == ImageFormat::kPng) {
    write_png(path, image);
  } else {
    write_jpeg(path, image);
  }
}

}  // namespace

Image<Rgb8> read_image(std::span<const std::byte> file, const std::string& name) {
  switch (format_of_content(file, name)) {
    case ImageFormat::kPng:
      return read_png(file, name);
    case ImageFormat::kJpeg:
      return read_jpeg(file, name);
    case ImageFormat::kTiff:
      return read_tiff(file, name);
    default:
      return read_pnm(file, name);
  }
}

Image<Rgb8> read_image(const std::filesystem::path& path) {
  return read_image(read_file(path, kMaxImageFileBytes), path.string());
}

void write_image(const std::filesystem::path& path, ImageView<const Rgb8> image) {
  write_by_extension(path, image);
}

void write_image(const std::filesystem::path& path, ImageView<const std::uint8_t> image) {
  write_by_extension(path, image);
}

ImageInfo image_info(std::span<const std::byte> file, const std::string& name) {
  switch (format_of_content(file, name)) {
    case ImageFormat::kPng:
      return png_info(file, name);
    case ImageFormat::kJpeg:
      return jpeg_info(file, name);
    case ImageFormat::kTiff:
      return tiff_info(file, name);
    default:
      return pnm_info(file, name);
  }
}

ImageInfo image_info(const std::filesystem::path& path) {
  return image_info(read_file(path, kMaxImageFileBytes), path.string());
}

const char* to_string(ImageFormat format) {
  constexpr const char* kNames[] = {"PNG", "JPEG", "PGM", "PPM", "TIFF"};
  return kNames[static_cast<int>(format)];
}

}  // namespace sextant
