// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sextant/core/image.h"
#include "sextant/core/rigid3.h"
#include "sextant/match/photo_matches.h"

namespace sextant::app {

/// Where a reference, OpenCV's SIFT and poses by RANSAC, found an object.
struct MopedDetection {
  std::size_t photo;
  std::int32_t object;
  Rigid3d camera_from_object;
  int inliers;
};

/// Photographs of a kitchen counter that come with the original MOPED, and its models.
struct MopedPhotos {
  Camera camera;
  std::vector<Image<Rgb8>> photos;
  std::vector<std::string> objects;
  ResidentAppearance appearance;
  std::vector<MopedDetection> detections;  ///< in the photographs that are there
};

/// Reads the folder moped_cmu of the captured data; throws where there is none.
MopedPhotos read_moped_photos(const Context& context, const std::string& experiment);

/// How many of the matches, all of one photograph, support a detection: those of its object whose
/// point is seen within 8 px of the feature. The reference does not state its bound; this one lets
/// in what its worst pose, with a deviation of 4.9 px, counts.
int support(const MopedPhotos& data, const MopedDetection& detection,
            const std::vector<PhotoMatch>& matches);

/// The detections with so many inliers are right: 20 and more, as the data's notes say.
inline constexpr int kSureInliers = 20;

/// So many objects and no others: where there are more than the library has, turned and mirrored
/// copies of its descriptors stand in for further models.
ResidentAppearance with_objects(const Context& context, const ResidentAppearance& appearance,
                                int objects);

}  // namespace sextant::app
