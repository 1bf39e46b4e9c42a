// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "apps/sextant/describe/description.h"
#include "sextant/core/options_json.h"
#include "sextant/descriptor/surface_descriptors.h"

namespace sextant::app {

namespace {

constexpr std::int64_t kRandomTensors = 200;

/// Tensors on the host as a file keeps them: those that could be made, or all with `keep_invalid`.
DescriptorFile file_of(const TensorSet& tensors, bool keep_invalid) {
  DescriptorFile file;
  file.kind = DescriptorKind::kTensor;
  file.length = tensors.bins * tensors.bins * tensors.bins;
  const auto count = static_cast<std::size_t>(tensors.count.host()[0]);
  for (std::size_t t = 0; t < count; ++t) {
    const TensorFrame& frame = tensors.frames.host()[t];
    if (std::isnan(frame.angle_rad) && !keep_invalid) continue;
    file.points.push_back(frame.pair.p);
    file.partners.push_back(frame.pair.q);
    file.angles_rad.push_back(frame.angle_rad);
    file.positions_m.push_back(frame.origin_m);
    file.axes.push_back(frame.axes);
    const std::int32_t size = tensors.sizes.host()[t];
    file.sizes.push_back(size);
    const std::int64_t first = tensors.first.host()[t];
    const std::uint16_t* index = tensors.indices.data() + first;
    const float* value = tensors.values.data() + first;
    file.indices.insert(file.indices.end(), index, index + size);
    file.values.insert(file.values.end(), value, value + size);
  }
  return file;
}

/// Areas of surface in the cubes, in square metres.
std::vector<double> areas_sq_m(const DescriptorFile& file) {
  std::vector<double> areas;
  std::size_t at = 0;
  for (const std::int32_t size : file.sizes) {
    double bins = 0;
    for (std::int32_t i = 0; i < size; ++i) bins += static_cast<double>(file.values[at++]);
    areas.push_back(bins * static_cast<double>(file.size_m) * static_cast<double>(file.size_m));
  }
  return areas;
}

/// How many triangles have their centre in the cube of a tensor, connected or not; of a thousand
/// tensors at most.
std::vector<double> triangle_counts(const Context& context, const Surface& surface,
                                    const DescriptorFile& file, int bins) {
  constexpr std::size_t kMostCounted = 1000;
  const Context cpu = Context::cpu();
  const std::vector<Vec3f> points = to_host(context, surface.points);
  std::vector<Vec3f> centres;
  for (const Vec3i& t : to_host(context, triangles_of(context, surface))) {
    const auto corner = [&](std::int32_t i) { return points[static_cast<std::size_t>(i)]; };
    centres.push_back((corner(t.x) + corner(t.y) + corner(t.z)) / 3.0f);
  }
  const std::size_t step = file.axes.size() / kMostCounted + 1;
  std::vector<Vec3f> origins;
  for (std::size_t i = 0; i < file.axes.size(); i += step) origins.push_back(file.positions_m[i]);
  const float half_m = 0.5f * static_cast<float>(bins) * file.size_m;
  const float reach_m = half_m * 1.7320509f;  // to the corners of the cube
  const NeighbourGrid grid = build_neighbour_grid(cpu, view_of(std::as_const(centres)),
                                                  NeighbourGridOptions::for_radius(reach_m));
  const NeighbourLists near =
      neighbours_within(cpu, grid, view_of(std::as_const(origins)), reach_m);
  std::vector<double> counts(origins.size(), 0.0);
  for (std::size_t i = 0; i < origins.size(); ++i) {
    for (std::int64_t j = near.first.host()[i]; j < near.first.host()[i + 1]; ++j) {
      const auto centre = static_cast<std::size_t>(near.indices.data()[j]);
      const Vec3f v = file.axes[i * step] * (centres[centre] - origins[i]);
      const float farthest = max_of(max_of(std::abs(v.x), std::abs(v.y)), std::abs(v.z));
      counts[i] += farthest < half_m ? 1 : 0;
    }
  }
  return counts;
}

}  // namespace

Description describe_tensors(const Context& context, const Surface& surface,
                             const DescribeOptions& options, StepTimes& times) {
  const bool all = options.keypoints == KeypointChoice::kAll;
  PairsOptions pairs_options = options.pairs;
  pairs_options.seed = options.seed;
  const Buffer<PointPair> pairs =
      times.time("pairs", context, [&] { return find_pairs(context, surface, pairs_options); });
  const std::int64_t wanted = options.count > 0 ? options.count
                              : all             ? pairs.size()
                                                : kRandomTensors;
  const Buffer<PointPair> chosen = times.time(
      "select", context, [&] { return select_pairs(context, pairs, wanted, options.seed); });
  const TensorSet tensors = times.time("describe", context, [&] {
    return compute_tensors(context, surface, chosen, options.tensor);
  });
  Description description;
  DescriptorFile& file = description.file;
  file = file_of(to_host(context, tensors), options.keep_invalid);
  file.size_m = options.tensor.bin_resolutions * surface.resolution_m;
  const auto invalid = chosen.size() - std::count_if(file.angles_rad.begin(), file.angles_rad.end(),
                                                     [](float a) { return std::isfinite(a); });
  const std::vector<double> sizes(file.sizes.begin(), file.sizes.end());
  const nlohmann::json bins = mean_and_median(sizes);
  const nlohmann::json areas = mean_and_median(areas_sq_m(file));
  const nlohmann::json triangles = times.time("count", context, [&] {
    return mean_and_median(triangle_counts(context, surface, file, options.tensor.bins));
  });
  description.facts = {
      {"keypoints", {{"choice", all ? "all" : "random"}, {"count", chosen.size()}}},
      {"pairs", pairs.size()},
      {"described", chosen.size() - invalid},
      {"invalid", {{"no_frame", invalid}}},
      {"triangles", triangles},
      {"filled_bins", bins},
      {"area_sq_m", areas},
      {"options", options_to_json(options.tensor)},
      {"pairs_options", options_to_json(pairs_options)}};
  description.text =
      fmt::format("  {} of {} pairs, {} {} descriptors of {:.1f} mm bins", chosen.size(),
                  pairs.size(), chosen.size() - invalid, name_of(file), 1000 * file.size_m);
  if (!bins.is_null()) {
    description.text += fmt::format(
        "; each has {:.0f} triangles, {:.1f} cm2 in {:.0f} bins", triangles["median"].get<double>(),
        1e4 * areas["median"].get<double>(), bins["median"].get<double>());
  }
  description.text += "\n";
  if (invalid > 0) {
    description.text += fmt::format("  without descriptor: {} with parallel normals\n", invalid);
  }
  return description;
}

}  // namespace sextant::app
