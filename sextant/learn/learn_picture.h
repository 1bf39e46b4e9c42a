// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sextant/core/image.h"
#include "sextant/core/options.h"
#include "sextant/library/learned_object.h"

namespace sextant {

struct LearnPictureOptions {
  int most_features = 10000;  ///< those with the largest response; 0: all

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("most_features", self.most_features,
          "of a picture, those with the largest response; 0: all", Range{0, 1 << 30});
  }
};

/// Fewer features of a picture are no object: five make a pose, and not all are found again.
inline constexpr int kFewestPictureFeatures = 8;

/// Learns something flat, such as a card or the front of a box, from one picture of it that was
/// scanned or taken from straight ahead, so that photographs can be searched for it.
///
/// The picture lies in the plane z = 0 of the object's frame with its middle at the origin, x to
/// its right and y down, as a camera sees it that looks along z. It is `width_m` wide, and as high
/// as its pixels say, which are squares. Its SIFT features (compute_sift, the picture doubled) are
/// the object's `appearance`. The mesh is two triangles that show the picture, made smaller where a
/// side is longer than 1024 pixels; their front looks along -z, at the camera. A depth map cannot
/// tell such an object from any other flat thing, so it has nothing to be found there.
///
/// The mask, if any, has the picture's size; where it is 0 there is none of the object. Runs on the
/// context's threads, and throws on CUDA. Throws Error for fewer than kFewestPictureFeatures
/// features, and for a width that makes it smaller than 5 mm or larger than 5 m.
LearnedObject learn_picture(const Context& context, const std::string& name,
                            const ImageView<const Rgb8>& picture, double width_m,
                            const LearnPictureOptions& options = {},
                            const ImageView<const std::uint8_t>& mask = {});

}  // namespace sextant
