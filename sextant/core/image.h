// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

#include "sextant/core/buffer.h"

namespace sextant {

/// Pixels on one device, row by row. Pixel centres are integers: (0, 0) is the centre of the first.
template <class T>
struct ImageView {
  T* data = nullptr;
  int width = 0;
  int height = 0;
  std::int64_t stride = 0;  ///< elements from one row to the next, at least `width`
  Device device;

  SEXTANT_HD T& operator()(int u, int v) const { return data[v * stride + u]; }
  SEXTANT_HD T* row(int v) const { return data + v * stride; }
  SEXTANT_HD bool contains(int u, int v) const {
    return u >= 0 && v >= 0 && u < width && v < height;
  }
  SEXTANT_HD bool empty() const { return width == 0 || height == 0; }
  SEXTANT_HD std::int64_t pixels() const { return std::int64_t{width} * height; }

  template <class U>
  requires(!std::is_const_v<T> && std::is_same_v<U, const T>) operator ImageView<U>() const {
    return {data, width, height, stride, device};
  }
};

/// Throws unless the image lies on the context's device and is as wide and high as the reference:
/// another image, or the camera that sees it.
template <class T, class Reference>
void require_same_size(const Context& context, const ImageView<T>& image,
                       const Reference& reference, const char* name, const char* reference_name) {
  require_on(context, image, name);
  require(image.width == reference.width && image.height == reference.height, name, ": is ",
          image.width, " x ", image.height, " px, but ", reference_name, " is ", reference.width,
          " x ", reference.height);
}

/// Owns an image whose rows follow each other without gaps.
template <class T>
class Image {
 public:
  Image() = default;
  Image(const Context& context, int width, int height)
      : pixels_(context, checked_pixels(width, height)), width_(width), height_(height) {}
  /// Takes over a buffer of width × height pixels.
  Image(Buffer<T> pixels, int width, int height)
      : pixels_(std::move(pixels)), width_(width), height_(height) {
    require(pixels_.size() == checked_pixels(width, height), "Image: ", pixels_.size(),
            " pixels for ", width, " x ", height);
  }
  Image(Image&& other) noexcept
      : pixels_(std::move(other.pixels_)),
        width_(std::exchange(other.width_, 0)),
        height_(std::exchange(other.height_, 0)) {}
  Image& operator=(Image&& other) noexcept {
    pixels_ = std::move(other.pixels_);
    width_ = std::exchange(other.width_, 0);
    height_ = std::exchange(other.height_, 0);
    return *this;
  }

  int width() const { return width_; }
  int height() const { return height_; }
  bool empty() const { return pixels_.empty(); }
  Device device() const { return pixels_.device(); }
  Buffer<T>& pixels() { return pixels_; }
  const Buffer<T>& pixels() const { return pixels_; }

  ImageView<T> view() { return {pixels_.data(), width_, height_, width_, device()}; }
  ImageView<const T> view() const { return {pixels_.data(), width_, height_, width_, device()}; }
  operator ImageView<T>() { return view(); }
  operator ImageView<const T>() const { return view(); }

  /// Accesses a pixel of an image on the host.
  T& operator()(int u, int v) { return pixels_.data()[std::int64_t{v} * width_ + u]; }
  const T& operator()(int u, int v) const { return pixels_.data()[std::int64_t{v} * width_ + u]; }

 private:
  static std::int64_t checked_pixels(int width, int height) {
    require(width >= 0 && height >= 0, "Image: size ", width, " x ", height, " is negative");
    return std::int64_t{width} * height;
  }

  Buffer<T> pixels_;
  int width_ = 0;
  int height_ = 0;
};

/// Copies the image to the context's device.
template <class T>
Image<T> copy(const Context& context, const Image<T>& from) {
  return Image<T>(copy(context, from.pixels()), from.width(), from.height());
}

/// Copies the image to host memory, whatever device it lies on.
template <class T>
Image<T> to_host(const Context& context, const Image<T>& from) {
  return Image<T>(to_host_buffer(context, from.pixels()), from.width(), from.height());
}

}  // namespace sextant
