// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sextant/core/image.h"
#include "sextant/core/options.h"
#include "sextant/geometry/camera.h"
#include "sextant/learn/learn_progress.h"
#include "sextant/library/learned_object.h"

namespace sextant {

/// A photograph of the object, on the host, with the camera that took it and where that stood.
struct ObjectPhoto {
  std::string name;              ///< for messages
  ImageView<const Rgb8> pixels;  ///< as large as the camera says, with its lens distortion
  Camera camera;
  Rigid3d camera_from_object;
  ImageView<const std::uint8_t> mask = {};  ///< empty, or as large: not 0 where the object is
};

/// A place of the object's frame that is known, and where a photograph shows it: a corner of a
/// printed board, say.
struct PhotoReference {
  std::int32_t photo = 0;
  std::int32_t place = 0;  ///< of the list of known places
  Vec2d at_px;             ///< in the photograph as it was taken
};

struct LearnPhotosOptions {
  int most_features = 4000;       ///< of a photograph, those with the largest response; 0: all
  double ratio = 0.8;             ///< of the best and the second best match along a line
  double most_distance = 300;     ///< of descriptors that match, 512 being their length
  double epipolar_px = 1.5;       ///< how far a match may lie from its line
  int least_views = 3;            ///< photographs that must show a point
  double most_error_px = 2.5;     ///< largest mean reprojection error of a point
  double least_angle_rad = 0.05;  ///< between two of the rays to a point
  bool adjust = false;            ///< poses are not exact: adjust them with the points
  double pose_m = 0.005;          ///< with adjust: how exact places of cameras are
  double pose_rad = 0.01;         ///< and their turns; neither counts where places are known
  bool adjust_focal = false;      ///< with adjust: the focal length, the centre and k1, too
  int most_rows = 4;              ///< descriptors that are kept of a point
  double row_distance = 180;      ///< descriptors of a point this close are one

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("most_features", self.most_features,
          "of a photograph, those with the largest response; 0: all", Range{0, 1 << 30});
    visit("ratio", self.ratio, "largest share of the second best descriptor's distance",
          Range{0, 1});
    visit("most_distance", self.most_distance, "largest distance of descriptors that match",
          Range{0, 1024});
    visit("epipolar_px", self.epipolar_px, "how far a match may lie from its line",
          Range{0.01, 100});
    visit("least_views", self.least_views, "photographs that must show a point", Range{2, 1000});
    visit("most_error_px", self.most_error_px, "largest mean reprojection error of a point",
          Range{0.01, 100});
    visit("least_angle_rad", self.least_angle_rad, "least angle between two rays to a point",
          Range{0, 3});
    visit("adjust", self.adjust, "adjust poses that are not exact together with the points");
    visit("pose_m", self.pose_m, "how exact places of cameras are", Range{1e-6, 10});
    visit("pose_rad", self.pose_rad, "how exact turns of cameras are", Range{1e-6, 3});
    visit("adjust_focal", self.adjust_focal,
          "adjust focal length, centre and k1 of the camera, too");
    visit("most_rows", self.most_rows, "descriptors that are kept of a point", Range{1, 1000});
    visit("row_distance", self.row_distance, "descriptors of a point this close are one",
          Range{0, 1024});
  }
};

/// Fewer points are no object: five make a pose, and not all are found again.
inline constexpr int kFewestPhotoPoints = 20;

/// Everything that photographs are learned from.
struct LearnPhotosInput {
  std::vector<ObjectPhoto> photos;
  std::vector<Vec3d> places_m;             ///< known places of the object's frame
  std::vector<PhotoReference> references;  ///< where photographs show them
  std::optional<Bounds> box;               ///< of the object's frame: nothing outside is learned
};

/// What became of a photograph.
struct LearnedPhoto {
  std::string name;
  Camera camera;               ///< after adjustment
  Rigid3d camera_from_object;  ///< likewise
  std::int32_t features = 0;   ///< inside the mask and the box
  std::int32_t points = 0;     ///< of the object that it shows
  double median_px = 0;        ///< reprojection error of those; NaN where there are none
  std::string rejected;        ///< why it was not used; empty where it was
};

/// A point of the object that photographs agree about.
struct LearnedPhotoPoint {
  Vec3d at_m;
  Rgb8 color;
  double mean_px = 0;  ///< reprojection error
  struct Sighting {
    std::int32_t photo;
    Vec2d at_px;  ///< in the photograph as it was taken
    double error_px;
  };
  std::vector<Sighting> sightings;
};

struct LearnPhotosReport {
  std::vector<LearnedPhoto> photos;  ///< all, in their order
  std::vector<LearnedPhotoPoint> points;
  std::int32_t used = 0;  ///< photographs
  std::int32_t rows = 0;  ///< descriptors
  std::int64_t sightings = 0;
  double median_px = 0, rms_px = 0;  ///< of the distances of all sightings
  bool adjusted = false;             ///< by bundle adjustment
  double focal_deviation_px = 0;     ///< of the first camera, where it was adjusted
};

struct LearnedFromPhotos {
  LearnedObject object;
  LearnPhotosReport report;
};

/// Learns the appearance of an object from photographs whose cameras and poses are known, so that
/// other photographs can be searched for it (MOPED's models; Collet, Martinez and Srinivasa, IJRR
/// 2011, have them from structure from motion).
///
/// SIFT features of each two photographs are matched along the epipolar lines of the known poses,
/// both ways; matches make tracks, no two features of a photograph in one; a track is triangulated
/// robustly (locate_point.h). With `adjust`, adjust_bundle moves points and poses, and points are
/// judged again. Of a point's descriptors those that are close to each other are one row of the
/// appearance, their mean; rows with the same coordinates are one point. The mesh is a cloud of the
/// points with their colours; there is nothing for depth maps.
///
/// Photographs that show nothing of use are left out, each with its reason in the report. Throws
/// Error where too few photographs or points are left. The same bits for any number of threads.
/// Runs on the CPU, on a CUDA context it throws. Every feature meets every
/// feature of each other photograph that looks in a similar direction.
LearnedFromPhotos learn_photos(const Context& context, const std::string& name,
                               const LearnPhotosInput& input,
                               const LearnPhotosOptions& options = {},
                               const LearnProgress& progress = {});

}  // namespace sextant
