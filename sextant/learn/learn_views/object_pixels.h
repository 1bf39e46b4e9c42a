// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/io/views_folder.h"

namespace sextant::detail::learn_views {

struct ObjectPixels {
  Image<std::uint8_t> object;  ///< not 0 where the object was measured
  std::string background;      ///< how it was told from the background
  bool cut_out = false;        ///< somebody removed the background before
};

/// The pixels of the object, by the mask or, without one, by the plane that it stands on.
ObjectPixels find_object(const Context& context, const RgbdView& view);

}  // namespace sextant::detail::learn_views
