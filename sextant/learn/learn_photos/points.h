// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/learn/learn_photos/tracks.h"
#include "sextant/pose/locate_point.h"

namespace sextant::detail::learn_photos {

/// The photographs as they are known now.
struct Photos {
  std::vector<Camera> cameras;
  std::vector<Rigid3d> camera_from_object;
  std::vector<Features> features;
  std::vector<std::string> rejected;  ///< reasons; empty for those that are used

  std::size_t count() const { return cameras.size(); }
  std::vector<PinholeView> views() const;
};

/// A place and the features that show it.
struct Point {
  Vec3d at_m;
  std::vector<Track::Member> seen;
};

/// How far sightings may be from where a point is seen, in pixels.
struct Limits {
  double outlier_px;    ///< farther ones are left out
  double most_mean_px;  ///< of those of a point
};

/// Those of the options, for poses that are not judged yet.
Limits limits_of(const LearnPhotosOptions& options);

/// Narrower ones for photographs whose points are mostly nearer: a few times the median distance of
/// all sightings, so that what agrees by chance alone is left out.
Limits narrowed(const Photos& photos, const std::vector<Point>& points, const Limits& limits);

/// The points of tracks on which enough photographs agree, in the box if there is one; photographs
/// that are rejected do not count.
std::vector<Point> make_points(const Context& context, const Photos& photos,
                               std::span<const Track> tracks, const std::optional<Bounds>& box,
                               const Limits& limits, const LearnPhotosOptions& options);

/// Joins points that no photograph tells apart: where a track fell to pieces, or where SIFT gave a
/// place several directions. The place is that of the one that most photographs show.
std::vector<Point> join_points(const Photos& photos, std::vector<Point> points);

/// Without the points that lie alone, far from all others: matches that agree by chance.
std::vector<Point> without_strays(const Context& context, std::vector<Point> points);

/// Moves points and poses, and the camera if that is wanted, until they agree; gives the deviation
/// of the focal length, 0 where it was not adjusted.
double adjust(const LearnPhotosInput& input, const std::vector<Point>& points,
              const LearnPhotosOptions& options, Photos& photos);

}  // namespace sextant::detail::learn_photos
