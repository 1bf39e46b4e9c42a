// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/descriptor_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "sextant/io/file.h"
#include "tests/error_message.h"
#include "tests/same_geometry.h"
#include "tests/temporary_folder.h"

namespace sextant {
namespace {

using testing::bytes_of;
using testing::error_message;
using testing::mentions;

/// Three descriptors of four numbers.
DescriptorFile dense_file() {
  DescriptorFile file;
  file.kind = DescriptorKind::kShot;
  file.length = 4;
  file.size_m = 0.03f;
  file.resolution_m = 0.002f;
  file.options = R"({"radius_m": 0.03})";
  file.points = {5, -1, 9};
  for (int i = 0; i < 3; ++i) {
    const auto t = static_cast<float>(i);
    file.positions_m.push_back({t, 2 * t, 3 * t});
    file.axes.push_back({{{t, 0, 1}, {0, 1, t}, {1, t, 0}}});
    for (int j = 0; j < 4; ++j) file.values.push_back(10 * t + static_cast<float>(j));
  }
  file.values[5] = NAN;
  return file;
}

DescriptorFile compressed_file() {
  DescriptorFile file = dense_file();
  file.kind = DescriptorKind::kTensor;
  file.partners = {6, 7, 8};
  file.angles_rad = {0.3f, 0.4f, NAN};
  file.sizes = {2, 0, 3};
  file.indices = {1, 3, 0, 1, 2};
  file.values = {0.5f, 0.25f, 1, 2, 3};
  return file;
}

template <class T>
void expect_same(const std::vector<T>& a, const std::vector<T>& b, const char* what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  if (a.empty()) return;
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(T)), 0) << what;
}

void expect_same(const DescriptorFile& a, const DescriptorFile& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.length, b.length);
  EXPECT_EQ(a.size_m, b.size_m);
  EXPECT_EQ(a.resolution_m, b.resolution_m);
  EXPECT_EQ(a.options, b.options);
  expect_same(a.points, b.points, "points");
  expect_same(a.partners, b.partners, "partners");
  expect_same(a.angles_rad, b.angles_rad, "angles");
  expect_same(a.positions_m, b.positions_m, "positions");
  expect_same(a.axes, b.axes, "axes");
  expect_same(a.sizes, b.sizes, "sizes");
  expect_same(a.indices, b.indices, "indices");
  expect_same(a.values, b.values, "values");
}

std::string encoded(const DescriptorFile& file) {
  const testing::TemporaryFolder folder;
  write_descriptor_file(folder / "a.sxd", file);
  return std::string(read_file(folder / "a.sxd").text());
}

DescriptorFile decoded(const std::string& bytes) {
  return read_descriptor_file(bytes_of(bytes), "a.sxd");
}

TEST(DescriptorFile, ComesBack) {
  for (const DescriptorFile& file : {dense_file(), compressed_file()}) {
    expect_same(decoded(encoded(file)), file);
  }
  DescriptorFile empty;
  empty.length = 352;
  expect_same(decoded(encoded(empty)), empty);
  const testing::TemporaryFolder folder;
  write_descriptor_file(folder / "a.sxd", dense_file());
  expect_same(read_descriptor_file(folder / "a.sxd"), dense_file());
}

TEST(DescriptorFile, LiesAsDocumented) {
  const std::string bytes = encoded(dense_file());
  const auto number = [&]<class T>(std::size_t at, T) {
    T value{};
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    return value;
  };
  EXPECT_EQ(bytes.substr(0, 8), "SXTDESCR");
  EXPECT_EQ(number(8, std::uint32_t{}), 1u);    // version
  EXPECT_EQ(number(12, std::uint32_t{}), 2u);   // kind
  EXPECT_EQ(number(16, std::uint64_t{}), 3u);   // count
  EXPECT_EQ(number(24, std::uint64_t{}), 12u);  // elements
  EXPECT_EQ(number(32, std::uint64_t{}), 18u);  // options
  EXPECT_EQ(number(40, std::uint32_t{}), 4u);   // length
  EXPECT_EQ(number(44, std::uint32_t{}), 0u);   // compressed
  EXPECT_EQ(number(48, float{}), 0.03f);
  EXPECT_EQ(number(52, float{}), 0.002f);
  EXPECT_EQ(bytes.substr(64, 18), dense_file().options);
  // Each list begins at a multiple of 8: points at 88, positions at 104, axes at 144, values at 256
  // (144 + 3 x 36 = 252).
  EXPECT_EQ(number(88, std::int32_t{}), 5);
  EXPECT_EQ(number(96, std::int32_t{}), 9);
  EXPECT_EQ(number(104 + 12, float{}), 1.0f);
  EXPECT_EQ(number(144 + 36, float{}), 1.0f);
  EXPECT_EQ(number(256 + 4, float{}), 1.0f);
  EXPECT_EQ(bytes.size(), 256u + 48u);
}

TEST(DescriptorFile, CompressedBecomesDense) {
  const std::vector<float> expected{0, 0.5f, 0, 0.25f, 0, 0, 0, 0, 1, 2, 3, 0};
  EXPECT_EQ(dense_values(compressed_file()), expected);
  EXPECT_EQ(dense_values(dense_file()).size(), 12u);
  EXPECT_EQ(name_of(dense_file()), "shot4");
  EXPECT_EQ(name_of(compressed_file()), "tensor4");
}

TEST(DescriptorFile, CutShortAnywhereIsRefused) {
  for (const DescriptorFile& file : {dense_file(), compressed_file()}) {
    const std::string bytes = encoded(file);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_TRUE(mentions(error_message([&] { decoded(bytes.substr(0, size)); }), "a.sxd"));
    }
    error_message([&] { decoded(bytes + "x"); });
  }
}

/// The complaint when `size` bytes at `at` are overwritten with a number.
template <class T>
std::string complaint(const DescriptorFile& file, std::size_t at, T number) {
  std::string bytes = encoded(file);
  std::memcpy(bytes.data() + at, &number, sizeof(T));
  return error_message([&] { decoded(bytes); });
}

TEST(DescriptorFile, DamagedHeadersAreRefused) {
  const DescriptorFile file = dense_file();
  EXPECT_TRUE(mentions(complaint(file, 0, 'X'), "sextant describe"));
  const std::string version = complaint(file, 8, std::uint32_t{7});
  EXPECT_TRUE(mentions(version, "version 7"));
  EXPECT_TRUE(mentions(version, "version 1"));
  EXPECT_TRUE(mentions(complaint(file, 12, std::uint32_t{99}), "kind 99"));
  // Sizes that no memory has: refused before anything is set aside.
  for (const std::size_t at : {16u, 24u}) {
    for (const std::uint64_t many : {~std::uint64_t{0}, std::uint64_t{1} << 62}) {
      EXPECT_TRUE(mentions(complaint(file, at, many), "cut short"));
    }
  }
  EXPECT_TRUE(mentions(complaint(file, 16, std::uint64_t{2}), "bytes"));
  EXPECT_TRUE(mentions(complaint(file, 32, ~std::uint64_t{0}), "damaged"));
  EXPECT_TRUE(mentions(complaint(file, 40, std::uint32_t{0}), "damaged"));
  EXPECT_TRUE(mentions(complaint(file, 44, std::uint32_t{2}), "damaged"));
  EXPECT_TRUE(mentions(complaint(file, 56, std::uint64_t{1}), "damaged"));
  EXPECT_TRUE(mentions(complaint(file, 64, '['), "a.sxd"));
  EXPECT_TRUE(mentions(complaint(file, 88, std::int32_t{-2}), "point -2"));
}

TEST(DescriptorFile, ListsThatDoNotFitAreNotWritten) {
  const testing::TemporaryFolder folder;
  const auto refused = [&](DescriptorFile file, const std::function<void(DescriptorFile&)>& spoil) {
    spoil(file);
    const std::string message =
        error_message([&] { write_descriptor_file(folder / "a.sxd", file); });
    EXPECT_TRUE(mentions(message, "a.sxd"));
    EXPECT_FALSE(std::filesystem::exists(folder / "a.sxd"));
  };
  refused(dense_file(), [](DescriptorFile& f) { f.values.pop_back(); });
  refused(dense_file(), [](DescriptorFile& f) { f.axes.pop_back(); });
  refused(dense_file(), [](DescriptorFile& f) { f.partners = {1, 2, 3}; });
  refused(dense_file(), [](DescriptorFile& f) { f.length = 0; });
  refused(dense_file(), [](DescriptorFile& f) { f.options = "[]"; });
  refused(dense_file(), [](DescriptorFile& f) { f.options = "{"; });
  refused(dense_file(), [](DescriptorFile& f) { f.kind = static_cast<DescriptorKind>(0); });
  refused(compressed_file(), [](DescriptorFile& f) { f.indices[1] = 4; });
  refused(compressed_file(), [](DescriptorFile& f) { f.indices[1] = 1; });
  refused(compressed_file(), [](DescriptorFile& f) { f.sizes = {2, 0, 2}; });
  refused(compressed_file(), [](DescriptorFile& f) { f.sizes = {2, -1, 4}; });
  refused(compressed_file(), [](DescriptorFile& f) { f.sizes = {2, 0, 4}; });
  refused(compressed_file(), [](DescriptorFile& f) { f.length = 70000; });
  refused(compressed_file(), [](DescriptorFile& f) { f.angles_rad.clear(); });
}

}  // namespace
}  // namespace sextant
