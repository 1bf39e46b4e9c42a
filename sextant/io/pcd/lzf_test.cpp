// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/pcd/lzf.h"

#include <gtest/gtest.h>

#include <string>

#include "sextant/core/random.h"
#include "tests/error_message.h"
#include "tests/same_geometry.h"

namespace sextant {
namespace {

using testing::bytes_of;
using testing::error_message;
using testing::mentions;

std::string decompress(std::string_view compressed, std::size_t size) {
  std::string data(size, '?');
  lzf_decompress(bytes_of(compressed), std::as_writable_bytes(std::span(data)), "stream");
  return data;
}

/// Goes there and back and returns the compressed size.
std::size_t expect_round_trip(const std::string& data) {
  const std::vector<std::byte> compressed = lzf_compress(bytes_of(data));
  const std::string_view text(reinterpret_cast<const char*>(compressed.data()), compressed.size());
  EXPECT_EQ(decompress(text, data.size()), data);
  return compressed.size();
}

TEST(Lzf, DecodesTheFormatByHand) {
  using namespace std::string_literals;
  EXPECT_EQ(decompress("\x02"s
                       "abc",
                       3),
            "abc");
  // A short copy: 3 bytes from 3 before.
  EXPECT_EQ(decompress("\x02"s
                       "abc"
                       "\x20\x02"s,
                       6),
            "abcabc");
  // A long copy that reads what it writes: 7 + 2 + 3 = 12 bytes from 1 before.
  EXPECT_EQ(decompress("\x00"s
                       "x"
                       "\xe0\x03\x00"s,
                       13),
            std::string(13, 'x'));
  // A distance of 257 needs the lower bits of the control byte.
  const std::string run(257, 'y');
  const std::string back = decompress(
      "\x00"s
      "y"
      "\xe0\xf7\x00"s
      "\x21\x00"s,
      260);
  EXPECT_EQ(back, run + "yyy");
}

TEST(Lzf, RoundTripsDataOfEveryKind) {
  expect_round_trip("");
  expect_round_trip("a");
  expect_round_trip("ab");
  EXPECT_LT(expect_round_trip(std::string(100000, 'z')), 100000u / 80);
  std::string period, random, sparse;
  for (std::uint64_t i = 0; i < 50000; ++i) {
    const Random draw{3, i};
    period += static_cast<char>(i % 251);
    random += static_cast<char>(draw.below(256, 0));
    sparse += draw.below(20, 0) == 0 ? static_cast<char>(draw.below(256, 1)) : '\0';
  }
  EXPECT_LT(expect_round_trip(period), period.size() / 50);
  EXPECT_LT(expect_round_trip(sparse), sparse.size() / 2);
  // Literals cost one byte in 33.
  EXPECT_LE(expect_round_trip(random), random.size() + random.size() / 32 + 1);
  for (std::size_t size = 0; size < 600; ++size) {
    expect_round_trip(random.substr(0, size));
    expect_round_trip(random.substr(0, size) + random.substr(0, size));
    expect_round_trip(std::string(size, 'q'));
  }
}

TEST(Lzf, FindsRepeatsUpToTheFarthestDistance) {
  std::string far;
  for (std::uint64_t i = 0; i < 8192; ++i) far += static_cast<char>(Random{5, i}.below(256, 0));
  const std::size_t once = expect_round_trip(far);
  EXPECT_LT(expect_round_trip(far + far), once + 8192 / 20);
  EXPECT_GT(expect_round_trip(far + "!" + far), once + 8000);  // one byte too far
}

TEST(Lzf, DamagedStreamsAreErrors) {
  using namespace std::string_literals;
  EXPECT_TRUE(mentions(error_message([] {
                         decompress(
                             "\x05"s
                             "ab",
                             6);
                       }),
                       "literal"));
  EXPECT_TRUE(mentions(error_message([] {
                         decompress(
                             "\x02"s
                             "abc",
                             2);
                       }),
                       "literal"));
  EXPECT_TRUE(mentions(error_message([] { decompress("\x20\x00"s, 3); }), "does not fit"));
  EXPECT_TRUE(mentions(error_message([] {
                         decompress(
                             "\x00"s
                             "a"
                             "\x20\x00"s,
                             3);
                       }),
                       "does not fit"));
  EXPECT_TRUE(mentions(error_message([] {
                         decompress(
                             "\x00"s
                             "a"
                             "\x20"s,
                             4);
                       }),
                       "middle"));
  EXPECT_TRUE(mentions(error_message([] {
                         decompress(
                             "\x00"s
                             "a"
                             "\xe0\x01"s,
                             20);
                       }),
                       "middle"));
  EXPECT_TRUE(mentions(error_message([] {
                         decompress(
                             "\x02"s
                             "abc",
                             4);
                       }),
                       "expected 4"));
  EXPECT_TRUE(mentions(error_message([] { decompress("", 1); }), "stream"));
}

}  // namespace
}  // namespace sextant
