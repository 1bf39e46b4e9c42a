// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sextant/geometry/cloud.h"

namespace sextant::detail::points {

/// The number types that PLY and PCD files hold.
enum class Scalar : std::uint8_t {
  kInt8,
  kUint8,
  kInt16,
  kUint16,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kFloat32,
  kFloat64
};

std::int64_t size_of(Scalar type);
inline bool is_float(Scalar type) { return type >= Scalar::kFloat32; }
/// Whether a coordinate of this type can be more than a float holds.
inline bool is_finer_than_float(Scalar type) {
  return size_of(type) >= 4 && type != Scalar::kFloat32;
}

/// Calls visit(T{}) with a number of the C++ type that `type` means.
template <class Visit>
decltype(auto) with_type(Scalar type, const Visit& visit) {
  switch (type) {
    case Scalar::kInt8:
      return visit(std::int8_t{});
    case Scalar::kUint8:
      return visit(std::uint8_t{});
    case Scalar::kInt16:
      return visit(std::int16_t{});
    case Scalar::kUint16:
      return visit(std::uint16_t{});
    case Scalar::kInt32:
      return visit(std::int32_t{});
    case Scalar::kUint32:
      return visit(std::uint32_t{});
    case Scalar::kInt64:
      return visit(std::int64_t{});
    case Scalar::kUint64:
      return visit(std::uint64_t{});
    case Scalar::kFloat64:
      return visit(double{});
    default:
      return visit(float{});
  }
}

/// Memory on the host for numbers of a type, the type of numbers, and where they lie.
AttributeValues make_values(Scalar type, std::int64_t count);
Scalar type_of(const AttributeValues& values);
std::byte* bytes_of(AttributeValues& values);
const std::byte* bytes_of(const AttributeValues& values);

/// One field of the record that a file keeps for each point.
struct RecordField {
  std::string name;
  Scalar type = Scalar::kFloat32;
  std::int64_t repeat = 1;  ///< numbers in the field
  bool skipped = false;     ///< padding, or what a Cloud cannot hold

  std::int64_t bytes() const { return repeat * size_of(type); }
};

/// Where the numbers of one field go.
struct FieldSink {
  /// kSame keeps all numbers of the field in their type.
  enum class Kind : std::uint8_t { kNothing, kFloat, kDouble, kColorByte, kPackedColor, kSame };
  Kind kind = Kind::kNothing;
  std::byte* first = nullptr;     ///< of the first point
  std::int64_t stride = 0;        ///< bytes from one point to the next
  double scale = 1.0;             ///< metres per unit for coordinates
  std::uint8_t* alpha = nullptr;  ///< of the first point, for the fourth byte of packed colours
};

/// What a file of points gives.
struct PointParts {
  Cloud cloud;
  Buffer<Vec2f> texture_coordinates;
  bool has_packed_alpha = false;  ///< the last attribute is the fourth byte of packed colours
  Buffer<Vec3d> exact_points;  ///< coordinates that may be finer than floats, until `settle_points`
  Buffer<Vec3f> color_levels;  ///< colours that the file has as floats, until `settle_points`
};

enum class TexturePair { kRecognised, kAttributes };
/// A text shows digits whatever type its header names.
enum class Body { kBinary, kText };

/// Finds by their names which fields are coordinates (x y z), normals (nx ny nz, normal_x ...),
/// colours (red green blue, r g b, diffuse_red ...; rgb or rgba packed in four bytes) and texture
/// coordinates (texture_u texture_v, u v, s t, both floats of one type: a time stamp t beside a
/// count s is none); every other field that is not skipped becomes an attribute of its type.
/// Allocates all parts for `count` points and says where each field goes. Error when there are no
/// coordinates or a name appears twice. `file` is for messages.
std::vector<FieldSink> allocate_points(const std::string& file, std::span<const RecordField> fields,
                                       std::int64_t count, double unit_m, TexturePair texture_pair,
                                       Body body, PointParts& parts);

/// After all numbers are in place: brings coordinates that were finer than floats into the cloud,
/// about an origin where they need one, makes bytes of colours that were floats, and drops an alpha
/// that says nothing.
void settle_points(PointParts& parts);

/// Stores one number that was parsed or converted singly; not for sinks of the kind kSame.
void store_number(const FieldSink& sink, Scalar type, std::int64_t index, double value);

/// A colour level as one byte: floats count from 0 to 1, 16-bit levels from 0 to 65535.
template <class T>
std::uint8_t color_byte(T value) {
  double level = static_cast<double>(value);
  if constexpr (std::is_floating_point_v<T>) level *= 255.0;
  if constexpr (std::is_same_v<T, std::uint16_t>) level /= 257.0;
  if (!(level > 0.0)) return 0;  // NaN too
  return level < 255.0 ? static_cast<std::uint8_t>(level + 0.5) : std::uint8_t{255};
}

/// Colours whose levels count from 0 to 1 or, where one of them is above 1, from 0 to 255.
Buffer<Rgb8> colors_of_levels(std::span<const Vec3f> levels);

/// The colour in the lower three bytes of a packed one; the fourth is undefined in many files.
inline Rgb8 unpack_color(std::uint32_t bits) {
  return {static_cast<std::uint8_t>(bits >> 16), static_cast<std::uint8_t>(bits >> 8),
          static_cast<std::uint8_t>(bits)};
}

}  // namespace sextant::detail::points
