// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sextant/core/for_each.h"
#include "sextant/descriptor/tensor/math.h"

namespace sextant::detail::tensor {

namespace {

/// One tensor after the other, with memory that is used again.
class SurfaceTensors {
 public:
  explicit SurfaceTensors(const TensorJob& job) : job_(job) {}

  void compute(std::int64_t t) {
    const TensorFrame frame = job_.frame(t);
    std::uint64_t sums[kMostTensorBins * kMostTensorBins * kMostTensorBins] = {};
    if (!std::isnan(frame.angle_rad)) {
      const TensorCube cube(frame, job_.out.bins);
      window_ = window_of(cube);
      if (!window_.empty()) {
        find_triangles(cube, frame.pair);
        if (job_.mode == TensorMode::kGrow) grow();
        add_areas(sums);
      }
    }
    write_tensor(job_.out, t, frame, sums);
  }

 private:
  /// The smallest window with all tiles that may meet the cube.
  CellWindow window_of(const TensorCube& cube) const {
    CellWindow window{INT32_MAX, INT32_MAX, 0, 0};
    for (int group = 0; group < job_.groups(); ++group) {
      const Bounds* boxes = job_.boxes + std::int64_t{group} * kBoxesPerGroup;
      if (!cube.may_meet(boxes[0].low, boxes[0].high)) continue;
      for (int tile = 0; tile < kTilesPerGroup; ++tile) {
        if (!cube.may_meet(boxes[1 + tile].low, boxes[1 + tile].high)) continue;
        const CellWindow cells = job_.cells_of(job_.tile_place(group, tile));
        window = {min_of(window.u0, cells.u0), min_of(window.v0, cells.v0),
                  max_of(window.u1, cells.u1), max_of(window.v1, cells.v1)};
      }
    }
    return window;
  }

  const Vec3f* local_row(int row) const {
    return local_.data() + static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_);
  }

  /// Which triangles meet the cube, and which of them have p or q for a corner.
  void find_triangles(const TensorCube& cube, const PointPair& pair) {
    columns_ = window_.u1 - window_.u0 + 1;
    words_ = window_.words();
    const int rows = window_.rows();
    local_.resize(static_cast<std::size_t>(rows + 1) * static_cast<std::size_t>(columns_));
    for (int row = 0; row <= rows; ++row) {
      const Vec3f* from = job_.surface.points.row(window_.v0 + row) + window_.u0;
      Vec3f* to = local_.data() + static_cast<std::size_t>(row * columns_);
      for (int column = 0; column < columns_; ++column) to[column] = cube.local(from[column]);
    }
    const auto words = static_cast<std::size_t>(rows * words_);
    open_.assign(words, 0);
    reached_.assign(words, 0);
    for (int row = 0; row < rows; ++row) {
      const std::uint8_t* cells = job_.surface.cells.row(window_.v0 + row) + window_.u0;
      const Vec3f* upper = local_row(row);
      const Vec3f* lower = local_row(row + 1);
      for (int column = 0; column + 1 < columns_; ++column) {
        const std::uint8_t cell = cells[column];
        std::uint64_t bits = 0;
        if ((cell & 1) && cube.meets(upper[column], lower[column], upper[column + 1])) bits |= 1;
        if ((cell & 2) && cube.meets(upper[column + 1], lower[column], lower[column + 1])) {
          bits |= 2;
        }
        open_[static_cast<std::size_t>(row * words_ + column / kCellsPerWord)] |=
            bits << (2 * (column % kCellsPerWord));
      }
    }
    if (job_.mode == TensorMode::kAll) {
      reached_ = open_;
      return;
    }
    mark_corner(pair.p);
    mark_corner(pair.q);
  }

  /// The up to six triangles around a point.
  void mark_corner(std::int32_t point) {
    const int u = point % job_.surface.points.width - window_.u0;
    const int v = point / job_.surface.points.width - window_.v0;
    mark(u, v, 1);
    mark(u - 1, v, 3);
    mark(u, v - 1, 3);
    mark(u - 1, v - 1, 2);
  }
  void mark(int column, int row, std::uint64_t bits) {
    if (column < 0 || row < 0 || column >= columns_ - 1 || row >= window_.rows()) return;
    const auto word = static_cast<std::size_t>(row * words_ + column / kCellsPerWord);
    reached_[word] |= (bits << (2 * (column % kCellsPerWord))) & open_[word];
  }

  /// Sweeps down and up until nothing more is reached.
  void grow() {
    const int rows = window_.rows();
    bool changed = true;
    while (changed) {
      changed = false;
      for (int row = 0; row < rows; ++row) changed |= grow_row(row);
      for (int row = rows - 1; row >= 0; --row) changed |= grow_row(row);
    }
  }
  bool grow_row(int row) {
    bool changed = false;
    for (int word = 0; word < words_; ++word) {
      const auto at = [&](int r, int w) {
        const bool inside = r >= 0 && r < window_.rows() && w >= 0 && w < words_;
        return inside ? reached_[static_cast<std::size_t>(r * words_ + w)] : 0;
      };
      const std::uint64_t from =
          reached_from(at(row - 1, word), at(row + 1, word), at(row, word - 1), at(row, word + 1));
      const auto here = static_cast<std::size_t>(row * words_ + word);
      const std::uint64_t filled = filled_runs(open_[here], reached_[here] | from);
      changed |= filled != reached_[here];
      reached_[here] = filled;
    }
    return changed;
  }

  void add_areas(std::uint64_t* sums) const {
    const auto add = [&](int bin, std::uint32_t area) { sums[bin] += area; };
    for (int row = 0; row < window_.rows(); ++row) {
      const Vec3f* upper = local_row(row);
      const Vec3f* lower = local_row(row + 1);
      for (int word = 0; word < words_; ++word) {
        std::uint64_t bits = reached_[static_cast<std::size_t>(row * words_ + word)];
        for (; bits != 0; bits &= bits - 1) {
          const int bit = __builtin_ctzll(bits);
          const int column = word * kCellsPerWord + bit / 2;
          if (bit % 2 == 0) {
            add_triangle(upper[column], lower[column], upper[column + 1], job_.out.bins, add);
          } else {
            add_triangle(upper[column + 1], lower[column], lower[column + 1], job_.out.bins, add);
          }
        }
      }
    }
  }

  const TensorJob& job_;
  CellWindow window_;
  int columns_ = 0;                     ///< points in a row of the window
  int words_ = 0;                       ///< in a row of the bitmaps
  std::vector<Vec3f> local_;            ///< points of the window in the frame of the tensor
  std::vector<std::uint64_t> open_;     ///< triangles that meet the cube
  std::vector<std::uint64_t> reached_;  ///< those that count
};

}  // namespace

void surface_boxes_cpu(const Context& context, const OrganisedSurface& surface, Bounds* boxes) {
  const TensorJob job{.surface = surface};
  for_each_chunk(context, job.groups(), 4, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t group = begin; group < end; ++group) {
      Bounds* to = boxes + group * kBoxesPerGroup;
      to[0] = Bounds{};
      for (int tile = 0; tile < kTilesPerGroup; ++tile) {
        Bounds box;
        const CellWindow cells = job.cells_of(job.tile_place(static_cast<int>(group), tile));
        for (int v = cells.v0; v < cells.v1; ++v) {
          for (int u = cells.u0; u < cells.u1; ++u) include_cell(surface, u, v, box);
        }
        to[1 + tile] = box;
        include(to[0], box);
      }
    }
  });
}

void write_tensor(const TensorRows& out, std::int64_t t, const TensorFrame& frame,
                  const std::uint64_t* sums) {
  const std::int64_t first = t * out.all_bins();
  TensorMask mask{};
  std::int32_t size = 0;
  for (int bin = 0; bin < out.all_bins(); ++bin) {
    const auto units = static_cast<std::uint32_t>(min_of<std::uint64_t>(sums[bin], kFullBin));
    if (units < kLeastArea) continue;
    mask.words[bin / 64] |= std::uint64_t{1} << (bin % 64);
    out.indices[first + size] = static_cast<std::uint16_t>(bin);
    out.values[first + size] = area_from(units);
    ++size;
  }
  out.frames[t] = frame;
  out.masks[t] = mask;
  out.sizes[t] = size;
  out.first[t] = first;
}

void compute_tensors_cpu(const Context& context, const TensorJob& job) {
  *job.out.count = static_cast<std::int32_t>(job.tensors());
  constexpr std::int64_t kGrain = 1;  // a tensor takes 0.1 ms, and the last ones are waited for
  for_each_chunk(context, job.tensors(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    SurfaceTensors tensors(job);
    for (std::int64_t t = begin; t < end; ++t) tensors.compute(t);
  });
}

}  // namespace sextant::detail::tensor
