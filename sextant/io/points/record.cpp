// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/points/record.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <unordered_map>

#include "sextant/io/points/origin.h"

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
constexpr const char* kAlpha = "alpha";
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

/// The fields of the first group that is there completely.
template <std::size_t N, std::size_t Groups>
std::optional<std::array<std::size_t, N>> find_group(std::span<const RecordField> fields,
                                                     const Names& names,
                                                     const Group<N> (&groups)[Groups]) {
  for (const Group<N>& group : groups) {
    std::array<std::size_t, N> found{};
    std::size_t present = 0;
    for (const std::string_view name : group) {
      const auto it = names.find(name);
      if (it == names.end() || fields[it->second].repeat != 1) break;
      found[present++] = it->second;
    }
    if (present == N) return found;
  }
  return std::nullopt;
}

/// Points the sinks of these fields, if there are some, at the components of `elements`.
template <std::size_t N, class Vector, class Component>
bool assign_group(const std::optional<std::array<std::size_t, N>>& found, std::int64_t count,
                  Buffer<Vector>& elements, Component* (*component)(Vector*, std::size_t),
                  FieldSink sink, std::vector<FieldSink>& sinks) {
  if (!found) return false;
  elements = Buffer<Vector>(Context::cpu(1), count);
  sink.stride = sizeof(Vector);
  for (std::size_t i = 0; i < N; ++i) {
    // An empty buffer has no memory, and nothing will be stored.
    sink.first = count == 0 ? nullptr : reinterpret_cast<std::byte*>(component(elements.data(), i));
    sinks[(*found)[i]] = sink;
  }
  return true;
}

template <class T>
T* component3(Vec3<T>* v, std::size_t i) {
  return i == 0 ? &v->x : i == 1 ? &v->y : &v->z;
}
float* component2(Vec2f* v, std::size_t i) { return i == 0 ? &v->x : &v->y; }

bool is_packed_color(const RecordField& field) {
  return field.repeat == 1 && (field.name == "rgb" || field.name == "rgba") &&
         (field.type == Scalar::kFloat32 || field.type == Scalar::kUint32 ||
          field.type == Scalar::kInt32);
}

bool are_floats_of_one_type(std::span<const RecordField> fields,
                            std::span<const std::size_t> which) {
  return std::all_of(which.begin(), which.end(), [&](std::size_t i) {
    return is_float(fields[i].type) && fields[i].type == fields[which.front()].type;
  });
}

bool reads_finer_than_float(std::span<const RecordField> fields, const Names& names, Body body) {
  for (const std::string_view name : kPositionNames[0]) {
    const auto it = names.find(name);
    if (it == names.end()) return false;
    if (body == Body::kText || is_finer_than_float(fields[it->second].type)) return true;
  }
  return false;
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

/// The fourth byte of an "rgba" is one more attribute; that of "rgb" is undefined in many files.
void assign_alpha(std::span<const RecordField> fields, const Names& names, std::int64_t count,
                  PointParts& parts, std::vector<FieldSink>& sinks) {
  if (names.contains(kAlpha)) return;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (sinks[i].kind != Kind::kPackedColor || fields[i].name != "rgba" ||
        fields[i].type == Scalar::kFloat32) {
      continue;
    }
    Buffer<std::uint8_t> alpha(Context::cpu(1), count);
    sinks[i].alpha = alpha.data();
    parts.cloud.attributes.push_back({kAlpha, std::move(alpha)});
    parts.has_packed_alpha = true;
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

AttributeValues make_values(Scalar type, std::int64_t count) {
  return with_type(type, [&](auto zero) -> AttributeValues {
    return Buffer<decltype(zero)>(Context::cpu(1), count);
  });
}

Scalar type_of(const AttributeValues& values) {
  constexpr Scalar kTypes[] = {Scalar::kFloat32, Scalar::kFloat64, Scalar::kInt8,  Scalar::kUint8,
                               Scalar::kInt16,   Scalar::kUint16,  Scalar::kInt32, Scalar::kUint32,
                               Scalar::kInt64,   Scalar::kUint64};
  static_assert(std::size(kTypes) == std::variant_size_v<AttributeValues>);
  return kTypes[values.index()];
}

std::byte* bytes_of(AttributeValues& values) {
  return std::visit([](auto& buffer) { return reinterpret_cast<std::byte*>(buffer.data()); },
                    values);
}
const std::byte* bytes_of(const AttributeValues& values) {
  return std::visit([](auto& buffer) { return reinterpret_cast<const std::byte*>(buffer.data()); },
                    values);
}

std::vector<FieldSink> allocate_points(const std::string& file, std::span<const RecordField> fields,
                                       std::int64_t count, double unit_m, TexturePair texture_pair,
                                       Body body, PointParts& parts) {
  const Names names = names_of(file, fields);
  std::vector<FieldSink> sinks(fields.size());
  Cloud& cloud = parts.cloud;
  const bool finer = reads_finer_than_float(fields, names, body);
  const auto position = find_group(fields, names, kPositionNames);
  require(finer ? assign_group(position, count, parts.exact_points, &component3<double>,
                               {.kind = Kind::kDouble, .scale = unit_m}, sinks)
                : assign_group(position, count, cloud.points, &component3<float>,
                               {.kind = Kind::kFloat, .scale = unit_m}, sinks),
          file, ": has no fields x, y and z");
  assign_group(find_group(fields, names, kNormalNames), count, cloud.normals, &component3<float>,
               {.kind = Kind::kFloat}, sinks);
  const auto color = find_group(fields, names, kColorNames);
  if (color && are_floats_of_one_type(fields, *color)) {
    assign_group(color, count, parts.color_levels, &component3<float>, {.kind = Kind::kFloat},
                 sinks);
  } else if (!assign_group(color, count, cloud.colors, &component3<std::uint8_t>,
                           {.kind = Kind::kColorByte}, sinks)) {
    assign_packed_color(fields, count, cloud, sinks);
  }
  const auto texture = find_group(fields, names, kTextureNames);
  if (texture_pair == TexturePair::kRecognised && texture &&
      are_floats_of_one_type(fields, *texture)) {
    assign_group(texture, count, parts.texture_coordinates, &component2, {.kind = Kind::kFloat},
                 sinks);
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const RecordField& field = fields[i];
    if (field.skipped || sinks[i].kind != Kind::kNothing) continue;
    Attribute& attribute = cloud.attributes.emplace_back(
        Attribute{field.name, make_values(field.type, count * field.repeat), field.repeat});
    sinks[i] = {Kind::kSame, bytes_of(attribute.values), field.bytes(), 1.0};
  }
  assign_alpha(fields, names, count, parts, sinks);
  return sinks;
}

void settle_points(PointParts& parts) {
  Cloud& cloud = parts.cloud;
  if (!parts.exact_points.empty()) set_points(cloud, parts.exact_points.host());
  parts.exact_points = {};
  if (!parts.color_levels.empty()) cloud.colors = colors_of_levels(parts.color_levels.host());
  parts.color_levels = {};
  if (!parts.has_packed_alpha) return;
  // Nearly every file has the same fourth byte in all colours, which then says nothing.
  const auto alpha = cloud.attributes.back().get<std::uint8_t>().host();
  const auto all = [&](std::uint8_t byte) {
    return std::all_of(alpha.begin(), alpha.end(), [&](std::uint8_t a) { return a == byte; });
  };
  if (all(0) || all(255)) cloud.attributes.pop_back();
  parts.has_packed_alpha = false;
}

Buffer<Rgb8> colors_of_levels(std::span<const Vec3f> levels) {
  const bool bytes = std::any_of(levels.begin(), levels.end(), [](const Vec3f& level) {
    return level.x > 1.0f || level.y > 1.0f || level.z > 1.0f;
  });
  const float scale = bytes ? 1.0f / 255.0f : 1.0f;
  Buffer<Rgb8> colors(Context::cpu(1), static_cast<std::int64_t>(levels.size()));
  std::transform(levels.begin(), levels.end(), colors.data(), [scale](const Vec3f& level) {
    return Rgb8{color_byte(level.x * scale), color_byte(level.y * scale),
                color_byte(level.z * scale)};
  });
  return colors;
}

void store_number(const FieldSink& sink, Scalar type, std::int64_t index, double value) {
  if (sink.kind == Kind::kNothing) return;
  std::byte* to = sink.first + index * sink.stride;
  if (sink.kind == Kind::kDouble) {
    const double stored = value * sink.scale;
    std::memcpy(to, &stored, sizeof(stored));
  } else if (sink.kind == Kind::kFloat) {
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
    if (sink.alpha) sink.alpha[index] = static_cast<std::uint8_t>(bits >> 24);
  }
}

}  // namespace sextant::detail::points
