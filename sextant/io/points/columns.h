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
  std::int64_t count = 1;   ///< numbers of a point

  std::int64_t bytes() const { return count * size_of(type); }
};

/// How several numbers of a point stand in the file: side by side, or as a list with its length
/// before it.
enum class Several { kPlain, kLists };
/// The type of the length of a list.
inline Scalar length_type(const Column& column) {
  return column.count < 256 ? Scalar::kUint8 : Scalar::kUint32;
}

/// The fields of a cloud in the order of the file: refers to the cloud, which must outlive it.
class PointColumns {
 public:
  /// `file` is for messages.
  PointColumns(std::string file, Several several) : file_(std::move(file)), several_(several) {}

  /// The points in coordinates of the file: doubles where they need an origin.
  void add_points(const Cloud& cloud);
  void add(const Buffer<Vec3f>& vectors, const char* x, const char* y, const char* z);
  void add(const Buffer<Vec2f>& vectors, const char* x, const char* y);
  void add(const Buffer<Rgb8>& colors, const char* red, const char* green, const char* blue);
  /// Colours as PCL packs them: "rgb" of 0xffRRGGBB, or "rgba" of 0xAARRGGBB where there is an
  /// alpha.
  void add_packed(const Buffer<Rgb8>& colors, const Buffer<std::uint8_t>* alpha);
  /// In their types. Error when a name is taken already or cannot stand in a header.
  void add(const Attribute& attribute);

  const std::vector<Column>& columns() const { return columns_; }
  std::int64_t bytes_per_point() const;

  /// The records of points first .. first + count - 1, as they stand in a binary file.
  void gather(std::int64_t first, std::int64_t count, bool swap_bytes, std::byte* to) const;
  /// All numbers of one column.
  void gather_column(const Column& column, std::int64_t count, std::byte* to) const;
  /// The numbers of one point with spaces between them.
  void put_text(std::int64_t index, text::TextWriter& text) const;

 private:
  void add_column(std::string name, Scalar type, const void* first, std::int64_t stride,
                  std::int64_t count = 1);
  std::int64_t length_bytes(const Column& column) const;
  template <class T, class Convert>
  void add_converted(std::string name, Scalar type, std::int64_t count, const Convert& convert);

  std::string file_;
  Several several_;
  std::vector<Column> columns_;
  std::vector<std::shared_ptr<void>> converted_;  ///< numbers that the cloud has in another form
};

}  // namespace sextant::detail::points
