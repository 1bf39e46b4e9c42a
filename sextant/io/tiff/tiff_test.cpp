// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/tiff.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "sextant/io/tiff/directory.h"
#include "sextant/io/tiff/unpack.h"
#include "tests/error_message.h"
#include "tests/make_image.h"
#include "tests/shared_data.h"
#include "tests/tiff_files.h"

namespace sextant {
namespace {

using namespace testing::tiff;
using testing::error_message;
using testing::make_image;
using testing::mentions;

int integer_at(int u, int v) { return u == 1 && v == 2 ? 0 : 700 + 13 * u + 101 * v; }

TEST(Tiff, ReadsWhatLibtiffWroteAsIntegers) {
  for (const std::string_view digits : {kPlain16, kPackBits16, kLzw16, kDeflate16}) {
    const std::vector<std::byte> file = bytes_of(digits);
    const ImageInfo info = tiff_info(file, "x.tif");
    EXPECT_EQ(info.format, ImageFormat::kTiff);
    EXPECT_EQ(info.channels, 1);
    EXPECT_EQ(info.bit_depth, 16);
    EXPECT_FALSE(info.floating);
    const Image<float> read = read_grey_tiff(file, "x.tif");
    ASSERT_EQ(read.width(), 5);
    ASSERT_EQ(read.height(), 4);
    for (int v = 0; v < 4; ++v) {
      for (int u = 0; u < 5; ++u) EXPECT_EQ(read(u, v), integer_at(u, v)) << u << ' ' << v;
    }
    // As a picture the number 65535 is white.
    EXPECT_EQ(read_tiff(file, "x.tif")(4, 3).x, (integer_at(4, 3) * 255 + 32767) / 65535);
  }
}

TEST(Tiff, ReadsWhatLibtiffWroteAsFloats) {
  for (const std::string_view digits : {kLzwFloat, kDeflateFloat, kDouble}) {
    const std::vector<std::byte> file = bytes_of(digits);
    EXPECT_TRUE(tiff_info(file, "x.tif").floating);
    const Image<float> read = read_grey_tiff(file, "x.tif");
    for (int v = 0; v < 4; ++v) {
      for (int u = 0; u < 5; ++u) EXPECT_EQ(read(u, v), 0.75 + 0.125 * u - 0.0625 * v);
    }
    EXPECT_TRUE(mentions(error_message([&] { read_tiff(file, "x.tif"); }), "no picture"));
  }
}

TEST(Tiff, ReadsWhatLibtiffWroteAsColours) {
  const std::vector<std::byte> file = bytes_of(kLzwColour);
  EXPECT_EQ(tiff_info(file, "x.tif").channels, 3);
  const Image<Rgb8> read = read_tiff(file, "x.tif");
  for (int v = 0; v < 4; ++v) {
    for (int u = 0; u < 5; ++u) {
      EXPECT_EQ(read(u, v),
                (Rgb8{static_cast<std::uint8_t>(20 * u), static_cast<std::uint8_t>(30 * v), 7}));
    }
  }
  EXPECT_TRUE(mentions(error_message([&] { read_grey_tiff(file, "x.tif"); }), "3 channels"));
}

TEST(Tiff, ReadsBackWhatItWrote) {
  const auto steps = make_image<std::uint16_t>(
      37, 23, [](int u, int v) { return static_cast<std::uint16_t>(65535 - 7 * u * v); });
  const auto depths = make_image<float>(
      19, 40, [](int u, int v) { return static_cast<float>(1.0 / (1 + u) + 3 * v); });
  const Image<float> integers = read_grey_tiff(encode_tiff(steps.view(), "a.tif"), "a.tif");
  const Image<float> floats = read_grey_tiff(encode_tiff(depths.view(), "b.tif"), "b.tif");
  for (std::size_t i = 0; i < integers.pixels().host().size(); ++i) {
    ASSERT_EQ(integers.pixels().host()[i], steps.pixels().host()[i]);
  }
  for (std::size_t i = 0; i < floats.pixels().host().size(); ++i) {
    ASSERT_EQ(floats.pixels().host()[i], depths.pixels().host()[i]);
  }
}

/// Codes that grow from 9 to 12 bits, as the specification's section 13 makes them.
std::vector<std::byte> lzw(const std::vector<std::byte>& from) {
  std::vector<std::byte> to;
  std::uint32_t bits = 0;
  int held = 0, width = 9;
  const auto put = [&](int code) {
    bits = bits << width | static_cast<std::uint32_t>(code);
    for (held += width; held >= 8; held -= 8) to.push_back(std::byte(bits >> (held - 8) & 255));
  };
  std::map<std::string, int> table;
  const auto clear = [&] {
    put(256);
    table.clear();
    for (int c = 0; c < 256; ++c) table[std::string(1, static_cast<char>(c))] = c;
    width = 9;
  };
  clear();
  std::string known;
  for (const std::byte byte : from) {
    const std::string longer = known + static_cast<char>(byte);
    if (table.count(longer) != 0) {
      known = longer;
      continue;
    }
    put(table[known]);
    const int next = static_cast<int>(table.size()) + 2;
    table[longer] = next;
    known = longer.substr(known.size());
    if (next == 511 || next == 1023 || next == 2047) ++width;
    if (next == 4094) clear();
  }
  put(table[known]);
  put(257);
  to.push_back(std::byte(bits << (8 - held) & 255));
  return to;
}

TEST(Tiff, LzwReachesItsLongestCodesAndBeginsAnew) {
  std::vector<std::byte> bytes;
  for (std::uint32_t i = 0; i < 60000; ++i) {
    bytes.push_back(std::byte((i * i / 7 + i % 11 * (i / 300)) % 64));
  }
  std::vector<std::byte> unpacked(bytes.size());
  const std::vector<std::byte> packed = lzw(bytes);
  detail::tiff::unpack(detail::tiff::kLzw, packed, unpacked, "x.tif");
  EXPECT_TRUE(unpacked == bytes);
  // A room that ends within a string is filled to its end.
  std::vector<std::byte> part(bytes.size() - 3);
  detail::tiff::unpack(detail::tiff::kLzw, packed, part, "x.tif");
  EXPECT_TRUE(std::equal(part.begin(), part.end(), bytes.begin()));
}

TEST(Tiff, EveryCutIsAnErrorOfOneLine) {
  for (const std::string_view digits :
       {kPlain16, kPackBits16, kLzw16, kDeflate16, kLzwFloat, kDeflateFloat, kDouble}) {
    const std::vector<std::byte> file = bytes_of(digits);
    for (std::size_t size = 0; size < file.size(); ++size) {
      const auto cut = std::span(file).first(size);
      EXPECT_TRUE(mentions(error_message([&] { read_grey_tiff(cut, "cut.tif"); }), "cut.tif: "));
    }
  }
}

/// A copy whose 16-bit numbers `from`, right after `tag`'s head in the directory, are `to`.
std::vector<std::byte> with_tag(std::vector<std::byte> file, int tag, int to) {
  for (std::size_t i = 8; i + 12 <= file.size(); i += 2) {
    if (file[i] == std::byte(tag & 255) && file[i + 1] == std::byte(tag >> 8) &&
        (file[i + 2] == std::byte{3} || file[i + 2] == std::byte{4}) &&
        file[i + 4] == std::byte{1}) {
      file[i + 8] = std::byte(to & 255);
      file[i + 9] = std::byte(to >> 8);
      return file;
    }
  }
  ADD_FAILURE() << "no tag " << tag;
  return file;
}

TEST(Tiff, SaysWhatItDoesNotUnderstand) {
  const std::vector<std::byte> good = bytes_of(kPlain16);
  const auto refusal = [&](int tag, int value) {
    return error_message([&] { read_grey_tiff(with_tag(good, tag, value), "x.tif"); });
  };
  EXPECT_TRUE(mentions(refusal(259, 7), "TIFF compression 7"));
  EXPECT_TRUE(mentions(refusal(258, 12), "12 bit"));
  EXPECT_TRUE(mentions(refusal(339, 2), "of the kind 2"));
  EXPECT_TRUE(mentions(refusal(262, 0), "photometric interpretation is 0"));
  EXPECT_TRUE(mentions(refusal(277, 3), "3 channels"));
  EXPECT_TRUE(mentions(refusal(256, 50000), "ends before its last pixel"));
  EXPECT_TRUE(mentions(refusal(257, 0), "is empty"));
  std::vector<std::byte> big = good;
  big[2] = std::byte{43};
  EXPECT_TRUE(mentions(error_message([&] { read_grey_tiff(big, "x.tif"); }), "BigTIFF"));
}

TEST(Tiff, RefusesASecondImage) {
  // The last directory of the file is followed by itself.
  std::vector<std::byte> file = bytes_of(kPlain16);
  const std::size_t first = std::to_integer<std::size_t>(file[4]);
  const std::size_t entries = std::to_integer<std::size_t>(file[first]);
  file[first + 2 + 12 * entries] = file[4];
  EXPECT_TRUE(
      mentions(error_message([&] { read_grey_tiff(file, "x.tif"); }), "holds several images"));
}

TEST(Tiff, ADamagedCheckSumIsAnError) {
  const auto depths = make_image<float>(
      64, 64, [](int u, int v) { return static_cast<float>(0.5 + 0.25 * u + v); });
  std::vector<std::byte> file = encode_tiff(depths.view(), "x.tif");
  const std::size_t directory = file.size() - (2 + 11 * 12 + 4);
  // The check sum is the last of the strip, which a byte may follow to make its size even.
  for (const std::size_t back : {2, 4}) {
    std::vector<std::byte> damaged = file;
    damaged[directory - back] ^= std::byte{1};
    EXPECT_TRUE(mentions(error_message([&] { read_grey_tiff(damaged, "x.tif"); }), "is damaged"));
  }
}

TEST(Tiff, ReadsCapturedFrames) {
  const auto folder = testing::shared_data("pcl_kinect/grabber_frames");
  if (!folder) GTEST_SKIP() << "the captured data is not here";
  const std::filesystem::path name = *folder / "frame_20121214T142255.814212_rgb.tiff";
  const Image<Rgb8> picture = read_tiff(name);
  EXPECT_EQ(picture.width(), 640);
  EXPECT_EQ(picture(0, 0), (Rgb8{0x38, 0x3b, 0x45}));
}

}  // namespace
}  // namespace sextant
