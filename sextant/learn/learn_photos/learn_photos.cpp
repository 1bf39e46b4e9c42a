// SPDX-License-Identifier: Apache-2.0
#include "sextant/learn/learn_photos.h"

#include <algorithm>

#include "sextant/core/options_json.h"
#include "sextant/geometry/diameter.h"
#include "sextant/geometry/object_size.h"
#include "sextant/learn/learn_photos/points.h"
#include "sextant/learn/learn_photos/rows.h"
#include "sextant/learn/progress/for_each_reported.h"

namespace sextant {

using namespace detail::learn_photos;

namespace {

/// With fewer features, or fewer points that others show, a photograph adds nothing.
constexpr int kFewestFeatures = 10, kFewestShared = 6;
/// SIFT finds little again that is turned farther away from the camera.
constexpr double kMostTurn_rad = 0.9;

void check_input(const Context& context, const LearnPhotosInput& input,
                 const LearnPhotosOptions& options) {
  require(context.is_cpu(), "learn_photos: runs on the host, the context on ",
          to_string(context.device()));
  check_options(options);
  require(static_cast<int>(input.photos.size()) >= options.least_views,
          "photos: ", input.photos.size(), " are too few; a point must be seen in ",
          options.least_views);
  for (const ObjectPhoto& photo : input.photos) {
    check_camera(photo.camera);
    require_same_size(context, photo.pixels, photo.camera, photo.name.c_str(), "its camera");
    if (!photo.mask.empty()) {
      require_same_size(context, photo.mask, photo.camera, (photo.name + ": mask").c_str(),
                        "the photograph");
    }
  }
  for (const PhotoReference& reference : input.references) {
    require(reference.photo >= 0 &&
                static_cast<std::size_t>(reference.photo) < input.photos.size() &&
                reference.place >= 0 &&
                static_cast<std::size_t>(reference.place) < input.places_m.size(),
            "references: one is of photograph ", reference.photo, " and place ", reference.place,
            ", but there are ", input.photos.size(), " and ", input.places_m.size());
  }
  if (!options.adjust_focal) return;
  const Camera& first = input.photos[0].camera;
  for (const ObjectPhoto& photo : input.photos) {
    require(photo.camera.width == first.width && photo.camera.height == first.height,
            "adjust_focal: ", photo.name, " has ", photo.camera.width, " x ", photo.camera.height,
            " px and ", input.photos[0].name, " ", first.width, " x ", first.height,
            "; one camera must have taken all");
  }
}

void reject(std::size_t photo, const std::string& why, Photos& photos) {
  if (photos.rejected[photo].empty()) photos.rejected[photo] = why;
}

Photos find_all_features(const Context& context, const LearnPhotosInput& input,
                         const LearnPhotosOptions& options, const LearnProgress& progress) {
  Photos photos;
  const auto total = static_cast<std::int64_t>(input.photos.size());
  for (std::size_t p = 0; p < input.photos.size(); ++p) {
    report(progress, "features", static_cast<std::int64_t>(p), total);
    const ObjectPhoto& photo = input.photos[p];
    photos.cameras.push_back(photo.camera);
    photos.camera_from_object.push_back(photo.camera_from_object);
    photos.features.push_back(find_features(context, photo, input.box, options));
    photos.rejected.emplace_back();
    const std::int32_t count = photos.features[p].count();
    if (count < kFewestFeatures) {
      reject(p,
             "shows " + std::to_string(count) +
                 " features of the object; it is blurred, dark or of one colour there, or the "
                 "object is not in it",
             photos);
    }
  }
  report(progress, "features", total, total);
  return photos;
}

std::vector<PairMatch> match_all(const Context& context, const Photos& photos,
                                 const std::optional<Bounds>& box,
                                 const LearnPhotosOptions& options, const LearnProgress& progress) {
  const std::vector<PinholeView> views = photos.views();
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
  for (std::size_t a = 0; a < photos.count(); ++a) {
    for (std::size_t b = a + 1; b < photos.count(); ++b) {
      const double cosine = dot(photos.camera_from_object[a].rotation.row[2],
                                photos.camera_from_object[b].rotation.row[2]);
      if (!photos.rejected[a].empty() || !photos.rejected[b].empty()) continue;
      if (cosine < std::cos(kMostTurn_rad)) continue;
      pairs.emplace_back(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b));
    }
  }
  std::vector<std::vector<PairMatch>> of_pair(pairs.size());
  detail::learn::for_each_reported(
      context, static_cast<std::int64_t>(pairs.size()), "matches", progress, [&](std::int64_t i) {
        const auto k = static_cast<std::size_t>(i);
        of_pair[k] =
            match_pair(views, photos.features, pairs[k].first, pairs[k].second, box, options);
      });
  std::vector<PairMatch> all;
  for (const auto& matches : of_pair) all.insert(all.end(), matches.begin(), matches.end());
  return all;
}

/// Photographs that share too few points with others say nothing about where the object is.
bool reject_strangers(const std::vector<Point>& points, Photos& photos) {
  std::vector<int> shared(photos.count(), 0);
  for (const Point& point : points) {
    for (const Track::Member& seen : point.seen) ++shared[static_cast<std::size_t>(seen.photo)];
  }
  bool any = false;
  for (std::size_t p = 0; p < photos.count(); ++p) {
    if (!photos.rejected[p].empty() || shared[p] >= kFewestShared) continue;
    reject(p,
           "shares " + std::to_string(shared[p]) +
               " points with the others; its pose is wrong or nobody else stood near it",
           photos);
    any = true;
  }
  return any;
}

Vec2d projected(const Photos& photos, std::size_t photo, const Vec3d& at_m) {
  return project(photos.cameras[photo], photos.camera_from_object[photo] * at_m);
}

double median_of(std::vector<double> values) {
  if (values.empty()) return NAN;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Rgb8 color_at(const ImageView<const Rgb8>& pixels, const Vec2d& at_px) {
  const int u = clamp(static_cast<int>(std::lround(at_px.x)), 0, pixels.width - 1);
  const int v = clamp(static_cast<int>(std::lround(at_px.y)), 0, pixels.height - 1);
  return pixels(u, v);
}

void fill_points(const LearnPhotosInput& input, const Photos& photos,
                 const std::vector<Point>& points, LearnPhotosReport& report) {
  std::vector<std::vector<double>> of_photo(photos.count());
  std::vector<double> all;
  double squares = 0;
  for (const Point& point : points) {
    LearnedPhotoPoint& to = report.points.emplace_back();
    to.at_m = point.at_m;
    double sum = 0;
    int color[3] = {};
    for (const Track::Member& seen : point.seen) {
      const auto p = static_cast<std::size_t>(seen.photo);
      const Vec2d at = photos.features[p].at_px[static_cast<std::size_t>(seen.feature)];
      const Vec2d off = projected(photos, p, point.at_m) - at;
      const double error = std::sqrt(dot(off, off));
      to.sightings.push_back({seen.photo, at, error});
      of_photo[p].push_back(error);
      all.push_back(error);
      squares += error * error;
      sum += error;
      const Rgb8 c = color_at(input.photos[p].pixels, at);
      color[0] += c.x, color[1] += c.y, color[2] += c.z;
    }
    const auto count = static_cast<int>(point.seen.size());
    const auto mean = [&](int i) {
      return static_cast<std::uint8_t>((color[i] + count / 2) / count);
    };
    to.mean_px = sum / count;
    to.color = {mean(0), mean(1), mean(2)};
  }
  report.sightings = static_cast<std::int64_t>(all.size());
  report.rms_px = all.empty() ? 0 : std::sqrt(squares / static_cast<double>(all.size()));
  report.median_px = median_of(all);
  for (std::size_t p = 0; p < photos.count(); ++p) {
    report.photos.push_back({input.photos[p].name, photos.cameras[p], photos.camera_from_object[p],
                             photos.features[p].count(),
                             static_cast<std::int32_t>(of_photo[p].size()), median_of(of_photo[p]),
                             photos.rejected[p]});
    report.used += photos.rejected[p].empty() ? 1 : 0;
  }
}

void fill_object(const Photos& photos, const std::vector<Point>& points,
                 const LearnPhotosOptions& options, LearnedFromPhotos& learned) {
  const Context cpu = Context::cpu();
  std::vector<Vec3f> places, row_places;
  std::vector<Rgb8> colors;
  std::vector<std::uint8_t> rows;
  for (std::size_t i = 0; i < points.size(); ++i) {
    places.push_back(cast<float>(points[i].at_m));
    colors.push_back(learned.report.points[i].color);
    std::vector<const std::uint8_t*> descriptors;
    for (const Track::Member& seen : points[i].seen) {
      descriptors.push_back(
          photos.features[static_cast<std::size_t>(seen.photo)].descriptor(seen.feature));
    }
    for (const Descriptor& row : make_rows(descriptors, options)) {
      row_places.push_back(places.back());
      rows.insert(rows.end(), row.begin(), row.end());
    }
  }
  learned.report.rows = static_cast<std::int32_t>(row_places.size());
  LearnedObject& object = learned.object;
  object.source.kind = "photographs";
  object.source.options = options_to_json(options).dump();
  object.mesh.vertices.points = copy(cpu, places);
  object.mesh.vertices.colors = copy(cpu, colors);
  object.diameter_m = diameter_m(cpu, object.mesh.vertices.points);
  object.appearance.points = copy(cpu, row_places);
  object.appearance.descriptors = copy(cpu, rows);
  for (std::size_t p = 0; p < photos.count(); ++p) {
    if (!photos.rejected[p].empty()) continue;
    object.views.push_back({photos.cameras[p], photos.camera_from_object[p]});
  }
}

/// Why there are too few points, in a line that names the photographs that were rejected.
std::string what_went_wrong(const Photos& photos, const LearnPhotosInput& input) {
  std::size_t used = 0;
  std::string first;
  for (std::size_t p = 0; p < photos.count(); ++p) {
    if (photos.rejected[p].empty()) {
      ++used;
    } else if (first.empty()) {
      first = "; " + input.photos[p].name + " " + photos.rejected[p];
    }
  }
  return std::to_string(used) + " of " + std::to_string(photos.count()) +
         " photographs can be used" + first;
}

}  // namespace

LearnedFromPhotos learn_photos(const Context& context, const std::string& name,
                               const LearnPhotosInput& input, const LearnPhotosOptions& options,
                               const LearnProgress& progress) {
  check_input(context, input, options);
  Photos photos = find_all_features(context, input, options, progress);
  const std::vector<Track> tracks =
      join_matches(photos.features, match_all(context, photos, input.box, options, progress));
  report(progress, "points", 0, 1);
  Limits limits = limits_of(options);
  const auto judge = [&] {
    return make_points(context, photos, tracks, input.box, limits, options);
  };
  std::vector<Point> points = judge();
  LearnedFromPhotos learned;
  if (options.adjust && !points.empty()) {
    // What is judged with better poses is judged better, so it is adjusted once more.
    for (int round = 0; round < 2; ++round) {
      learned.report.focal_deviation_px = adjust(input, points, options, photos);
      points = judge();
      limits = narrowed(photos, points, limits);
    }
    learned.report.adjusted = true;
  }
  limits = narrowed(photos, points, limits);
  points = judge();
  // Each photograph that goes takes points along, after which another one may share too few.
  do {
    while (reject_strangers(points, photos)) points = judge();
    points = without_strays(context, join_points(photos, std::move(points)));
  } while (reject_strangers(points, photos) && (points = judge(), true));
  require(static_cast<int>(points.size()) >= kFewestPhotoPoints, "photos: agree on ", points.size(),
          " points of the object, and fewer than ", kFewestPhotoPoints,
          " tell nothing apart: ", what_went_wrong(photos, input));
  fill_points(input, photos, points, learned.report);
  fill_object(photos, points, options, learned);
  learned.object.name = name;
  check_object_size("object '" + name + "'", learned.object.diameter_m, 1);
  report(progress, "points", 1, 1);
  return learned;
}

}  // namespace sextant
