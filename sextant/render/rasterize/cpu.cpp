// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "sextant/core/for_each.h"
#include "sextant/render/rasterize/job.h"
#include "sextant/render/rasterize/surface_math.h"

// Two ways lead to the same bits, since a pixel meets its triangles in the same order in both. With
// views for every thread, each view is drawn by one thread; otherwise the triangles of a view are
// set up in parallel, sorted into bands of rows, and each band is drawn by one thread.

namespace sextant::detail::rasterize {

namespace {

constexpr int kBandRows = 16;          // 30 bands in 480 rows: enough to share out evenly
constexpr std::uint32_t kBlock = 512;  // triangles that one task sets up
constexpr std::int64_t kBlocks = 64;   // blocks between two rounds of drawing: 5 MB

/// Where one view is drawn to. The first nearest triangle stays.
struct DepthTarget {
  float* depth_m;
  std::uint32_t* primitives;  // null when only depth is wanted
  int width;
  float far_m;
};

/// Shrinks [first, last] to the pixels of a row where all edges are non-negative.
void cut_to_edges(const TriangleEdges<std::int64_t>& edges, int dv, std::int64_t& first,
                  std::int64_t& last) {
  for (int i = 0; i < 3; ++i) {
    const std::int64_t value = edges.value(i, 0, dv);
    const std::int64_t step = edges.along_u[i];
    if (step == 0) {
      if (value < 0) last = -1;
    } else if (step > 0) {
      if (value < 0) first = std::max(first, (-value + step - 1) / step);
    } else {
      last = value < 0 ? -1 : std::min(last, value / -step);
    }
  }
}

/// Draws the rows row_begin .. row_end - 1 of a polygon.
void draw(const ScreenPolygon& polygon, std::uint32_t primitive, int row_begin, int row_end,
          const DepthTarget& target) {
  const PixelBox& box = polygon.box;
  const int v_begin = std::max(row_begin, box.v_min);
  const int v_end = std::min(row_end, box.v_max + 1);
  TriangleEdges<std::int64_t> edges;
  for (int i = 2; i < polygon.count; ++i) {
    if (!make_edges(polygon.points[0], polygon.points[i - 1], polygon.points[i], box.u_min,
                    box.v_min, edges)) {
      continue;
    }
    for (int v = v_begin; v < v_end; ++v) {
      std::int64_t first = 0;
      std::int64_t last = box.u_max - box.u_min;
      cut_to_edges(edges, v - box.v_min, first, last);
      const std::int64_t row = std::int64_t{v} * target.width;
      const int u_last = box.u_min + static_cast<int>(last);
      for (int u = box.u_min + static_cast<int>(std::min(first, last + 1)); u <= u_last; ++u) {
        const float z = polygon.plane.depth_m(u, v);
        if (target.depth_m[row + u] <= z || z > target.far_m) continue;  // NaN: nothing there yet
        target.depth_m[row + u] = z;
        if (target.primitives) target.primitives[row + u] = primitive;
      }
    }
  }
}

void clear(const DepthTarget& target, std::int64_t begin, std::int64_t end) {
  std::fill(target.depth_m + begin, target.depth_m + end, NAN);
  if (target.primitives) {
    std::fill(target.primitives + begin, target.primitives + end, kNoPrimitive);
  }
}

/// The instances of every view, in their order.
struct ViewLists {
  const std::uint32_t* first;  // views + 1
  const std::uint32_t* instances;
};

ViewLists sort_by_view(const Context& context, const RasterJob& job, Workspace& workspace) {
  const std::int64_t room = job.views + 1 + job.instance_count;
  std::uint32_t* first = workspace.take<std::uint32_t>(context, room).data;
  std::uint32_t* order = first + job.views + 1;
  std::fill(first, order, 0u);
  const auto drawn = [&](std::int64_t i) {
    return job.first_primitives[i + 1] > job.first_primitives[i];
  };
  for (std::int64_t i = 0; i < job.instance_count; ++i) {
    if (drawn(i)) ++first[job.instances[i].view + 1];
  }
  for (int view = 0; view < job.views; ++view) first[view + 1] += first[view];
  for (std::int64_t i = 0; i < job.instance_count; ++i) {
    if (drawn(i)) order[first[job.instances[i].view]++] = static_cast<std::uint32_t>(i);
  }
  // Filling moved every start to the next one's place.
  for (int view = job.views; view > 0; --view) first[view] = first[view - 1];
  first[0] = 0;
  return {first, order};
}

void draw_view(const RasterJob& job, const ViewLists& lists, std::int64_t view,
               const DepthTarget& target) {
  clear(target, 0, job.pixels_per_view());
  for (std::uint32_t k = lists.first[view]; k < lists.first[view + 1]; ++k) {
    const std::uint32_t i = lists.instances[k];
    const std::uint32_t first = job.first_primitives[i];
    for (std::uint32_t p = first; p < job.first_primitives[i + 1]; ++p) {
      draw(set_up(job, job.instances[i], p - first), p, 0, job.height, target);
    }
  }
}

/// The triangles of one view between their set-up and their bands.
class BandSorter {
 public:
  BandSorter(const Context& context, const RasterJob& job, const DepthTarget& target,
             Workspace& workspace)
      : context_(context),
        job_(job),
        target_(target),
        workspace_(workspace),
        polygons_(workspace.take<ScreenPolygon>(context, kBlocks * kBlock).data),
        bins_(workspace.take<std::uint32_t>(context, bands() * kBlocks).data) {}

  /// Takes the triangles of the next instance and draws whenever enough have come together.
  void add(std::uint32_t instance) {
    const std::uint32_t end = job_.first_primitives[instance + 1];
    for (std::uint32_t p = job_.first_primitives[instance]; p < end;) {
      const std::uint32_t size = std::min<std::uint32_t>(kBlock, end - p);
      blocks_[used_++] = {instance, p, size};
      p += size;
      if (used_ == kBlocks) flush();
    }
  }

  void flush() {
    if (used_ == 0) return;
    std::fill(bins_, bins_ + bands() * used_, 0u);
    for_each_chunk(context_, used_, 1,
                   [&](std::int64_t block, std::int64_t) { set_up_block(block); });
    // Band by band and in each block by block: in the order of the triangles.
    std::uint32_t total = 0;
    for (std::int64_t i = 0; i < bands() * used_; ++i) total += std::exchange(bins_[i], total);
    const Workspace::Scope scope(workspace_);
    binned_ = workspace_.take<std::uint32_t>(context_, total).data;
    for_each_chunk(context_, used_, 1,
                   [&](std::int64_t block, std::int64_t) { sort_block(block); });
    for_each_chunk(context_, bands(), 1, [&](std::int64_t band, std::int64_t) { draw_band(band); });
    used_ = 0;
  }

 private:
  /// Consecutive triangles of one instance.
  struct Block {
    std::uint32_t instance;
    std::uint32_t first_primitive;
    std::uint32_t size;
  };

  std::int64_t bands() const { return (job_.height + kBandRows - 1) / kBandRows; }

  template <class Function>
  static void visit_bands(const ScreenPolygon& polygon, const Function& function) {
    if (polygon.count == 0) return;
    for (int band = polygon.box.v_min / kBandRows; band <= polygon.box.v_max / kBandRows; ++band) {
      function(band);
    }
  }

  void set_up_block(std::int64_t number) {
    const Block& block = blocks_[number];
    const Instance& instance = job_.instances[block.instance];
    const std::uint32_t first = block.first_primitive - job_.first_primitives[block.instance];
    for (std::uint32_t i = 0; i < block.size; ++i) {
      ScreenPolygon& polygon = polygons_[number * kBlock + i];
      polygon = set_up(job_, instance, first + i);
      visit_bands(polygon, [&](std::int64_t band) { ++bins_[band * used_ + number]; });
    }
  }

  void sort_block(std::int64_t number) {
    for (std::int64_t i = number * kBlock; i < number * kBlock + blocks_[number].size; ++i) {
      visit_bands(polygons_[i], [&](std::int64_t band) {
        binned_[bins_[band * used_ + number]++] = static_cast<std::uint32_t>(i);
      });
    }
  }

  void draw_band(std::int64_t band) {
    // Sorting has moved the start of every bin to the start of the next.
    const std::uint32_t begin = band == 0 ? 0 : bins_[band * used_ - 1];
    const std::uint32_t end = bins_[(band + 1) * used_ - 1];
    const int row = static_cast<int>(band) * kBandRows;
    for (std::uint32_t k = begin; k < end; ++k) {
      const std::uint32_t i = binned_[k];
      const std::uint32_t primitive = blocks_[i / kBlock].first_primitive + i % kBlock;
      draw(polygons_[i], primitive, row, row + kBandRows, target_);
    }
  }

  const Context& context_;
  const RasterJob& job_;
  const DepthTarget& target_;
  Workspace& workspace_;
  ScreenPolygon* polygons_;
  std::uint32_t* bins_;
  std::uint32_t* binned_ = nullptr;  // triangles band by band, while they are drawn
  Block blocks_[kBlocks];
  std::int64_t used_ = 0;
};

void draw_view_in_bands(const Context& context, const RasterJob& job, const ViewLists& lists,
                        std::int64_t view, const DepthTarget& target, Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  for_each_chunk(context, job.pixels_per_view(), std::int64_t{kBandRows} * job.width,
                 [&](std::int64_t begin, std::int64_t end) { clear(target, begin, end); });
  BandSorter sorter(context, job, target, workspace);
  for (std::uint32_t k = lists.first[view]; k < lists.first[view + 1]; ++k) {
    sorter.add(lists.instances[k]);
  }
  sorter.flush();
}

/// Neighbours mostly show the same triangle.
void write_row(const RasterJob& job, const std::uint32_t* primitives, std::int64_t row) {
  const int v = static_cast<int>(row % job.height);
  std::uint32_t last = kNoPrimitive;
  VisibleTriangle visible;
  for (int u = 0; u < job.width; ++u) {
    const std::int64_t pixel = row * job.width + u;
    const std::uint32_t primitive = primitives[pixel];
    if (primitive == kNoPrimitive) {
      write_nothing(job, pixel);
      continue;
    }
    if (primitive != last) visible = visible_triangle(job, primitive);
    last = primitive;
    write_pixel(job, visible, u, v, pixel);
  }
}

void count_primitives(const Context& context, RasterJob& job, Workspace& workspace) {
  std::uint32_t* first = workspace.take<std::uint32_t>(context, job.instance_count + 1).data;
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < job.instance_count; ++i) {
    first[i] = static_cast<std::uint32_t>(total);
    total += triangle_count(job, job.instances[i]);
    check_primitives(total);
  }
  first[job.instance_count] = static_cast<std::uint32_t>(total);
  job.first_primitives = first;
}

}  // namespace

void rasterize_cpu(const Context& context, RasterJob job, Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  count_primitives(context, job, workspace);
  const std::int64_t pixels = job.pixels_per_view() * job.views;
  if (!job.depth_m) job.depth_m = workspace.take<float>(context, pixels).data;
  std::uint32_t* primitives =
      job.needs_primitives() ? workspace.take<std::uint32_t>(context, pixels).data : nullptr;
  const ViewLists lists = sort_by_view(context, job, workspace);
  const auto target_of = [&](std::int64_t view) {
    const std::int64_t first = view * job.pixels_per_view();
    return DepthTarget{job.depth_m + first, primitives ? primitives + first : nullptr, job.width,
                       job.far_m};
  };

  if (context.threads() == 1 || job.views >= 2 * context.threads()) {
    for_each_chunk(context, job.views, 1, [&](std::int64_t view, std::int64_t) {
      draw_view(job, lists, view, target_of(view));
    });
  } else {
    for (std::int64_t view = 0; view < job.views; ++view) {
      draw_view_in_bands(context, job, lists, view, target_of(view), workspace);
    }
  }
  if (!primitives) return;
  const std::int64_t rows = std::int64_t{job.views} * job.height;
  for_each_chunk(context, rows, kBandRows, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) write_row(job, primitives, row);
  });
}

}  // namespace sextant::detail::rasterize
