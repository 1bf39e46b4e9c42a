// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/png.h"

#include <png.h>

#include <bit>
#include <cmath>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <new>
#include <vector>

#include "sextant/io/depth_file/steps.h"
#include "sextant/io/file.h"

// libpng reports errors by longjmp. Every function here that calls setjmp has only trivial locals
// and every object lives in its caller, so no destructor is ever jumped over.

namespace sextant {

namespace {

static_assert(sizeof(Rgb8) == 3, "rows of pixels are handed to libpng as they are");

using Message = char[192];

[[noreturn]] void keep_message_and_jump(png_structp png, png_const_charp text) {
  Message& message = *static_cast<Message*>(png_get_error_ptr(png));
  std::snprintf(message, sizeof(message), "%s", text);
  png_longjmp(png, 1);
}

void ignore_warning(png_structp, png_const_charp) {}

void take_bytes(png_structp png, png_bytep to, std::size_t count) {
  auto& left = *static_cast<std::span<const std::byte>*>(png_get_io_ptr(png));
  if (count > left.size()) png_error(png, "the file ends too early");
  std::memcpy(to, left.data(), count);
  left = left.subspan(count);
}

std::string describe(int color_type, int bit_depth) {
  std::string text = std::to_string(bit_depth) + "-bit ";
  if (color_type == PNG_COLOR_TYPE_PALETTE) return text + "palette";
  text += (color_type & PNG_COLOR_MASK_COLOR) != 0 ? "RGB" : "grey";
  return (color_type & PNG_COLOR_MASK_ALPHA) != 0 ? text + " with alpha" : text;
}

/// libpng's objects, destroyed whatever happens to their owner.
struct ReadStructs {
  png_structp png = nullptr;
  png_infop info = nullptr;

  explicit ReadStructs(Message& message)
      : png(png_create_read_struct(PNG_LIBPNG_VER_STRING, &message, keep_message_and_jump,
                                   ignore_warning)),
        info(png != nullptr ? png_create_info_struct(png) : nullptr) {}
  ~ReadStructs() { png_destroy_read_struct(&png, &info, nullptr); }
  ReadStructs(const ReadStructs&) = delete;
  ReadStructs& operator=(const ReadStructs&) = delete;
};

class Decoder {
 public:
  /// Reads up to the pixels and checks what the header claims.
  Decoder(std::span<const std::byte> file, const std::string& name)
      : left_(file), name_(name), structs_(message_), png_(structs_.png), info_(structs_.info) {
    require(is_png(file), name, ": is not a PNG file");
    require(info_ != nullptr && read_header(), name, ": is not a valid PNG: ", message_);
    check_image_size(name_, width_, height_);
    check_believable(static_cast<std::int64_t>(file.size()));
  }

  int width() const { return static_cast<int>(width_); }
  int height() const { return static_cast<int>(height_); }
  int color_type() const { return color_type_; }
  int bit_depth() const { return bit_depth_; }

  Image<Rgb8> rgb8() {
    Image<Rgb8> image(Context::cpu(1), width(), height());
    if (!read_pixels_rgb8(image.view())) fail(name_, ": cannot be decoded: ", message_);
    return image;
  }

  Image<Vec3<std::uint16_t>> rgb16() {
    Image<Vec3<std::uint16_t>> image(Context::cpu(1), width(), height());
    if (!read_pixels_rgb16(image.view())) fail(name_, ": cannot be decoded: ", message_);
    return image;
  }

  /// Empty where every pixel is opaque by the kind of file.
  Image<std::uint8_t> alpha() {
    if (!has_alpha()) return {};
    std::vector<std::uint8_t> rgba(static_cast<std::size_t>(4 * width_ * height_));
    if (!read_pixels_rgba8(rgba.data())) fail(name_, ": cannot be decoded: ", message_);
    Image<std::uint8_t> image(Context::cpu(1), width(), height());
    const std::span<std::uint8_t> to = image.pixels().host();
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = rgba[4 * i + 3];
    return image;
  }

  Image<std::uint16_t> grey16() {
    Image<std::uint16_t> image(Context::cpu(1), width(), height());
    if (!read_pixels_grey16(image.view())) fail(name_, ": cannot be decoded: ", message_);
    return image;
  }

 private:
  bool read_header() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_read_fn(png_, &left_, take_bytes);
    // Our own limits give a message that says what the size is.
    png_set_user_limits(png_, 0x7fffffff, 0x7fffffff);
    // Text, profiles and the like change no pixel of ours: less work and less to go wrong.
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
    png_read_info(png_, info_);
    width_ = png_get_image_width(png_, info_);
    height_ = png_get_image_height(png_, info_);
    color_type_ = png_get_color_type(png_, info_);
    bit_depth_ = png_get_bit_depth(png_, info_);
    row_bytes_ = static_cast<std::int64_t>(png_get_rowbytes(png_, info_));
    return true;
  }

  void check_believable(std::int64_t file_bytes) const {
    constexpr std::int64_t kLargestDeflateRatio = 1032;
    require(width_ * height_ <= kBelievedPixels ||
                row_bytes_ * height_ <= kLargestDeflateRatio * file_bytes,
            name_, ": ", width_, " x ", height_, " pixels cannot come from ", file_bytes,
            " bytes; the header is damaged");
  }

  bool read_pixels_rgb8(ImageView<Rgb8> image) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_expand(png_);
    png_set_scale_16(png_);
    png_set_strip_alpha(png_);
    png_set_gray_to_rgb(png_);
    read_rows(reinterpret_cast<png_bytep>(image.data), image.stride * 3);
    return true;
  }

  bool read_pixels_rgb16(ImageView<Vec3<std::uint16_t>> image) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_expand_16(png_);
    png_set_strip_alpha(png_);
    png_set_gray_to_rgb(png_);
    if constexpr (std::endian::native == std::endian::little) png_set_swap(png_);
    read_rows(reinterpret_cast<png_bytep>(image.data), image.stride * 6);
    return true;
  }

  bool has_alpha() const {
    return (color_type_ & PNG_COLOR_MASK_ALPHA) != 0 ||
           png_get_valid(png_, info_, PNG_INFO_tRNS) != 0;
  }

  bool read_pixels_rgba8(png_bytep pixels) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_expand(png_);
    png_set_scale_16(png_);
    png_set_gray_to_rgb(png_);
    read_rows(pixels, 4 * width_);
    return true;
  }

  bool read_pixels_grey16(ImageView<std::uint16_t> image) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    if constexpr (std::endian::native == std::endian::little) png_set_swap(png_);
    read_rows(reinterpret_cast<png_bytep>(image.data), image.stride * 2);
    return true;
  }

  /// Jumps on errors: call it below a setjmp. An interlaced image takes seven passes over the rows.
  void read_rows(png_bytep first_row, std::int64_t stride_bytes) {
    const int passes = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    if (static_cast<std::int64_t>(png_get_rowbytes(png_, info_)) != stride_bytes) {
      png_error(png_, "its rows have an unexpected size");
    }
    for (int pass = 0; pass < passes; ++pass) {
      for (std::int64_t v = 0; v < height_; ++v) {
        png_read_row(png_, first_row + v * stride_bytes, nullptr);
      }
    }
    png_read_end(png_, nullptr);
  }

  std::span<const std::byte> left_;
  const std::string& name_;
  Message message_ = "out of memory";
  ReadStructs structs_;
  png_structp png_;
  png_infop info_;
  std::int64_t width_ = 0;
  std::int64_t height_ = 0;
  std::int64_t row_bytes_ = 0;
  int color_type_ = 0;
  int bit_depth_ = 0;
};

/// Keeps exceptions out of libpng's frames.
bool append(std::vector<std::byte>& to, const std::byte* from, std::size_t count) noexcept {
  try {
    to.insert(to.end(), from, from + count);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void give_bytes(png_structp png, png_bytep from, std::size_t count) {
  auto& file = *static_cast<std::vector<std::byte>*>(png_get_io_ptr(png));
  if (!append(file, reinterpret_cast<const std::byte*>(from), count)) png_error(png, "no memory");
}

void nothing_to_flush(png_structp) {}

/// Rows of an image as libpng takes them.
struct Rows {
  const unsigned char* first = nullptr;
  std::int64_t stride_bytes = 0;
  int width = 0;
  int height = 0;
  int color_type = 0;
  int bit_depth = 0;
};

// This is nearly three times as fast as zlib's default of 6, for files that are 2 % (colour) to 9 %
// (depth) larger.
constexpr int kCompressionLevel = 4;

bool write_rows(png_structp png, png_infop info, const Rows& rows, std::vector<std::byte>& file) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_set_write_fn(png, &file, give_bytes, nothing_to_flush);
  png_set_IHDR(png, info, static_cast<png_uint_32>(rows.width),
               static_cast<png_uint_32>(rows.height), rows.bit_depth, rows.color_type,
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_set_compression_level(png, kCompressionLevel);
  png_write_info(png, info);
  if (rows.bit_depth == 16 && std::endian::native == std::endian::little) png_set_swap(png);
  for (std::int64_t v = 0; v < rows.height; ++v) {
    png_write_row(png, rows.first + v * rows.stride_bytes);
  }
  png_write_end(png, info);
  return true;
}

std::vector<std::byte> encode(const Rows& rows, const std::string& name) {
  std::vector<std::byte> file;
  Message message = "out of memory";
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &message, keep_message_and_jump,
                                            ignore_warning);
  png_infop info = png != nullptr ? png_create_info_struct(png) : nullptr;
  const bool ok = info != nullptr && write_rows(png, info, rows, file);
  png_destroy_write_struct(&png, &info);
  require(ok, name, ": cannot be encoded as PNG: ", message);
  return file;
}

template <class T>
std::vector<std::byte> encode_pixels(ImageView<const T> image, const std::string& name,
                                     int color_type) {
  check_writable(name, image);
  constexpr std::int64_t kPixelBytes = sizeof(T);
  return encode({.first = reinterpret_cast<const unsigned char*>(image.data),
                 .stride_bytes = image.stride * kPixelBytes,
                 .width = image.width,
                 .height = image.height,
                 .color_type = color_type,
                 .bit_depth = std::is_same_v<T, std::uint16_t> ? 16 : 8},
                name);
}

}  // namespace

bool is_png(std::span<const std::byte> file) {
  return file.size() >= 8 && png_sig_cmp(reinterpret_cast<png_const_bytep>(file.data()), 0, 8) == 0;
}

ImageInfo png_info(std::span<const std::byte> file, const std::string& name) {
  const Decoder decoder(file, name);
  const bool palette = decoder.color_type() == PNG_COLOR_TYPE_PALETTE;
  const bool color = (decoder.color_type() & PNG_COLOR_MASK_COLOR) != 0;
  const bool alpha = (decoder.color_type() & PNG_COLOR_MASK_ALPHA) != 0;
  return {.format = ImageFormat::kPng,
          .width = decoder.width(),
          .height = decoder.height(),
          .channels = (color ? 3 : 1) + (alpha ? 1 : 0),
          .bit_depth = palette ? 8 : decoder.bit_depth()};
}

Image<Rgb8> read_png(std::span<const std::byte> file, const std::string& name) {
  return Decoder(file, name).rgb8();
}

Image<Vec3<std::uint16_t>> read_png_rgb16(std::span<const std::byte> file,
                                          const std::string& name) {
  return Decoder(file, name).rgb16();
}

Image<std::uint8_t> read_png_alpha(std::span<const std::byte> file, const std::string& name) {
  return Decoder(file, name).alpha();
}

Image<Rgb8> read_png(const std::filesystem::path& path) {
  return read_png(read_file(path, kMaxImageFileBytes), path.string());
}

Image<float> read_depth_png(std::span<const std::byte> file, const std::string& name,
                            const DepthPngOptions& options) {
  check_options(options);
  Decoder decoder(file, name);
  require(decoder.color_type() == PNG_COLOR_TYPE_GRAY && decoder.bit_depth() == 16, name,
          ": is a PNG of ", describe(decoder.color_type(), decoder.bit_depth()),
          "; a depth map is 16-bit grey");
  const Image<std::uint16_t> steps = decoder.grey16();
  Image<float> depth_m(Context::cpu(1), steps.width(), steps.height());
  const std::span<const std::uint16_t> from = steps.pixels().host();
  const std::span<float> to = depth_m.pixels().host();
  for (std::size_t i = 0; i < from.size(); ++i) {
    to[i] = from[i] == 0 ? NAN : static_cast<float>(from[i] * options.unit_m);
  }
  return depth_m;
}

Image<float> read_depth_png(const std::filesystem::path& path, const DepthPngOptions& options) {
  return read_depth_png(read_file(path, kMaxImageFileBytes), path.string(), options);
}

std::vector<std::byte> encode_depth_png(ImageView<const float> depth_m, const std::string& name,
                                        const DepthPngOptions& options) {
  check_options(options);
  const Image<std::uint16_t> steps = detail::depth_file::depth_steps(depth_m, options.unit_m, name);
  return encode_pixels<std::uint16_t>(steps, name, PNG_COLOR_TYPE_GRAY);
}

void write_depth_png(const std::filesystem::path& path, ImageView<const float> depth_m,
                     const DepthPngOptions& options) {
  write_file_atomically(path, encode_depth_png(depth_m, path.string(), options));
}

std::vector<std::byte> encode_png(ImageView<const Rgb8> image, const std::string& name) {
  return encode_pixels(image, name, PNG_COLOR_TYPE_RGB);
}

std::vector<std::byte> encode_png(ImageView<const std::uint8_t> image, const std::string& name) {
  return encode_pixels(image, name, PNG_COLOR_TYPE_GRAY);
}

void write_png(const std::filesystem::path& path, ImageView<const Rgb8> image) {
  write_file_atomically(path, encode_png(image, path.string()));
}

void write_png(const std::filesystem::path& path, ImageView<const std::uint8_t> image) {
  write_file_atomically(path, encode_png(image, path.string()));
}

}  // namespace sextant
