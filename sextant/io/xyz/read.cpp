// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "sextant/io/points/record.h"
#include "sextant/io/xyz/table.h"

namespace sextant {

using namespace detail::xyz;

namespace detail::xyz {

namespace {

using points::RecordField;
using points::Scalar;

/// True when `test` holds for all rows.
template <class Test>
bool all_rows(const Table& table, const Test& test) {
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (!test(row)) return false;
  }
  return true;
}

template <class Test>
bool all_numbers(const Table& table, std::size_t column, std::size_t count, const Test& test) {
  return all_rows(table, [&](std::size_t row) {
    for (std::size_t k = 0; k < count; ++k) {
      if (!test(table.at(row, column + k))) return false;
    }
    return true;
  });
}

bool is_integer(double number) {
  return number == std::floor(number) && number >= std::numeric_limits<std::int32_t>::min() &&
         number <= std::numeric_limits<std::int32_t>::max();
}

/// Written with three digits, a length may be off by a hundredth. No normal is zero or NaN.
bool are_unit_vectors(const Table& table, std::size_t column) {
  bool some = false;
  return all_rows(table,
                  [&](std::size_t row) {
                    const double x = table.at(row, column), y = table.at(row, column + 1),
                                 z = table.at(row, column + 2);
                    const double length = std::sqrt(x * x + y * y + z * z);
                    some = some || length > 0;
                    return std::isnan(length) || length == 0 || std::abs(length - 1) < 0.01;
                  }) &&
         some;
}

bool are_colors(const Table& table, std::size_t column) {
  return all_numbers(table, column, 3,
                     [](double c) { return is_integer(c) && c >= 0 && c <= 255; }) ||
         all_numbers(table, column, 3, [](double c) { return c >= 0 && c <= 1; });
}

bool is_constant(const Table& table, std::size_t column) {
  return all_rows(table,
                  [&](std::size_t row) { return table.at(row, column) == table.at(0, column); });
}

/// Whether the first of four columns that end a table is an intensity before three colours. The
/// files of scanners (.pts), which begin with the number of points, have it there; others have four
/// such columns for colours and an opacity, and that is mostly the same for all.
bool begins_with_intensity(const Table& table, std::size_t column) {
  return table.columns - column == 4 && are_colors(table, column + 1) &&
         (table.counted || !is_constant(table, column + 3));
}

/// Names for the columns of a table that gives none.
std::vector<std::string> guess_names(const Table& table) {
  std::vector<std::string> names{"x", "y", "z"};
  bool normals = false, colors = false;
  while (names.size() < table.columns) {
    const std::size_t column = names.size();
    const bool room = table.columns - column >= 3;
    if (room && !normals && are_unit_vectors(table, column)) {
      names.insert(names.end(), {"nx", "ny", "nz"});
      normals = true;
    } else if (room && !colors && are_colors(table, column) &&
               !begins_with_intensity(table, column)) {
      names.insert(names.end(), {"red", "green", "blue"});
      colors = true;
    } else {
      names.push_back("column_" + std::to_string(column + 1));
    }
  }
  return names;
}

/// Of three colours, all have fractions when one has.
void unify_colors(std::vector<RecordField>& fields) {
  constexpr std::array<std::string_view, 6> kNames{"red", "green", "blue", "r", "g", "b"};
  const auto is_color = [&](const RecordField& field) {
    return std::find(kNames.begin(), kNames.end(), field.name) != kNames.end();
  };
  const bool fractions = std::any_of(fields.begin(), fields.end(), [&](const RecordField& field) {
    return is_color(field) && field.type == Scalar::kFloat64;
  });
  for (RecordField& field : fields) {
    if (fractions && is_color(field)) field.type = Scalar::kFloat64;
  }
}

std::vector<RecordField> fields_of(const Table& table) {
  const std::vector<std::string> names = table.names.empty() ? guess_names(table) : table.names;
  std::vector<RecordField> fields;
  for (std::size_t column = 0; column < table.columns; ++column) {
    const bool integers = all_numbers(table, column, 1, is_integer);
    fields.push_back({names[column], integers ? Scalar::kInt32 : Scalar::kFloat64});
  }
  unify_colors(fields);
  return fields;
}

Cloud make_cloud(const std::string& name, const Table& table, double unit_m) {
  const std::vector<RecordField> fields = fields_of(table);
  points::PointParts parts;
  const std::vector<points::FieldSink> sinks =
      points::allocate_points(name, fields, static_cast<std::int64_t>(table.rows()), unit_m,
                              points::TexturePair::kAttributes, points::Body::kText, parts);
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto index = static_cast<std::int64_t>(row);
    for (std::size_t f = 0; f < fields.size(); ++f) {
      const double number = table.at(row, f);
      if (sinks[f].kind == points::FieldSink::Kind::kSame) {
        points::with_type(fields[f].type, [&](auto stored) {
          stored = static_cast<decltype(stored)>(number);
          std::memcpy(sinks[f].first + index * sinks[f].stride, &stored, sizeof(stored));
        });
      } else {
        points::store_number(sinks[f], fields[f].type, index, number);
      }
    }
  }
  points::settle_points(parts);
  return std::move(parts.cloud);
}

}  // namespace

Cloud read_xyz(FileReader& any_source, const ReadOptions& options, file::FileFacts* facts) {
  check_options(options);
  return file::with_known_size(any_source, [&](FileReader& source) {
    file::ReadProgress progress(options.progress, source.size().value());
    file::skip_byte_order_mark(source);
    Table table = parse_table(file::remaining_text(source), source.name(), progress);
    Cloud cloud = make_cloud(source.name(), table, options.unit_m);
    if (facts) facts->comments = std::move(table.comments);
    progress.finish();
    return cloud;
  });
}

}  // namespace detail::xyz

Cloud read_xyz(const std::filesystem::path& path, const ReadOptions& options) {
  FileReader source(path);
  return read_xyz(source, options);
}

Cloud read_xyz(std::span<const std::byte> file, const std::string& name,
               const ReadOptions& options) {
  FileReader source(file, name);
  return read_xyz(source, options);
}

}  // namespace sextant
