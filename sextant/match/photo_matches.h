// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sextant/core/options.h"
#include "sextant/descriptor/sift.h"
#include "sextant/geometry/camera.h"
#include "sextant/library/resident.h"

namespace sextant {

/// A place in a photograph that looks like a point of an object.
struct PhotoMatch {
  std::int32_t photo = 0;    ///< of those taken at the same moment
  std::int32_t feature = 0;  ///< of the photograph
  std::int32_t object = 0;   ///< of the library
  std::int32_t point = 0;    ///< of the object's appearance
  Vec2f at_px;               ///< in the photograph as a lens without distortion takes it
  Vec3f point_m;             ///< in the object's frame
  float ratio = 1;           ///< of its distance and the one that it had to beat; small is good
};

/// The features of one photograph, on the context's device.
struct PhotoFeatures {
  View<const std::uint8_t> descriptors;  ///< 128 bytes a feature: SiftFeatures::bytes
  View<const Vec2f> at_px;               ///< see undistorted_places
};

/// Which points of the library a feature is compared with.
enum class PhotoMatchStrategy : std::int32_t {
  kEachObject,  ///< those of each object by itself: MOPED's OBJ_MATCH
  kNearest      ///< the nearest ones of all objects: MOPED's k nearest, with k = 2 its DB_MATCH
};
inline constexpr Choice<PhotoMatchStrategy> kPhotoMatchStrategies[] = {
    {"each_object", PhotoMatchStrategy::kEachObject}, {"nearest", PhotoMatchStrategy::kNearest}};

inline constexpr int kMostNearestPoints = 4096;

struct PhotoMatchOptions {
  PhotoMatchStrategy strategy = PhotoMatchStrategy::kEachObject;
  int k = 90;  ///< points that `nearest` looks at
  /// The nearest must be closer than this share of the distance that it has to beat (Lowe's test).
  float ratio = 0.8f;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("strategy", self.strategy, "compare with each object, or with the nearest of all points",
          kPhotoMatchStrategies);
    visit("k", self.k, "points of all objects that `nearest` looks at",
          Range{2, kMostNearestPoints});
    visit("ratio", self.ratio, "largest share of the distance that the nearest has to beat",
          Range{0, 1});
  }
};

/// Finds, for each feature of the photographs, the points that look like it (Collet, Martinez and
/// Srinivasa, IJRR 2011). A point is as far from a feature as the nearest of its descriptors: rows
/// of one object with the same coordinates are one point, so that a point that was learned with
/// several descriptors does not fail Lowe's test against itself.
///
/// `each_object`: of each object the nearest point, if its distance is below `ratio` times that of
/// the second nearest of the object. An object with a single point matches nothing.
///
/// `nearest`: among the k nearest points of all objects, each object's nearest is tested against
/// the object's second. Of an object with one point among them, that point is tested against the
/// second of all if it is the nearest of all, and matches nothing otherwise. So a feature may match
/// several objects; with k = 2 it matches one at most.
///
/// Search is exact: distances are whole numbers, of equally near rows the first one counts. The
/// matches, at most one of a feature and an object, are in ascending order of photo, feature and
/// object, and have the same bits for any number of threads and on every instruction set. Features
/// whose place is not finite match nothing.
///
/// CUDA finds the same matches as the CPU from the same features, to the last bit. The library and
/// the features lie on the context's device, the matches on the host; a CUDA context waits for the
/// device, and learns which rows are one point on the host for every call (PhotoRecognizer does so
/// once).
///
/// Cost: every feature meets every row, 128 products of bytes each. Memory: a copy of the library's
/// and the photographs' descriptors; on the CPU `nearest` takes another 192 × 2 k × 8 bytes a
/// thread; on CUDA either strategy takes up to half a gigabyte more, and `nearest` a kilobyte a row
/// where there are more than 260 000.
std::vector<PhotoMatch> match_photos(const Context& context, std::span<const PhotoFeatures> photos,
                                     const ResidentAppearance& appearance,
                                     const PhotoMatchOptions& options = {});

/// The same of one photograph as compute_sift describes it, taken with this camera.
std::vector<PhotoMatch> match_photo(const Context& context, const SiftFeatures& features,
                                    const Camera& camera, const ResidentAppearance& appearance,
                                    const PhotoMatchOptions& options = {});

/// Where a lens without distortion, of the same focal length and centre, would have put each
/// feature; NaN where the distortion's formula does not reach. On the context's device.
Buffer<Vec2f> undistorted_places(const Context& context, const SiftFeatures& features,
                                 const Camera& camera);

}  // namespace sextant
