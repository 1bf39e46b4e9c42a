// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/sample_mesh.h"

#include <algorithm>
#include <numeric>

#include "sextant/core/for_each.h"
#include "sextant/core/random.h"
#include "sextant/geometry/sample_mesh/apart.h"
#include "sextant/geometry/texture/lookup.h"

namespace sextant {

namespace {

/// The corners of a triangle, and what is made of their values with weights.
struct Corners {
  Vec3d a, b, c;
  Vec3d at(const Vec3d& w) const { return a * w.x + b * w.y + c * w.z; }
  Vec3d normal() const { return cross(b - a, c - a); }  ///< twice the area long
};

template <class T>
Corners corners_of(View<const Vec3<T>> values, const Vec3i& t) {
  return {cast<double>(values[t.x]), cast<double>(values[t.y]), cast<double>(values[t.z])};
}

/// What of a mesh its samples show.
class SampledMesh {
 public:
  SampledMesh(const TriangleMesh& mesh, const SampleMeshOptions& options)
      : mesh_(mesh), options_(options), points_(mesh.vertices.points.view()) {
    const View<const Vec3i> triangles = mesh.triangles;
    area_until_.resize(static_cast<std::size_t>(triangles.size));
    double sum = 0;
    for (std::int64_t i = 0; i < triangles.size; ++i) {
      const double area = norm(corners_of(points_, triangles[i]).normal()) / 2;
      if (std::isfinite(area)) sum += area;
      area_until_[static_cast<std::size_t>(i)] = sum;
    }
  }

  double area() const { return area_until_.empty() ? 0.0 : area_until_.back(); }

  bool has_colors() const {
    if (!mesh_.vertices.colors.empty()) return true;
    return std::any_of(mesh_.materials.begin(), mesh_.materials.end(), [&](const Material& m) {
      return is_textured(m) || !(m.diffuse == Vec3f{1, 1, 1});
    });
  }

  /// The triangle where the running area passes `area`; one with an area of its own.
  std::int32_t triangle_at(double area) const {
    const auto found = std::upper_bound(area_until_.begin(), area_until_.end(), area);
    // Rounding may put the last sample at the end of all area.
    const auto last = std::lower_bound(area_until_.begin(), area_until_.end(), area_until_.back());
    return static_cast<std::int32_t>(std::min(found, last) - area_until_.begin());
  }

  Vec3f point(std::int32_t triangle, const Vec3d& weights) const {
    return cast<float>(corners_of(points_, mesh_.triangles.host()[index(triangle)]).at(weights));
  }

  Vec3f normal(std::int32_t triangle, const Vec3d& weights) const {
    const Vec3i t = mesh_.triangles.host()[index(triangle)];
    if (options_.normals == SampleNormals::kMesh) {
      Vec3d own{};
      if (!mesh_.normal_triangles.empty()) {
        const Vec3i n = mesh_.normal_triangles.host()[index(triangle)];
        own = normalized(corners_of(mesh_.corner_normals.view(), n).at(weights));
      } else if (!mesh_.vertices.normals.empty()) {
        own = normalized(corners_of(mesh_.vertices.normals.view(), t).at(weights));
      }
      if (norm_sq(own) > 0.5) return cast<float>(own);
    }
    return cast<float>(normalized(corners_of(points_, t).normal()));
  }

  Rgb8 color(std::int32_t triangle, const Vec3d& weights) const {
    const Vec3i t = mesh_.triangles.host()[index(triangle)];
    const Material plain;
    const Material& material = mesh_.materials.empty() ? plain : material_of(triangle);
    Vec3d color{255, 255, 255};
    if (is_textured(material)) {
      const Vec3i at =
          mesh_.texture_triangles.empty() ? t : mesh_.texture_triangles.host()[index(triangle)];
      const auto uv = mesh_.texture_coordinates.view();
      const auto mixed = [&](auto part) {
        return weights.x * double{part(uv[at.x])} + weights.y * double{part(uv[at.y])} +
               weights.z * double{part(uv[at.z])};
      };
      const detail::TextureView texture{material.texture.pixels().data(), material.texture.width(),
                                        material.texture.height()};
      color = cast<double>(detail::texture_at(texture, mixed([](const Vec2f& v) { return v.x; }),
                                              mixed([](const Vec2f& v) { return v.y; })));
    } else if (!mesh_.vertices.colors.empty()) {
      color = corners_of(mesh_.vertices.colors.view(), t).at(weights);
    }
    const auto byte = [](double value, float diffuse) {
      return static_cast<std::uint8_t>(clamp(value * double{diffuse}, 0.0, 255.0) + 0.5);
    };
    const Vec3f& d = material.diffuse;
    return {byte(color.x, d.x), byte(color.y, d.y), byte(color.z, d.z)};
  }

 private:
  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }
  bool is_textured(const Material& m) const {
    return m.texture.width() > 0 && m.texture.height() > 0 && !mesh_.texture_coordinates.empty();
  }
  const Material& material_of(std::int32_t triangle) const {
    const bool all_alike = mesh_.triangle_materials.empty();
    return mesh_.materials[index(all_alike ? 0 : mesh_.triangle_materials.host()[index(triangle)])];
  }

  const TriangleMesh& mesh_;
  const SampleMeshOptions& options_;
  View<const Vec3f> points_;
  std::vector<double> area_until_;
};

/// A uniform number in [0, 1) with 53 bits.
double uniform(const Random& random, std::uint64_t draw) {
  const Random::Words w = random.words(draw);
  return (static_cast<double>(w.word[0] >> 6) * 0x1p27 + static_cast<double>(w.word[1] >> 5)) *
         0x1p-53;
}

/// Weights of the corners of a point that is uniform over a triangle.
Vec3d random_weights(const Random& random) {
  const double root = std::sqrt(uniform(random, 1));
  const double v = uniform(random, 2);
  return {1 - root, root * (1 - v), root * v};
}

void check_arguments(const Context& context, const TriangleMesh& mesh,
                     const SampleMeshOptions& options) {
  check_options(options);
  require(context.is_cpu() && mesh.device().kind == DeviceKind::kCpu,
          "sample_mesh: runs on the host; the context is on ", to_string(context.device()),
          ", the mesh on ", to_string(mesh.device()));
  check_mesh(mesh);
}

/// The samples of the shares that `keep` lists, of `count` shares of the area.
MeshSamples samples_of(const Context& context, const SampledMesh& sampled, std::int64_t count,
                       std::span<const std::uint32_t> keep, const SampleMeshOptions& options,
                       bool with_colors) {
  const auto size = static_cast<std::int64_t>(keep.size());
  MeshSamples samples{Buffer<Vec3f>(context, size), Buffer<Vec3f>(context, size),
                      Buffer<Rgb8>(context, with_colors ? size : 0),
                      Buffer<std::int32_t>(context, size)};
  const auto points = samples.points.view();
  const auto normals = samples.normals.view();
  const auto colors = samples.colors.view();
  const auto triangles = samples.triangles.view();
  const double share = sampled.area() / static_cast<double>(count);
  for_each(context, size, [&](std::int64_t i) {
    const std::uint32_t number = keep[static_cast<std::size_t>(i)];
    const Random random{options.seed, number};
    triangles[i] = sampled.triangle_at((number + uniform(random, 0)) * share);
    const Vec3d weights = random_weights(random);
    points[i] = sampled.point(triangles[i], weights);
    normals[i] = sampled.normal(triangles[i], weights);
    if (with_colors) colors[i] = sampled.color(triangles[i], weights);
  });
  return samples;
}

std::vector<std::uint32_t> all_of(std::int64_t count) {
  std::vector<std::uint32_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0u);
  return numbers;
}

}  // namespace

MeshSamples sample_mesh(const Context& context, const TriangleMesh& mesh, std::int64_t count,
                        const SampleMeshOptions& options) {
  check_arguments(context, mesh, options);
  require(count >= 0 && count <= INT32_MAX, "count: ", count, " is not in 0..", INT32_MAX);
  const SampledMesh sampled(mesh, options);
  if (!(sampled.area() > 0)) return {};
  return samples_of(context, sampled, count, all_of(count), options, sampled.has_colors());
}

MeshSamples sample_mesh_apart(const Context& context, const TriangleMesh& mesh, float spacing_m,
                              const SampleMeshOptions& options) {
  check_arguments(context, mesh, options);
  require(spacing_m > 0 && std::isfinite(spacing_m), "spacing_m: ", spacing_m,
          " is no positive length");
  const SampledMesh sampled(mesh, options);
  if (!(sampled.area() > 0)) return {};
  // Of so many tries for a square of the spacing, the last hardly finds room.
  constexpr double kTries = 10;
  constexpr double kMostSamples = 2e7;
  const double squares = sampled.area() / (double{spacing_m} * double{spacing_m});
  require(squares <= kMostSamples, "spacing_m: ", spacing_m, " asks for some ", squares,
          " samples; take one above ", std::sqrt(sampled.area() / kMostSamples));
  const auto tries = static_cast<std::int64_t>(std::ceil(squares * kTries)) + 16;
  const MeshSamples candidates = samples_of(context, sampled, tries, all_of(tries), options, false);
  const std::vector<std::uint32_t> keep = detail::sample_mesh::far_apart(
      context, candidates.points.host(), candidates.normals.host(), spacing_m, options.seed);
  return samples_of(context, sampled, tries, keep, options, sampled.has_colors());
}

}  // namespace sextant
