// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/text/scanner.h"

#include <gtest/gtest.h>

#include "tests/error_message.h"

namespace sextant::detail::text {
namespace {

using sextant::testing::error_message;
using sextant::testing::mentions;

float parse_float(const char* text) { return TextScanner(text, "file").number<float>("x"); }

TEST(TextScanner, ReadsEveryFormOfNumber) {
  EXPECT_EQ(parse_float("1.5"), 1.5f);
  EXPECT_EQ(parse_float("+1.5"), 1.5f);
  EXPECT_EQ(parse_float("-.25"), -0.25f);
  EXPECT_EQ(parse_float("3."), 3.0f);
  EXPECT_EQ(parse_float("2E3"), 2000.0f);
  EXPECT_EQ(parse_float("1e-45"), 1e-45f);  // the smallest float there is
  for (const char* nan : {"nan", "NaN", "NAN", "-nan", "+nan"}) {
    EXPECT_TRUE(std::isnan(parse_float(nan))) << nan;
  }
  for (const char* inf : {"inf", "Inf", "+INF", "infinity"}) {
    EXPECT_EQ(parse_float(inf), INFINITY) << inf;
  }
  EXPECT_EQ(parse_float("-inf"), -INFINITY);
}

TEST(TextScanner, RoundsDecimalsToTheNearestFloat) {
  // Lies just above the middle of two floats; by way of a double it would be rounded down.
  EXPECT_EQ(parse_float("1.00000005960464477540"), 1.0f + 1.1920929e-7f);
}

TEST(TextScanner, NumbersTooSmallAreZeroAndTooLargeAreErrors) {
  EXPECT_EQ(parse_float("1e-400"), 0.0f);
  EXPECT_TRUE(std::signbit(parse_float("-1e-400")));
  const std::string tiny = "0." + std::string(400, '0') + "1";
  EXPECT_EQ(parse_float(tiny.c_str()), 0.0f);
  EXPECT_TRUE(mentions(error_message([] { parse_float("1e400"); }), "1e400"));
  EXPECT_TRUE(mentions(error_message([] { parse_float(std::string(400, '9').c_str()); }), "999"));
}

TEST(TextScanner, RefusesWhatOnlyStartsAsANumber) {
  for (const char* text : {"12abc", "1,5", "+-1", "++1", "0x10", "-", "+", ".", "e5", "1.2.3"}) {
    EXPECT_TRUE(mentions(error_message([&] { parse_float(text); }), "expected a number for x"))
        << text;
  }
}

TEST(TextScanner, ErrorsNameFileLineAndWord) {
  TextScanner text("1 2\r\n\r\n3 oops\n", "some.txt", 10);
  EXPECT_EQ(text.number<int>("a"), 1);
  EXPECT_EQ(text.number<int>("a"), 2);
  EXPECT_TRUE(mentions(error_message([&] { text.number<int>("a"); }), "the line ends"));
  text.finish_line();
  EXPECT_TRUE(text.skip_space());
  EXPECT_EQ(text.number<int>("a"), 3);
  const std::string message = error_message([&] { text.number<int>("the width"); });
  EXPECT_EQ(message, "some.txt: line 12: expected a number for the width, found 'oops'");
}

TEST(TextScanner, CutsAndCleansWordsInMessages) {
  std::string word(1000, 'x');
  word += "\x01\xff";
  const std::string message = error_message([&] { parse_float(word.c_str()); });
  EXPECT_LT(message.size(), 120u);
  EXPECT_TRUE(mentions(message, "xxx..."));
  EXPECT_TRUE(mentions(error_message([&] { parse_float("\x01\xff"); }), "found '?"));
}

TEST(TextScanner, WalksByWordAndLine) {
  TextScanner text("  key  some words \t\r\nnext\n", "file");
  EXPECT_EQ(text.word(), "key");
  EXPECT_EQ(text.rest_of_line(), "some words");
  EXPECT_TRUE(text.at_line_end());
  EXPECT_EQ(text.word(), "");
  text.next_line();
  EXPECT_FALSE(text.at_line_end());
  EXPECT_TRUE(mentions(error_message([&] { text.finish_line(); }), "found 'next'"));
  text.finish_line();
  EXPECT_FALSE(text.skip_space());
  EXPECT_EQ(text.word(), "");
  EXPECT_TRUE(mentions(error_message([&] { text.number<int>("a"); }), "the file ends"));
}

}  // namespace
}  // namespace sextant::detail::text
