// SPDX-License-Identifier: Apache-2.0
#include "sextant/match/photo_matches.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>

#include "sextant/core/cuda/dispatch.h"
#include "sextant/core/for_each/anywhere.h"
#include "sextant/match/photo_matches/keepers.h"
#include "sextant/match/photo_matches/on_device.h"

namespace sextant {

using namespace detail::photo_matches;

namespace {

constexpr int kLength = kSiftLength;

void check_appearance(const Context& context, const ResidentAppearance& appearance) {
  require_on(context, appearance.ends.view(), "appearance.ends");
  require_on(context, appearance.points.view(), "appearance.points");
  const std::int64_t rows = appearance.points.size();
  require_room(context, appearance.descriptors.view(), rows * kLength, "appearance.descriptors");
  std::int32_t before = 0;
  for (const std::int32_t end : to_host(context, appearance.ends)) {
    require(end >= before && end <= rows, "appearance.ends: ", end, " after ", before, " of ", rows,
            " points; the ends of objects ascend");
    before = end;
  }
  require(before == rows, "appearance.ends: the last object ends at ", before, " of ", rows,
          " points");
  require(rows <= std::numeric_limits<std::int32_t>::max() / 2, "appearance: ", rows,
          " points are more than an index can name");
}

void check_photos(const Context& context, std::span<const PhotoFeatures> photos) {
  require(photos.size() <= std::size_t{std::numeric_limits<std::int32_t>::max()},
          "photos: ", photos.size(), " are more than an index can name");
  for (const PhotoFeatures& photo : photos) {
    require_on(context, photo.at_px, "photos: at_px");
    require_on(context, photo.descriptors, "photos: descriptors");
    require(photo.descriptors.size == photo.at_px.size * kLength, "photos: descriptors of ",
            photo.descriptors.size, " bytes and at_px of ", photo.at_px.size,
            " places; each feature has ", kLength, " bytes (SiftNumbers::kBytes)");
    require(photo.at_px.size <= std::numeric_limits<std::int32_t>::max(),
            "photos: ", photo.at_px.size, " features are more than an index can name");
  }
}

/// The features of all photographs that have a place, one behind the other.
struct Queries {
  struct Source {
    std::int32_t photo, feature;
  };
  std::vector<Source> sources;
  std::vector<std::uint8_t> descriptors;
};

Queries gather(const Context& context, std::span<const PhotoFeatures> photos) {
  Queries queries;
  for (std::size_t p = 0; p < photos.size(); ++p) {
    for (std::int64_t f = 0; f < photos[p].at_px.size; ++f) {
      const Vec2f& place = photos[p].at_px[f];
      if (!std::isfinite(place.x) || !std::isfinite(place.y)) continue;
      queries.sources.push_back({static_cast<std::int32_t>(p), static_cast<std::int32_t>(f)});
    }
  }
  const auto count = static_cast<std::int64_t>(queries.sources.size());
  queries.descriptors.resize(queries.sources.size() * kLength);
  for_each(context, count, [&](std::int64_t i) {
    const Queries::Source& source = queries.sources[static_cast<std::size_t>(i)];
    std::memcpy(queries.descriptors.data() + i * kLength,
                photos[static_cast<std::size_t>(source.photo)].descriptors.data +
                    std::int64_t{source.feature} * kLength,
                kLength);
  });
  return queries;
}

/// What each chunk of the features accepts.
std::vector<std::vector<Accepted>> search(const Context& context, const Queries& queries,
                                          const ResidentAppearance& appearance,
                                          const PhotoMatchOptions& options) {
  const View<const std::int32_t> ends = appearance.ends;
  const std::int64_t rows = appearance.points.size();
  std::vector<std::int32_t> twins(static_cast<std::size_t>(rows));
  find_twins(context, ends, appearance.points, view_of(twins));
  const std::vector<std::int32_t> objects = object_of_rows(ends, rows);
  const detail::descriptors::HostJob<ByteRows> host{
      {queries.descriptors.data(), appearance.descriptors.data(), kLength},
      static_cast<std::int64_t>(queries.sources.size()),
      rows,
      ends};
  const bool any_twins =
      std::any_of(twins.begin(), twins.end(), [](std::int32_t twin) { return twin != kAlone; });
  const MatchJob job{host.rows, twins.data(),    any_twins, objects.data(),
                     ends.size, {options.ratio}, options.k};
  Workspace workspace;
  const auto packed = pack(context, host, workspace);
  std::vector<std::vector<Accepted>> accepted((queries.sources.size() + kQueriesPerChunk - 1) /
                                              kQueriesPerChunk);
  const auto run = [&](auto keeper) {
    search_host(context, host, packed, [&](std::int64_t first_query, std::int64_t count) {
      return typename decltype(keeper)::type(
          job, first_query, count,
          accepted[static_cast<std::size_t>(first_query / kQueriesPerChunk)]);
    });
  };
  if (options.strategy == PhotoMatchStrategy::kEachObject) {
    run(std::type_identity<PairKeeper>{});
  } else {
    run(std::type_identity<PoolKeeper>{});
  }
  return accepted;
}

std::vector<PhotoMatch> match_on_host(const Context& context, std::span<const PhotoFeatures> photos,
                                      const ResidentAppearance& appearance,
                                      const PhotoMatchOptions& options) {
  const Queries queries = gather(context, photos);
  std::vector<PhotoMatch> matches;
  if (queries.sources.empty() || appearance.points.empty()) return matches;
  for (const std::vector<Accepted>& chunk : search(context, queries, appearance, options)) {
    for (const Accepted& found : chunk) {
      const Queries::Source& source = queries.sources[static_cast<std::size_t>(found.query)];
      const auto [photo, feature] = source;
      const std::int32_t begin = found.object == 0 ? 0 : appearance.ends.data()[found.object - 1];
      matches.push_back({photo, feature, found.object, found.row - begin,
                         photos[static_cast<std::size_t>(photo)].at_px[feature],
                         appearance.points.data()[found.row],
                         static_cast<float>(std::sqrt(static_cast<double>(found.distance_sq) /
                                                      found.to_beat_sq))});
    }
  }
  std::sort(matches.begin(), matches.end(), [](const PhotoMatch& a, const PhotoMatch& b) {
    return std::tie(a.photo, a.feature, a.object) < std::tie(b.photo, b.feature, b.object);
  });
  return matches;
}

/// One photograph after the other.
std::vector<PhotoMatch> match_on_cuda(const Context& context, std::span<const PhotoFeatures> photos,
                                      const ResidentAppearance& appearance,
                                      const PhotoMatchOptions& options) {
  std::vector<PhotoMatch> all;
  const AppearanceRows rows = find_rows(context, appearance);
  Workspace workspace;
  for (std::size_t p = 0; p < photos.size(); ++p) {
    for (PhotoMatch& match :
         match_on_device(context, photos[p], appearance, rows, options, workspace)) {
      match.photo = static_cast<std::int32_t>(p);
      all.push_back(match);
    }
  }
  return all;
}

}  // namespace

std::vector<PhotoMatch> match_photos(const Context& context, std::span<const PhotoFeatures> photos,
                                     const ResidentAppearance& appearance,
                                     const PhotoMatchOptions& options) {
  check_options(options);
  check_appearance(context, appearance);
  check_photos(context, photos);
  return detail::on_device(
      context, [&] { return match_on_cuda(context, photos, appearance, options); },
      [&] { return match_on_host(context, photos, appearance, options); });
}

std::vector<PhotoMatch> match_photo(const Context& context, const SiftFeatures& features,
                                    const Camera& camera, const ResidentAppearance& appearance,
                                    const PhotoMatchOptions& options) {
  require(features.bytes.size() >= std::int64_t{features.count} * kLength,
          "features: have no descriptors of bytes; compute them with SiftNumbers::kBytes");
  const Buffer<Vec2f> at_px = undistorted_places(context, features, camera);
  const PhotoFeatures photo{
      features.bytes.view().subview(0, std::int64_t{features.count} * kLength), at_px};
  return match_photos(context, {&photo, 1}, appearance, options);
}

Buffer<Vec2f> undistorted_places(const Context& context, const SiftFeatures& features,
                                 const Camera& camera) {
  check_camera(camera);
  require_on(context, features.keypoints.view(), "features");
  Buffer<Vec2f> places(context, features.count);
  detail::for_each_anywhere(context, features.count,
                            UndistortedPlace{camera, features.keypoints.data(), places.data()});
  return places;
}

}  // namespace sextant
