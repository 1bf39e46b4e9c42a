// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/for_each.h"
#include "sextant/descriptor/sift/grey.h"
#include "sextant/descriptor/sift/scale_space.h"

namespace sextant::detail::sift {

namespace {

void check_numbers(const float* row, int width, int v) {
  bool good = true;
  for (int u = 0; u < width; ++u) good &= is_usable(row[u]);
  if (good) return;
  for (int u = 0; u < width; ++u) {
    if (!is_usable(row[u])) refuse_number(u, v, row[u]);
  }
}

template <class T>
void convert(const Context& context, const PhotoView& photo, RowRange range, const Rows& to) {
  const T* pixels = static_cast<const T*>(photo.data);
  for_each_chunk(context, range.size(), 16, [&](std::int64_t begin, std::int64_t end) {
    for (int v = range.first + static_cast<int>(begin); v < range.first + end; ++v) {
      const T* from = pixels + v * photo.stride;
      float* row = to.row(v);
      for (int u = 0; u < photo.width; ++u) row[u] = ToGrey{}(from[u]);
      if constexpr (std::is_same_v<T, float>) check_numbers(row, photo.width, v);
    }
  });
}

}  // namespace

void refuse_number(std::int64_t u, std::int64_t v, float number) {
  fail("photo: pixel (", u, ", ", v, ") is ", number,
       "; SIFT takes finite numbers within ±1e6, "
       "the usual range is 0 to 255: fill holes first, or give a mask and numbers under it");
}

void convert_rows(const Context& context, const PhotoView& photo, RowRange range, const Rows& to) {
  switch (photo.pixel) {
    case PhotoView::Pixel::kGrey8:
      return convert<std::uint8_t>(context, photo, range, to);
    case PhotoView::Pixel::kGrey16:
      return convert<std::uint16_t>(context, photo, range, to);
    case PhotoView::Pixel::kFloat:
      return convert<float>(context, photo, range, to);
    case PhotoView::Pixel::kRgb8:
      return convert<Rgb8>(context, photo, range, to);
    case PhotoView::Pixel::kRgb16:
      return convert<Vec3<std::uint16_t>>(context, photo, range, to);
  }
}

}  // namespace sextant::detail::sift
