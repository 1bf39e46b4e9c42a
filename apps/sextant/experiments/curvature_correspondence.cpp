// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "apps/sextant/experiments/curvature_trial.h"
#include "apps/sextant/experiments/experiments.h"

namespace sextant::app {

namespace {

constexpr int kLabels = 9;  ///< background, table, seven objects
constexpr int kFirstObject = 2;
constexpr int kObjects = kLabels - kFirstObject;
constexpr int kNearest = 400;
using Histogram = std::array<double, kLabels>;

constexpr const char* kNames[kObjects] = {"ChocA",  "ChocB", "Badminton", "Money",
                                          "Stress", "BallA", "BallB"};
/// The diagonals of Tables 3 and 4: the paper's method and PCL, in percent.
constexpr double kPaper[kObjects] = {49, 66, 36, 58, 22, 67, 63};
constexpr double kPaperPcl[kObjects] = {11, 8, 11, 8, 10, 5, 36};

AnalyticShape labelled(AnalyticShape shape, const Rigid3d& camera_from_world,
                       const Rigid3d& world_from_shape, std::int32_t label) {
  shape.camera_from_shape = camera_from_world * world_from_shape;
  shape.id = label;
  return shape;
}

/// Seven objects on the table z = 0 before a wall, as the camera in this pose sees them: rods lie,
/// balls rest.
std::vector<AnalyticShape> table(const Rigid3d& camera_from_world) {
  struct Place {
    double radius_m, x_m, y_m, turn_rad;
    bool rod;
  };
  constexpr Place kPlaces[kObjects] = {
      {1 / 26.0, -0.20, 0.12, 0.2, true},  {1 / 19.0, 0.03, 0.18, -0.1, true},
      {1 / 29.0, 0.22, 0.11, -0.3, true},  {1 / 16.0, -0.20, -0.06, 0.1, true},
      {1 / 32.0, -0.03, 0.04, 0.0, false}, {1 / 15.0, 0.18, -0.05, 0.0, false},
      {1 / 30.0, 0.02, -0.12, 0.0, false}};
  std::vector<AnalyticShape> shapes;
  Rigid3d wall = at(0, 0.5, 0);
  wall.rotation = exp_rotation(Vec3d{1.5707963267948966, 0, 0});
  shapes.push_back(labelled(AnalyticShape::plane(), camera_from_world, wall, 0));
  shapes.push_back(labelled(AnalyticShape::plane(), camera_from_world, {}, 1));
  for (int i = 0; i < kObjects; ++i) {
    const Place& place = kPlaces[i];
    Rigid3d pose = at(place.x_m, place.y_m, place.radius_m);
    // The axis of a cylinder is z: lay it down along x, then turn it.
    pose.rotation =
        exp_rotation(Vec3d{0, 0, place.turn_rad}) * exp_rotation(Vec3d{0, 1.5707963267948966, 0});
    shapes.push_back(labelled(place.rod ? AnalyticShape::cylinder(place.radius_m, 0.15)
                                        : AnalyticShape::sphere(place.radius_m),
                              camera_from_world, pose, kFirstObject + i));
  }
  return shapes;
}

/// Looks at the middle of the table from this direction.
Rigid3d camera_from_world(double azimuth_rad, double elevation_rad, double distance_m) {
  const Vec3d eye =
      Vec3d{std::sin(azimuth_rad) * std::cos(elevation_rad),
            -std::cos(azimuth_rad) * std::cos(elevation_rad), std::sin(elevation_rad)} *
      distance_m;
  const Vec3d forward = normalized(Vec3d{0, 0, 0.03} - eye);
  const Vec3d right = normalized(cross(forward, Vec3d{0, 0, 1}));
  const Mat3d rotation{{right, cross(forward, right), forward}};
  return {rotation, -(rotation * eye)};
}

/// The pixel of the object that is nearest to the middle of its curved part and has a curvature.
std::optional<std::size_t> sample_point(const CurvatureFrame& frame,
                                        const PrincipalCurvatures& found, std::int32_t label) {
  const int width = frame.points.width();
  Vec2d middle;
  double count = 0;
  const auto belongs = [&](std::size_t i) {
    return frame.truth.ids.pixels().host()[i] == label &&
           frame.truth.k1_per_m.pixels().host()[i] > 0;
  };
  const auto position = [&](std::size_t i) {
    const int pixel = static_cast<int>(i), column = pixel % width, row = pixel / width;
    return Vec2d{static_cast<double>(column), static_cast<double>(row)};
  };
  for (std::size_t i = 0; i < frame.pixels(); ++i) {
    if (!belongs(i)) continue;
    middle = middle + position(i);
    count += 1;
  }
  std::optional<std::size_t> best;
  double best_distance = INFINITY;
  for (std::size_t i = 0; i < frame.pixels() && count > 0; ++i) {
    if (!belongs(i) || !found.has(i)) continue;
    const Vec2d apart = position(i) - middle * (1 / count);
    if (dot(apart, apart) >= best_distance) continue;
    best_distance = dot(apart, apart);
    best = i;
  }
  return best;
}

/// Pixels of an object that have a curvature.
int valid_pixels(const CurvatureFrame& frame, const PrincipalCurvatures& found,
                 std::int32_t label) {
  int count = 0;
  for (std::size_t i = 0; i < frame.pixels(); ++i) {
    count += frame.truth.ids.pixels().host()[i] == label && found.has(i);
  }
  return count;
}

/// Adds the labels of the `nearest` pixels whose curvatures are nearest to (k1, k2).
void add_nearest(const CurvatureFrame& frame, const PrincipalCurvatures& found, float k1, float k2,
                 int nearest, Histogram& histogram) {
  std::vector<std::pair<float, std::size_t>> order;
  for (std::size_t i = 0; i < frame.pixels(); ++i) {
    if (!found.has(i)) continue;
    const float d1 = found.k1_per_m[i] - k1;
    const float d2 = found.k2_per_m[i] - k2;
    order.emplace_back(d1 * d1 + d2 * d2, i);
  }
  const auto end = order.begin() + std::min<std::ptrdiff_t>(nearest, std::ssize(order));
  if (end != order.end()) std::nth_element(order.begin(), end, order.end());
  for (auto it = order.begin(); it != end; ++it) {
    const std::int32_t label = frame.truth.ids.pixels().host()[it->second];
    histogram[static_cast<std::size_t>(std::max(label, 0))] += 1;
  }
}

/// Leaves the pixels that have both answers.
void keep_common(PrincipalCurvatures& ours, PrincipalCurvatures& theirs) {
  for (std::size_t i = 0; i < ours.k1_per_m.size(); ++i) {
    if (ours.has(i) && theirs.has(i)) continue;
    ours.k1_per_m[i] = theirs.k1_per_m[i] = NAN;
  }
}

/// How many of the nearest curvatures are looked at: always 400, as in the paper, or no more than
/// the object has in that view, so that all of them can be its own.
enum class Nearest { kAlways400, kAsManyAsValid };

/// Row i: of what is nearest to the sample points of object i in the other frames, the percentages.
std::array<Histogram, kObjects> confusion(const std::vector<CurvatureFrame>& frames,
                                          const std::vector<PrincipalCurvatures>& found,
                                          Nearest nearest = Nearest::kAlways400) {
  std::array<Histogram, kObjects> rows{};
  for (std::size_t from = 0; from < frames.size(); ++from) {
    for (int object = 0; object < kObjects; ++object) {
      const auto sample = sample_point(frames[from], found[from], kFirstObject + object);
      if (!sample) continue;
      for (std::size_t to = 0; to < frames.size(); ++to) {
        if (to == from) continue;
        const int count =
            nearest == Nearest::kAlways400
                ? kNearest
                : std::min(kNearest, valid_pixels(frames[to], found[to], kFirstObject + object));
        add_nearest(frames[to], found[to], found[from].k1_per_m[*sample],
                    found[from].k2_per_m[*sample], count, rows[static_cast<std::size_t>(object)]);
      }
    }
  }
  for (Histogram& row : rows) {
    double sum = 0;
    for (const double count : row) sum += count;
    for (double& count : row) count *= sum > 0 ? 100 / sum : 0;
  }
  return rows;
}

double diagonal(const std::array<Histogram, kObjects>& rows, int object) {
  const int column = kFirstObject + object;
  return rows[static_cast<std::size_t>(object)][static_cast<std::size_t>(column)];
}

/// The largest cell of a row beside the object's own, and its name.
std::pair<double, const char*> strongest_other(const Histogram& row, int object) {
  std::pair<double, const char*> most{-1, ""};
  for (int label = 0; label < kLabels; ++label) {
    if (label == kFirstObject + object) continue;
    const char* name = label == 0   ? "background"
                       : label == 1 ? "table"
                                    : kNames[label - kFirstObject];
    most = std::max(most, {row[static_cast<std::size_t>(label)], name});
  }
  return most;
}

/// Our curvatures of all views by one choice of the patch, and PCL's where it can be asked; both at
/// the pixels where both have an answer.
struct Answers {
  std::vector<PrincipalCurvatures> ours, pcl;
};
Answers answers(const Context& context, const std::vector<CurvatureFrame>& frames,
                const std::vector<PrincipalCurvatures>& pcl, const CurvatureOptions& options) {
  Answers result{{}, pcl};
  for (std::size_t i = 0; i < frames.size(); ++i) {
    result.ours.push_back(quadric_curvature(context, copy(context, frames[i].points), options));
    if (!pcl.empty()) keep_common(result.ours[i], result.pcl[i]);
  }
  return result;
}

/// The share of an object among the 400 nearest if all its valid pixels came first.
double ceiling(const std::vector<CurvatureFrame>& frames,
               const std::vector<PrincipalCurvatures>& found, int object) {
  double sum = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    sum += std::min(1.0, valid_pixels(frames[i], found[i], kFirstObject + object) /
                             static_cast<double>(kNearest));
  }
  return 100 * sum / static_cast<double>(frames.size());
}

/// PCL's curvatures of all views; none where the program is not there.
std::vector<PrincipalCurvatures> pcl_answers(const std::vector<CurvatureFrame>& frames) {
  std::vector<PrincipalCurvatures> pcl;
  for (const CurvatureFrame& frame : frames) {
    const std::vector<char> all(frame.pixels(), 1);
    const std::optional<PrincipalCurvatures> found = pcl_covariance(frame.cloud(all), 0.02f);
    if (!found) return {};
    pcl.push_back(calibrated(*found, 0.02f));
  }
  return pcl;
}

/// Six views, as a sensor of this model sees them.
std::vector<CurvatureFrame> views(SensorModel model) {
  struct Pose {
    double azimuth_rad, elevation_rad, distance_m;
  };
  constexpr Pose kPoses[] = {{-0.35, 0.75, 0.75}, {-0.2, 0.9, 0.8},  {-0.05, 0.7, 0.7},
                             {0.1, 0.85, 0.75},   {0.25, 0.75, 0.8}, {0.35, 0.8, 0.7}};
  const Camera camera{640, 480, 536.84, 535.48, 319.14, 235.76, {}};
  std::vector<CurvatureFrame> frames;
  for (const Pose& pose : kPoses) {
    frames.push_back(make_frame(
        camera, table(camera_from_world(pose.azimuth_rad, pose.elevation_rad, pose.distance_m)),
        {.model = model, .seed = frames.size() + 1}));
  }
  return frames;
}

/// What the views tell by one model of the sensor's noise; `suffix` says by which.
std::vector<measure::Row> correspondence(const Context& context, SensorModel model,
                                         const char* suffix) {
  const std::vector<CurvatureFrame> frames = views(model);
  const std::vector<PrincipalCurvatures> pcl = pcl_answers(frames);
  const bool peer = !pcl.empty();
  const Answers found = answers(context, frames, pcl, {});
  const Answers in_pixels = answers(context, frames, pcl, pixel_curvature());
  using Confusion = std::array<Histogram, kObjects>;
  const Confusion rows = confusion(frames, found.ours);
  const Confusion pcl_rows = peer ? confusion(frames, found.pcl) : Confusion{};
  const Confusion as_many = confusion(frames, found.ours, Nearest::kAsManyAsValid);
  const Confusion pcl_as_many =
      peer ? confusion(frames, found.pcl, Nearest::kAsManyAsValid) : Confusion{};
  const Confusion pixel_rows = confusion(frames, in_pixels.ours);
  const Confusion pcl_pixel_rows = peer ? confusion(frames, in_pixels.pcl) : Confusion{};
  std::vector<measure::Row> result, details;
  double mean = 0, paper_mean = 0, pcl_mean = 0;
  for (int object = 0; object < kObjects; ++object) {
    const double own = diagonal(rows, object);
    const auto [other, name] = strongest_other(rows[static_cast<std::size_t>(object)], object);
    measure::Row row{fmt::format("{}, more than {}{}", kNames[object], name, suffix),
                     "%",
                     {},
                     own,
                     other,
                     own > other};
    row.paper = kPaper[object];
    if (peer) row.peer = diagonal(pcl_rows, object);
    result.push_back(row);
    mean += own / kObjects;
    paper_mean += kPaper[object] / kObjects;
    if (peer) pcl_mean += diagonal(pcl_rows, object) / kObjects;
    const auto detail = [&](const char* what, double ours, const Confusion* theirs) {
      measure::Row more{
          fmt::format("{}, {}{}", kNames[object], what, suffix), "%", {}, ours, {}, {}};
      if (peer && theirs) more.peer = diagonal(*theirs, object);
      details.push_back(more);
    };
    detail("if all valid pixels of the object came first", ceiling(frames, found.ours, object),
           nullptr);
    detail("of as many as the object has valid pixels", diagonal(as_many, object), &pcl_as_many);
    detail("on patches of 37 x 37", diagonal(pixel_rows, object), &pcl_pixel_rows);
    if (peer) {
      detail("by PCL", diagonal(pcl_rows, object), nullptr);
      details.back().paper = kPaperPcl[object];
    }
  }
  measure::Row row{fmt::format("mean of the diagonal{}", suffix), "%", {}, mean, 60, mean >= 60};
  row.paper = paper_mean;
  if (peer) row.peer = pcl_mean;
  result.push_back(row);
  result.insert(result.end(), details.begin(), details.end());
  return result;
}

}  // namespace

/// Six views of one table by a Kinect, 40° apart at most. Percentages of the 400 nearest curvatures
/// that lie on the sample's own object. PCL sees every point, and both are asked at the same
/// pixels: those where both have an answer. Where an object has fewer of these than 400, other
/// objects must be among the nearest: how much that takes stands beside it, and what is left
/// without it. The paper's figures of PCL (Table 4) stand beside those of PCL's program here.
std::vector<measure::Row> curvature_correspondence(const Context& context) {
  std::vector<measure::Row> rows = correspondence(context, SensorModel::kKinect, "");
  for (const measure::Row& row :
       correspondence(context, SensorModel::kIndependent, ", independent noise")) {
    rows.push_back(row);
  }
  return rows;
}

}  // namespace sextant::app
