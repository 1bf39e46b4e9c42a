// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/library/resident.h"
#include "sextant/recognize/recognizer/poses.h"

namespace sextant::detail::recognizer {

/// Proposes poses by local descriptors. A place of the frame that resembles a place of an object
/// tells how the object would lie, because both have a frame of their own.
class DescriptorSources {
 public:
  /// Keeps what the sources need of the objects. Throws Error where no source has anything of an
  /// object.
  DescriptorSources(const Context& context, std::span<const LearnedObject> objects,
                    const PoseSources& sources);

  /// The poses of each object, the same for any number of threads; one vote for each match. What
  /// lies on the dominant plane or where the mask is 0 is not described.
  std::vector<std::vector<Hypothesis>> propose(const Context& context, const SceneFrame& scene,
                                               ImageView<const std::uint8_t> mask) const;

 private:
  ResidentLibrary library_;
  float largest_diameter_m_ = 0;
};

}  // namespace sextant::detail::recognizer
