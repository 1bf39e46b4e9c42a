// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/points/record.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_map>

namespace sextant::detail::points {

namespace {

using Kind = FieldSink::Kind;
using Names = std::unordered_map<std::string_view, std::size_t>;

template <std::size_t N>
using Group = std::array<std::string_view, N>;

constexpr Group<3> kPositionNames[] = {{"x", "y", "z"}};
constexpr Group<3> kNormalNames[] = {{"nx", "ny", "nz"}, {"normal_x", "normal_y", "normal_z"}};
constexpr Group<3> kColorNames[] = {
    {"red", "green", "blue"}, {"r", "g", "b"}, {"diffuse_red", "diffuse_green", "diffuse_blue"}};
constexpr Group<2> kTextureNames[] = {{"texture_u", "texture_v"}, {"u", "v"}, {"s", "t"}};

Names names_of(const std::string& file, std::span<const RecordField> fields) {
  Names names;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].skipped) continue;
    require(names.emplace(fields[i].name, i).second, file, ": the field '", fields[i].name,
            "' appears twice");
  }
  return names;
}

/// Points the sinks of the first group that is there completely at the components of `elements`.
template <std::size_t N, std::size_t Groups, class Vector, class Component>
bool assign_group(const Names& names, const Group<N> (&groups)[Groups], std::int64_t count,
                  Buffer<Vector>& elements, Component* (*component)(Vector*, std::size_t),
                  FieldSink sink, std::vector<FieldSink>& sinks) {
  for (const Group<N>& group : groups) {
    std::array<std::size_t, N> found{};
    std::size_t present = 0;
    for (const std::string_view name : group) {
      const auto it = names.find(name);
      if (it == names.end()) break;
      found[present++] = it->second;
    }
    if (present < N) continue;
    elements = Buffer<Vector>(Context::cpu(1), count);
    sink.stride = sizeof(Vector);
    for (std::size_t i = 0; i < N; ++i) {
      // An empty buffer has no memory, and nothing will be stored.
      sink.first =
          count == 0 ? nullptr : reinterpret_cast<std::byte*>(component(elements.data(), i));
      sinks[found[i]] = sink;
    }
    return true;
  }
  return false;
}

template <class T>
T* component3(Vec3<T>* v, std::size_t i) {
  return i == 0 ? &v->x : i == 1 ? &v->y : &v->z;
}
float* component2(Vec2f* v, std::size_t i) { return i == 0 ? &v->x : &v->y; }

bool is_packed_color(const RecordField& field) {
  return (field.name == "rgb" || field.name == "rgba") &&
         (field.type == Scalar::kFloat32 || field.type == Scalar::kUint32 ||
          field.type == Scalar::kInt32);
}

void assign_packed_color(std::span<const RecordField> fields, std::int64_t count, Cloud& cloud,
                         std::vector<FieldSink>& sinks) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].skipped || !is_packed_color(fields[i])) continue;
    cloud.colors = Buffer<Rgb8>(Context::cpu(1), count);
    sinks[i] = {Kind::kPackedColor, reinterpret_cast<std::byte*>(cloud.colors.data()), sizeof(Rgb8),
                1.0};
    return;
  }
}

}  // namespace

std::int64_t size_of(Scalar type) {
  switch (type) {
    case Scalar::kInt8:
    case Scalar::kUint8:
      return 1;
    case Scalar::kInt16:
    case Scalar::kUint16:
      return 2;
    case Scalar::kInt64:
    case Scalar::kUint64:
    case Scalar::kFloat64:
      return 8;
    default:
      return 4;
  }
}

std::vector<FieldSink> allocate_points(const std::string& file, std::span<const RecordField> fields,
                                       std::int64_t count, double unit_m, TexturePair texture_pair,
                                       PointParts& parts) {
  const Names names = names_of(file, fields);
  std::vector<FieldSink> sinks(fields.size());
  Cloud& cloud = parts.cloud;
  require(assign_group(names, kPositionNames, count, cloud.points, &component3<float>,
                       {.kind = Kind::kFloat, .scale = unit_m}, sinks),
          file, ": has no fields x, y and z");
  assign_group(names, kNormalNames, count, cloud.normals, &component3<float>,
               {.kind = Kind::kFloat}, sinks);
  if (!assign_group(names, kColorNames, count, cloud.colors, &component3<std::uint8_t>,
                    {.kind = Kind::kColorByte}, sinks)) {
    assign_packed_color(fields, count, cloud, sinks);
  }
  if (texture_pair == TexturePair::kRecognised) {
    assign_group(names, kTextureNames, count, parts.texture_coordinates, &component2,
                 {.kind = Kind::kFloat}, sinks);
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].skipped || sinks[i].kind != Kind::kNothing) continue;
    Attribute& attribute = cloud.attributes.emplace_back(
        Attribute{fields[i].name, Buffer<float>(Context::cpu(1), count)});
    sinks[i] = {Kind::kFloat, reinterpret_cast<std::byte*>(attribute.values.data()), sizeof(float),
                1.0};
  }
  return sinks;
}

void store_number(const FieldSink& sink, Scalar type, std::int64_t index, double value) {
  if (sink.kind == Kind::kNothing) return;
  std::byte* to = sink.first + index * sink.stride;
  if (sink.kind == Kind::kFloat) {
    const float stored = static_cast<float>(sink.scale == 1.0 ? value : value * sink.scale);
    std::memcpy(to, &stored, sizeof(stored));
  } else if (sink.kind == Kind::kColorByte) {
    const std::uint8_t level = is_float(type)            ? color_byte(value)
                               : type == Scalar::kUint16 ? color_byte(value / 65535.0)
                                                         : color_byte(value / 255.0);
    *to = std::byte{level};
  } else {
    std::uint32_t bits = 0;
    if (type == Scalar::kFloat32) {
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    } else if (value >= std::numeric_limits<std::int32_t>::min() &&
               value <= std::numeric_limits<std::uint32_t>::max()) {
      bits = static_cast<std::uint32_t>(static_cast<std::int64_t>(value));
    }
    const Rgb8 color = unpack_color(bits);
    std::memcpy(to, &color, sizeof(color));
  }
}

}  // namespace sextant::detail::points
