// SPDX-License-Identifier: Apache-2.0
#include "sextant/learn/learn_views/merge_views.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sextant/core/for_each.h"

namespace sextant::detail::learn_views {

namespace {

/// Distances beyond this many cells are cut off; farther behind a surface nothing is known.
constexpr float kTruncation = 4.0f;

struct Grid {
  Vec3f low;
  float voxel_m = 0;
  int nx = 0, ny = 0, nz = 0;
  std::vector<float> distance;  ///< in cells, outside positive
  std::vector<float> weight;    ///< 0 where nothing is known

  std::size_t index(int x, int y, int z) const {
    return static_cast<std::size_t>(x) +
           static_cast<std::size_t>(nx) *
               (static_cast<std::size_t>(y) +
                static_cast<std::size_t>(ny) * static_cast<std::size_t>(z));
  }
  Vec3f at(int x, int y, int z) const {
    return low +
           Vec3f{static_cast<float>(x), static_cast<float>(y), static_cast<float>(z)} * voxel_m;
  }
};

Grid make_grid(const Bounds& box, float voxel_m) {
  Grid grid;
  const float margin = (kTruncation + 1) * voxel_m;
  grid.low = box.low - Vec3f{margin, margin, margin};
  grid.voxel_m = voxel_m;
  const Vec3f size = (box.high - box.low + Vec3f{2 * margin, 2 * margin, 2 * margin}) / voxel_m;
  const double cells =
      static_cast<double>(size.x) * static_cast<double>(size.y) * static_cast<double>(size.z);
  require(cells < 3e8, "voxel_m: ", voxel_m, " m makes ", cells,
          " cells of the object's box; take larger ones, or check the unit");
  grid.nx = static_cast<int>(size.x) + 2;
  grid.ny = static_cast<int>(size.y) + 2;
  grid.nz = static_cast<int>(size.z) + 2;
  const std::size_t count = grid.index(0, 0, grid.nz);
  grid.distance.assign(count, 0.0f);
  grid.weight.assign(count, 0.0f);
  return grid;
}

/// A view's say at a point: by the angle at which the surface is seen there and the noise of the
/// depth, which grows with its square.
float weight_of(const PreparedView& view, int u, int v, float depth_m) {
  const std::int64_t i = std::int64_t{v} * view.depth_m.width() + u;
  const Vec3f n = view.surface.normals.data()[i];
  const Vec3f p = view.surface.points.data()[i];
  if (!is_finite(n) || !is_finite(p)) return 0.0f;
  const float cosine = std::max(0.0f, -dot(n, p) / norm(p));
  return cosine * cosine / (depth_m * depth_m * depth_m * depth_m);
}

struct RayDistance {
  float distance_m = NAN;  ///< in front of the surface positive
  float weight = 0;
};

/// How far a point lies before the measured surface, along the normal that it has there.
RayDistance distance_in(const MergedView& merged, const Cameraf& camera, const Rigid3f& motion,
                        const Vec3f& point) {
  const PreparedView& view = *merged.view;
  const Vec3f x = motion * point;
  const Vec2f pixel = project(camera, x);
  if (!(pixel.x >= 0 && pixel.y >= 0 && pixel.x < static_cast<float>(camera.width - 1) &&
        pixel.y < static_cast<float>(camera.height - 1))) {
    return {};
  }
  const int u = static_cast<int>(pixel.x), v = static_cast<int>(pixel.y);
  const float s = pixel.x - static_cast<float>(u), t = pixel.y - static_cast<float>(v);
  // Bilinear within a surface; at a rim the nearest pixel.
  const float d[4] = {view.depth_m(u, v), view.depth_m(u + 1, v), view.depth_m(u, v + 1),
                      view.depth_m(u + 1, v + 1)};
  const int near_u = s < 0.5f ? u : u + 1, near_v = t < 0.5f ? v : v + 1;
  float depth_m = view.depth_m(near_u, near_v);
  if (!(depth_m > 0)) return {};
  const float low = std::min({d[0], d[1], d[2], d[3]}), high = std::max({d[0], d[1], d[2], d[3]});
  if (std::isfinite(d[0] + d[1] + d[2] + d[3]) && high - low < 0.02f * depth_m) {
    depth_m = (1 - t) * ((1 - s) * d[0] + s * d[1]) + t * ((1 - s) * d[2] + s * d[3]);
  }
  const float weight = weight_of(view, near_u, near_v, depth_m);
  const std::int64_t i = std::int64_t{near_v} * view.depth_m.width() + near_u;
  const Vec3f n = view.surface.normals.data()[i];
  // Along the ray a slanted surface is farther than it is: the plane's distance is shorter.
  const float ray = norm(x) / x.z;
  const float slant = is_finite(n) ? std::max(0.25f, -dot(n, x) / norm(x)) : 1.0f;
  return {(depth_m - x.z) * ray * slant, weight};
}

void fill(const Context& context, const std::vector<MergedView>& views,
          const LearnProgress& progress, Grid& grid) {
  std::vector<Cameraf> cameras;
  std::vector<Rigid3f> motions;
  for (const MergedView& view : views) {
    cameras.push_back(cast<float>(view.view->camera));
    motions.push_back(cast<float>(view.camera_from_object));
  }
  const float truncation_m = kTruncation * grid.voxel_m;
  constexpr int kLayers = 16;
  for (int first = 0; first < grid.nz; first += kLayers) {
    report(progress, "merging", first, grid.nz);
    const int layers = std::min(kLayers, grid.nz - first);
    for_each_chunk(
        context, std::int64_t{layers} * grid.ny, 8, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t row = begin; row < end; ++row) {
            const int z = first + static_cast<int>(row / grid.ny),
                      y = static_cast<int>(row % grid.ny);
            for (int x = 0; x < grid.nx; ++x) {
              const Vec3f point = grid.at(x, y, z);
              float sum = 0, weight = 0;
              for (std::size_t v = 0; v < views.size(); ++v) {
                const RayDistance ray = distance_in(views[v], cameras[v], motions[v], point);
                if (!(ray.weight > 0) || !(ray.distance_m > -truncation_m)) continue;
                const float cut = std::min(ray.distance_m, truncation_m);
                // Far in front, a view says no more than that there is nothing.
                const float say = ray.distance_m > truncation_m ? 0.2f * ray.weight : ray.weight;
                sum += say * cut;
                weight += say;
              }
              if (!(weight > 0)) continue;
              grid.distance[grid.index(x, y, z)] = sum / weight / grid.voxel_m;
              grid.weight[grid.index(x, y, z)] = weight;
            }
          }
        });
  }
  report(progress, "merging", grid.nz, grid.nz);
}

struct Net {
  std::vector<Vec3f> vertices;
  std::vector<Vec3i> triangles;
};

/// Surface nets (Gibson, 1998): one vertex in every cell that the surface passes, in the mean of
/// its crossings with the edges, and a square for every edge that it crosses.
Net draw_net(const Grid& grid) {
  Net net;
  std::vector<std::int32_t> vertex(grid.distance.size(), -1);
  const auto known = [&](int x, int y, int z) { return grid.weight[grid.index(x, y, z)] > 0; };
  for (int z = 0; z + 1 < grid.nz; ++z) {
    for (int y = 0; y + 1 < grid.ny; ++y) {
      for (int x = 0; x + 1 < grid.nx; ++x) {
        float corner[8];
        bool all = true, inside = false, outside = false;
        for (int c = 0; c < 8 && all; ++c) {
          const int cx = x + (c & 1), cy = y + (c >> 1 & 1), cz = z + (c >> 2);
          all = known(cx, cy, cz);
          corner[c] = grid.distance[grid.index(cx, cy, cz)];
          // A jump from far inside to far outside is no surface but two views that disagree.
          inside |= corner[c] < 0;
          outside |= corner[c] >= 0;
        }
        if (!all || !inside || !outside) continue;
        Vec3f sum;
        float count = 0;
        for (int a = 0; a < 8; ++a) {
          for (int axis = 0; axis < 3; ++axis) {
            const int b = a | 1 << axis;
            if (b == a || (corner[a] < 0) == (corner[b] < 0)) continue;
            const float t = corner[a] / (corner[a] - corner[b]);
            float p[3] = {static_cast<float>(a & 1), static_cast<float>(a >> 1 & 1),
                          static_cast<float>(a >> 2)};
            p[axis] = t;
            sum += Vec3f{p[0], p[1], p[2]};
            count += 1;
          }
        }
        vertex[grid.index(x, y, z)] = static_cast<std::int32_t>(net.vertices.size());
        net.vertices.push_back(grid.at(x, y, z) + sum / count * grid.voxel_m);
      }
    }
  }
  const auto square = [&](std::int32_t a, std::int32_t b, std::int32_t c, std::int32_t d,
                          bool turn) {
    if (a < 0 || b < 0 || c < 0 || d < 0) return;
    if (turn) std::swap(b, d);
    // The shorter diagonal makes the better triangles.
    const auto gap = [&](std::int32_t i, std::int32_t j) {
      return norm_sq(net.vertices[static_cast<std::size_t>(i)] -
                     net.vertices[static_cast<std::size_t>(j)]);
    };
    if (gap(a, c) <= gap(b, d)) {
      net.triangles.push_back({a, b, c});
      net.triangles.push_back({a, c, d});
    } else {
      net.triangles.push_back({a, b, d});
      net.triangles.push_back({b, c, d});
    }
  };
  for (int z = 1; z + 1 < grid.nz; ++z) {
    for (int y = 1; y + 1 < grid.ny; ++y) {
      for (int x = 1; x + 1 < grid.nx; ++x) {
        if (!known(x, y, z)) continue;
        const bool here = grid.distance[grid.index(x, y, z)] < 0;
        const auto cell = [&](int dx, int dy, int dz) {
          return vertex[grid.index(x - dx, y - dy, z - dz)];
        };
        const auto differs = [&](int dx, int dy, int dz) {
          return known(x + dx, y + dy, z + dz) &&
                 (grid.distance[grid.index(x + dx, y + dy, z + dz)] < 0) != here;
        };
        // Seen from the outside end of the edge, the four cells around it go counter-clockwise.
        if (differs(1, 0, 0)) {
          square(cell(0, 1, 1), cell(0, 0, 1), cell(0, 0, 0), cell(0, 1, 0), !here);
        }
        if (differs(0, 1, 0)) {
          square(cell(1, 0, 1), cell(1, 0, 0), cell(0, 0, 0), cell(0, 0, 1), !here);
        }
        if (differs(0, 0, 1)) {
          square(cell(1, 1, 0), cell(0, 1, 0), cell(0, 0, 0), cell(1, 0, 0), !here);
        }
      }
    }
  }
  return net;
}

/// Drops pieces with less than a fiftieth of the triangles, and vertices that no triangle has.
void keep_large_pieces(Net& net) {
  std::vector<std::int32_t> root(net.vertices.size());
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](std::int32_t i) {
    while (root[static_cast<std::size_t>(i)] != i) {
      root[static_cast<std::size_t>(i)] =
          root[static_cast<std::size_t>(root[static_cast<std::size_t>(i)])];
      i = root[static_cast<std::size_t>(i)];
    }
    return i;
  };
  for (const Vec3i& t : net.triangles) {
    for (std::int32_t other : {t.y, t.z}) {
      const std::int32_t a = find(t.x), b = find(other);
      root[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
    }
  }
  std::vector<std::int64_t> size(net.vertices.size(), 0);
  for (const Vec3i& t : net.triangles) ++size[static_cast<std::size_t>(find(t.x))];
  const auto total = static_cast<std::int64_t>(net.triangles.size());
  std::vector<std::int32_t> place(net.vertices.size(), -1);
  Net kept;
  for (const Vec3i& t : net.triangles) {
    if (size[static_cast<std::size_t>(find(t.x))] * 50 < total) continue;
    std::int32_t corner[3] = {t.x, t.y, t.z};
    for (std::int32_t& c : corner) {
      std::int32_t& at = place[static_cast<std::size_t>(c)];
      if (at < 0) {
        at = static_cast<std::int32_t>(kept.vertices.size());
        kept.vertices.push_back(net.vertices[static_cast<std::size_t>(c)]);
      }
      c = at;
    }
    kept.triangles.push_back({corner[0], corner[1], corner[2]});
  }
  net = std::move(kept);
}

/// The mean colour of the views that see a vertex, by the angle at which they do.
Buffer<Rgb8> color_vertices(const Context& context, const std::vector<MergedView>& views,
                            const TriangleMesh& mesh, float voxel_m) {
  Buffer<Rgb8> colors(context, mesh.vertices.size());
  for_each(context, mesh.vertices.size(), [&](std::int64_t i) {
    const Vec3f point = mesh.vertices.points.data()[i];
    const Vec3f normal = mesh.vertices.normals.data()[i];
    Vec3f sum;
    float weight = 0;
    for (const MergedView& merged : views) {
      if (!merged.color || merged.color->empty()) continue;
      const Rigid3f motion = cast<float>(merged.camera_from_object);
      const Vec3f x = motion * point;
      const Vec2f pixel = project(cast<float>(merged.view->camera), x);
      const float facing = -dot(motion.rotation * normal, x) / norm(x);
      if (!(facing > 0.2f) || !(pixel.x >= 0) || !(pixel.y >= 0)) continue;
      const int u = static_cast<int>(pixel.x + 0.5f), v = static_cast<int>(pixel.y + 0.5f);
      if (!merged.color->view().contains(u, v)) continue;
      if (!(std::abs(merged.view->depth_m(u, v) - x.z) < 3 * voxel_m)) continue;
      const Rgb8 c = (*merged.color)(u, v);
      const float say = facing * facing;
      sum += Vec3f{static_cast<float>(c.x), static_cast<float>(c.y), static_cast<float>(c.z)} * say;
      weight += say;
    }
    const Vec3f mean = weight > 0 ? sum / weight : Vec3f{128, 128, 128};
    const auto byte = [](float value) { return static_cast<std::uint8_t>(value + 0.5f); };
    colors.data()[i] = {byte(mean.x), byte(mean.y), byte(mean.z)};
  });
  return colors;
}

}  // namespace

TriangleMesh merge_views(const Context& context, const std::vector<MergedView>& views,
                         const Bounds& box, float voxel_m, const LearnProgress& progress) {
  TriangleMesh mesh;
  if (box.empty()) return mesh;
  Grid grid = make_grid(box, voxel_m);
  fill(context, views, progress, grid);
  Net net = draw_net(grid);
  keep_large_pieces(net);
  mesh.vertices.points = copy(context, net.vertices);
  mesh.triangles = copy(context, net.triangles);
  mesh.vertices.normals = vertex_normals(mesh);
  const bool colored = std::any_of(views.begin(), views.end(), [](const MergedView& view) {
    return view.color && !view.color->empty();
  });
  if (colored) mesh.vertices.colors = color_vertices(context, views, mesh, voxel_m);
  return mesh;
}

}  // namespace sextant::detail::learn_views
