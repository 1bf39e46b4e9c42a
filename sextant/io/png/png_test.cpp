// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/png.h"

#include <gtest/gtest.h>
#include <png.h>
#include <zlib.h>

#include <bit>
#include <cmath>
#include <csetjmp>
#include <limits>

#include "sextant/io/file.h"
#include "tests/error_message.h"
#include "tests/make_image.h"
#include "tests/temporary_folder.h"

namespace sextant {
namespace {

using testing::error_message;
using testing::make_image;
using testing::mentions;
using testing::TemporaryFolder;

Rgb8 colour_at(int u, int v) {
  return {static_cast<std::uint8_t>(7 * u + v), static_cast<std::uint8_t>(u * v),
          static_cast<std::uint8_t>(255 - 3 * v)};
}

std::vector<std::byte> small_file() {
  return encode_png(make_image<Rgb8>(13, 9, colour_at), "small.png");
}

/// A PNG of any kind, straight from libpng: `sample(u, v, channel)` are the raw values of the file.
template <class Sample>
std::vector<std::byte> make_file(int width, int height, int color_type, int bit_depth,
                                 bool interlaced, Sample&& sample) {
  const int channels =
      (color_type & PNG_COLOR_MASK_COLOR) == 0 || color_type == PNG_COLOR_TYPE_PALETTE
          ? 1 + ((color_type & PNG_COLOR_MASK_ALPHA) != 0)
          : 3 + ((color_type & PNG_COLOR_MASK_ALPHA) != 0);
  std::vector<std::vector<png_byte>> rows;
  for (int v = 0; v < height; ++v) {
    std::vector<png_byte> row((static_cast<std::size_t>(width) * channels * bit_depth + 7) / 8);
    for (int i = 0; i < width * channels; ++i) {
      const unsigned value = sample(i / channels, v, i % channels);
      const std::size_t bit = static_cast<std::size_t>(i) * bit_depth;
      if (bit_depth == 16) row[bit / 8] = static_cast<png_byte>(value >> 8);
      const std::size_t at = bit_depth == 16 ? bit / 8 + 1 : bit / 8;
      const int shift = bit_depth < 8 ? static_cast<int>(8 - bit_depth - bit % 8) : 0;
      row[at] = static_cast<png_byte>(row[at] | (value << shift));
    }
    rows.push_back(row);
  }
  std::vector<png_bytep> row_pointers;
  for (auto& row : rows) row_pointers.push_back(row.data());
  std::vector<png_color> palette;
  for (int i = 0; i < 1 << std::min(bit_depth, 8); ++i) {
    palette.push_back({static_cast<png_byte>(255 - i), static_cast<png_byte>(i * 5),
                       static_cast<png_byte>(i * i)});
  }

  std::vector<std::byte> file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &file,
      [](png_structp p, png_bytep data, std::size_t count) {
        auto& to = *static_cast<std::vector<std::byte>*>(png_get_io_ptr(p));
        const auto* from = reinterpret_cast<const std::byte*>(data);
        to.insert(to.end(), from, from + count);
      },
      nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(width), static_cast<png_uint_32>(height),
               bit_depth, color_type, interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (color_type == PNG_COLOR_TYPE_PALETTE) {
    png_set_PLTE(png, info, palette.data(), static_cast<int>(palette.size()));
    const png_byte half_transparent[] = {128, 0};
    png_set_tRNS(png, info, half_transparent, 2, nullptr);
  }
  png_text text{};
  char key[] = "Comment", words[] = "ancillary chunks are passed over";
  text.compression = PNG_TEXT_COMPRESSION_NONE;
  text.key = key;
  text.text = words;
  png_set_text(png, info, &text, 1);
  png_set_rows(png, info, row_pointers.data());
  png_write_png(png, info, PNG_TRANSFORM_IDENTITY, nullptr);
  png_destroy_write_struct(&png, &info);
  return file;
}

/// Writes another size into the header and makes its checksum right again.
void forge_size(std::vector<std::byte>& file, std::uint32_t width, std::uint32_t height) {
  const auto put = [&](std::size_t at, std::uint32_t value) {
    for (int i = 0; i < 4; ++i) file[at + i] = static_cast<std::byte>(value >> (24 - 8 * i));
  };
  put(16, width);
  put(20, height);
  put(29,
      static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(file.data() + 12), 17)));
}

TEST(DepthPng, EveryValueSurvivesTheRoundTrip) {
  const TemporaryFolder folder;
  for (const double unit_m : {0.001, 0.0001, 0.0002, 1.0 / 5000, 0.1 * 0.001, 1.0, 3.7e-5}) {
    const Image<float> depth_m = make_image<float>(256, 256, [&](int u, int v) {
      const int step = 256 * v + u;
      return step == 0 ? NAN : static_cast<float>(step * unit_m);
    });
    write_depth_png(folder / "depth.png", depth_m, {.unit_m = unit_m});
    const Image<float> read = read_depth_png(folder / "depth.png", {.unit_m = unit_m});
    ASSERT_EQ(read.width(), 256);
    ASSERT_EQ(read.height(), 256);
    EXPECT_TRUE(std::isnan(read(0, 0)));
    for (int i = 1; i < 65536; ++i) {
      ASSERT_EQ(read(i % 256, i / 256), depth_m(i % 256, i / 256)) << unit_m << " m, step " << i;
    }
  }
}

TEST(DepthPng, RoundsToNearestAndKeepsHoles) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> depths_m{1.2344f, 1.2346f,  0.0004f,   0.0006f, 65.5354f,
                                    NAN,     infinity, -infinity, -1.0f,   0.0f};
  const std::vector<double> expected_mm{1234, 1235, 0, 1, 65535, 0, 0, 0, 0, 0};
  Image<float> depth_m(Context::cpu(1), static_cast<int>(depths_m.size()), 1);
  std::copy(depths_m.begin(), depths_m.end(), depth_m.pixels().data());
  const std::vector<std::byte> file = encode_depth_png(depth_m, "depth.png");
  const Image<float> read = read_depth_png(file, "depth.png");
  for (int i = 0; i < depth_m.width(); ++i) {
    if (expected_mm[i] == 0) {
      EXPECT_TRUE(std::isnan(read(i, 0))) << depths_m[i];
    } else {
      EXPECT_EQ(read(i, 0), static_cast<float>(expected_mm[i] * 0.001)) << depths_m[i];
    }
  }
}

TEST(DepthPng, RefusesDepthsBeyondTheFormatWithTheRemedy) {
  const TemporaryFolder folder;
  const Image<float> depth_m =
      make_image<float>(4, 4, [](int u, int v) { return u == 2 && v == 1 ? 70.0f : 1.0f; });
  const std::string message = error_message([&] { write_depth_png(folder / "far.png", depth_m); });
  EXPECT_TRUE(mentions(message, "far.png"));
  EXPECT_TRUE(mentions(message, "70 m"));
  EXPECT_TRUE(mentions(message, "unit_m"));
  EXPECT_FALSE(std::filesystem::exists(folder / "far.png"));
  write_depth_png(folder / "far.png", depth_m, {.unit_m = 70.0 / 65535});
  EXPECT_TRUE(mentions(error_message([&] { read_depth_png(folder / "far.png", {.unit_m = 0}); }),
                       "unit_m: 0"));
}

TEST(DepthPng, RefusesOtherPngsWithWhatTheyAre) {
  const auto zero = [](int, int, int) { return 0u; };
  const auto refusal = [&](int color_type, int bit_depth) {
    const auto file = make_file(3, 2, color_type, bit_depth, false, zero);
    return error_message([&] { read_depth_png(file, "x.png"); });
  };
  EXPECT_TRUE(mentions(refusal(PNG_COLOR_TYPE_GRAY, 8), "8-bit grey"));
  EXPECT_TRUE(mentions(refusal(PNG_COLOR_TYPE_RGB, 16), "16-bit RGB"));
  EXPECT_TRUE(mentions(refusal(PNG_COLOR_TYPE_GRAY_ALPHA, 16), "16-bit grey with alpha"));
  EXPECT_TRUE(mentions(refusal(PNG_COLOR_TYPE_PALETTE, 8), "8-bit palette"));
}

TEST(Png, ReadsHowOpaquePixelsAre) {
  const auto sample = [](int u, int v, int channel) { return 40u * u + 10u * v + channel; };
  for (const bool interlaced : {false, true}) {
    const auto rgba = make_file(5, 3, PNG_COLOR_TYPE_RGB_ALPHA, 8, interlaced, sample);
    const Image<std::uint8_t> alpha = read_png_alpha(rgba, "x.png");
    ASSERT_EQ(alpha.width(), 5);
    ASSERT_EQ(alpha.height(), 3);
    for (int v = 0; v < 3; ++v) {
      for (int u = 0; u < 5; ++u) EXPECT_EQ(alpha(u, v), sample(u, v, 3));
    }
  }
  const auto grey = make_file(4, 2, PNG_COLOR_TYPE_GRAY_ALPHA, 16, false,
                              [](int u, int, int channel) { return 257u * (10u * u + channel); });
  EXPECT_EQ(read_png_alpha(grey, "x.png")(3, 1), 31);
  const auto opaque = make_file(4, 2, PNG_COLOR_TYPE_RGB, 8, false, sample);
  EXPECT_TRUE(read_png_alpha(opaque, "x.png").empty());
}

TEST(DepthPng, ReadsInterlacedFiles) {
  const auto file = make_file(37, 23, PNG_COLOR_TYPE_GRAY, 16, true,
                              [](int u, int v, int) { return 1000u * u + v + 1; });
  const Image<float> read = read_depth_png(file, "interlaced.png");
  for (int v = 0; v < 23; ++v) {
    for (int u = 0; u < 37; ++u) {
      ASSERT_EQ(read(u, v), static_cast<float>((1000 * u + v + 1) * 0.001));
    }
  }
}

struct Kind {
  int color_type;
  int bit_depth;
  int channels;
};
const Kind kKinds[] = {{PNG_COLOR_TYPE_GRAY, 1, 1},        {PNG_COLOR_TYPE_GRAY, 2, 1},
                       {PNG_COLOR_TYPE_GRAY, 4, 1},        {PNG_COLOR_TYPE_GRAY, 8, 1},
                       {PNG_COLOR_TYPE_GRAY, 16, 1},       {PNG_COLOR_TYPE_GRAY_ALPHA, 8, 2},
                       {PNG_COLOR_TYPE_GRAY_ALPHA, 16, 2}, {PNG_COLOR_TYPE_RGB, 8, 3},
                       {PNG_COLOR_TYPE_RGB, 16, 3},        {PNG_COLOR_TYPE_RGB_ALPHA, 8, 4},
                       {PNG_COLOR_TYPE_RGB_ALPHA, 16, 4},  {PNG_COLOR_TYPE_PALETTE, 1, 3},
                       {PNG_COLOR_TYPE_PALETTE, 2, 3},     {PNG_COLOR_TYPE_PALETTE, 4, 3},
                       {PNG_COLOR_TYPE_PALETTE, 8, 3}};

TEST(ReadPng, TurnsEveryKindIntoRgb) {
  for (const Kind& kind : kKinds) {
    for (const bool interlaced : {false, true}) {
      SCOPED_TRACE(::testing::Message() << "colour type " << kind.color_type << ", "
                                        << kind.bit_depth << " bits, interlaced " << interlaced);
      const unsigned largest = (1u << kind.bit_depth) - 1;
      const auto sample = [&](int u, int v, int channel) {
        return (2654435761u * static_cast<unsigned>(u + 41 * v + 1000 * channel) >> 8) & largest;
      };
      const auto file = make_file(29, 17, kind.color_type, kind.bit_depth, interlaced, sample);
      const auto expected = [&](int u, int v, int channel) {
        if (kind.color_type == PNG_COLOR_TYPE_PALETTE) {
          const unsigned index = sample(u, v, 0);
          const unsigned colours[] = {255 - index, index * 5, index * index};
          return static_cast<std::uint8_t>(colours[channel]);
        }
        const bool color = (kind.color_type & PNG_COLOR_MASK_COLOR) != 0;
        const double value = sample(u, v, color ? channel : 0);
        return static_cast<std::uint8_t>(std::lround(value * 255.0 / largest));
      };
      const Image<Vec3<std::uint16_t>> deep = read_png_rgb16(file, "kind.png");
      const auto expected_deep = [&](int u, int v, int channel) {
        if (kind.color_type == PNG_COLOR_TYPE_PALETTE) return 257 * expected(u, v, channel);
        const bool color = (kind.color_type & PNG_COLOR_MASK_COLOR) != 0;
        // 65535 is a multiple of the largest value of every depth.
        return static_cast<int>(sample(u, v, color ? channel : 0) * (65535 / largest));
      };
      for (int v = 0; v < 17; ++v) {
        for (int u = 0; u < 29; ++u) {
          ASSERT_EQ(deep(u, v).x, expected_deep(u, v, 0));
          ASSERT_EQ(deep(u, v).y, expected_deep(u, v, 1));
          ASSERT_EQ(deep(u, v).z, expected_deep(u, v, 2));
        }
      }
      const Image<Rgb8> image = read_png(file, "kind.png");
      ASSERT_EQ(image.width(), 29);
      ASSERT_EQ(image.height(), 17);
      for (int v = 0; v < 17; ++v) {
        for (int u = 0; u < 29; ++u) {
          const Rgb8 want{expected(u, v, 0), expected(u, v, 1), expected(u, v, 2)};
          ASSERT_EQ(image(u, v), want) << u << ", " << v;
        }
      }
      const ImageInfo info = png_info(file, "kind.png");
      EXPECT_EQ(info.format, ImageFormat::kPng);
      EXPECT_EQ(info.width, 29);
      EXPECT_EQ(info.height, 17);
      EXPECT_EQ(info.channels, kind.channels);
      EXPECT_EQ(info.bit_depth, kind.color_type == PNG_COLOR_TYPE_PALETTE ? 8 : kind.bit_depth);
    }
  }
}

TEST(WritePng, RoundTripsColourAndGrey) {
  const TemporaryFolder folder;
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 50}, {50, 1}, {61, 43}}) {
    const Image<Rgb8> colour = make_image<Rgb8>(width, height, colour_at);
    write_png(folder / "colour.png", colour);
    const Image<Rgb8> colour_read = read_png(folder / "colour.png");
    const auto grey_at = [](int u, int v) { return static_cast<std::uint8_t>(5 * u + 11 * v); };
    const Image<std::uint8_t> grey = make_image<std::uint8_t>(width, height, grey_at);
    write_png(folder / "grey.png", grey);
    const Image<Rgb8> grey_read = read_png(folder / "grey.png");
    EXPECT_EQ(png_info(read_file(folder / "grey.png"), "grey.png").channels, 1);
    for (int v = 0; v < height; ++v) {
      for (int u = 0; u < width; ++u) {
        ASSERT_EQ(colour_read(u, v), colour(u, v));
        ASSERT_EQ(grey_read(u, v), (Rgb8{grey(u, v), grey(u, v), grey(u, v)}));
      }
    }
  }
}

TEST(WritePng, HonoursTheStrideOfAPartOfAnImage) {
  Image<Rgb8> image = make_image<Rgb8>(40, 30, colour_at);
  const ImageView<const Rgb8> part{&image(10, 5), 20, 15, 40, {}};
  const Image<Rgb8> read = read_png(encode_png(part, "part.png"), "part.png");
  ASSERT_EQ(read.width(), 20);
  ASSERT_EQ(read.height(), 15);
  for (int v = 0; v < 15; ++v) {
    for (int u = 0; u < 20; ++u) ASSERT_EQ(read(u, v), image(u + 10, v + 5));
  }
}

TEST(WritePng, RefusesEmptyAndForeignImages) {
  EXPECT_TRUE(
      mentions(error_message([] { encode_png(ImageView<const Rgb8>{}, "x.png"); }), "0 x 0"));
  Rgb8 pixel{};
  const ImageView<const Rgb8> elsewhere{&pixel, 1, 1, 1, {DeviceKind::kCuda, 0}};
  EXPECT_TRUE(mentions(error_message([&] { encode_png(elsewhere, "x.png"); }), "cuda:0"));
  const ImageView<const Rgb8> wide{&pixel, 65536, 1, 65536, {}};
  EXPECT_TRUE(mentions(error_message([&] { encode_png(wide, "x.png"); }), "65536 x 1"));
}

TEST(ReadPng, RefusesEveryTruncation) {
  const std::vector<std::byte> file = small_file();
  const std::span<const std::byte> bytes(file);
  for (std::size_t size = 0; size < file.size(); ++size) {
    EXPECT_TRUE(
        mentions(error_message([&] { read_png(bytes.first(size), "cut.png"); }), "cut.png: "))
        << size << " of " << file.size() << " bytes";
  }
  EXPECT_EQ(read_png(bytes, "whole.png").width(), 13);
}

TEST(ReadPng, RefusesEveryTurnedBit) {
  const std::vector<std::byte> file = small_file();
  std::vector<std::byte> damaged = file;
  for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
    const std::byte mask{static_cast<unsigned char>(1u << (bit % 8))};
    damaged[bit / 8] ^= mask;
    EXPECT_THROW(read_png(damaged, "damaged.png"), Error) << "bit " << bit;
    damaged[bit / 8] ^= mask;
  }
}

TEST(ReadPng, RefusesSizesThatTheFileCannotHold) {
  std::vector<std::byte> file = small_file();
  forge_size(file, 65536, 10);
  EXPECT_TRUE(mentions(error_message([&] { read_png(file, "x.png"); }), "65536 x 10"));
  forge_size(file, 60000, 60000);
  EXPECT_TRUE(mentions(error_message([&] { read_png(file, "x.png"); }), "too many"));
  forge_size(file, 16384, 16384);
  EXPECT_TRUE(mentions(error_message([&] { read_png(file, "x.png"); }), "header is damaged"));
  forge_size(file, 0, 10);
  EXPECT_THROW(read_png(file, "x.png"), Error);
  forge_size(file, 0xffffffffu, 0xffffffffu);
  EXPECT_THROW(read_png(file, "x.png"), Error);
  // Believed, decoded, and found to end too early.
  forge_size(file, 1000, 1000);
  EXPECT_THROW(read_png(file, "x.png"), Error);
}

TEST(ReadPng, BelievesAnImageOfOneColour) {
  const Image<std::uint8_t> blank =
      make_image<std::uint8_t>(4000, 3000, [](int, int) { return std::uint8_t{200}; });
  const std::vector<std::byte> file = encode_png(blank, "blank.png");
  EXPECT_LT(file.size(), std::size_t{4000} * 3000 / 500);
  EXPECT_EQ(read_png(file, "blank.png")(3999, 2999), (Rgb8{200, 200, 200}));
}

TEST(ReadPng, RefusesOtherFiles) {
  const std::string text = "ply\nformat ascii 1.0\n";
  EXPECT_TRUE(mentions(
      error_message([&] { read_png(std::as_bytes(std::span(text.data(), text.size())), "x.png"); }),
      "x.png: is not a PNG"));
}

}  // namespace
}  // namespace sextant
