// SPDX-License-Identifier: Apache-2.0
#include "sextant/match/library_matches.h"

#include <algorithm>
#include <cmath>

#include "sextant/descriptor/even_shot.h"
#include "sextant/geometry/mesh_health.h"

namespace sextant {

namespace {

/// Own coordinates are S (p - s) in the scene and M (x - m) in the object, so p = Sᵀ M (x - m) + s.
Rigid3f pose_of(const Mat3f& scene_axes, const Vec3f& scene_m, const Mat3f& model_axes,
                const Vec3f& model_m) {
  const Mat3f rotation = transpose(scene_axes) * model_axes;
  return {rotation, scene_m - rotation * model_m};
}

Mat3f axes_at(const std::vector<Vec3f>& frames, std::size_t i) {
  return {{frames[3 * i], frames[3 * i + 1], frames[3 * i + 2]}};
}

void sort_matches(std::vector<LibraryMatch>& matches) {
  std::stable_sort(matches.begin(), matches.end(),
                   [](const LibraryMatch& a, const LibraryMatch& b) {
                     return a.scene != b.scene ? a.scene < b.scene : a.object < b.object;
                   });
}

void match_one_radius(const Context& context, const ResidentShot& model, const EvenShot& scene,
                      const DescriptorMatchOptions& options, LibraryMatches& result) {
  const DescriptorRows<float> queries{scene.values, scene.length};
  const DescriptorRows<float> base{model.values, model.length};
  const NearestDescriptors nearest =
      nearest_descriptors(context, queries, base, {.k = 2}, model.ends);
  NearestDescriptors back;
  if (options.mutual) back = nearest_descriptors(context, base, queries, {.k = 1});
  const std::vector<std::int32_t> rows =
      to_host(context, match_descriptors(context, nearest, options, back));
  const std::vector<float> distances_sq = to_host(context, nearest.distances_sq);
  const std::vector<std::int32_t> ends = to_host(context, model.ends);
  const std::vector<Vec3f> scene_points = to_host(context, scene.points);
  const std::vector<Vec3f> scene_frames = to_host(context, scene.frames);
  const std::vector<Vec3f> model_points = to_host(context, model.points);
  const std::vector<Vec3f> model_frames = to_host(context, model.frames);
  const std::size_t count = scene_points.size();
  for (std::size_t object = 0; object < ends.size(); ++object) {
    for (std::size_t q = 0; q < count; ++q) {
      const std::size_t place = object * count + q;
      if (rows[place] < 0) continue;
      const auto row = static_cast<std::size_t>(rows[place]);
      LibraryMatch match;
      match.object = static_cast<std::int32_t>(object);
      match.scene = static_cast<std::int32_t>(result.described + static_cast<std::int64_t>(q));
      match.model = rows[place] - (object == 0 ? 0 : ends[object - 1]);
      match.score = std::sqrt(distances_sq[2 * place]);
      match.scene_m = scene_points[q];
      match.model_m = model_points[row];
      match.scene_from_object = pose_of(axes_at(scene_frames, q), match.scene_m,
                                        axes_at(model_frames, row), match.model_m);
      result.matches.push_back(match);
    }
  }
  result.described += static_cast<std::int64_t>(count);
}

/// The frame of the same tensor with p and q swapped: x and y change their signs.
Mat3f flipped(const Mat3f& axes) { return {{-axes.row[0], -axes.row[1], axes.row[2]}}; }

void match_one_resolution(const Context& context, const ResidentTensors& model,
                          const TensorSet& scene, const TensorMatchOptions& options,
                          LibraryMatches& result) {
  const TensorIndex index = index_tensors(context, model.set);
  const std::vector<TensorMatch> found =
      to_host(context, match_tensors(context, scene, index, options));
  const std::vector<TensorFrame> scene_frames = to_host(context, scene.frames);
  const std::vector<TensorFrame> model_frames = to_host(context, model.set.frames);
  const std::vector<std::int32_t> objects = to_host(context, model.objects);
  const std::vector<std::int32_t> ends = to_host(context, model.ends);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i].model < 0) continue;
    const TensorFrame& seen = scene_frames[i / static_cast<std::size_t>(options.k)];
    const TensorFrame& known = model_frames[static_cast<std::size_t>(found[i].model)];
    LibraryMatch match;
    match.object = objects[static_cast<std::size_t>(found[i].model)];
    match.scene =
        static_cast<std::int32_t>(result.described + static_cast<std::int64_t>(i) / options.k);
    match.model =
        found[i].model - (match.object == 0 ? 0 : ends[static_cast<std::size_t>(match.object) - 1]);
    match.score = found[i].correlation;
    match.scene_m = seen.origin_m;
    match.model_m = known.origin_m;
    match.scene_from_object = pose_of(found[i].flipped != 0 ? flipped(seen.axes) : seen.axes,
                                      seen.origin_m, known.axes, known.origin_m);
    result.matches.push_back(match);
  }
  result.described += scene.frames.size();
}

/// With points_of(radius) of the scene.
template <class PointsOf>
LibraryMatches match_radii(const Context& context, const ResidentLibrary& library,
                           const ShotMatchOptions& options, const PointsOf& points_of) {
  check_options(options);
  LibraryMatches result;
  for (const ResidentShot& model : library.shot) {
    const auto& surface = points_of(model.radius_m);
    const EvenShot scene =
        even_shot(context, surface.points, surface.normals,
                  {.radius_m = model.radius_m, .leaf_m = options.leaf_radii * model.radius_m});
    require(scene.length == model.length, "match_library_shot: the library has descriptors of ",
            model.length, " numbers, those of shape alone have ", scene.length,
            "; learn its objects again without colour");
    if (scene.points.empty()) continue;
    match_one_radius(context, model, scene, options.match, result);
  }
  sort_matches(result.matches);
  return result;
}

PointSamples points_on(const Context& context, const TriangleMesh& mended, float radius_m) {
  constexpr int kMostPoints = 5000000;
  if (mended.triangles.empty()) return {};
  const double needed = even_shot_points_needed(mended, radius_m);
  require(needed <= kMostPoints, "mesh: to describe its triangles every ",
          1000 * even_shot_resolution_m(radius_m), " mm takes ", std::ceil(needed / 1e6),
          " million points, more than ", kMostPoints / 1000000,
          " million; give the right unit, or a part of the scene");
  return even_shot_points(context, mended, radius_m, kMostPoints);
}

}  // namespace

PointSamples library_shot_points(const Context& context, const TriangleMesh& mesh, float radius_m) {
  const Context cpu = context.is_cpu() ? context : Context::cpu();
  return points_on(cpu, mend_mesh(cpu, copy(cpu, mesh)).mesh, radius_m);
}

LibraryMatches match_library_shot(const Context& context, const ResidentLibrary& library,
                                  View<const Vec3f> points, View<const Vec3f> normals,
                                  const ShotMatchOptions& options) {
  struct Points {
    View<const Vec3f> points, normals;
  };
  return match_radii(context, library, options, [&](float) { return Points{points, normals}; });
}

LibraryMatches match_library_shot(const Context& context, const ResidentLibrary& library,
                                  const TriangleMesh& mesh, const ShotMatchOptions& options) {
  const Context cpu = context.is_cpu() ? context : Context::cpu();
  const TriangleMesh mended = mend_mesh(cpu, copy(cpu, mesh)).mesh;
  return match_radii(context, library, options,
                     [&](float radius_m) { return points_on(cpu, mended, radius_m); });
}

LibraryMatches match_library_tensors(const Context& context, const ResidentLibrary& library,
                                     ImageView<const float> depth_m, const Camera& camera,
                                     const ViewTensorOptions& view,
                                     const TensorMatchOptions& options) {
  LibraryMatches result;
  for (const ResidentTensors& model : library.tensors) {
    if (!(model.bin_m > 0)) continue;
    ViewTensorOptions own = view;
    own.resolution_m = model.resolution_m;
    own.bin_resolutions = model.bin_m / model.resolution_m;
    const TensorSet scene = view_tensors(context, depth_m, camera, own);
    if (scene.frames.empty()) continue;
    match_one_resolution(context, model, scene, options, result);
  }
  sort_matches(result.matches);
  return result;
}

}  // namespace sextant
