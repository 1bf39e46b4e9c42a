// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/input/photo.h"

#include "sextant/io/exif.h"
#include "sextant/io/file.h"
#include "sextant/io/image_file.h"
#include "sextant/io/png.h"

namespace sextant::app {

namespace {

using Rgb16 = Vec3<std::uint16_t>;

template <class T>
Image<T> turned(Image<T> image, int orientation) {
  if (orientation == 1) return image;
  return upright(ImageView<const T>(image.view()), orientation);
}

}  // namespace

PhotoView Photo::view() const {
  return std::visit([](const auto& image) { return PhotoView(image); }, pixels);
}

Image<Rgb8> Photo::rgb8() const {
  if (const auto* image = std::get_if<Image<Rgb8>>(&pixels)) return copy(Context::cpu(), *image);
  const Image<Rgb16>& from = std::get<Image<Rgb16>>(pixels);
  Image<Rgb8> to(Context::cpu(), from.width(), from.height());
  const auto high = [](std::uint16_t x) { return static_cast<std::uint8_t>((x + 128) / 257); };
  for (std::size_t i = 0; i < to.pixels().host().size(); ++i) {
    const Rgb16& c = from.pixels().host()[i];
    to.pixels().host()[i] = {high(c.x), high(c.y), high(c.z)};
  }
  return to;
}

Photo read_photo(const std::string& path, bool follow_orientation) {
  const FileBytes file = read_file(path, kMaxImageFileBytes);
  const ImageInfo info = image_info(file, path);
  Photo photo;
  photo.orientation = exif_orientation(file);
  const int turn = follow_orientation ? photo.orientation : 1;
  if (info.format == ImageFormat::kPng && info.bit_depth == 16) {
    photo.pixels = read_png_rgb16(file, path);
  } else {
    photo.pixels = turned(read_image(file, path), turn);
  }
  return photo;
}

}  // namespace sextant::app
