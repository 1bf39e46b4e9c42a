// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "sextant/io/mesh/host_parts.h"
#include "sextant/io/pcd.h"
#include "sextant/io/pcd/lzf.h"
#include "sextant/io/points/columns.h"
#include "sextant/io/points/origin.h"

namespace sextant {

namespace {

using detail::points::Column;
using detail::points::PointColumns;
using detail::points::Scalar;
using detail::text::TextWriter;

constexpr std::int64_t kBlockPoints = 8192;

PointColumns columns_of(const std::string& file, const Cloud& cloud) {
  PointColumns columns(file, detail::points::Several::kPlain);
  columns.add_points(cloud);
  if (!cloud.normals.empty()) columns.add(cloud.normals, "normal_x", "normal_y", "normal_z");
  const Attribute* alpha =
      cloud.colors.empty() ? nullptr : find_attribute(cloud.attributes, "alpha");
  const auto* alpha_bytes = alpha ? std::get_if<Buffer<std::uint8_t>>(&alpha->values) : nullptr;
  if (!cloud.colors.empty()) columns.add_packed(cloud.colors, alpha_bytes);
  for (const Attribute& attribute : cloud.attributes) {
    if (!alpha_bytes || &attribute != alpha) columns.add(attribute);
  }
  return columns;
}

char type_letter(Scalar type) {
  if (detail::points::is_float(type)) return 'F';
  const bool is_unsigned = type == Scalar::kUint8 || type == Scalar::kUint16 ||
                           type == Scalar::kUint32 || type == Scalar::kUint64;
  return is_unsigned ? 'U' : 'I';
}

template <class Entry>
void put_line(TextWriter& text, const char* key, const PointColumns& columns, const Entry& entry) {
  text.put(key);
  for (const Column& column : columns.columns()) text.put(" ", entry(column));
  text.put("\n");
}

void put_header(TextWriter& text, const Cloud& cloud, const PointColumns& columns,
                PcdEncoding encoding) {
  text.put("# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\n");
  put_line(text, "FIELDS", columns, [](const Column& column) { return column.name; });
  put_line(text, "SIZE", columns, [](const Column& column) { return size_of(column.type); });
  put_line(text, "TYPE", columns,
           [](const Column& column) { return std::string(1, type_letter(column.type)); });
  put_line(text, "COUNT", columns, [](const Column& column) { return column.count; });
  text.put("WIDTH ", cloud.organised() ? std::int64_t{cloud.width} : cloud.size(), "\n");
  text.put("HEIGHT ", cloud.organised() ? cloud.height : 1, "\n");
  text.put("VIEWPOINT");
  const Rigid3d sensor = detail::points::sensor_in_file(cloud);
  for (const double number : detail::mesh::pose_numbers(sensor)) text.put(" ", number);
  text.put("\nPOINTS ", cloud.size(), "\nDATA ", name_of(encoding, kPcdEncodings), "\n");
  text.flush();
}

void write_ascii(TextWriter& text, const PointColumns& columns, std::int64_t points) {
  for (std::int64_t i = 0; i < points; ++i) {
    columns.put_text(i, text);
    text.put("\n");
  }
  text.flush();
}

void write_binary(FileWriter& file, const PointColumns& columns, std::int64_t points) {
  const std::int64_t bytes = columns.bytes_per_point();
  std::vector<std::byte> block(static_cast<std::size_t>(std::min(points, kBlockPoints) * bytes));
  for (std::int64_t first = 0; first < points; first += kBlockPoints) {
    const std::int64_t count = std::min(kBlockPoints, points - first);
    columns.gather(first, count, false, block.data());
    file.write(block.data(), static_cast<std::size_t>(count * bytes));
  }
}

void write_size(FileWriter& file, const std::string& name, std::size_t bytes) {
  require(bytes <= std::numeric_limits<std::uint32_t>::max(), name, ": ", bytes,
          " bytes are too many for the encoding binary_compressed; write binary");
  const auto size = static_cast<std::uint32_t>(bytes);
  file.write(&size, sizeof(size));
}

void write_compressed(FileWriter& file, const std::string& name, const PointColumns& columns,
                      std::int64_t points) {
  std::vector<std::byte> data(static_cast<std::size_t>(columns.bytes_per_point() * points));
  std::byte* to = data.data();
  for (const Column& column : columns.columns()) {
    columns.gather_column(column, points, to);
    to += points * column.bytes();
  }
  const std::vector<std::byte> compressed = lzf_compress(data);
  write_size(file, name, compressed.size());
  write_size(file, name, data.size());
  file.write(compressed);
}

}  // namespace

void write_pcd(const std::filesystem::path& path, const Cloud& cloud,
               const PcdWriteOptions& options) {
  check_options(options);
  detail::mesh::require_writable(path, cloud);
  const PointColumns columns = columns_of(path.string(), cloud);
  write_file_atomically(path, [&](FileWriter& file) {
    TextWriter text(file);
    put_header(text, cloud, columns, options.encoding);
    switch (options.encoding) {
      case PcdEncoding::kAscii:
        write_ascii(text, columns, cloud.size());
        break;
      case PcdEncoding::kBinary:
        write_binary(file, columns, cloud.size());
        break;
      case PcdEncoding::kBinaryCompressed:
        write_compressed(file, path.string(), columns, cloud.size());
        break;
    }
  });
}

}  // namespace sextant
