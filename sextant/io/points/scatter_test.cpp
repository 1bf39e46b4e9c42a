// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/points/scatter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "sextant/core/random.h"
#include "tests/devices.h"
#include "tests/error_message.h"
#include "tests/same_geometry.h"

namespace sextant::detail::points {
namespace {

using sextant::testing::error_message;
using sextant::testing::expect_same;
using sextant::testing::expect_same_bits;
using sextant::testing::mentions;

constexpr Scalar kAllTypes[] = {Scalar::kInt8,    Scalar::kUint8,  Scalar::kInt16, Scalar::kUint16,
                                Scalar::kInt32,   Scalar::kUint32, Scalar::kInt64, Scalar::kUint64,
                                Scalar::kFloat32, Scalar::kFloat64};

template <class T>
double put(std::byte* to, double value, bool swap) {
  const T stored = static_cast<T>(value);
  std::memcpy(to, &stored, sizeof(T));
  if (swap) std::reverse(to, to + sizeof(T));
  return static_cast<double>(stored);
}

/// Stores a number in the file's form and returns what it became.
double put(Scalar type, std::byte* to, double value, bool swap) {
  switch (type) {
    case Scalar::kInt8:
      return put<std::int8_t>(to, value, swap);
    case Scalar::kUint8:
      return put<std::uint8_t>(to, value, swap);
    case Scalar::kInt16:
      return put<std::int16_t>(to, value, swap);
    case Scalar::kUint16:
      return put<std::uint16_t>(to, value, swap);
    case Scalar::kInt32:
      return put<std::int32_t>(to, value, swap);
    case Scalar::kUint32:
      return put<std::uint32_t>(to, value, swap);
    case Scalar::kInt64:
      return put<std::int64_t>(to, value, swap);
    case Scalar::kUint64:
      return put<std::uint64_t>(to, value, swap);
    case Scalar::kFloat32:
      return put<float>(to, value, swap);
    case Scalar::kFloat64:
      return put<double>(to, value, swap);
  }
  return 0;
}

/// Coordinates, colours and more in a random order with random types and padding between.
std::vector<RecordField> random_fields(const Random& random, bool packed) {
  std::vector<RecordField> fields;
  std::uint64_t draw = 0;
  const auto any_type = [&] { return kAllTypes[random.below(10, ++draw)]; };
  for (const char* name : {"x", "y", "z", "nx", "ny", "nz", "u", "v", "label"}) {
    fields.push_back({name, random.below(2, ++draw) ? Scalar::kFloat32 : any_type(), 1, false});
  }
  if (packed) {
    fields.push_back(
        {"rgba", random.below(2, ++draw) ? Scalar::kUint32 : Scalar::kInt32, 1, false});
  } else {
    for (const char* name : {"red", "green", "blue"}) {
      fields.push_back({name, random.below(2, ++draw) ? Scalar::kUint8 : any_type(), 1, false});
    }
  }
  fields.push_back({"hist", any_type(), 1 + random.below(4, ++draw), false});
  fields.push_back({"_", Scalar::kInt16, static_cast<std::int64_t>(random.below(5, ++draw)), true});
  if (random.below(2, ++draw)) {
    for (std::size_t i = fields.size() - 1; i > 0; --i) {
      std::swap(fields[i], fields[random.below(static_cast<std::uint32_t>(i + 1), ++draw)]);
    }
  }
  return fields;
}

/// Numbers that the type holds and, for colours, that do not all end up white.
double largest_value(const RecordField& field) {
  const bool is_color = field.name == "red" || field.name == "green" || field.name == "blue";
  if (is_color && is_float(field.type)) return 1.1;
  if (field.type == Scalar::kUint16 || field.name == "rgba") return 60000;
  return 120;
}

TEST(RecordScatter, MovesEveryTypeAndLayoutAsStoringNumbersSinglyDoes) {
  const std::uint64_t seed = sextant::testing::seed_of_test();
  constexpr std::int64_t kCount = 37;
  for (std::uint64_t round = 0; round < 400; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const Random random{seed, round};
    const bool swap = round % 2, arrays = round % 4 >= 2, packed = round % 8 >= 4;
    const double unit_m = round % 3 == 0 ? 0.001 : 1.0;
    const std::vector<RecordField> fields = random_fields(random, packed);
    PointParts expected, actual;
    const auto sinks = allocate_points("file", fields, kCount, unit_m, TexturePair::kRecognised,
                                       Body::kBinary, expected);
    const auto places = arrays ? places_in_arrays(fields, kCount) : places_in_records(fields);
    std::vector<std::byte> block(static_cast<std::size_t>(kCount * record_bytes(fields)));
    for (std::size_t f = 0; f < fields.size(); ++f) {
      if (fields[f].skipped) continue;
      for (std::int64_t i = 0; i < kCount; ++i) {
        for (std::int64_t k = 0; k < fields[f].repeat; ++k) {
          const double share = random.uniform(1000 + (f * 4 + k) * kCount + i);
          const double value = share * largest_value(fields[f]);
          const std::int64_t at = k * size_of(fields[f].type);
          std::byte* to = block.data() + places[f].offset + i * places[f].stride + at;
          const double stored = put(fields[f].type, to, value, swap);
          if (sinks[f].kind == FieldSink::Kind::kSame) {
            put(fields[f].type, sinks[f].first + i * sinks[f].stride + at, value, false);
          } else {
            store_number(sinks[f], fields[f].type, i, stored);
          }
        }
      }
    }
    const auto targets = allocate_points("file", fields, kCount, unit_m, TexturePair::kRecognised,
                                         Body::kBinary, actual);
    const RecordScatter scatter(fields, targets, places, swap);
    scatter(block.data(), 0, 0, 20);
    scatter(block.data(), 20, 20, kCount - 20);
    expect_same(expected.cloud, actual.cloud);
    expect_same_bits(expected.texture_coordinates, actual.texture_coordinates, "uv");
    expect_same_bits(expected.exact_points, actual.exact_points, "exact point");
    expect_same_bits(expected.color_levels, actual.color_levels, "colour level");
    if (HasFatalFailure()) return;
  }
}

TEST(RecordScatter, ReadsPlainCoordinatesInPlace) {
  const std::vector<RecordField> fields{{"x"}, {"y"}, {"z"}};
  PointParts parts;
  const auto sinks =
      allocate_points("file", fields, 5, 1.0, TexturePair::kRecognised, Body::kBinary, parts);
  const RecordScatter plain(fields, sinks, places_in_records(fields), false);
  EXPECT_EQ(plain.direct_target(12), reinterpret_cast<std::byte*>(parts.cloud.points.data()));
  const RecordScatter swapped(fields, sinks, places_in_records(fields), true);
  EXPECT_EQ(swapped.direct_target(12), nullptr);
  const auto scaled =
      allocate_points("file", fields, 5, 0.001, TexturePair::kRecognised, Body::kBinary, parts);
  EXPECT_EQ(RecordScatter(fields, scaled, places_in_records(fields), false).direct_target(12),
            nullptr);
}

TEST(PointRecord, ColourLevelsOfEveryType) {
  EXPECT_EQ(color_byte(0.5f), 128);
  EXPECT_EQ(color_byte(1.0), 255);
  EXPECT_EQ(color_byte(7.0f), 255);
  EXPECT_EQ(color_byte(-1.0f), 0);
  EXPECT_EQ(color_byte(NAN), 0);
  EXPECT_EQ(color_byte(std::int32_t{200}), 200);
  EXPECT_EQ(color_byte(std::int32_t{-1}), 0);
  EXPECT_EQ(color_byte(std::uint64_t{1} << 40), 255);
  EXPECT_EQ(color_byte(std::uint16_t{65535}), 255);
  EXPECT_EQ(color_byte(std::uint16_t{257 * 17}), 17);
}

TEST(PointRecord, FloatLevelsCountToOneOrTo255) {
  const Vec3f to_one[] = {{0, 0.5f, 1}, {NAN, -1, 0.2f}};
  EXPECT_EQ(colors_of_levels(to_one).host()[0], (Rgb8{0, 128, 255}));
  EXPECT_EQ(colors_of_levels(to_one).host()[1], (Rgb8{0, 0, 51}));
  const Vec3f to_255[] = {{0, 0.5f, 1}, {128, 64, 300}};
  EXPECT_EQ(colors_of_levels(to_255).host()[0], (Rgb8{0, 1, 1}));
  EXPECT_EQ(colors_of_levels(to_255).host()[1], (Rgb8{128, 64, 255}));
}

// A cloud of a LiDAR may have time stamps t and counts s.
TEST(PointRecord, TextureCoordinatesAreFloatsOfOneType) {
  PointParts parts;
  const std::vector<RecordField> fields{
      {"x"}, {"y"}, {"z"}, {"s", Scalar::kInt16}, {"t", Scalar::kFloat64}};
  allocate_points("file", fields, 2, 1.0, TexturePair::kRecognised, Body::kBinary, parts);
  EXPECT_TRUE(parts.texture_coordinates.empty());
  EXPECT_EQ(parts.cloud.attributes.size(), 2u);
}

TEST(PointRecord, GroupsMustBeCompleteAndTheFirstOneWins) {
  PointParts parts;
  const std::vector<RecordField> fields{{"x"}, {"y"}, {"z"}, {"nx"}, {"ny"},
                                        {"u"}, {"v"}, {"s"}, {"t"}};
  allocate_points("file", fields, 2, 1.0, TexturePair::kRecognised, Body::kBinary, parts);
  EXPECT_TRUE(parts.cloud.normals.empty());
  EXPECT_EQ(parts.texture_coordinates.size(), 2);
  std::string names;
  for (const Attribute& attribute : parts.cloud.attributes) names += attribute.name + " ";
  EXPECT_EQ(names, "nx ny s t ");
}

TEST(PointRecord, RefusesMissingCoordinatesAndDoubleNames) {
  PointParts parts;
  const std::vector<RecordField> flat{{"x"}, {"y"}};
  EXPECT_TRUE(mentions(error_message([&] {
                         allocate_points("a.ply", flat, 1, 1.0, TexturePair::kRecognised,
                                         Body::kBinary, parts);
                       }),
                       "a.ply: has no fields x, y and z"));
  const std::vector<RecordField> twice{{"x"}, {"y"}, {"z"}, {"k"}, {"k"}};
  EXPECT_TRUE(mentions(error_message([&] {
                         allocate_points("a.ply", twice, 1, 1.0, TexturePair::kRecognised,
                                         Body::kBinary, parts);
                       }),
                       "'k' appears twice"));
}

}  // namespace
}  // namespace sextant::detail::points
