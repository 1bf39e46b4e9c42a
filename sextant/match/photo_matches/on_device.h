// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/match/photo_matches.h"
#include "sextant/match/photo_matches/rule.h"

namespace sextant::detail::photo_matches {

/// What the search on CUDA needs to know of the rows of an appearance; it is found once.
struct AppearanceRows {
  Buffer<std::int32_t> objects;  ///< of which object a row is
  Buffer<std::int32_t> twins;    ///< find_twins
  /// Rows that have twins, point by point; those of point i end at twin_ends[i].
  Buffer<std::int32_t> twin_rows;
  Buffer<std::int32_t> twin_ends;
};
/// Waits for the device.
AppearanceRows find_rows(const Context& context, const ResidentAppearance& appearance);

/// The matches of one photograph, whose arguments have been checked, in order. Waits for the
/// device.
std::vector<PhotoMatch> match_on_device(const Context& context, const PhotoFeatures& photo,
                                        const ResidentAppearance& appearance,
                                        const AppearanceRows& rows,
                                        const PhotoMatchOptions& options, Workspace& workspace);

/// As match_photo on a CUDA context, with what is known already.
std::vector<PhotoMatch> match_photo_on_device(const Context& context, const SiftFeatures& features,
                                              const Camera& camera,
                                              const ResidentAppearance& appearance,
                                              const AppearanceRows& rows,
                                              const PhotoMatchOptions& options,
                                              Workspace& workspace);

/// What a feature may match; nothing where `to_beat_sq` is negative.
struct Pair {
  std::int32_t query, row, distance_sq, to_beat_sq;
};

/// What all steps of a search know.
struct DeviceJob {
  View<const std::uint8_t> queries;  ///< rows of 128 bytes
  View<const Vec2f> at_px;
  View<const std::uint8_t> base;
  View<const std::int32_t> ends;
  View<const Vec3f> points;
  View<const std::int32_t> objects, twins, twin_rows, twin_ends;
  PhotoMatchOptions options;
};

/// Of each row of a list of `k` neighbours in one object, nearest first, what the first has to
/// beat: the nearest of another point. kUnknown where all are rows of one point and the list is
/// full.
inline constexpr std::int32_t kUnknown = -2;
SEXTANT_HD inline std::int32_t to_beat_of_object(const std::int32_t* indices,
                                                 const float* distances_sq, int k,
                                                 const std::int32_t* twins) {
  if (indices[0] < 0) return -1;
  const std::int32_t twin = twins[indices[0]];
  for (int i = 1; i < k; ++i) {
    if (indices[i] < 0) return -1;
    const bool same = twin >= 0 && twins[indices[i]] == twin;
    if (!same) return static_cast<std::int32_t>(distances_sq[i]);
  }
  return kUnknown;
}

/// The features `first` … `first + count - 1` against each object, or against all points: fills
/// pairs (queries count from 0).
void pair_each_object_cuda(const Context& context, const DeviceJob& job, std::int64_t first,
                           std::int64_t count, const View<Pair>& pairs, Workspace& workspace);
void pair_nearest_cuda(const Context& context, const DeviceJob& job, std::int64_t first,
                       std::int64_t count, const View<Pair>& pairs, Workspace& workspace);
/// Whether a pair is a match.
struct IsMatch {
  const Pair* pairs;
  const Vec2f* at_px;
  RatioTest test;
  std::int32_t* result;

  SEXTANT_HD void operator()(std::int64_t i) const {
    const Pair& pair = pairs[i];
    const Vec2f place = at_px[pair.query];
    const auto is_number = [](float x) { return x - x == 0.0f; };
    result[i] = pair.to_beat_sq >= 0 && is_number(place.x) && is_number(place.y) &&
                test.passes(pair.distance_sq, pair.to_beat_sq);
  }
};

/// Writes pairs that match into places of their own.
struct WriteMatch {
  const Pair* pairs;
  const std::int32_t* is_match;
  const std::int32_t* place;
  const Vec2f* at_px;
  const std::int32_t* objects;
  const std::int32_t* ends;
  const Vec3f* points;
  PhotoMatch* matches;

  SEXTANT_HD void operator()(std::int64_t i) const {
    if (!is_match[i]) return;
    const Pair& pair = pairs[i];
    const std::int32_t object = objects[pair.row];
    const std::int32_t begin = object == 0 ? 0 : ends[object - 1];
    const double ratio_sq = static_cast<double>(pair.distance_sq) / pair.to_beat_sq;
    PhotoMatch& match = matches[place[i]];
    match.photo = 0;
    match.feature = pair.query;
    match.object = object;
    match.point = pair.row - begin;
    match.at_px = at_px[pair.query];
    match.point_m = points[pair.row];
    match.ratio = static_cast<float>(std::sqrt(ratio_sq));
  }
};

/// Where a lens without distortion would have put a keypoint.
struct UndistortedPlace {
  Camera camera;
  const SiftKeypoint* keypoints;
  Vec2f* places;

  SEXTANT_HD void operator()(std::int64_t i) const {
    const Vec3d ray = unproject(camera, Vec2d{keypoints[i].u_px, keypoints[i].v_px});
    places[i] = {static_cast<float>(camera.fx_px * ray.x + camera.cx_px),
                 static_cast<float>(camera.fy_px * ray.y + camera.cy_px)};
  }
};

}  // namespace sextant::detail::photo_matches
