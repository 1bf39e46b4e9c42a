// SPDX-License-Identifier: Apache-2.0
#include "sextant/learn/features/tensor_collector.h"

#include <cmath>

namespace sextant::detail::learn {

TensorFrame in_object(const TensorFrame& frame, const Rigid3d& camera_from_object) {
  TensorFrame moved = frame;
  moved.axes = cast<float>(cast<double>(frame.axes) * camera_from_object.rotation);
  moved.origin_m = cast<float>(inverse(camera_from_object) * cast<double>(frame.origin_m));
  return moved;
}

void TensorCollector::add(const TensorSet& set, std::int32_t view,
                          const Rigid3d& camera_from_object) {
  const std::int32_t count = set.count.empty() ? 0 : set.count.host()[0];
  if (count == 0) return;
  require(frames_.empty() || set.bins == bins_, "tensors of ", set.bins,
          " bins cannot be kept beside tensors of ", bins_);
  bins_ = set.bins;
  for (std::int32_t t = 0; t < count; ++t) {
    const TensorFrame& frame = set.frames.host()[static_cast<std::size_t>(t)];
    const std::int32_t size = set.sizes.host()[static_cast<std::size_t>(t)];
    if (!std::isfinite(frame.angle_rad) || size <= 0) continue;
    const std::int64_t from = set.first.host()[static_cast<std::size_t>(t)];
    frames_.push_back(in_object(frame, camera_from_object));
    masks_.push_back(set.masks.host()[static_cast<std::size_t>(t)]);
    sizes_.push_back(size);
    first_.push_back(static_cast<std::int64_t>(values_.size()));
    views_.push_back(view);
    indices_.insert(indices_.end(), set.indices.data() + from, set.indices.data() + from + size);
    values_.insert(values_.end(), set.values.data() + from, set.values.data() + from + size);
  }
}

LearnedTensors TensorCollector::take(float resolution_m) const {
  const Context host = Context::cpu();
  LearnedTensors tensors;
  tensors.resolution_m = resolution_m;
  tensors.set.bins = bins_;
  tensors.set.count = copy(host, std::vector<std::int32_t>{static_cast<std::int32_t>(size())});
  tensors.set.frames = copy(host, frames_);
  tensors.set.masks = copy(host, masks_);
  tensors.set.sizes = copy(host, sizes_);
  tensors.set.first = copy(host, first_);
  tensors.set.indices = copy(host, indices_);
  tensors.set.values = copy(host, values_);
  tensors.views = copy(host, views_);
  return tensors;
}

}  // namespace sextant::detail::learn
