// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "sextant/io/mesh/concave.h"
#include "sextant/io/vtk/numbers.h"

namespace sextant::detail::vtk {

enum class Cells { kPolygons, kStrips, kLines, kVertices };

/// The cells of a legacy VTK file: polygons and strips become triangles, lines are counted, and
/// vertices are checked alone.
class VtkCells {
 public:
  explicit VtkCells(VtkNumbers& numbers) : numbers_(numbers), text_(numbers.text()) {}

  /// "POLYGONS cells numbers" with the cells behind it, or from version 5.1 on "POLYGONS offsets
  /// corners" with the two arrays OFFSETS and CONNECTIVITY.
  void parse(Cells cells, std::int64_t points) {
    points_ = points;
    const std::int64_t count = numbers_.count("the number of cells");
    const std::int64_t size = numbers_.count("the number of indices");
    text::TextScanner before = text_;
    if (numbers_.key() == "OFFSETS") {
      parse_offset_cells(cells, count, size);
      return;
    }
    text_ = before;
    std::vector<std::int32_t> corners;
    std::int64_t expected = 0, seen = 0;
    numbers_.read<std::int64_t>(points::Scalar::kInt32, size, 1,
                                [&](std::int64_t, std::int64_t number) {
                                  if (expected == 0) {
                                    if (number < 0 || number > size)
                                      text_.fail_here("a cell of ", number, " points");
                                    expected = number;
                                    ++seen;
                                  } else {
                                    corners.push_back(checked_index(number));
                                    --expected;
                                  }
                                  if (expected == 0) {
                                    add_cell(cells, corners);
                                    corners.clear();
                                  }
                                });
    if (seen != count || expected != 0) {
      text_.fail_here(size, " numbers do not make the ", count, " cells that were promised");
    }
  }

  std::vector<Vec3i> take_triangles(std::span<const Vec3f> points) {
    mesh::cut_concave<float>(fans_, points, text_.name(), triangles_, {});
    return std::move(triangles_);
  }
  std::int64_t lines() const { return lines_; }

 private:
  std::int32_t checked_index(std::int64_t index) {
    if (index < 0 || index >= points_ || index > std::numeric_limits<std::int32_t>::max()) {
      text_.fail_here("the point index ", index, " is outside 0 .. ", points_ - 1);
    }
    return static_cast<std::int32_t>(index);
  }

  void add_cell(Cells cells, std::span<const std::int32_t> corners) {
    if (cells == Cells::kPolygons) mesh::append_fan(corners, triangles_, &fans_);
    if (cells == Cells::kStrips) mesh::append_strip(corners, triangles_);
    if (cells == Cells::kLines) ++lines_;
  }

  void parse_offset_cells(Cells cells, std::int64_t offset_count, std::int64_t corner_count) {
    const points::Scalar offset_type = numbers_.type();
    numbers_.check_room(offset_type, offset_count, 1);
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(offset_count));
    numbers_.read<std::int64_t>(offset_type, offset_count, 1, [&](std::int64_t i, std::int64_t at) {
      offsets[static_cast<std::size_t>(i)] = at;
    });
    const std::string key = numbers_.key();
    if (key != "CONNECTIVITY")
      text_.fail_here("expected CONNECTIVITY, found '", text::shown(key), "'");
    const points::Scalar type = numbers_.type();
    numbers_.check_room(type, corner_count, 1);
    std::vector<std::int32_t> corners(static_cast<std::size_t>(corner_count));
    numbers_.read<std::int64_t>(type, corner_count, 1, [&](std::int64_t i, std::int64_t index) {
      corners[static_cast<std::size_t>(i)] = checked_index(index);
    });
    for (std::size_t i = 1; i < offsets.size(); ++i) {
      const std::int64_t first = offsets[i - 1], last = offsets[i];
      if (first < 0 || last < first || last > corner_count) {
        text_.fail_here("the OFFSETS ", first, ", ", last, " do not fit ", corner_count,
                        " indices");
      }
      add_cell(cells, std::span(corners).subspan(static_cast<std::size_t>(first),
                                                 static_cast<std::size_t>(last - first)));
    }
  }

  VtkNumbers& numbers_;
  text::TextScanner& text_;
  std::int64_t points_ = 0;  ///< that cells may name
  std::vector<Vec3i> triangles_;
  std::vector<mesh::Fan> fans_;
  std::int64_t lines_ = 0;
};

}  // namespace sextant::detail::vtk
