// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "sextant/io/bop_results.h"
#include "sextant/io/camera_json.h"
#include "sextant/recognize/photo_recognizer.h"
#include "sextant/recognize/recognizer.h"

namespace sextant::app {

/// What `eval` does with a library instead of a file of results.
struct RecognizeSet {
  std::string library;
  RecognizeOptions options;
  PhotoPreset preset = PhotoPreset::kDefault;  ///< of a set of photographs; of `options`, `accept`
  int workers = 1;  ///< images at once; more than one, each on a thread of its own
  int threads = 0;  ///< of a single worker; 0: as many as the process may use
};

/// An image of a data set in which objects are looked for.
struct ImageToRecognize {
  int scene = 0;
  int image = 0;
  std::filesystem::path file;  ///< a depth map, or a photograph where the set has no depth
  CameraFile camera;           ///< its size is that of the file
};

/// The objects of a data set: their numbers, with their names where the set tells them.
using SetObjects = std::map<int, std::string>;

/// What was found in an image.
struct RecognizedImage {
  double seconds = 0;  ///< that the search took, without reading the file
  std::vector<BopResult> results;
};

/// Looks for the objects of a library in the images of a set, all depth maps or all photographs,
/// and writes what was found into `folder`/results.csv. What is found is kept in
/// `folder`/recognized.jsonl as soon as an image is finished, so that an interrupted run goes on
/// where it stopped; a line counts only for the same program, library, options and file. The
/// same poses for any number of workers and threads. Error for an object of the library that the
/// set does not have; one that was learned without a number is known by its name.
std::vector<RecognizedImage> recognize_set(const RecognizeSet& what,
                                           std::span<const ImageToRecognize> images,
                                           bool photographs, const SetObjects& set_objects,
                                           const std::filesystem::path& folder);

}  // namespace sextant::app
