// SPDX-License-Identifier: Apache-2.0
#include "sextant/learn/learn_mesh.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sextant/core/for_each.h"
#include "sextant/core/options_json.h"
#include "sextant/descriptor/even_shot.h"
#include "sextant/descriptor/view_tensors.h"
#include "sextant/geometry/diameter.h"
#include "sextant/geometry/object_size.h"
#include "sextant/learn/features/surface_features.h"
#include "sextant/learn/features/tensor_collector.h"
#include "sextant/learn/learn_mesh/draw_view.h"
#include "sextant/learn/learn_mesh/prepare_mesh.h"
#include "sextant/learn/learn_mesh/view_sphere.h"
#include "sextant/learn/progress/for_each_reported.h"

namespace sextant {

namespace {

using namespace detail::learn;

/// Every direction that is drawn; those that a symmetry repeats only say what can be seen.
struct PlannedView {
  Camera camera;
  Rigid3d camera_from_object;
  bool learned = true;
};

struct Distances {
  double nearest_m = 0, farthest_m = 0;

  /// Spread evenly over 1 / distance, in an order that has no pattern.
  double of(int number) const {
    const double turn = number * (std::numbers::phi - 1.0);
    const double share = turn - std::floor(turn);
    return 1.0 / (1.0 / nearest_m + share * (1.0 / farthest_m - 1.0 / nearest_m));
  }
};

Distances distances_for(const LearnMeshOptions& options, const Camera& camera, double radius_m) {
  Distances distances;
  distances.nearest_m =
      options.nearest_m > 0
          ? static_cast<double>(options.nearest_m)
          : working_distance_m(camera, radius_m,
                               static_cast<double>(sensor_noise(options.sensor).max_depth_m));
  distances.farthest_m =
      options.farthest_m > 0 ? static_cast<double>(options.farthest_m) : distances.nearest_m;
  require(distances.nearest_m > 1.1 * radius_m, "nearest_m: ", distances.nearest_m,
          " m from its centre the camera stands inside the object, which reaches ", radius_m,
          " m; give a larger distance, or the right unit");
  require(distances.farthest_m >= distances.nearest_m, "farthest_m: ", distances.farthest_m,
          " is less than the nearest distance, ", distances.nearest_m);
  return distances;
}

/// 1.6 mm times the power of two that is at least the distance of pixels on the object: few
/// different ones serve all objects of a library.
float tensor_resolution_m(const LearnMeshOptions& options, const Camera& camera,
                          const Distances& distances) {
  if (options.tensor_resolution_m > 0) return options.tensor_resolution_m;
  constexpr double kStep_m = 0.0016, kSlack = 0.95;
  const double pixel_m =
      std::sqrt(distances.nearest_m * distances.farthest_m / (camera.fx_px * camera.fy_px));
  return static_cast<float>(kStep_m * std::exp2(std::ceil(std::log2(kSlack * pixel_m / kStep_m))));
}

/// The box, and the ball about its centre, of what the triangles use.
struct Extent {
  Bounds box;
  ObjectBall ball;
};

Extent extent_of(const Context& context, const TriangleMesh& mesh) {
  Extent extent;
  extent.box = bounds(context, mesh.vertices.points);
  extent.ball.centre_m = cast<double>((extent.box.low + extent.box.high) / 2.0f);
  for (const Vec3f& p : mesh.vertices.points.host()) {
    if (!is_finite(p)) continue;
    extent.ball.radius_m =
        std::max(extent.ball.radius_m, norm(cast<double>(p) - extent.ball.centre_m));
  }
  return extent;
}

std::vector<PlannedView> plan_views(const LearnMeshOptions& options, const Camera& camera,
                                    const Extent& extent, const Distances& distances,
                                    const Symmetries& symmetries) {
  const std::vector<Vec3d> different = different_directions(options.views, symmetries);
  // A cube or a ball would be left with one view: some repeated ones bring other noise and draws.
  constexpr int kLeastViews = 6;
  const bool few = different.size() < kLeastViews;
  const int stride = std::max(1, options.views / kLeastViews);
  std::vector<PlannedView> views;
  for (int number = 0; number < options.views; ++number) {
    const Vec3d direction = direction_of(number, options.views);
    PlannedView view;
    view.camera_from_object = look_at(extent.ball.centre_m, direction, distances.of(number));
    view.camera = cropped(camera, view.camera_from_object, extent.box);
    view.learned = std::find(different.begin(), different.end(), direction) != different.end() ||
                   (few && number % stride == 0);
    views.push_back(view);
  }
  return views;
}

std::vector<DrawnView> draw_views(const Context& context, const TriangleMesh& mesh,
                                  const std::vector<PlannedView>& views,
                                  const LearnProgress& progress) {
  const RenderScene scene(context, mesh);
  std::vector<DrawnView> drawn(views.size());
  for_each_reported(context, static_cast<std::int64_t>(views.size()), "pictures", progress,
                    [&](std::int64_t number) {
                      const Context one = Context::cpu(1);
                      const auto v = static_cast<std::size_t>(number);
                      drawn[v] =
                          draw_view(one, scene, views[v].camera, views[v].camera_from_object);
                    });
  return drawn;
}

/// Which points some picture shows from the side of their normals.
std::vector<char> are_seen(const Context& context, View<const Vec3f> points,
                           View<const Vec3f> normals, const std::vector<PlannedView>& views,
                           const std::vector<DrawnView>& drawn) {
  constexpr double kSlack_px = 2;  // what a steep surface changes between pixels
  // Near an outline the inner side of what lies behind it is nearly as near.
  constexpr double kLeastCosine = 0.25;
  std::vector<char> seen(static_cast<std::size_t>(points.size), 0);
  for_each(context, points.size, [&](std::int64_t i) {
    const Vec3d point = cast<double>(points.data[i]);
    const Vec3d normal = cast<double>(normals.data[i]);
    for (std::size_t v = 0; v < views.size() && !seen[static_cast<std::size_t>(i)]; ++v) {
      const Vec3d at = views[v].camera_from_object * point;
      const double facing = -dot(views[v].camera_from_object.rotation * normal, at);
      if (!(facing > kLeastCosine * norm(normal) * norm(at))) continue;
      const Vec2d pixel = project(views[v].camera, at);
      const int column = static_cast<int>(std::lround(pixel.x));
      const int row = static_cast<int>(std::lround(pixel.y));
      if (!drawn[v].depth_m.view().contains(column, row)) continue;
      const double depth_m = static_cast<double>(drawn[v].depth_m(column, row));
      seen[static_cast<std::size_t>(i)] =
          std::abs(depth_m - at.z) < kSlack_px * at.z / views[v].camera.fx_px;
    }
  });
  return seen;
}

PointSamples seen_points(const Context& context, const PointSamples& dense,
                         const std::vector<PlannedView>& views,
                         const std::vector<DrawnView>& drawn) {
  const std::vector<char> seen = are_seen(context, dense.points, dense.normals, views, drawn);
  std::vector<Vec3f> points, normals;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (!seen[i]) continue;
    points.push_back(dense.points.host()[i]);
    normals.push_back(dense.normals.host()[i]);
  }
  return {copy(context, points), copy(context, normals)};
}

/// Of triangles that are there from both sides, those of which some picture shows a piece.
void keep_seen_triangles(const Context& context, const std::vector<PlannedView>& views,
                         const std::vector<DrawnView>& drawn, TriangleMesh& mesh) {
  constexpr std::size_t kPlaces = 4;  // the centre, and half way from it to the corners
  std::vector<Vec3f> places, normals;
  for (const Vec3i& t : mesh.triangles.host()) {
    const Vec3f& a = mesh.vertices.points.data()[t.x];
    const Vec3f& b = mesh.vertices.points.data()[t.y];
    const Vec3f& c = mesh.vertices.points.data()[t.z];
    const Vec3f centre = (a + b + c) / 3.0f;
    places.insert(places.end(),
                  {centre, (centre + a) / 2.0f, (centre + b) / 2.0f, (centre + c) / 2.0f});
    normals.insert(normals.end(), kPlaces, cross(b - a, c - a));
  }
  const std::vector<char> seen = are_seen(context, view_of(places), view_of(normals), views, drawn);
  std::vector<Vec3i> kept;
  for (std::size_t t = 0; t * kPlaces < seen.size(); ++t) {
    const auto first = seen.begin() + static_cast<std::ptrdiff_t>(t * kPlaces);
    if (std::any_of(first, first + kPlaces, [](char is_seen) { return is_seen != 0; })) {
      kept.push_back(mesh.triangles.host()[t]);
    }
  }
  mesh.triangles = copy(context, kept);
}

std::string options_text(const LearnMeshOptions& options, const Camera& camera) {
  nlohmann::json document = options_to_json(options);
  document["camera"] = {{"width", camera.width}, {"height", camera.height}, {"fx", camera.fx_px},
                        {"fy", camera.fy_px},    {"cx", camera.cx_px},      {"cy", camera.cy_px}};
  return document.dump();
}

/// What the pictures show: tensors of the views, and features of the surface that they see.
void learn_features(const Context& context, const LearnMeshOptions& options,
                    const std::vector<PlannedView>& views, const std::vector<DrawnView>& drawn,
                    float resolution_m, const LearnProgress& progress, LearnedObject& object) {
  constexpr std::int64_t kLeastPixels = 50;
  std::vector<std::size_t> learned;
  for (std::size_t v = 0; v < views.size(); ++v) {
    if (views[v].learned && drawn[v].outer_pixels >= kLeastPixels) learned.push_back(v);
  }
  std::vector<TensorSet> tensors(learned.size());
  for_each_reported(context, static_cast<std::int64_t>(learned.size()), "tensors", progress,
                    [&](std::int64_t number) {
                      const Context one = Context::cpu(1);
                      const std::size_t v = learned[static_cast<std::size_t>(number)];
                      const std::uint64_t seed = options.seed * 1000003u + v;
                      Image<float> noisy_m;
                      const bool noisy = options.noise && number % 2 == 1;
                      if (noisy) {
                        noisy_m =
                            add_sensor_noise(one, drawn[v].depth_m, drawn[v].normals,
                                             views[v].camera, sensor_noise(options.sensor), seed);
                      }
                      ViewTensorOptions how;
                      how.tensors = options.tensors_per_view;
                      how.seed = seed;
                      how.resolution_m = resolution_m;
                      tensors[static_cast<std::size_t>(number)] = view_tensors(
                          one, noisy ? noisy_m : drawn[v].depth_m, views[v].camera, how);
                    });
  TensorCollector collector;
  for (std::size_t k = 0; k < learned.size(); ++k) {
    const PlannedView& view = views[learned[k]];
    object.views.push_back({view.camera, view.camera_from_object});
    collector.add(tensors[k], static_cast<std::int32_t>(k), view.camera_from_object);
  }
  object.tensors = collector.take(resolution_m);
}

/// Features of the part of the surface that the pictures show.
void learn_surface(const Context& context, const LearnMeshOptions& options,
                   const std::vector<PlannedView>& views, const std::vector<DrawnView>& drawn,
                   bool both_sides, const LearnProgress& progress, LearnedObject& object) {
  report(progress, "surface", 0, 3);
  constexpr int kMostPoints = 400000;
  const ShotScale scale = shot_scale(object.diameter_m, options.shot_radius_m);
  const PointSamples dense = even_shot_points(context, object.mesh, scale.radius_m, kMostPoints);
  const PointSamples seen = seen_points(context, dense, views, drawn);
  require(!seen.points.empty(), "mesh: no view shows a piece of its surface");
  const double hidden =
      1.0 - static_cast<double>(seen.points.size()) / static_cast<double>(dense.points.size());
  if (hidden > 0.02 && !both_sides) {
    object.source.remarks.push_back(std::to_string(std::lround(100 * hidden)) +
                                    " % of the surface is seen from nowhere outside and was left "
                                    "out.");
  }
  report(progress, "surface", 1, 3);
  object.samples = learn_samples(context, seen, object.diameter_m, options.sample_share);
  report(progress, "surface", 2, 3);
  object.shot = learn_shot(context, seen, scale);
  report(progress, "surface", 3, 3);
}

}  // namespace

LearnedObject learn_mesh(const Context& context, const std::string& name, const TriangleMesh& mesh,
                         const LearnMeshOptions& options, const LearnProgress& progress,
                         const Camera& camera) {
  check_options(options);
  check_camera(camera);
  require(camera.distortion.is_zero(),
          "camera: its lens distorts; learning needs the camera of undistorted pictures");
  const Context host = context.is_cpu() ? context : Context::cpu();
  LearnedObject object;
  object.name = name;
  object.source.kind = "mesh";
  object.source.options = options_text(options, camera);
  report(progress, "mesh", 0, 1);
  PreparedMesh prepared = prepare_mesh(host, mesh);
  object.source.remarks = std::move(prepared.remarks);
  object.mesh = std::move(prepared.mesh);
  object.diameter_m = diameter_m(host, object.mesh.vertices.points);
  check_object_size(name, object.diameter_m, 1.0);
  report(progress, "symmetries", 0, 1);
  if (options.symmetries) find_symmetries_of(host, progress, object);
  const Extent extent = extent_of(host, object.mesh);
  const Distances distances = distances_for(options, camera, extent.ball.radius_m);
  const std::vector<PlannedView> views =
      plan_views(options, camera, extent, distances, object.shape_symmetries);
  std::vector<DrawnView> drawn = draw_views(host, object.mesh, views, progress);
  std::int64_t outer = 0, inner = 0;
  for (const DrawnView& view : drawn) outer += view.outer_pixels, inner += view.inner_pixels;
  if (inner > outer) {
    turn_inside_out(object.mesh);
    object.source.remarks.emplace_back(
        "Triangles showed their inner side outwards; all were turned over.");
    drawn = draw_views(host, object.mesh, views, progress);
    std::swap(inner, outer);
  }
  if (prepared.both_sides) keep_seen_triangles(host, views, drawn, object.mesh);
  require(outer > 0, "mesh: no view shows a piece of its surface");
  if (50 * inner > outer) {
    object.source.remarks.push_back(
        "The surface is open: in " +
        std::to_string(
            std::lround(100.0 * static_cast<double>(inner) / static_cast<double>(inner + outer))) +
        " % of the pictures' pixels a camera sees inner sides, which were left out.");
  }
  learn_features(host, options, views, drawn, tensor_resolution_m(options, camera, distances),
                 progress, object);
  learn_surface(host, options, views, drawn, prepared.both_sides, progress, object);
  return object;
}

}  // namespace sextant
