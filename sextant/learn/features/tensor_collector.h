// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sextant/library/learned_object.h"

namespace sextant::detail::learn {

/// Puts the tensors of several views together, in the order in which they are added, with their
/// frames in the object's frame. Tensors without a frame or without a bin are left out.
class TensorCollector {
 public:
  /// The set lies on the host; all have the same number of bins.
  void add(const TensorSet& set, std::int32_t view, const Rigid3d& camera_from_object);
  /// All that were added, on the host.
  LearnedTensors take(float resolution_m) const;
  std::int64_t size() const { return static_cast<std::int64_t>(frames_.size()); }

 private:
  int bins_ = TensorOptions{}.bins;
  std::vector<TensorFrame> frames_;
  std::vector<TensorMask> masks_;
  std::vector<std::int32_t> sizes_;
  std::vector<std::int64_t> first_;
  std::vector<std::int32_t> views_;
  std::vector<std::uint16_t> indices_;
  std::vector<float> values_;
};

/// The frame of a tensor of a view in the object's frame. A tensor's own coordinates are
/// A (p - o) = A R (x - R^T (o - t)) of the point x of the object, p = R x + t.
TensorFrame in_object(const TensorFrame& frame, const Rigid3d& camera_from_object);

}  // namespace sextant::detail::learn
