// SPDX-License-Identifier: Apache-2.0
// Thins points, on either device.
#include <bit>

#include "sextant/core/for_each/anywhere.h"
#include "sextant/core/reduce/anywhere.h"
#include "sextant/core/scan.h"
#include "sextant/core/sort.h"
#include "sextant/descriptor/point_samples/math.h"
#include "sextant/descriptor/point_samples/numbered.h"

namespace sextant {

using namespace detail::point_samples;

namespace {

constexpr int kMostScales = 1 << 12;  // so that no voxel is kNoVoxel

/// Gives every point at every scale its number.
NumberedPoints numbered(const Context& context, View<const Vec3f> points, View<const Vec3f> normals,
                        View<const SampleScale> scales, const VoxelNumbers& numbers,
                        Workspace& workspace) {
  const std::int64_t size = points.size * scales.size;
  const NumberedPoints result{points, normals, workspace.take<std::uint64_t>(context, size),
                              workspace.take<std::uint32_t>(context, size), scales.size};
  detail::for_each_anywhere(context, size,
                            NumberPoint{points.data, normals.data, points.size, scales.data,
                                        numbers, result.voxels.data, result.order.data});
  return result;
}

/// Sorts the points by scale and voxel and finds their samples; `sums` then says how many lie
/// before each place.
SortedPoints find_samples(const Context& context, const NumberedPoints& numbered, int axis_bits,
                          float normal_angle_rad, Workspace& workspace) {
  const std::int64_t size = numbered.voxels.size;
  // Points without a voxel have all bits set, and so those that are looked at: they come last.
  const auto scale_bits =
      static_cast<int>(std::bit_width(static_cast<std::uint64_t>(numbered.scales)));
  sort_pairs(context, numbered.voxels, numbered.order, {0, min_of(3 * axis_bits + scale_bits, 64)},
             workspace);
  const SortedPoints sorted{numbered.points.data,
                            numbered.normals.data,
                            numbered.voxels.data,
                            numbered.order.data,
                            size,
                            std::cos(normal_angle_rad),
                            workspace.take<std::int32_t>(context, size).data,
                            workspace.take<Vec3f>(context, size).data,
                            workspace.take<Vec3f>(context, size).data,
                            workspace.take<std::int32_t>(context, size + 1).data};
  detail::for_each_anywhere(context, size + 1, FindGroups{sorted});
  const View<std::int32_t> sums{sorted.sums, size + 1, context.device()};
  exclusive_scan<std::int32_t>(context, sums, sums, workspace);
  return sorted;
}

void check_points(const Context& context, View<const Vec3f> points, View<const Vec3f> normals) {
  require_on(context, points, "points");
  require_room(context, normals, points.size, "normals");
  require(points.size < INT32_MAX, "points: ", points.size, " are too many");
}

}  // namespace

PointSamples sample_points(const Context& context, View<const Vec3f> points,
                           View<const Vec3f> normals, const PointSamplesOptions& options) {
  check_options(options);
  check_points(context, points, normals);
  if (points.size == 0) return {Buffer<Vec3f>(context, 0), Buffer<Vec3f>(context, 0)};
  Workspace workspace;
  const View<VoxelBox> result = workspace.take<VoxelBox>(context, 1);
  detail::transform_reduce_anywhere(context, points.size,
                                    BoxOfPoint{points.data, normals.data, 1.0f / options.leaf_m},
                                    JoinBoxes{}, VoxelBox{}, result, workspace);
  const VoxelBox box = to_host(context, result)[0];
  if (!(box.low.x <= box.high.x)) return {Buffer<Vec3f>(context, 0), Buffer<Vec3f>(context, 0)};
  const VoxelNumbers numbers{box.low};
  const float longest =
      max_of(max_of(box.high.x - box.low.x, box.high.y - box.low.y), box.high.z - box.low.z);
  require(longest < static_cast<float>(1 << numbers.bits), "leaf_m: ", options.leaf_m,
          " makes more than ", 1 << numbers.bits,
          " voxels along an axis; take a larger one or leave out far points");
  const Buffer<SampleScale> scale =
      copy(context, std::vector<SampleScale>{{.leaf_m = options.leaf_m}});
  const SortedPoints sorted =
      find_samples(context, numbered(context, points, normals, scale, numbers, workspace),
                   numbers.bits, options.normal_angle_rad, workspace);
  const View<const std::int32_t> total{sorted.sums + sorted.size, 1, context.device()};
  const std::int64_t count = to_host(context, total)[0];
  PointSamples samples{Buffer<Vec3f>(context, count), Buffer<Vec3f>(context, count)};
  detail::for_each_anywhere(
      context, sorted.size,
      MoveSample{sorted, samples.points.data(), samples.normals.data(), count});
  return samples;
}

void sample_scales_into(const Context& context, View<const Vec3f> points, View<const Vec3f> normals,
                        View<const SampleScale> scales, float normal_angle_rad,
                        View<Vec3f> sample_points, View<Vec3f> sample_normals,
                        View<std::int32_t> first, Workspace& workspace) {
  check_points(context, points, normals);
  require_on(context, scales, "scales");
  require(scales.size <= kMostScales, "scales: ", scales.size, " are more than ", kMostScales);
  require(points.size * scales.size < INT32_MAX, "points: ", points.size, " at ", scales.size,
          " scales are too many");
  require_on(context, sample_points, "sample_points");
  require_room(context, sample_normals, sample_points.size, "sample_normals");
  require_room(context, first, scales.size + 1, "first");
  const Workspace::Scope scope(workspace);
  const VoxelNumbers numbers = scene_voxels();
  samples_of_numbered_into(context, numbered(context, points, normals, scales, numbers, workspace),
                           normal_angle_rad, sample_points, sample_normals, first, workspace);
}

void detail::point_samples::samples_of_numbered_into(
    const Context& context, const NumberedPoints& numbered, float normal_angle_rad,
    View<Vec3f> sample_points, View<Vec3f> sample_normals, View<std::int32_t> first,
    Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  const SortedPoints sorted =
      find_samples(context, numbered, kSceneBits, normal_angle_rad, workspace);
  detail::for_each_anywhere(
      context, sorted.size,
      MoveSample{sorted, sample_points.data, sample_normals.data, sample_points.size});
  detail::for_each_anywhere(context, numbered.scales + 1,
                            FirstOfScale{sorted, kSceneBits, sample_points.size, first.data});
}

}  // namespace sextant
