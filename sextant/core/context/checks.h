// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/image.h"

// Checks that many operations make of their arguments. Each throws an Error that names the argument
// and says what it has and what was expected.

namespace sextant::detail {

/// An output has room for just what is written.
template <class T>
void require_room(const View<T>& output, std::int64_t size, const char* name) {
  require(output.size == size, name, ": room for ", output.size, " elements instead of ", size);
}

/// A list has an element for each of another one, whose elements are called `others`.
template <class T, class U>
void require_same_size(const View<T>& list, const char* name, const View<U>& other,
                       const char* others) {
  require(list.size == other.size, name, ": ", list.size, " elements for ", other.size, " ",
          others);
}

/// The same for images.
template <class T, class U>
void require_same_size(const ImageView<T>& image, const char* name, const ImageView<U>& other,
                       const char* others) {
  require(image.width == other.width && image.height == other.height, name, ": ", image.width,
          " x ", image.height, " for ", other.width, " x ", other.height, " ", others);
}

}  // namespace sextant::detail
