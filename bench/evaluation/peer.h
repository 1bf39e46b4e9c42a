// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sextant/core/rigid3.h"
#include "sextant/geometry/camera.h"

namespace sextant::peers {

// What the programs that let another library find the objects of a BOP data set share: reading the
// set, bringing models and depth maps into points, and writing results for `sextant eval`.

/// Points with unit normals, in metres.
struct OrientedPoints {
  std::vector<Vec3f> points, normals;

  std::size_t size() const { return points.size(); }
};

/// An object of the set's models folder, distractors included.
struct PeerModel {
  int object_id = 0;
  double diameter_m = 0;
  /// Spread evenly over the surface, about a hundredth of the diameter apart.
  OrientedPoints surface;
};

/// What the camera saw, in its frame.
struct PeerFrame {
  int scene = 0;
  int image = 0;
  Camera camera;
  std::vector<Vec3f> points;  ///< one per pixel, row by row, NaN where nothing was measured
};

/// A pose that the peer reports.
struct Found {
  int object_id = 0;
  double score = 0;
  Rigid3d camera_from_object;
};

/// A pose from a matrix of a library, of which m(row, column) is a number.
template <class Matrix>
Rigid3d rigid_of(const Matrix& m) {
  const auto at = [&](int r, int c) { return static_cast<double>(m(r, c)); };
  Rigid3d pose;
  for (int r = 0; r < 3; ++r) pose.rotation.row[r] = {at(r, 0), at(r, 1), at(r, 2)};
  pose.translation = {at(0, 3), at(1, 3), at(2, 3)};
  return renormalized(pose);
}

/// One library's way to find objects: made once for the models, then asked for each frame.
class Recognizer {
 public:
  virtual ~Recognizer() = default;
  virtual std::vector<Found> find(const PeerFrame& frame) = 0;
};
using MakeRecognizer =
    std::function<std::unique_ptr<Recognizer>(const std::vector<PeerModel>& models)>;

/// The measured points at which an object of this size spans at least 40 pixels: what is farther
/// away has too few points for it to be found.
std::vector<Vec3f> near_enough(const PeerFrame& frame, double size_m);

/// The same without the dominant plane, where that is what things stand on: it holds at least a
/// fifth of the points, and of the others more lie before it than behind. Points within 0.06 sizes
/// of it go. RANSAC with a fixed seed.
std::vector<Vec3f> without_support(const PeerFrame& frame, double size_m);

/// A length near `length_m`, the same for lengths that differ little: powers of the square root of
/// two. Objects of like size share what a peer computes of a scene.
double rounded_length(double length_m);

/// The first points of voxels of this size, in their order; points that are not finite go.
std::vector<Vec3f> thinned(const std::vector<Vec3f>& points, double voxel_m);
OrientedPoints thinned(const OrientedPoints& points, double voxel_m);

/// The main function: `NAME DATASET --out results.csv [--first I] [--images N]`. Frames without a
/// depth map are passed over. The results are on disk after each frame; the time of a frame is that
/// of `find`, and since results have no line for a frame in which nothing was found, all times are
/// in results.csv.seconds too. Progress goes to stderr.
int run(int argc, char** argv, const MakeRecognizer& make);

}  // namespace sextant::peers
