// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer/faces.h"

#include "sextant/core/for_each/anywhere.h"

namespace sextant::detail::recognizer {

std::vector<FaceEnds> measure_faces(const Context& context, const FrameView& frame,
                                    std::vector<Face>& faces, Workspace& workspace) {
  if (faces.empty()) return {};
  const auto size = static_cast<std::int64_t>(faces.size());
  const Workspace::Scope scope(workspace);
  const auto faces_there = workspace.take<Face>(context, size);
  const auto lines = workspace.take<FaceEnd>(context, 4 * kFaceLines * size);
  const auto ends = workspace.take<FaceEnds>(context, size);
  copy<Face>(context, view_of(std::as_const(faces)), faces_there);
  for (int turn = 0; turn <= kFaceTurns; ++turn) {
    for_each_anywhere(context, lines.size, WalkFaces{frame, faces_there.data, lines.data});
    for_each_anywhere(context, size,
                      EndFaces{lines.data, faces_there.data, ends.data, turn == kFaceTurns});
  }
  faces = to_host(context, faces_there);
  return to_host(context, ends);
}

}  // namespace sextant::detail::recognizer
