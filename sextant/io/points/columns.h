// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sextant/geometry/cloud.h"
#include "sextant/io/points/record.h"
#include "sextant/io/text/writer.h"

namespace sextant::detail::points {

/// One field of the records to be written; its numbers lie in memory in the file's type.
struct Column {
  std::string name;
  Scalar type = Scalar::kFloat32;
  const std::byte* first = nullptr;
  std::int64_t stride = 0;  ///< bytes from one point to the next
};

/// The fields of a cloud in the order of the file: refers to the cloud, which must outlive it.
class PointColumns {
 public:
  /// `file` is for messages.
  explicit PointColumns(std::string file) : file_(std::move(file)) {}

  void add(const Buffer<Vec3f>& vectors, const char* x, const char* y, const char* z);
  void add(const Buffer<Vec2f>& vectors, const char* x, const char* y);
  void add(const Buffer<Rgb8>& colors, const char* red, const char* green, const char* blue);
  /// Colours as PCL packs them: 0xffRRGGBB.
  void add_packed(const Buffer<Rgb8>& colors, const char* name);
  /// Floats; one called "alpha" that holds nothing but bytes is written as bytes, as PLY readers
  /// expect it. Error when a name is taken already or cannot stand in a header.
  void add(const std::vector<Attribute>& attributes);

  const std::vector<Column>& columns() const { return columns_; }
  std::int64_t bytes_per_point() const;

  /// The records of points first .. first + count - 1, as they stand in a binary file.
  void gather(std::int64_t first, std::int64_t count, bool swap_bytes, std::byte* to) const;
  /// All numbers of one column.
  void gather_column(const Column& column, std::int64_t count, std::byte* to) const;
  /// The numbers of one point with spaces between them.
  void put_text(std::int64_t index, text::TextWriter& text) const;

 private:
  void add_column(std::string name, Scalar type, const void* first, std::int64_t stride);
  template <class T, class Convert>
  void add_converted(std::string name, Scalar type, std::int64_t count, const Convert& convert);

  std::string file_;
  std::vector<Column> columns_;
  std::vector<std::shared_ptr<void>> converted_;  ///< numbers that the cloud has in another form
};

}  // namespace sextant::detail::points
