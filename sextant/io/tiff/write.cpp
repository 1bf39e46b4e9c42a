// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include <bit>
#include <cstring>

#include "sextant/io/tiff.h"
#include "sextant/io/tiff/directory.h"

namespace sextant {

using namespace detail::tiff;

namespace {

/// Fills a file from front to back, in the byte order of this machine, which the file names.
struct Pen {
  std::byte* at;

  template <class T>
  void number(T value) {
    std::memcpy(at, &value, sizeof(T));
    at += sizeof(T);
  }
  /// A whole number in a directory: of 16 bits (type 3) or 32 (type 4).
  template <class T>
  void entry(std::uint16_t tag, std::int64_t value) {
    number(tag);
    number<std::uint16_t>(sizeof(T) == 2 ? 3 : 4);
    number<std::uint32_t>(1);
    number(static_cast<T>(value));
    if constexpr (sizeof(T) == 2) number<T>(0);
  }
};

template <class T>
std::vector<std::byte> compressed_rows(ImageView<const T> image, const std::string& name) {
  std::vector<std::byte> rows;
  for (int v = 0; v < image.height; ++v) {
    const auto* row = reinterpret_cast<const std::byte*>(&image(0, v));
    rows.insert(rows.end(), row, row + sizeof(T) * static_cast<std::size_t>(image.width));
  }
  uLongf bytes = compressBound(static_cast<uLong>(rows.size()));
  std::vector<std::byte> packed(bytes);
  constexpr int kCompressionLevel = 4;  // as for PNG
  const int result = compress2(reinterpret_cast<Bytef*>(packed.data()), &bytes,
                               reinterpret_cast<const Bytef*>(rows.data()),
                               static_cast<uLong>(rows.size()), kCompressionLevel);
  require(result == Z_OK, name, ": no memory to compress it");
  packed.resize(bytes);
  return packed;
}

/// One strip, then the directory.
template <class T>
std::vector<std::byte> encode(ImageView<const T> image, const std::string& name) {
  check_writable(name, image);
  const std::vector<std::byte> strip = compressed_rows(image, name);
  constexpr std::uint32_t kHeaderBytes = 8;
  constexpr std::uint16_t kEntries = 11;
  constexpr bool kFloats = std::is_floating_point_v<T>;
  const auto strip_bytes = static_cast<std::uint32_t>(strip.size());
  // A directory begins at an even byte.
  const std::uint32_t directory = kHeaderBytes + strip_bytes + strip_bytes % 2;
  std::vector<std::byte> file(directory + 2 + 12 * kEntries + 4);
  Pen pen{file.data()};
  pen.number<std::uint16_t>(std::endian::native == std::endian::little ? 0x4949 : 0x4d4d);
  pen.number<std::uint16_t>(42);
  pen.number<std::uint32_t>(directory);
  std::memcpy(pen.at, strip.data(), strip.size());
  pen.at = file.data() + directory;
  pen.number<std::uint16_t>(kEntries);
  pen.entry<std::uint32_t>(256, image.width);
  pen.entry<std::uint32_t>(257, image.height);
  pen.entry<std::uint16_t>(258, 8 * sizeof(T));
  pen.entry<std::uint16_t>(259, kAdobeDeflate);
  pen.entry<std::uint16_t>(262, kBlackIsZero);
  pen.entry<std::uint32_t>(273, kHeaderBytes);
  pen.entry<std::uint16_t>(277, 1);
  pen.entry<std::uint32_t>(278, image.height);
  pen.entry<std::uint32_t>(279, strip_bytes);
  pen.entry<std::uint16_t>(284, 1);
  pen.entry<std::uint16_t>(339, kFloats ? kFloat : kUnsigned);
  return file;
}

}  // namespace

std::vector<std::byte> encode_tiff(ImageView<const std::uint16_t> image, const std::string& name) {
  return encode(image, name);
}

std::vector<std::byte> encode_tiff(ImageView<const float> image, const std::string& name) {
  return encode(image, name);
}

}  // namespace sextant
