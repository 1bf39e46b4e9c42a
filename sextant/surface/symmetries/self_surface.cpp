// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/symmetries/self_surface.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "sextant/core/for_each.h"
#include "sextant/core/random.h"
#include "sextant/core/sort.h"
#include "sextant/geometry/diameter.h"
#include "sextant/geometry/neighbours.h"
#include "sextant/geometry/sample_mesh.h"

namespace sextant::detail::symmetries {

namespace {

constexpr std::int64_t kSamples = 2048;
constexpr std::int64_t kDense = 16384;  ///< of colours
constexpr int kColorNeighbours = 12;
constexpr int kLattice = 36;       ///< nodes along each side of the table of distances
constexpr double kFarthest = 0.1;  ///< that the table tells, as a share of the diameter

/// Numbers 0 .. count - 1 in a random order that depends on the count alone.
std::vector<std::uint32_t> shuffled(const Context& context, std::int64_t count) {
  std::vector<std::uint32_t> keys(static_cast<std::size_t>(count)), order(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = Random{7, i}.bits(0);
    order[i] = static_cast<std::uint32_t>(i);
  }
  sort_pairs<std::uint32_t>(context, view_of(keys), view_of(order));
  return order;
}

/// One point, the first, of each cell of a cubic lattice: points spread evenly, whatever the
/// density of the cloud.
std::vector<std::uint32_t> thinned(std::span<const Vec3f> points, double cell_m) {
  std::map<std::tuple<double, double, double>, std::uint32_t> cells;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vec3d p = cast<double>(points[i]) / cell_m;
    cells.try_emplace({std::floor(p.x), std::floor(p.y), std::floor(p.z)},
                      static_cast<std::uint32_t>(i));
  }
  std::vector<std::uint32_t> kept;
  for (const auto& [cell, index] : cells) kept.push_back(index);
  std::sort(kept.begin(), kept.end());
  return kept;
}

/// The face of a cube that a direction goes through, 0 to 5.
int cube_face(const Vec3d& n) {
  const double x = std::abs(n.x), y = std::abs(n.y), z = std::abs(n.z);
  if (x >= y && x >= z) return n.x < 0 ? 0 : 1;
  if (y >= z) return n.y < 0 ? 2 : 3;
  return n.z < 0 ? 4 : 5;
}

}  // namespace

SelfSurface::SelfSurface(const Context& context, const TriangleMesh& object) {
  diameter_ = diameter_m(context, object.vertices.points);
  if (!(diameter_ > 0)) return;
  if (object.triangles.empty()) {
    take_cloud(context, object);
  } else {
    take_mesh(context, object);
  }
  if (!empty()) measure(context);
}

void SelfSurface::take_mesh(const Context& context, const TriangleMesh& object) {
  const MeshSamples samples = sample_mesh(context, object, kSamples);
  if (samples.size() == 0) return;
  for (const std::uint32_t i : shuffled(context, samples.size())) {
    samples_.push_back(
        {cast<double>(samples.points.host()[i]), cast<double>(samples.normals.host()[i]), 0, {}});
  }
  tree_.emplace(context, object.vertices.points.host(), object.triangles.host());
  const MeshSamples dense = sample_mesh(context, object, kDense, {.seed = 2});
  if (!dense.colors.empty()) {
    color(context, dense.points.host(), dense.normals.host(), dense.colors.host());
  }
}

void SelfSurface::take_cloud(const Context& context, const TriangleMesh& object) {
  std::vector<Vec3f> points, normals;
  std::vector<Rgb8> colors;
  const Cloud& cloud = object.vertices;
  for (std::size_t i = 0; i < cloud.points.host().size(); ++i) {
    if (!is_finite(cloud.points.host()[i])) continue;
    points.push_back(cloud.points.host()[i]);
    if (!cloud.normals.empty()) normals.push_back(cloud.normals.host()[i]);
    if (!cloud.colors.empty()) colors.push_back(cloud.colors.host()[i]);
  }
  const auto pick = [](auto& all, std::span<const std::uint32_t> numbers) {
    if (all.empty()) return;
    std::decay_t<decltype(all)> kept;
    for (const std::uint32_t i : numbers) kept.push_back(all[i]);
    all.swap(kept);
  };
  const std::vector<std::uint32_t> fine = thinned(points, diameter_ / 200);
  pick(points, fine);
  pick(normals, fine);
  pick(colors, fine);
  tree_.emplace(context, points, normals);
  const std::vector<std::uint32_t> even = thinned(points, diameter_ / 50);
  for (const std::uint32_t k : shuffled(context, static_cast<std::int64_t>(even.size()))) {
    if (samples_.size() == static_cast<std::size_t>(kSamples)) break;
    const std::uint32_t i = even[k];
    const bool has_normal = !normals.empty() && is_finite(normals[i]);
    samples_.push_back({cast<double>(points[i]),
                        has_normal ? normalized(cast<double>(normals[i])) : Vec3d{},
                        0,
                        {}});
  }
  if (empty()) return;
  const NeighbourGrid grid = build_neighbour_grid(context, view_of(points));
  std::vector<float> distances_sq = to_host(context, k_nearest(context, grid, 4).distances_sq);
  std::vector<float> fourth;
  for (std::size_t i = 3; i < distances_sq.size(); i += 4) fourth.push_back(distances_sq[i]);
  std::nth_element(fourth.begin(), fourth.begin() + static_cast<std::ptrdiff_t>(fourth.size() / 2),
                   fourth.end());
  spacing_m_ = std::sqrt(double{fourth[fourth.size() / 2]});
  if (!std::isfinite(spacing_m_)) spacing_m_ = 0;
  if (!colors.empty()) color(context, points, normals, colors);
}

void SelfSurface::measure(const Context& context) {
  for (const Sample& s : samples_) centre_ += s.point / static_cast<double>(samples_.size());
  std::map<std::tuple<double, double, double, int>, int> numbers;
  for (Sample& s : samples_) {
    const Vec3d from_centre = s.point - centre_;
    inertia_ = inertia_ + outer(from_centre) * (1.0 / static_cast<double>(samples_.size()));
    // Patches a sixth of the diameter wide hold some fifteen samples each.
    const Vec3d cell = from_centre / (diameter_ / 6);
    s.patch = numbers
                  .try_emplace({std::floor(cell.x), std::floor(cell.y), std::floor(cell.z),
                                cube_face(s.normal)},
                               static_cast<int>(numbers.size()))
                  .first->second;
    if (colored_) {
      const std::int32_t at = colored_->nearest(s.point, INFINITY, s.normal).triangle;
      if (at >= 0) s.color = colors_[static_cast<std::size_t>(at)];
    }
  }
  patches_ = static_cast<int>(numbers.size());
  double reach = 0;
  for (const Sample& s : samples_) reach = std::max(reach, norm(s.point - centre_));
  lattice_step_ = 2 * reach / (kLattice - 1);
  lattice_origin_ = centre_ - Vec3d{reach, reach, reach};
  distances_.resize(std::size_t{kLattice} * kLattice * kLattice);
  const double limit = kFarthest * diameter_;
  for_each(context, static_cast<std::int64_t>(distances_.size()), [&](std::int64_t i) {
    const Vec3d node{static_cast<double>(i % kLattice),
                     static_cast<double>(i / kLattice % kLattice),
                     static_cast<double>(i / kLattice / kLattice)};
    const NearestOnTriangles found =
        tree_->nearest(lattice_origin_ + node * lattice_step_, limit * limit);
    distances_[static_cast<std::size_t>(i)] =
        static_cast<float>(found.triangle < 0 ? limit : std::sqrt(found.distance_sq));
  });
}

void SelfSurface::color(const Context& context, std::span<const Vec3f> points,
                        std::span<const Vec3f> normals, std::span<const Rgb8> colors) {
  const View<const Vec3f> view{points.data(), static_cast<std::int64_t>(points.size()), Device{}};
  const NeighbourGrid grid = build_neighbour_grid(context, view);
  const NearestNeighbours near = k_nearest(context, grid, kColorNeighbours);
  for (std::size_t i = 0; i < points.size(); ++i) {
    Vec3d sum{};
    double count = 0;
    for (int k = 0; k < kColorNeighbours; ++k) {
      const std::int32_t other =
          near.indices.host()[i * kColorNeighbours + static_cast<std::size_t>(k)];
      if (other < 0) continue;
      sum += cast<double>(colors[static_cast<std::size_t>(other)]) / 255.0;
      ++count;
    }
    colors_.push_back(count > 0 ? sum / count : cast<double>(colors[i]) / 255.0);
  }
  colored_.emplace(context, points, normals);
}

double SelfSurface::extent_across(const ContinuousSymmetry& axis) const {
  double farthest = 0;
  for (const Sample& s : samples_) {
    farthest = std::max(farthest, norm(cross(axis.axis, s.point - axis.point_m)));
  }
  return std::min(2 * farthest, diameter_ * 2 / 3);
}

SelfSurface::Meeting SelfSurface::meet(const Vec3d& point, const Vec3d& normal,
                                       double limit) const {
  const NearestOnTriangles found = tree_->nearest(point, limit * limit, normal);
  if (found.triangle < 0) return {INFINITY, {}};
  const Vec3d n = tree_->normal(found.triangle);
  const Vec3d off = point - found.point;
  const double height = dot(off, n);
  double distance = std::sqrt(found.distance_sq);
  if (spacing_m_ > 0) {
    // Between the points of a cloud lies the plane of the nearest.
    const double aside = std::sqrt(std::max(0.0, found.distance_sq - height * height));
    const bool has_plane = norm_sq(n) > 0.5;
    distance = has_plane ? std::hypot(height, std::max(0.0, aside - spacing_m_))
                         : std::max(0.0, distance - spacing_m_);
  }
  return {height < 0 ? -distance : distance, n};
}

double SelfSurface::rough_distance(const Rigid3d& motion, std::size_t count) const {
  count = std::min(count, samples_.size());
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Vec3d at = (motion * samples_[i].point - lattice_origin_) / lattice_step_;
    // A motion may carry samples a little out of the lattice.
    const auto node = [](double x) { return clamp(static_cast<int>(x), 0, kLattice - 2); };
    const int ix = node(at.x), iy = node(at.y), iz = node(at.z);
    const double fx = clamp(at.x - ix, 0.0, 1.0), fy = clamp(at.y - iy, 0.0, 1.0),
                 fz = clamp(at.z - iz, 0.0, 1.0);
    const float* d = distances_.data() + (std::ptrdiff_t{iz} * kLattice + iy) * kLattice + ix;
    const auto along_x = [&](std::ptrdiff_t k) {
      return double{d[k]} * (1 - fx) + double{d[k + 1]} * fx;
    };
    const double near = along_x(0) * (1 - fy) + along_x(kLattice) * fy;
    const double far =
        along_x(kLattice * kLattice) * (1 - fy) + along_x(kLattice * kLattice + kLattice) * fy;
    sum += near * (1 - fz) + far * fz;
  }
  return sum / static_cast<double>(count);
}

bool SelfSurface::holds(const Rigid3d& motion, double tolerance_m) const {
  // Most motions are far off, which few samples and a table tell.
  if (rough_distance(motion, 256) > std::max(2 * tolerance_m, 0.03 * diameter_)) return false;
  struct Patch {
    double sum = 0;
    double sum_sq = 0;
    int count = 0;
  };
  const double limit = 0.2 * diameter_;
  std::vector<Patch> patches(static_cast<std::size_t>(patches_));
  std::vector<double> distances;
  int lost = 0;
  const auto count = static_cast<double>(samples_.size());
  for (const Sample& s : samples_) {
    const double d = meet(motion * s.point, motion.rotation * s.normal, limit).distance;
    distances.push_back(std::abs(d));
    if (!std::isfinite(d)) {
      if (++lost > 0.01 * count) return false;
      continue;
    }
    Patch& patch = patches[static_cast<std::size_t>(s.patch)];
    patch.sum += d;
    patch.sum_sq += d * d;
    ++patch.count;
  }
  // What differs from sample to sample within a patch is noise, what they have in common is shape.
  std::vector<double> spreads;
  double shifted = 0;
  for (const Patch& patch : patches) {
    if (patch.count == 0) continue;
    const double mean = patch.sum / patch.count;
    if (patch.count >= 4) {
      spreads.push_back(std::max(0.0, patch.sum_sq / patch.count - mean * mean));
    }
    if (std::abs(mean) > tolerance_m) shifted += patch.count;
  }
  if (shifted > 0.1 * count) return false;
  double noise = 0;
  if (!spreads.empty()) {
    const auto middle = spreads.begin() + static_cast<std::ptrdiff_t>(spreads.size() / 2);
    std::nth_element(spreads.begin(), middle, spreads.end());
    noise = std::sqrt(*middle);
  }
  const auto share_beyond = [&](double limit_m) {
    const auto beyond = std::count_if(distances.begin(), distances.end(),
                                      [&](double d) { return d > limit_m + 3 * noise; });
    return static_cast<double>(beyond) / count;
  };
  return share_beyond(2 * tolerance_m) <= 0.02 && share_beyond(4 * tolerance_m) <= 0.005;
}

bool SelfSurface::colors_hold(const Rigid3d& motion, double tolerance) const {
  if (!colored_) return true;
  const double most = 0.1 * static_cast<double>(samples_.size());
  int different = 0;
  for (const Sample& s : samples_) {
    const std::int32_t at =
        colored_->nearest(motion * s.point, INFINITY, motion.rotation * s.normal).triangle;
    if (at < 0) continue;
    const Vec3d d = colors_[static_cast<std::size_t>(at)] - s.color;
    different += std::max({std::abs(d.x), std::abs(d.y), std::abs(d.z)}) > tolerance;
    if (different > most) return false;
  }
  return true;
}

}  // namespace sextant::detail::symmetries
