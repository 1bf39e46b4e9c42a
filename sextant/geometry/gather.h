// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/buffer.h"
#include "sextant/core/vec.h"

namespace sextant {

/// to[i] = from[indices[i]]; where an index lies outside, NaN, black or -1. Compiled for Vec3f,
/// Rgb8 and int32. Does not wait for the device.
template <class T>
void gather_into(const Context& context, View<const T> from, View<const std::int32_t> indices,
                 View<T> to);
template <class T>
Buffer<T> gather(const Context& context, View<const T> from, View<const std::int32_t> indices) {
  Buffer<T> to(context, indices.size);
  gather_into<T>(context, from, indices, to);
  return to;
}

/// The indices, ascending, of the points that are no holes. Waits for the device, to learn how many
/// there are.
Buffer<std::int32_t> finite_points(const Context& context, View<const Vec3f> points);

}  // namespace sextant
