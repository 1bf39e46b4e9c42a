// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/points/columns.h"

#include <algorithm>
#include <cstring>

#include "sextant/io/mesh/host_parts.h"

namespace sextant::detail::points {

namespace {

bool holds_bytes(const Buffer<float>& values) {
  const auto numbers = values.host();
  return std::all_of(numbers.begin(), numbers.end(), [](float value) {
    return value >= 0.0f && value <= 255.0f && value == std::floor(value);
  });
}

template <std::size_t kBytes>
void copy_column(const Column& column, std::int64_t first, std::int64_t count, std::byte* to,
                 std::int64_t to_stride, bool swap_bytes) {
  const std::byte* from = column.first + first * column.stride;
  for (std::int64_t i = 0; i < count; ++i, from += column.stride, to += to_stride) {
    if (swap_bytes) {
      std::reverse_copy(from, from + kBytes, to);
    } else {
      std::memcpy(to, from, kBytes);
    }
  }
}

void copy_column(const Column& column, std::int64_t first, std::int64_t count, std::byte* to,
                 std::int64_t to_stride, bool swap_bytes) {
  if (size_of(column.type) == 1) {
    copy_column<1>(column, first, count, to, to_stride, false);
  } else {
    copy_column<4>(column, first, count, to, to_stride, swap_bytes);
  }
}

template <class T>
T load(const Column& column, std::int64_t index) {
  T value;
  std::memcpy(&value, column.first + index * column.stride, sizeof(T));
  return value;
}

}  // namespace

void PointColumns::add_column(std::string name, Scalar type, const void* first,
                              std::int64_t stride) {
  mesh::require_plain_name(file_, name);
  for (const Column& column : columns_) {
    require(column.name != name, file_, ": the attribute '", text::shown(name),
            "' has the name of another field; rename it");
  }
  columns_.push_back({std::move(name), type, static_cast<const std::byte*>(first), stride});
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

void PointColumns::add_packed(const Buffer<Rgb8>& colors, const char* name) {
  add_converted<std::uint32_t>(name, Scalar::kUint32, colors.size(), [&](std::size_t i) {
    const Rgb8 c = colors.data()[i];
    return 0xff000000u | static_cast<std::uint32_t>(c.x << 16 | c.y << 8 | c.z);
  });
}

void PointColumns::add(const std::vector<Attribute>& attributes) {
  for (const Attribute& attribute : attributes) {
    const Buffer<float>& values = attribute.values;
    if (attribute.name == "alpha" && holds_bytes(values)) {
      add_converted<std::uint8_t>(
          attribute.name, Scalar::kUint8, values.size(),
          [&](std::size_t i) { return static_cast<std::uint8_t>(values.data()[i]); });
    } else {
      add_column(attribute.name, Scalar::kFloat32, values.data(), sizeof(float));
    }
  }
}

std::int64_t PointColumns::bytes_per_point() const {
  std::int64_t bytes = 0;
  for (const Column& column : columns_) bytes += size_of(column.type);
  return bytes;
}

void PointColumns::gather(std::int64_t first, std::int64_t count, bool swap_bytes,
                          std::byte* to) const {
  const std::int64_t stride = bytes_per_point();
  for (const Column& column : columns_) {
    copy_column(column, first, count, to, stride, swap_bytes);
    to += size_of(column.type);
  }
}

void PointColumns::gather_column(const Column& column, std::int64_t count, std::byte* to) const {
  copy_column(column, 0, count, to, size_of(column.type), false);
}

void PointColumns::put_text(std::int64_t index, text::TextWriter& text) const {
  const char* separator = "";
  for (const Column& column : columns_) {
    text.put(separator);
    if (column.type == Scalar::kFloat32) {
      text.put(load<float>(column, index));
    } else if (column.type == Scalar::kUint32) {
      text.put(load<std::uint32_t>(column, index));
    } else {
      text.put(static_cast<int>(load<std::uint8_t>(column, index)));
    }
    separator = " ";
  }
}

}  // namespace sextant::detail::points
