// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sextant/core/cuda_check.h"
#include "sextant/descriptor/sift/cuda.h"
#include "sextant/descriptor/sift/grey.h"
#include "sextant/descriptor/sift/steps.cuh"

namespace sextant::detail::sift {

namespace {

/// Room for features; more than is found, as that is known on the device alone.
FeatureRows make_room_for(const Context& context, const SiftOptions& options, std::int64_t capacity,
                          SiftFeatures& features) {
  const std::int64_t rows =
      options.most > 0 ? std::min<std::int64_t>(capacity, options.most) : capacity;
  // Keypoints have room for what is found before `most`, so that the next call knows how much.
  make_room(context, capacity, features.keypoints);
  FeatureRows to{features.keypoints.data(), nullptr, nullptr};
  if (options.numbers == SiftNumbers::kBytes) {
    make_room(context, rows * kSiftLength, features.bytes);
    to.bytes = features.bytes.data();
  } else {
    features.bytes = {};
  }
  if (options.numbers == SiftNumbers::kFloats) {
    make_room(context, rows * kSiftLength, features.floats);
    to.floats = features.floats.data();
  } else {
    features.floats = {};
  }
  return to;
}

SiftCounts read_counts(const Context& context, const View<SiftCounts>& counts) {
  SiftCounts result;
  copy<SiftCounts>(context, counts, View<SiftCounts>{&result, 1, Device{}});
  return result;
}

[[noreturn]] void refuse_pixel(const Context& context, const PhotoView& photo,
                               unsigned long long pixel) {
  const std::int64_t u = static_cast<std::int64_t>(pixel) % photo.width;
  const std::int64_t v = static_cast<std::int64_t>(pixel) / photo.width;
  float number = 0;
  const float* const from = static_cast<const float*>(photo.data) + v * photo.stride + u;
  copy<float>(context, View<const float>{from, 1, photo.device}, View<float>{&number, 1, Device{}});
  refuse_number(u, v, number);
}

}  // namespace

void compute_sift_cuda(const Context& context, const PhotoView& photo,
                       const ImageView<const std::uint8_t>& mask, const SiftOptions& options,
                       std::int64_t capacity, SiftFeatures& features, Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  const ScalePlan plan = make_scale_plan(photo.width, photo.height, options);
  capacity = std::max(capacity, features.keypoints.size());
  if (plan.octaves == 0) {
    make_room_for(context, options, 0, features);
    features.count = 0;
    return;
  }
  std::int64_t size = 0;
  const Pyramid layout = make_pyramid(plan, size);
  const View<float> scales = workspace.take<float>(context, size);
  const View<SiftCounts> counts = workspace.take<SiftCounts>(context, 1);
  check_cuda(cudaMemsetAsync(counts.data, 0xff, sizeof(SiftCounts), cuda_stream(context)),
             "cudaMemsetAsync");
  const ExtremumLimits limits{plan.layers, plan.sigma, static_cast<float>(options.contrast),
                              static_cast<float>(options.edge_ratio)};
  const SiftJob job{photo, mask, options, limits, place_pyramid(layout, scales.data), counts.data};
  make_scales_cuda(context, job, plan, workspace);
  const FoundWords found = find_words_cuda(context, job, workspace);
  while (true) {
    const Workspace::Scope lists(workspace);
    require(capacity <= INT32_MAX, "photo: has more keypoints than an index can name");
    const FeatureRows to = make_room_for(context, options, capacity, features);
    const View<PlacedExtremum> extrema = workspace.take<PlacedExtremum>(context, capacity);
    const View<PlacedDirection> directions = workspace.take<PlacedDirection>(context, capacity);
    list_extrema_cuda(context, job, found, extrema);
    find_directions_cuda(context, job, found, extrema, directions, workspace);
    describe_cuda(context, job, extrema,
                  keep_strongest_cuda(context, job, extrema, directions, workspace), to);
    const SiftCounts known = read_counts(context, counts);
    if (known.bad_pixel != ~0ull) refuse_pixel(context, photo, known.bad_pixel);
    const std::int64_t needed = std::max(known.extrema, known.keypoints);
    if (needed <= capacity) {
      features.count = options.most > 0 ? std::min(known.keypoints, options.most) : known.keypoints;
      return;
    }
    capacity = needed + needed / 8;
  }
}

}  // namespace sextant::detail::sift
