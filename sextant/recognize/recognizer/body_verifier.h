// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "sextant/recognize/recognizer/compare.h"
#include "sextant/recognize/recognizer/verify_batch.h"

namespace sextant::detail::recognizer {

/// What can be rendered and compared with a frame: the objects, then packs of them.
struct Bodies {
  std::span<const ModelView> host;   ///< as the host sees them
  const ModelView* there = nullptr;  ///< the same where the frame is
  const RenderScene* meshes = nullptr;
};

struct BodyPose {
  std::int32_t body = 0;
  Rigid3d camera_from_body;
};

/// Compares poses that the host knows with a frame on either device.
class BodyVerifier {
 public:
  BodyVerifier(const Context& context, const FrameView& frame, const Bodies& bodies,
               Workspace& workspace)
      : context_(context), frame_(frame), bodies_(bodies), workspace_(workspace) {}

  std::vector<Compared> verify(std::span<const BodyPose> poses, const CompareWants& wants = {});
  /// The same of poses of one body.
  std::vector<Compared> verify(std::int32_t body, std::span<const Rigid3d> poses,
                               const CompareWants& wants = {});

  const Context& context() const { return context_; }
  const FrameView& frame() const { return frame_; }
  const ModelView& view(std::int32_t body) const {
    return bodies_.host[static_cast<std::size_t>(body)];
  }
  Workspace& workspace() { return workspace_; }

 private:
  const Context& context_;
  FrameView frame_;
  Bodies bodies_;
  Workspace& workspace_;
};

}  // namespace sextant::detail::recognizer
