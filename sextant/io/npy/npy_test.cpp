// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/npy.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numeric>

#include "sextant/io/file.h"
#include "tests/error_message.h"
#include "tests/same_geometry.h"
#include "tests/temporary_folder.h"

namespace sextant {
namespace {

using testing::bytes_of;
using testing::error_message;
using testing::mentions;
using namespace std::string_literals;

/// A file as NumPy writes it, its header filled up to 128 bytes with what comes before.
std::string npy(std::string header, const std::string& numbers = {}) {
  header.resize(117, ' ');
  return "\x93NUMPY\x01\x00\x76\x00"s + header + "\n" + numbers;
}

std::string text(const FileBytes& bytes) { return std::string(bytes.text()); }

TEST(Npy, WritesTheFormatByHand) {
  const testing::TemporaryFolder folder;
  const std::vector<std::uint8_t> values{1, 2, 3, 4, 5, 6};
  write_npy<std::uint8_t>(folder / "a.npy", values, std::vector<std::int64_t>{2, 3});
  const std::string expected =
      "\x93NUMPY\x01\x00\x76\x00"s
      "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }"s;
  const std::string written = text(read_file(folder / "a.npy"));
  ASSERT_EQ(written.size(), 128u + values.size());
  EXPECT_EQ(written.substr(0, expected.size()), expected);
  EXPECT_EQ(written.substr(expected.size(), 128 - expected.size()),
            std::string(127 - expected.size(), ' ') + "\n");
  EXPECT_EQ(written.substr(128), "\1\2\3\4\5\6");
  // One dimension is a tuple of one in Python, and a single number has none.
  write_npy<float>(folder / "b.npy", std::vector<float>(5), std::vector<std::int64_t>{5});
  EXPECT_NE(text(read_file(folder / "b.npy")).find("'<f4'"), std::string::npos);
  EXPECT_NE(text(read_file(folder / "b.npy")).find("(5,), }"), std::string::npos);
  write_npy<std::int32_t>(folder / "c.npy", std::vector<std::int32_t>(1), {});
  EXPECT_NE(text(read_file(folder / "c.npy")).find("'<i4', 'fortran_order': False, 'shape': (), }"),
            std::string::npos);
}

template <class T>
void expect_round_trip(const NpyArray<T>& array) {
  const testing::TemporaryFolder folder;
  write_npy(folder / "a.npy", array);
  const NpyArray<T> read = read_npy<T>(folder / "a.npy");
  EXPECT_EQ(read.shape, array.shape);
  ASSERT_EQ(read.values.size(), array.values.size());
  for (std::size_t i = 0; i < read.values.size(); ++i) {
    ASSERT_EQ(std::memcmp(&read.values[i], &array.values[i], sizeof(T)), 0) << i;
  }
}

TEST(Npy, ComesBack) {
  expect_round_trip<float>({{2, 3}, {0, -0.0f, NAN, INFINITY, 1e-45f, 3.25f}});
  expect_round_trip<float>({{}, {7}});
  expect_round_trip<float>({{0, 352}, {}});
  expect_round_trip<std::int32_t>({{4}, {-1, 0, 2147483647, -2147483647 - 1}});
  NpyArray<std::uint8_t> large{{7, 11, 13, 17}, std::vector<std::uint8_t>(7 * 11 * 13 * 17)};
  std::iota(large.values.begin(), large.values.end(), std::uint8_t{0});
  expect_round_trip(large);
}

TEST(Npy, ReadsWhatPythonMayWrite) {
  for (const char* header : {"{'shape': (2,), 'fortran_order': False, 'descr': '<i4'}",
                             "{\"descr\":\"<i4\",\"fortran_order\":False,\"shape\":( 2 , ),}",
                             "{ 'descr' : '<i4' , 'fortran_order' : False , 'shape' : (1,2) , }"}) {
    const auto read =
        read_npy<std::int32_t>(bytes_of(npy(header, "\1\0\0\0\xff\xff\xff\xff"s)), "a");
    EXPECT_EQ(read.values, (std::vector<std::int32_t>{1, -1})) << header;
  }
  const std::string byte = npy("{'descr': '<u1', 'fortran_order': False, 'shape': (), }", "\7");
  EXPECT_EQ(read_npy<std::uint8_t>(bytes_of(byte), "a").values.at(0), 7);
}

/// The complaint about a header with four bytes of numbers.
std::string complaint(const std::string& header) {
  const std::string file = npy(header, "\0\0\0\0"s);
  return error_message([&] { read_npy<float>(bytes_of(file), "x.npy"); });
}

TEST(Npy, RefusesWithTheRemedy) {
  const auto with = [](const std::string& code, const std::string& order,
                       const std::string& shape) {
    return "{'descr': " + code + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  };
  EXPECT_TRUE(mentions(complaint(with("'<f4'", "True", "(1,)")), "ascontiguousarray"));
  EXPECT_TRUE(mentions(complaint(with("'>f4'", "False", "(1,)")), "astype('<f4')"));
  EXPECT_TRUE(mentions(complaint(with("'<f8'", "False", "(1,)")), "float32"));
  EXPECT_TRUE(mentions(complaint(with("'<f4'", "False", "(2,)")), "cut short"));
  EXPECT_TRUE(mentions(complaint(with("'<f4'", "False", "(0,)")), "after the array"));
  EXPECT_TRUE(mentions(complaint(with("'<f4'", "False", "(-1,)")), "no size"));
  EXPECT_TRUE(mentions(complaint(with("'<f4'", "Maybe", "(1,)")), "True"));
  EXPECT_TRUE(mentions(complaint(with("[('x', '<f4')]", "False", "(1,)")), "header"));
  // Products beyond any integer are more than the file has room for.
  EXPECT_TRUE(mentions(complaint(with("'<f4'", "False", "(4294967296, 4294967296, 4294967296)")),
                       "cut short"));
  EXPECT_TRUE(mentions(complaint(with("'<f4'", "False", "(99999999999999999999,)")), "no size"));
  for (const char* header :
       {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'descr': '<f4'}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 1}", "{'descr: <f4}"}) {
    EXPECT_TRUE(mentions(complaint(header), "numpy.save")) << header;
  }
  const std::string good = npy(with("'<f4'", "False", "(1,)"), "\0\0\0\0"s);
  ASSERT_EQ(read_npy<float>(bytes_of(good), "x").values.size(), 1u);
  for (std::size_t size = 0; size < good.size(); ++size) {
    error_message([&] { read_npy<float>(bytes_of(good.substr(0, size)), "x.npy"); });
  }
  std::string version = good;
  version[6] = 2;
  EXPECT_TRUE(mentions(error_message([&] { read_npy<float>(bytes_of(version), "x"); }), "2.0"));
}

TEST(Npy, ShapesMustFit) {
  const testing::TemporaryFolder folder;
  const std::vector<float> values(6);
  for (const std::vector<std::int64_t>& shape :
       std::vector<std::vector<std::int64_t>>{{5}, {2, 4}, {-2, -3}, {0, 6}, {}}) {
    EXPECT_TRUE(mentions(error_message([&] { write_npy<float>(folder / "a.npy", values, shape); }),
                         "6 numbers"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "a.npy"));
}

}  // namespace
}  // namespace sextant
