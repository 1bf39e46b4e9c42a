// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

#include "sextant/recognize/recognizer/model_set.h"
#include "sextant/recognize/recognizer/scene.h"
#include "sextant/recognize/recognizer/verified_pose.h"

namespace sextant::detail::recognizer {

/// Looks for all objects at once: what Recognizer does on CUDA. It does the same on the CPU, where
/// going from object to object takes less memory and can stop in between. The memory of a frame is
/// kept for the next.
class BatchRecognizer {
 public:
  BatchRecognizer(const Context& context, std::span<const Model> models,
                  const RecognizeOptions& options);

  /// The arguments of Recognizer::recognize, which are checked there. One frame at a time: others
  /// wait.
  Recognition recognize(std::span<const Model> models, ImageView<const float> depth_m,
                        const Camera& camera, const RecognizeHints& hints, RecognitionTrace* trace);

 private:
  /// A mask of the given map on the context's device.
  ImageView<const std::uint8_t> mask_there(ImageView<const std::uint8_t> mask);

  std::mutex one_frame_;
  Context context_;
  Context host_;
  RecognizeOptions options_;
  ModelSet models_;
  SceneFrame scene_;
  Buffer<std::uint8_t> mask_;
  Buffer<VerifiedPose> told_;  ///< page-locked
  Workspace workspace_;
};

}  // namespace sextant::detail::recognizer
