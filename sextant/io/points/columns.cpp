// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/points/columns.h"

#include <algorithm>
#include <cstring>

#include "sextant/io/mesh/host_parts.h"
#include "sextant/io/points/origin.h"

namespace sextant::detail::points {

namespace {

template <class T>
void copy_column(const Column& column, std::int64_t first, std::int64_t count, std::byte* to,
                 std::int64_t to_stride, bool swap_bytes) {
  constexpr std::int64_t kBytes = sizeof(T);
  const std::byte* from = column.first + first * column.stride;
  for (std::int64_t i = 0; i < count; ++i, from += column.stride, to += to_stride) {
    if (!swap_bytes && column.count == 1) {
      std::memcpy(to, from, sizeof(T));
    } else if (!swap_bytes) {
      std::memcpy(to, from, static_cast<std::size_t>(column.bytes()));
    } else {
      for (std::int64_t at = 0; at < column.bytes(); at += kBytes) {
        std::reverse_copy(from + at, from + at + kBytes, to + at);
      }
    }
  }
}

void copy_column(const Column& column, std::int64_t first, std::int64_t count, std::byte* to,
                 std::int64_t to_stride, bool swap_bytes) {
  with_type(column.type, [&](auto zero) {
    copy_column<decltype(zero)>(column, first, count, to, to_stride, swap_bytes);
  });
}

/// A column that has the same number for every point.
Column constant_column(Scalar type, const std::uint32_t& number) {
  return {"", type, reinterpret_cast<const std::byte*>(&number), 0};
}

}  // namespace

void PointColumns::add_column(std::string name, Scalar type, const void* first, std::int64_t stride,
                              std::int64_t count) {
  mesh::require_plain_name(file_, name);
  for (const Column& column : columns_) {
    require(column.name != name, file_, ": the attribute '", text::shown(name),
            "' has the name of another field; rename it");
  }
  columns_.push_back({std::move(name), type, static_cast<const std::byte*>(first), stride, count});
}

template <class T, class Convert>
void PointColumns::add_converted(std::string name, Scalar type, std::int64_t count,
                                 const Convert& convert) {
  auto numbers = std::make_shared<std::vector<T>>(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < numbers->size(); ++i) (*numbers)[i] = convert(i);
  add_column(std::move(name), type, numbers->data(), sizeof(T));
  converted_.push_back(std::move(numbers));
}

void PointColumns::add(const Buffer<Vec3f>& vectors, const char* x, const char* y, const char* z) {
  const Vec3f* first = vectors.data();
  const char* names[] = {x, y, z};
  for (std::size_t i = 0; i < 3; ++i) {
    add_column(names[i], Scalar::kFloat32,
               first ? reinterpret_cast<const float*>(first) + i : nullptr, sizeof(Vec3f));
  }
}

void PointColumns::add(const Buffer<Vec2f>& vectors, const char* x, const char* y) {
  const Vec2f* first = vectors.data();
  const char* names[] = {x, y};
  for (std::size_t i = 0; i < 2; ++i) {
    add_column(names[i], Scalar::kFloat32,
               first ? reinterpret_cast<const float*>(first) + i : nullptr, sizeof(Vec2f));
  }
}

void PointColumns::add(const Buffer<Rgb8>& colors, const char* red, const char* green,
                       const char* blue) {
  const Rgb8* first = colors.data();
  const char* names[] = {red, green, blue};
  for (std::size_t i = 0; i < 3; ++i) {
    add_column(names[i], Scalar::kUint8,
               first ? reinterpret_cast<const std::uint8_t*>(first) + i : nullptr, sizeof(Rgb8));
  }
}

void PointColumns::add_points(const Cloud& cloud) {
  if (!has_origin(cloud)) return add(cloud.points, "x", "y", "z");
  const char* names[] = {"x", "y", "z"};
  double Vec3d::*const axes[] = {&Vec3d::x, &Vec3d::y, &Vec3d::z};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    add_converted<double>(names[axis], Scalar::kFloat64, cloud.size(), [&](std::size_t i) {
      return in_file(cloud, cloud.points.data()[i]).*axes[axis];
    });
  }
}

void PointColumns::add_packed(const Buffer<Rgb8>& colors, const Buffer<std::uint8_t>* alpha) {
  add_converted<std::uint32_t>(
      alpha ? "rgba" : "rgb", Scalar::kUint32, colors.size(), [&](std::size_t i) {
        const Rgb8 c = colors.data()[i];
        const std::uint32_t a = alpha ? alpha->data()[i] : 255;
        return a << 24 | static_cast<std::uint32_t>(c.x << 16 | c.y << 8 | c.z);
      });
}

void PointColumns::add(const Attribute& attribute) {
  const Scalar type = type_of(attribute.values);
  add_column(attribute.name, type, bytes_of(attribute.values), attribute.components * size_of(type),
             attribute.components);
}

std::int64_t PointColumns::length_bytes(const Column& column) const {
  const bool is_list = several_ == Several::kLists && column.count > 1;
  return is_list ? size_of(length_type(column)) : 0;
}

std::int64_t PointColumns::bytes_per_point() const {
  std::int64_t bytes = 0;
  for (const Column& column : columns_) bytes += length_bytes(column) + column.bytes();
  return bytes;
}

void PointColumns::gather(std::int64_t first, std::int64_t count, bool swap_bytes,
                          std::byte* to) const {
  const std::int64_t stride = bytes_per_point();
  for (const Column& column : columns_) {
    if (length_bytes(column) > 0) {
      const auto length = static_cast<std::uint32_t>(column.count);
      copy_column(constant_column(length_type(column), length), 0, count, to, stride, swap_bytes);
      to += length_bytes(column);
    }
    copy_column(column, first, count, to, stride, swap_bytes);
    to += column.bytes();
  }
}

void PointColumns::gather_column(const Column& column, std::int64_t count, std::byte* to) const {
  copy_column(column, 0, count, to, column.bytes(), false);
}

void PointColumns::put_text(std::int64_t index, text::TextWriter& text) const {
  const char* separator = "";
  for (const Column& column : columns_) {
    if (length_bytes(column) > 0) {
      text.put(separator, column.count);
      separator = " ";
    }
    const std::byte* from = column.first + index * column.stride;
    with_type(column.type, [&](auto value) {
      for (std::int64_t k = 0; k < column.count; ++k, from += sizeof(value)) {
        std::memcpy(&value, from, sizeof(value));
        // Bytes are numbers, not letters.
        text.put(separator, +value);
        separator = " ";
      }
    });
  }
}

}  // namespace sextant::detail::points
