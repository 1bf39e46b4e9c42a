// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <variant>

#include "sextant/core/image.h"
#include "sextant/descriptor/sift.h"

namespace sextant::app {

/// A photograph with 16 bits a channel where the file has them, else with 8.
struct Photo {
  std::variant<Image<Rgb8>, Image<Vec3<std::uint16_t>>> pixels;
  int orientation = 1;  ///< as Exif counts

  PhotoView view() const;
  Image<Rgb8> rgb8() const;
};

/// Turned upright as its Exif says, unless that is not wanted.
Photo read_photo(const std::string& path, bool follow_orientation = true);

}  // namespace sextant::app
