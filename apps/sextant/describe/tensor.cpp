// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "apps/sextant/describe/description.h"
#include "sextant/core/options_json.h"
#include "sextant/core/parcel.h"
#include "sextant/descriptor/surface_descriptors.h"

namespace sextant::app {

namespace {

constexpr std::int64_t kRandomTensors = 200;

/// Everything that is known of the tensors, in one piece of memory.
struct TensorParcel {
  Parcel parcel;
  Parcel::Part<std::int32_t> found;  ///< one element: pairs that they were drawn from
  Parcel::Part<TensorFrame> frames;
  Parcel::Part<std::int32_t> sizes;
  Parcel::Part<std::uint16_t> indices;
  Parcel::Part<float> values;
  Parcel::Part<std::int32_t> triangles;

  TensorParcel(const Context& context, const DrawnPairs& drawn, const TensorSet& tensors,
               const Buffer<std::int32_t>& triangle_counts) {
    Parcel& to = parcel;
    const auto plan = [&]<class T>(const Buffer<T>& from, Parcel::Part<T>& part) {
      part = to.add<T>(from.size());
    };
    const auto fill = [&]<class T>(const Buffer<T>& from, Parcel::Part<T>& part) {
      copy<T>(context, from, to[part]);
    };
    const auto each_part = [&](const auto& act) {
      act(drawn.found, found);
      act(tensors.frames, frames);
      act(tensors.sizes, sizes);
      act(tensors.indices, indices);
      act(tensors.values, values);
      act(triangle_counts, triangles);
    };
    each_part(plan);
    parcel.allocate(context);
    each_part(fill);
  }
};

/// Packed tensors as a file keeps them: those that could be made, or all with `keep_invalid`.
DescriptorFile file_of(const TensorParcel& found, const Parcel& on_host, int bins,
                       bool keep_invalid) {
  DescriptorFile file;
  file.kind = DescriptorKind::kTensor;
  file.length = bins * bins * bins;
  const std::uint16_t* index = on_host[found.indices].data;
  const float* value = on_host[found.values].data;
  for (std::int64_t t = 0; t < on_host[found.frames].size; ++t) {
    const TensorFrame& frame = on_host[found.frames][t];
    const std::int32_t size = on_host[found.sizes][t];
    if (!std::isnan(frame.angle_rad) || keep_invalid) {
      file.points.push_back(frame.pair.p);
      file.partners.push_back(frame.pair.q);
      file.angles_rad.push_back(frame.angle_rad);
      file.positions_m.push_back(frame.origin_m);
      file.axes.push_back(frame.axes);
      file.sizes.push_back(size);
      file.indices.insert(file.indices.end(), index, index + size);
      file.values.insert(file.values.end(), value, value + size);
    }
    index += size;
    value += size;
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

/// A thousand tensors at most say how many triangles there are in their cubes.
int step_between_counted(std::int64_t tensors) {
  constexpr std::int64_t kMostCounted = 1000;
  return static_cast<int>(tensors / kMostCounted + 1);
}

std::vector<double> counts_that_are_there(View<const std::int32_t> counts) {
  std::vector<double> there;
  for (const std::int32_t count : counts) {
    if (count >= 0) there.push_back(count);
  }
  return there;
}

}  // namespace

Description describe_tensors(const Context& context, const Surface& surface,
                             const DescribeOptions& options, StepTimes& times) {
  const bool all = options.keypoints == KeypointChoice::kAll;
  PairsOptions pairs_options = options.pairs;
  pairs_options.seed = options.seed;
  const std::int64_t wanted = options.count > 0 ? options.count : all ? 0 : kRandomTensors;
  const DrawnPairs drawn = times.time("pairs", context, [&] {
    return draw_pairs(context, surface, wanted, options.seed, pairs_options);
  });
  const TensorSet tensors = times.time("describe", context, [&] {
    return compute_tensors(context, surface, drawn, options.tensor);
  });
  const std::int64_t chosen = tensors.frames.size();
  const Buffer<std::int32_t> triangle_counts = times.time("count", context, [&] {
    return count_triangles(context, surface, tensors.frames, options.tensor,
                           step_between_counted(chosen));
  });
  const TensorParcel found(context, drawn, tensors, triangle_counts);
  const Parcel on_host = to_host(context, found.parcel);
  const std::int32_t pairs = on_host[found.found][0];
  Description description;
  DescriptorFile& file = description.file;
  file = file_of(found, on_host, tensors.bins, options.keep_invalid);
  file.size_m = options.tensor.bin_resolutions * surface.resolution_m;
  const auto invalid = chosen - std::count_if(file.angles_rad.begin(), file.angles_rad.end(),
                                              [](float a) { return std::isfinite(a); });
  const std::vector<double> sizes(file.sizes.begin(), file.sizes.end());
  const nlohmann::json bins = mean_and_median(sizes);
  const nlohmann::json areas = mean_and_median(areas_sq_m(file));
  const nlohmann::json triangles = mean_and_median(counts_that_are_there(on_host[found.triangles]));
  description.facts = {{"keypoints", {{"choice", all ? "all" : "random"}, {"count", chosen}}},
                       {"pairs", pairs},
                       {"described", chosen - invalid},
                       {"invalid", {{"no_frame", invalid}}},
                       {"triangles", triangles},
                       {"filled_bins", bins},
                       {"area_sq_m", areas},
                       {"options", options_to_json(options.tensor)},
                       {"pairs_options", options_to_json(pairs_options)}};
  description.text = fmt::format("  {} of {} pairs, {} {} descriptors of {:.1f} mm bins", chosen,
                                 pairs, chosen - invalid, name_of(file), 1000 * file.size_m);
  if (!bins.is_null() && !triangles.is_null()) {
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
