// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "sextant/io/bop_results.h"
#include "sextant/io/camera_json.h"
#include "sextant/recognize/recognizer.h"

namespace sextant::app {

/// What `eval` does with a library instead of a file of results.
struct RecognizeSet {
  std::string library;
  RecognizeOptions options;
  int workers = 1;  ///< images at once; more than one, each on a thread of its own
  int threads = 0;  ///< of a single worker; 0: as many as the process may use
};

/// An image of a data set in which objects are looked for.
struct ImageToRecognize {
  int scene = 0;
  int image = 0;
  std::filesystem::path depth_file;
  CameraFile camera;  ///< its size is that of the depth map
};

/// What was found in an image.
struct RecognizedImage {
  double seconds = 0;  ///< that the search took, without reading the depth map
  std::vector<BopResult> results;
};

/// Looks for the objects of a library in the images of a set, whose objects have these numbers, and
/// writes what was found into `folder`/results.csv. What is found is kept in
/// `folder`/recognized.jsonl as soon as an image is finished, so that an interrupted run goes on
/// where it stopped; a line counts only for the same program, library, options and depth map. The
/// same poses for any number of workers and threads. Error for an object of the library that the
/// set does not have.
std::vector<RecognizedImage> recognize_set(const RecognizeSet& what,
                                           std::span<const ImageToRecognize> images,
                                           std::span<const int> set_objects,
                                           const std::filesystem::path& folder);

}  // namespace sextant::app
