// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "sextant/core/context.h"
#include "sextant/core/error.h"
#include "sextant/core/host_device.h"

namespace sextant {

/// A run of elements on one device: what operations take and kernels get. Owns nothing.
template <class T>
struct View {
  T* data = nullptr;
  std::int64_t size = 0;
  Device device;

  SEXTANT_HD T& operator[](std::int64_t index) const { return data[index]; }
  SEXTANT_HD bool empty() const { return size == 0; }

  T* begin() const { return data; }
  T* end() const { return data + size; }

  SEXTANT_HD View subview(std::int64_t first, std::int64_t count) const {
    return {data + first, count, device};
  }

  template <class U>
  requires(!std::is_const_v<T> && std::is_same_v<U, const T>) operator View<U>() const {
    return {data, size, device};
  }
};

/// Make views of host memory, for the caller who has a vector or a span.
template <class T>
View<T> view_of(std::span<T> elements) {
  return {elements.data(), static_cast<std::int64_t>(elements.size()), Device{}};
}
template <class T>
View<T> view_of(std::vector<T>& elements) {
  return {elements.data(), static_cast<std::int64_t>(elements.size()), Device{}};
}
template <class T>
View<const T> view_of(const std::vector<T>& elements) {
  return {elements.data(), static_cast<std::int64_t>(elements.size()), Device{}};
}

/// Throws unless the argument lies on the context's device: nothing crosses devices by itself.
template <class Located>
void require_on(const Context& context, const Located& argument, const char* name) {
  if (argument.device == context.device()) return;
  fail(name, ": lies on ", to_string(argument.device), " but the context runs on ",
       to_string(context.device()), "; copy it there first with sextant::copy(context, ", name,
       ")");
}

/// Throws unless the argument lies on the context's device and has exactly `size` elements. The
/// remedy, if any, ends the message: "; see region_capacity".
template <class T>
void require_room(const Context& context, const View<T>& argument, std::int64_t size,
                  const char* name, const char* remedy = "") {
  require_on(context, argument, name);
  require(argument.size == size, name, ": has ", argument.size, " elements instead of ", size,
          remedy);
}

}  // namespace sextant
