// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer/model.h"

#include <algorithm>
#include <map>

#include "sextant/core/eigen3.h"
#include "sextant/descriptor/point_samples.h"
#include "sextant/geometry/diameter.h"
#include "sextant/geometry/neighbours.h"
#include "sextant/geometry/object_size.h"
#include "sextant/geometry/triangle_tree/triangle_tree.h"
#include "sextant/recognize/recognizer/acceptance.h"

namespace sextant::detail::recognizer {

namespace {

constexpr float kLeaf = 0.08f;                // distance of samples as a share of the diameter
constexpr float kCoarse = 0.035f;             // cell of the render mesh as a share of the diameter
constexpr std::int64_t kFewTriangles = 3000;  // meshes of no more are rendered as they are
constexpr int kTurns = 36;

TriangleMesh squares(const Context& context, const Cloud& cloud) {
  const std::span<const Vec3f> p = cloud.points.host(), n = cloud.normals.host();
  const NearestNeighbours near = k_nearest(
      context,
      build_neighbour_grid(context, cloud.points.view(), NeighbourGridOptions::for_nearest(7)), 7);
  std::vector<Vec3f> vertices;
  std::vector<Vec3i> triangles;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const float gap_sq = near.distances_sq.host()[i * 7 + 6];
    if (!is_finite(p[i]) || !is_finite(n[i]) || !std::isfinite(gap_sq)) continue;
    const Vec3f normal = normalized(n[i]);
    const Vec3f a = detail::any_perpendicular(normal) * (0.7f * std::sqrt(gap_sq));
    const Vec3f b = cross(normal, a);
    const int first = static_cast<int>(vertices.size());
    for (const Vec3f& corner : {a + b, b - a, -(a + b), a - b}) vertices.push_back(p[i] + corner);
    triangles.push_back({first, first + 1, first + 2});
    triangles.push_back({first, first + 2, first + 3});
  }
  TriangleMesh mesh;
  mesh.vertices.points = copy(Context::cpu(), vertices);
  mesh.triangles = copy(Context::cpu(), triangles);
  return mesh;
}

/// One point of a cloud for each cell, so that few squares cover it.
Cloud thinned(const Context& context, const Cloud& cloud, float cell_m) {
  PointSamples kept = sample_points(context, cloud.points, cloud.normals,
                                    {.leaf_m = cell_m, .normal_angle_rad = 1.2f});
  Cloud result;
  result.points = std::move(kept.points);
  result.normals = std::move(kept.normals);
  return result;
}

}  // namespace

TriangleMesh coarse_mesh(const Context& context, const TriangleMesh& mesh, float cell_m) {
  if (mesh.triangles.empty()) {
    if (mesh.vertices.normals.empty()) return {};
    return squares(context, thinned(context, mesh.vertices, cell_m));
  }
  const std::span<const Vec3f> p = mesh.vertices.points.host();
  const std::span<const Vec3i> t = mesh.triangles.host();
  struct Cell {
    Vec3d sum{};
    double count = 0;
    std::int32_t index = -1;
  };
  std::map<std::array<std::int64_t, 3>, Cell> cells;
  std::vector<Cell*> cell_of(p.size(), nullptr);
  const auto along = [&](float x) { return static_cast<std::int64_t>(std::floor(x / cell_m)); };
  for (const Vec3i& triangle : t) {
    for (const std::int32_t i : {triangle.x, triangle.y, triangle.z}) {
      const auto at = static_cast<std::size_t>(i);
      if (cell_of[at] || !is_finite(p[at])) continue;
      Cell& cell = cells[{along(p[at].x), along(p[at].y), along(p[at].z)}];
      cell.sum += cast<double>(p[at]);
      ++cell.count;
      cell_of[at] = &cell;
    }
  }
  std::vector<Vec3f> vertices;
  for (auto& [key, cell] : cells) {
    cell.index = static_cast<std::int32_t>(vertices.size());
    vertices.push_back(cast<float>(cell.sum / cell.count));
  }
  std::vector<std::array<std::int32_t, 3>> kept;
  for (const Vec3i& triangle : t) {
    const Cell* c[3] = {cell_of[static_cast<std::size_t>(triangle.x)],
                        cell_of[static_cast<std::size_t>(triangle.y)],
                        cell_of[static_cast<std::size_t>(triangle.z)]};
    if (!c[0] || !c[1] || !c[2]) continue;
    std::array<std::int32_t, 3> corners{c[0]->index, c[1]->index, c[2]->index};
    if (corners[0] == corners[1] || corners[1] == corners[2] || corners[0] == corners[2]) continue;
    std::rotate(corners.begin(), std::min_element(corners.begin(), corners.end()), corners.end());
    kept.push_back(corners);
  }
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  std::vector<Vec3i> triangles;
  triangles.reserve(kept.size());
  for (const auto& corners : kept) triangles.push_back({corners[0], corners[1], corners[2]});
  TriangleMesh result;
  result.vertices.points = copy(Context::cpu(), vertices);
  result.triangles = copy(Context::cpu(), triangles);
  return result;
}

std::vector<Rigid3f> motions_of(const Symmetries& symmetries, int steps) {
  std::vector<Rigid3d> motions{{}};
  for (const Rigid3d& discrete : symmetries.discrete) motions.push_back(discrete);
  for (const ContinuousSymmetry& about : symmetries.continuous) {
    const std::vector<Rigid3d> before = motions;
    for (int k = 1; k < steps; ++k) {
      const Rigid3d motion = turn_about(about, 2 * M_PI * k / steps);
      for (const Rigid3d& other : before) motions.push_back(other * motion);
    }
    if (motions.size() > 2000) break;  // of a ball: enough of them
  }
  std::vector<Rigid3f> result;
  result.reserve(motions.size());
  for (const Rigid3d& motion : motions) result.push_back(cast<float>(motion));
  return result;
}

/// Whether a half turn about each axis of the box is a symmetry.
bool has_half_turns(const Cuboid& box, const std::vector<Rigid3f>& symmetries) {
  constexpr double kSame = 0.99;  // cosine of 8°
  for (int axis = 0; axis < 3; ++axis) {
    const Vec3d about = box.object_from_box.rotation.column(axis);
    const Vec3d across = box.object_from_box.rotation.column((axis + 1) % 3);
    const auto turns = [&](const Rigid3f& motion) {
      const Mat3d rotation = cast<double>(motion).rotation;
      return dot(rotation * about, about) > kSame && dot(rotation * across, across) < -kSame;
    };
    if (std::none_of(symmetries.begin(), symmetries.end(), turns)) return false;
  }
  return true;
}

/// Of a body of revolution the turn about its axis, of a ball those about the frame's axes.
std::vector<FreeTurn> free_turns_of(const Symmetries& symmetries, const Vec3f& centre) {
  if (symmetries.continuous.empty()) return {};
  const Vec3d from = cast<double>(centre) - symmetries.continuous.front().point_m;
  std::vector<Vec3d> axes{symmetries.continuous.front().axis};
  if (symmetries.continuous.size() > 1) axes = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  std::vector<FreeTurn> turns;
  for (const Vec3d& axis : axes)
    turns.push_back({cast<float>(axis), cast<float>(cross(axis, from))});
  return turns;
}

/// The mean distance of the samples from the render mesh, on the side that they face.
float shape_error_m(const Context& context, const PointPairModel& samples,
                    const TriangleMesh& render_mesh) {
  const TriangleTree tree(context, render_mesh.vertices.points.host(),
                          render_mesh.triangles.host());
  const std::span<const Vec3f> points = samples.points.host(), normals = samples.normals.host();
  double sum_m = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const NearestOnTriangles near =
        tree.nearest(cast<double>(points[i]), INFINITY, cast<double>(normals[i]));
    if (near.triangle >= 0) sum_m += std::sqrt(near.distance_sq);
  }
  return static_cast<float>(sum_m / static_cast<double>(points.size()));
}

ModelView Model::view() const {
  ModelView view;
  view.diameter_m = view.part_diameter_m = diameter_m;
  view.leaf_m = leaf_m;
  view.radius_m = radius_m;
  view.shift_m = shift_m;
  view.centre = centre;
  view.level = level;
  view.free_turns = static_cast<std::int32_t>(free_turns.size());
  std::copy(free_turns.begin(), free_turns.end(), view.turns);
  view.shape_m = shape_m;
  view.samples = static_cast<std::int32_t>(pairs.points.size());
  view.motions = static_cast<std::int32_t>(symmetries.size());
  view.points = pairs.points.data();
  view.normals = pairs.normals.data();
  view.symmetries = symmetries.data();
  return view;
}

Model make_model(const Context& context, const LearnedObject& object,
                 const PointPairOptions& options) {
  Model model;
  model.name = object.name;
  model.diameter_m = static_cast<float>(object.diameter_m);
  // Samples of the surface itself are more even than what thinning a library's samples leaves.
  const bool has_surface = !object.mesh.triangles.empty() || !object.mesh.vertices.normals.empty();
  require(has_surface || !object.samples.points.empty(), "object ", object.name,
          ": knows nothing of its shape that a depth map could show; learn a mesh or RGB-D views");
  // A wrong unit shows in the surface, whatever the entry says.
  const double size_m =
      has_surface ? sextant::diameter_m(context, object.mesh.vertices.points) : object.diameter_m;
  check_object_size("object " + object.name, size_m, 1.0);
  if (has_surface) {
    ModelSamples samples = sample_model(context, object.mesh);
    if (!(model.diameter_m > 0)) model.diameter_m = static_cast<float>(samples.diameter_m);
    model.leaf_m = samples.leaf_m;
    model.pairs = make_point_pair_model(context, samples.samples.points, samples.samples.normals,
                                        model.diameter_m, options);
  } else {
    require(model.diameter_m > 0, "object ", object.name, ": its diameter is ", object.diameter_m);
    model.leaf_m = std::max(object.samples.leaf_m, kLeaf * model.diameter_m);
    const PointSamples samples = sample_points(context, object.samples.points,
                                               object.samples.normals, {.leaf_m = model.leaf_m});
    model.pairs =
        make_point_pair_model(context, samples.points, samples.normals, model.diameter_m, options);
  }
  require(model.pairs.points.size() >= 10, "object ", object.name, ": has ",
          model.pairs.points.size(), " samples; 10 are the least that make a pose");
  Vec3d sum{};
  for (const Vec3f& p : model.pairs.points.host()) sum += cast<double>(p);
  model.centre = cast<float>(sum / static_cast<double>(model.pairs.points.size()));
  model.symmetries = motions_of(object.shape_symmetries, kTurns);
  model.level = lookalike_level(object.lookalikes, LookalikesOf::kObject);
  model.pack_level = lookalike_level(object.lookalikes, LookalikesOf::kPacks);
  model.free_turns = free_turns_of(object.shape_symmetries, model.centre);
  const bool few =
      object.mesh.triangles.size() > 0 && object.mesh.triangles.size() <= kFewTriangles;
  if (few) {
    model.render_mesh.vertices.points = copy(context, object.mesh.vertices.points);
    model.render_mesh.triangles = copy(context, object.mesh.triangles);
  } else {
    model.render_mesh = coarse_mesh(context, object.mesh, kCoarse * model.diameter_m);
  }
  require(!model.render_mesh.triangles.empty(), "object ", object.name,
          ": has neither triangles nor points with normals to compare with a frame");
  if (!few) model.shape_m = shape_error_m(context, model.pairs, model.render_mesh);
  for (const Vec3f& p : model.render_mesh.vertices.points.host()) {
    model.radius_m = max_of(model.radius_m, norm(p - model.centre));
  }
  model.box = cuboid_of(model.render_mesh);
  // Packs do not tell the two ends of a box apart.
  if (model.box && !has_half_turns(*model.box, model.symmetries)) model.box.reset();
  for (const Rigid3f& motion : model.symmetries) {
    model.shift_m = max_of(model.shift_m, norm(motion * model.centre - model.centre));
  }
  return model;
}

}  // namespace sextant::detail::recognizer
