// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/jpeg.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>

#include "sextant/io/file.h"
#include "tests/error_message.h"
#include "tests/make_image.h"
#include "tests/temporary_folder.h"

namespace sextant {
namespace {

using testing::error_message;
using testing::mentions;
using testing::TemporaryFolder;

Image<Rgb8> picture(int width, int height) {
  return testing::make_image<Rgb8>(width, height, [](int u, int v) {
    return Rgb8{static_cast<std::uint8_t>(128 + 100 * std::sin(u * 0.11)),
                static_cast<std::uint8_t>(128 + 100 * std::cos(v * 0.07)),
                static_cast<std::uint8_t>((u + v) % 256)};
  });
}

/// A JPEG of any kind, straight from libjpeg, every pixel with the same channels.
/// `configure` runs between the defaults and the start.
template <class Configure>
std::vector<std::byte> make_file(int width, int height, std::vector<unsigned char> pixel,
                                 J_COLOR_SPACE space, Configure&& configure) {
  jpeg_compress_struct codec{};
  jpeg_error_mgr errors{};
  codec.err = jpeg_std_error(&errors);
  jpeg_create_compress(&codec);
  unsigned char* data = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&codec, &data, &size);
  codec.image_width = static_cast<JDIMENSION>(width);
  codec.image_height = static_cast<JDIMENSION>(height);
  codec.input_components = static_cast<int>(pixel.size());
  codec.in_color_space = space;
  jpeg_set_defaults(&codec);
  jpeg_set_quality(&codec, 100, TRUE);
  configure(codec);
  jpeg_start_compress(&codec, TRUE);
  std::vector<unsigned char> row;
  for (int u = 0; u < width; ++u) row.insert(row.end(), pixel.begin(), pixel.end());
  JSAMPROW rows[] = {row.data()};
  for (int v = 0; v < height; ++v) jpeg_write_scanlines(&codec, rows, 1);
  jpeg_finish_compress(&codec);
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  std::vector<std::byte> file(bytes, bytes + size);
  jpeg_destroy_compress(&codec);
  std::free(data);
  return file;
}

int largest_difference(Rgb8 a, Rgb8 b) {
  return std::max({std::abs(a.x - b.x), std::abs(a.y - b.y), std::abs(a.z - b.z)});
}

/// Writes another size into the frame header (SOF0 or SOF2).
void forge_size(std::vector<std::byte>& file, unsigned width, unsigned height) {
  for (std::size_t i = 0; i + 9 < file.size(); ++i) {
    if (file[i] != std::byte{0xff}) continue;
    if (file[i + 1] != std::byte{0xc0} && file[i + 1] != std::byte{0xc2}) continue;
    file[i + 5] = static_cast<std::byte>(height >> 8);
    file[i + 6] = static_cast<std::byte>(height & 255);
    file[i + 7] = static_cast<std::byte>(width >> 8);
    file[i + 8] = static_cast<std::byte>(width & 255);
    return;
  }
  FAIL() << "no frame header";
}

TEST(Jpeg, FlatColoursComeBackWithinOne) {
  // At quality 100 the mean of a block is exact; Y, Cb and Cr are rounded by at most 1/2 each,
  // which makes at most 1/2 + 1.772/2 + 1/2 < 2 in any channel.
  for (const Rgb8 colour : {Rgb8{0, 0, 0}, Rgb8{255, 255, 255}, Rgb8{200, 30, 10},
                            Rgb8{10, 220, 90}, Rgb8{5, 40, 250}}) {
    Image<Rgb8> image(Context::cpu(1), 33, 17);
    for (Rgb8& pixel : image.pixels().host()) pixel = colour;
    const Image<Rgb8> read =
        read_jpeg(encode_jpeg(image, "flat.jpg", {.quality = 100}), "flat.jpg");
    ASSERT_EQ(read.width(), 33);
    ASSERT_EQ(read.height(), 17);
    for (const Rgb8& pixel : read.pixels().host()) {
      ASSERT_LE(largest_difference(pixel, colour), 1);
    }
  }
}

TEST(Jpeg, GreyAtFullQualityIsAsNearAsRoundingAllows) {
  // With steps of 1 each of the 64 coefficients is off by at most 1/2, and so is, the transform
  // being orthonormal, the root mean square of a block; the pixels are rounded by 1/2 again, and
  // the integer transforms of both directions are good to about 1/4.
  Image<std::uint8_t> image(Context::cpu(1), 64, 64);
  unsigned state = 1;
  for (std::uint8_t& pixel : image.pixels().host()) {
    state = state * 1664525u + 1013904223u;
    pixel = static_cast<std::uint8_t>(state >> 24);
  }
  const std::vector<std::byte> file = encode_jpeg(image, "grey.jpg", {.quality = 100});
  EXPECT_EQ(jpeg_info(file, "grey.jpg").channels, 1);
  const Image<Rgb8> read = read_jpeg(file, "grey.jpg");
  for (int block = 0; block < 64; ++block) {
    double sum_sq = 0;
    for (int i = 0; i < 64; ++i) {
      const int u = block % 8 * 8 + i % 8;
      const int v = block / 8 * 8 + i / 8;
      EXPECT_EQ(read(u, v).x, read(u, v).y);
      EXPECT_EQ(read(u, v).x, read(u, v).z);
      sum_sq += std::pow(read(u, v).x - image(u, v), 2);
    }
    EXPECT_LE(std::sqrt(sum_sq / 64), 1.25) << "block " << block;
  }
}

TEST(Jpeg, QualityTradesSizeForError) {
  const TemporaryFolder folder;
  const Image<Rgb8> image = picture(160, 120);
  std::size_t last_size = 0;
  for (const int quality : {10, 50, 90, 100}) {
    write_jpeg(folder / "x.jpg", image, {.quality = quality});
    const std::size_t size = std::filesystem::file_size(folder / "x.jpg");
    EXPECT_GT(size, last_size);
    last_size = size;
    EXPECT_EQ(read_jpeg(folder / "x.jpg").width(), 160);
  }
  EXPECT_TRUE(
      mentions(error_message([&] { encode_jpeg(image, "x.jpg", {.quality = 0}); }), "quality: 0"));
}

TEST(Jpeg, ConvertsInksWithAndWithoutAdobesInversion) {
  const auto plain = [](jpeg_compress_struct& codec) { codec.write_Adobe_marker = FALSE; };
  const auto adobe = [](jpeg_compress_struct& codec) { codec.write_Adobe_marker = TRUE; };
  const auto adobe_ycck = [](jpeg_compress_struct& codec) {
    jpeg_set_colorspace(&codec, JCS_YCCK);
  };
  const std::vector<unsigned char> cmyk{200, 100, 50, 204};
  const auto file_plain = make_file(20, 10, cmyk, JCS_CMYK, plain);
  EXPECT_EQ(read_jpeg(file_plain, "x.jpg")(13, 7), (Rgb8{11, 31, 41}));  // (255 - ink) · 51 / 255
  const auto file_adobe = make_file(20, 10, cmyk, JCS_CMYK, adobe);
  EXPECT_EQ(read_jpeg(file_adobe, "x.jpg")(13, 7), (Rgb8{160, 80, 40}));  // ink · 204 / 255
  const auto file_ycck = make_file(20, 10, cmyk, JCS_CMYK, adobe_ycck);
  EXPECT_LE(largest_difference(read_jpeg(file_ycck, "x.jpg")(13, 7), {160, 80, 40}), 2);
  EXPECT_EQ(jpeg_info(file_ycck, "x.jpg").channels, 4);
}

TEST(Jpeg, ProgressiveGivesTheSamePixels) {
  const auto nothing = [](jpeg_compress_struct&) {};
  const auto progressive = [](jpeg_compress_struct& codec) { jpeg_simple_progression(&codec); };
  const auto a = read_jpeg(make_file(50, 40, {10, 200, 90}, JCS_RGB, nothing), "a.jpg");
  const auto b = read_jpeg(make_file(50, 40, {10, 200, 90}, JCS_RGB, progressive), "b.jpg");
  for (int v = 0; v < 40; ++v) {
    for (int u = 0; u < 50; ++u) ASSERT_EQ(a(u, v), b(u, v));
  }
}

TEST(Jpeg, RefusesUnknownChannels) {
  const auto file = make_file(20, 10, {1, 2}, JCS_UNKNOWN, [](jpeg_compress_struct&) {});
  EXPECT_TRUE(mentions(error_message([&] { read_jpeg(file, "x.jpg"); }), "2 channels"));
  EXPECT_EQ(jpeg_info(file, "x.jpg").channels, 2);
}

TEST(Jpeg, RefusesAFileOfVeryManyScans) {
  std::vector<jpeg_scan_info> scans{{3, {0, 1, 2, 0}, 0, 0, 0, 0}};
  for (int coefficient = 1; coefficient < 64; ++coefficient) {
    for (int component = 0; component < 3; ++component) {
      scans.push_back({1, {component, 0, 0, 0}, coefficient, coefficient, 0, 0});
    }
  }
  const auto with_scans = [&](jpeg_compress_struct& codec) {
    codec.scan_info = scans.data();
    codec.num_scans = static_cast<int>(scans.size());
  };
  const auto many = make_file(20, 10, {1, 2, 3}, JCS_RGB, with_scans);
  EXPECT_TRUE(mentions(error_message([&] { read_jpeg(many, "x.jpg"); }), "scans"));
  scans.resize(90);
  EXPECT_EQ(read_jpeg(make_file(20, 10, {1, 2, 3}, JCS_RGB, with_scans), "x.jpg").width(), 20);
}

TEST(Jpeg, RefusesEveryTruncation) {
  const auto refuse_all = [](const std::vector<std::byte>& file) {
    const std::span<const std::byte> bytes(file);
    for (std::size_t size = 0; size < file.size(); ++size) {
      ASSERT_TRUE(
          mentions(error_message([&] { read_jpeg(bytes.first(size), "cut.jpg"); }), "cut.jpg: "))
          << size << " of " << file.size() << " bytes";
    }
  };
  refuse_all(encode_jpeg(picture(40, 30), "x.jpg"));
  refuse_all(make_file(40, 30, {90, 50, 20}, JCS_RGB,
                       [](jpeg_compress_struct& codec) { jpeg_simple_progression(&codec); }));
}

TEST(Jpeg, TurnedBitsGiveAnErrorOrAnImage) {
  std::vector<std::byte> file = encode_jpeg(picture(40, 30), "x.jpg");
  int refused = 0;
  for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
    const std::byte mask{static_cast<unsigned char>(1u << (bit % 8))};
    file[bit / 8] ^= mask;
    try {
      EXPECT_FALSE(read_jpeg(file, "x.jpg").empty());
    } catch (const Error&) {
      ++refused;
    }
    file[bit / 8] ^= mask;
  }
  EXPECT_GT(refused, 0);
}

TEST(Jpeg, PassesOverBytesAfterTheEnd) {
  std::vector<std::byte> file = encode_jpeg(picture(40, 30), "x.jpg");
  file.resize(file.size() + 100);
  EXPECT_EQ(read_jpeg(file, "x.jpg").height(), 30);
}

TEST(Jpeg, RefusesSizesThatTheFileCannotHold) {
  std::vector<std::byte> file = encode_jpeg(picture(40, 30), "x.jpg");
  forge_size(file, 65000, 65000);
  EXPECT_TRUE(mentions(error_message([&] { read_jpeg(file, "x.jpg"); }), "65000 x 65000"));
  forge_size(file, 16000, 16000);
  EXPECT_TRUE(mentions(error_message([&] { read_jpeg(file, "x.jpg"); }), "header is damaged"));
  forge_size(file, 1000, 1000);
  EXPECT_TRUE(mentions(error_message([&] { read_jpeg(file, "x.jpg"); }), "cannot be decoded"));
  forge_size(file, 0, 30);
  EXPECT_THROW(read_jpeg(file, "x.jpg"), Error);
}

TEST(Jpeg, BelievesAnImageOfOneColour) {
  const auto file = make_file(5000, 4000, {77, 77, 77}, JCS_RGB, [](jpeg_compress_struct& codec) {
    codec.optimize_coding = TRUE;
    jpeg_simple_progression(&codec);
  });
  EXPECT_LE(largest_difference(read_jpeg(file, "blank.jpg")(4999, 3999), {77, 77, 77}), 1);
}

TEST(Jpeg, RefusesToWriteWhatItCannotHold) {
  EXPECT_TRUE(
      mentions(error_message([] { encode_jpeg(ImageView<const Rgb8>{}, "x.jpg"); }), "0 x 0"));
  Rgb8 pixel{};
  const ImageView<const Rgb8> wide{&pixel, 65501, 1, 65501, {}};
  EXPECT_TRUE(mentions(error_message([&] { encode_jpeg(wide, "x.jpg"); }), "65500"));
}

}  // namespace
}  // namespace sextant
