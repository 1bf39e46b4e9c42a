// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sextant/core/progress.h"
#include "sextant/descriptor/sift.h"
#include "sextant/library/library.h"
#include "sextant/recognize/photo_poses.h"

namespace sextant {

/// How objects are looked for in photographs.
struct PhotoRecognizeOptions {
  SiftOptions sift;
  PhotoMatchOptions match;
  PhotoPoseOptions poses;
};

/// A preset of the poses with the matching that belongs to it.
PhotoRecognizeOptions photo_recognize_options(PhotoPreset preset);

/// What photographs taken at one moment show.
struct PhotoRecognition {
  std::vector<PhotoDetection> detections;  ///< from the highest score down
  std::vector<PhotoDetection> rejected;    ///< likewise, at most 1000, each with its reason
  std::vector<PhotoMatch> matches;         ///< what `inliers` of the detections number
  std::vector<std::int32_t> features;      ///< found in each photograph
  std::vector<StepTime> times;
};

/// What a recogniser of photographs needs of the objects of a library.
inline ObjectParts parts_to_recognize_photos() {
  ObjectParts parts = ObjectParts::none();
  parts.appearance = true;
  return parts;
}

/// Finds the objects of a library in one photograph, or in several that calibrated cameras took at
/// the same moment: SIFT, matching with the objects' appearance, and poses (photo_poses.h).
///
/// The same bits from run to run and for any number of threads. On a CUDA context features and
/// matches are found there, and poses on the host with as many threads as the process may use;
/// features agree with those of the CPU within what sift.h says, so that detections are the same
/// but for single matches. Memory for features is taken for the first photographs and for larger
/// ones.
class PhotoRecognizer {
 public:
  /// Copies the appearance of the objects, which may go away afterwards. Objects without one are
  /// never found; Error where none has any.
  PhotoRecognizer(const Context& context, std::span<const LearnedObject> objects,
                  const PhotoRecognizeOptions& options = {});
  /// All objects of a library, as it is now.
  PhotoRecognizer(const Context& context, const Library& library,
                  const PhotoRecognizeOptions& options = {}, const Progress& progress = {});
  ~PhotoRecognizer();
  PhotoRecognizer(PhotoRecognizer&&) noexcept;
  PhotoRecognizer& operator=(PhotoRecognizer&&) noexcept;

  /// The objects by the numbers of the results.
  std::span<const PhotoObject> objects() const;
  /// Names of the objects that were learned without photographs.
  std::span<const std::string> without_appearance() const;

  /// Photographs on the host, each as large as its camera says; Error otherwise. Poses are those of
  /// the objects in the frame that the cameras' poses lead to. Lens distortion is taken out of the
  /// places of features, not of the photographs. Progress counts photographs, twice each, and 3
  /// steps of the poses. One thread at a time may call it.
  PhotoRecognition recognize(std::span<const PhotoView> photos,
                             std::span<const PosedCamera> cameras, const Progress& progress = {},
                             PhotoTrace* trace = nullptr);

  /// One photograph; the camera is the world, so that poses are camera_from_object.
  PhotoRecognition recognize(const PhotoView& photo, const Camera& camera,
                             const Progress& progress = {}, PhotoTrace* trace = nullptr);

 private:
  struct State;
  static std::unique_ptr<State> make_state(const Context& context, ResidentLibrary resident,
                                           const PhotoRecognizeOptions& options);
  std::unique_ptr<State> state_;
};

}  // namespace sextant
