// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sextant/io/file/byte_source.h"
#include "sextant/io/file/facts.h"
#include "sextant/io/xyz.h"

namespace sextant::detail::xyz {

/// The numbers of a text, row by row.
struct Table {
  std::vector<double> numbers;
  std::size_t columns = 0;
  std::vector<std::string> names;  ///< of the columns in small letters, or empty
  bool counted = false;            ///< whether the first line says how many points follow
  std::vector<std::string> comments;

  std::size_t rows() const { return columns == 0 ? 0 : numbers.size() / columns; }
  double at(std::size_t row, std::size_t column) const { return numbers[row * columns + column]; }
};

/// Error with file and line where a line does not fit the others.
Table parse_table(std::string_view text, const std::string& name, file::ReadProgress& progress);

/// Whether a text of unknown kind begins with a line of at least three numbers.
bool begins_with_points(std::string_view start);

/// The same as read_xyz on an open source.
Cloud read_xyz(FileReader& source, const ReadOptions& options, file::FileFacts* facts = nullptr);

}  // namespace sextant::detail::xyz
