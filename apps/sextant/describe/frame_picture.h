// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/sextant/describe/described_surface.h"
#include "sextant/descriptor/descriptor_file.h"

namespace sextant::app {

enum class UpAxis : std::int32_t { kX, kY, kZ, kMinusX, kMinusY, kMinusZ };
inline constexpr Choice<UpAxis> kUpAxes[] = {{"x", UpAxis::kX},       {"y", UpAxis::kY},
                                             {"z", UpAxis::kZ},       {"-x", UpAxis::kMinusX},
                                             {"-y", UpAxis::kMinusY}, {"-z", UpAxis::kMinusZ}};

/// Where the picture of a mesh or cloud is taken from; an organised cloud is seen as its sensor saw
/// it.
struct FramePictureOptions {
  UpAxis up = UpAxis::kZ;
  float turn_rad = 0.6f;
  float elevation_rad = 0.4f;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("up", self.up, "which axis of a mesh or cloud points up in the picture", kUpAxes);
    visit("turn_rad", self.turn_rad, "how far the viewer stands to the side", Range{-7, 7});
    visit("elevation_rad", self.elevation_rad, "how far the viewer stands above the surface",
          Range{-1.5, 1.5});
  }
};

struct FramePicture {
  Image<Rgb8> image;
  std::int64_t frames = 0;  ///< how many are drawn
};

/// The surface in grey with the frames of descriptors on it, x red, y green and z blue. Frames that
/// the surface hides, and those that would lie on one drawn before, are left out.
FramePicture draw_frames(const Context& context, const Surface& surface,
                         const DescriptorFile& descriptors, const FramePictureOptions& options);

}  // namespace sextant::app
