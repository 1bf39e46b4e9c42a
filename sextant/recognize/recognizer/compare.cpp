// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer/compare.h"

#include <algorithm>

#include "sextant/core/cholesky.h"
#include "sextant/recognize/recognizer/math.h"

namespace sextant::detail::recognizer {

namespace {

constexpr float kSlack = 0.025f;        // of the diameter, that an outline may be off
constexpr float kSlackGrains = 0.25f;   // of what errs together, likewise
constexpr float kRimGrains = 0.6f;      // over which a step in depth may be smeared
constexpr float kBlurGrains = 0.5f;     // over which a sensor blurs a surface
constexpr float kNormalsAgree = 0.77f;  // cosine of 40°
constexpr float kSharedPixels = 15;     // that err together
constexpr float kSharedEdge = 4;        // pixels along an edge that err together

/// Whether the measured surface at a cell is the object's.
enum class CellState : std::uint8_t { kNone, kOn, kOff };

bool rendered(ImageView<const float> depth_m, int i, int j) {
  return depth_m.contains(i, j) && std::isfinite(depth_m(i, j));
}

/// How well simpler surfaces explain the measured inverse depths: polynomials of degree 1 and 2 in
/// the cells, beside the rendered surface.
class SimplerSurfaces {
 public:
  void add(int i, int j, double measured_per_m, double rendered_per_m) {
    const double x = (i - 0.5 * kCropCells) / kCropCells, y = (j - 0.5 * kCropCells) / kCropCells;
    // About the rendered surface's first value, so that the sums keep their digits.
    if (count_ == 0) origin_ = rendered_per_m;
    const double d = measured_per_m - origin_;
    const double row[6] = {1, x, y, x * x, x * y, y * y};
    quadratic_.add_outer(row, 1);
    for (int k = 0; k < 6; ++k) right_[k] += row[k] * d;
    squares_ += d * d;
    const double off = measured_per_m - rendered_per_m;
    object_ += off * off;
    ++count_;
  }
  /// The logarithm of by how much the rendered surface is nearer than the polynomial of the degree;
  /// deviations below half the noise count as equal.
  float gain(int degree, double noise_per_m) const {
    if (count_ < 30) return 0;
    const double rest = degree == 1 ? left<3>() : left<6>();
    const double floor = 0.25 * noise_per_m * noise_per_m;
    return static_cast<float>(
        0.5 * std::log((max_of(rest, 0.0) / count_ + floor) / (object_ / count_ + floor)));
  }

 private:
  template <int N>
  double left() const {
    SymN<double, N> m;
    double b[N];
    for (int i = 0; i < N; ++i) {
      b[i] = right_[i];
      for (int j = 0; j <= i; ++j) m.at(i, j) = quadratic_.at(i, j);
    }
    const Cholesky<double, N> factors = cholesky(m, 1e-9);
    if (!factors.ok) return 0;
    double x[N];
    for (int i = 0; i < N; ++i) x[i] = b[i];
    factors.solve(x);
    double rest = squares_;
    for (int i = 0; i < N; ++i) rest -= x[i] * b[i];
    return rest;
  }
  SymN<double, 6> quadratic_;
  double right_[6] = {};
  double squares_ = 0, object_ = 0, origin_ = 0, count_ = 0;
};

/// The direction out of the outline at a cell of it: away from the rendered cells around.
Vec2f outward(ImageView<const float> depth_m, int i, int j) {
  constexpr int kRadius = 3;
  Vec2f sum{};
  for (int y = -kRadius; y <= kRadius; ++y) {
    for (int x = -kRadius; x <= kRadius; ++x) {
      if (!rendered(depth_m, i + x, j + y)) {
        sum = sum + Vec2f{static_cast<float>(x), static_cast<float>(y)};
      }
    }
  }
  const float length = std::sqrt(dot(sum, sum));
  return length > 0 ? sum * (1 / length) : Vec2f{};
}

/// The mean of the rendered normals about each cell, as a sensor's normals are of a plane through
/// many pixels.
class SmoothNormals {
 public:
  SmoothNormals(ImageView<const float> depth_m, ImageView<const Vec3f> normals, int radius)
      : radius_(radius), sums_(static_cast<std::size_t>(kSide * kSide)) {
    for (int j = 0; j < kCropCells; ++j) {
      Vec3f row{};
      for (int i = 0; i < kCropCells; ++i) {
        if (std::isfinite(depth_m(i, j))) row = row + normals(i, j);
        sum(i + 1, j + 1) = sum(i + 1, j) + row;
      }
    }
  }
  Vec3f operator()(int i, int j) const {
    const int left = std::max(i - radius_, 0), right = std::min(i + radius_ + 1, kCropCells);
    const int top = std::max(j - radius_, 0), bottom = std::min(j + radius_ + 1, kCropCells);
    const Vec3f mean = sum(right, bottom) - sum(left, bottom) - sum(right, top) + sum(left, top);
    const float length = norm(mean);
    return length > 0 ? mean * (1 / length) : Vec3f{};
  }

 private:
  static constexpr int kSide = kCropCells + 1;
  Vec3f& sum(int i, int j) { return sums_[static_cast<std::size_t>(j * kSide + i)]; }
  const Vec3f& sum(int i, int j) const { return sums_[static_cast<std::size_t>(j * kSide + i)]; }
  int radius_;
  std::vector<Vec3f> sums_;  ///< of all cells above and to the left
};

}  // namespace

Compared compare(const SceneFrame& scene, float diameter_m, const Vec3f& centre, const Crop& crop,
                 ImageView<const float> depth_m, ImageView<const Vec3f> normals,
                 const CompareWants& wants) {
  Compared result;
  VerificationTerms& terms = result.terms;
  const Cameraf& camera = scene.camera;
  const auto pixel_of = [&](int i, int j) {
    return Vec2<int>{crop.first_u + crop.stride * i, crop.first_v + crop.stride * j};
  };
  const auto in_frame = [&](const Vec2<int>& p) {
    return p.x >= 0 && p.y >= 0 && p.x < camera.width && p.y < camera.height;
  };
  const auto ray_of = [&](const Vec2<int>& p) {
    return Vec3f{(static_cast<float>(p.x) - camera.cx_px) / camera.fx_px,
                 (static_cast<float>(p.y) - camera.cy_px) / camera.fy_px, 1};
  };
  const float cell_pixels = static_cast<float>(crop.stride * crop.stride);
  const double shared_cells = max_of(1.0f, kSharedPixels / cell_pixels);
  float cells = 0, supported = 0, violated = 0, occluded = 0, no_data = 0, outside = 0;
  float agreeing = 0, area_m_sq = 0;
  double squares = 0;
  SimplerSurfaces simpler;
  const float blur_px =
      max_of(static_cast<float>(scene.normal_radius_px), kBlurGrains * scene.noise.grain(centre.z));
  const SmoothNormals smooth(
      depth_m, normals, static_cast<int>(std::lround(blur_px / static_cast<float>(crop.stride))));
  std::vector<CellState> states(static_cast<std::size_t>(kCropCells * kCropCells));
  const auto state_of = [&](int i, int j) -> CellState& {
    const int at = j * kCropCells + i;
    return states[static_cast<std::size_t>(at)];
  };
  const auto add_equation = [&](const Vec3f& x, const Vec3f& n, float residual, double weight) {
    double row[6];
    point_to_plane_jacobian(cast<double>(x - centre), cast<double>(n), row);
    result.equations.add(row, residual, weight);
  };
  for (int j = 0; j < kCropCells; ++j) {
    for (int i = 0; i < kCropCells; ++i) {
      const float z = depth_m(i, j);
      if (!std::isfinite(z)) continue;
      ++cells;
      const Vec2<int> p = pixel_of(i, j);
      if (!in_frame(p)) {
        ++outside;
        continue;
      }
      const float measured = scene.depth_m(p.x, p.y);
      if (!std::isfinite(measured)) {
        ++no_data;
        continue;
      }
      const Vec3f ray = ray_of(p);
      const Vec3f normal = normals(i, j);
      const float cosine = -dot(normal, ray) / norm(ray);
      const float sigma = scene.noise.sigma_m(z);
      const float tolerance = depth_tolerance_m(sigma, diameter_m, cosine);
      const float off = measured - z;
      if (off > tolerance) {
        ++violated;
        state_of(i, j) = CellState::kOff;
      } else if (off < -tolerance) {
        ++occluded;
        state_of(i, j) = CellState::kOff;
      } else {
        ++supported;
        state_of(i, j) = CellState::kOn;
        const double ratio = static_cast<double>(off / tolerance);
        squares += ratio * ratio;
        agreeing += dot(scene.normals(p.x, p.y), smooth(i, j)) > kNormalsAgree ? 1.0f : 0.0f;
        simpler.add(i, j, 1 / static_cast<double>(measured), 1 / static_cast<double>(z));
        const float side = z * static_cast<float>(crop.stride) / camera.fx_px;
        area_m_sq += side * side;
        if (wants.equations) {
          // The distance along the ray, seen along the normal.
          const float residual = -dot(normal, ray) * off;
          const double deviation = static_cast<double>(sigma * max_of(cosine, 0.2f));
          add_equation(ray * z, normal, residual,
                       tukey_weight(ratio * ratio) / (deviation * deviation * shared_cells));
        }
        if (!wants.pixels) continue;
        const int u_end = std::min(p.x + crop.stride, camera.width);
        const int v_end = std::min(p.y + crop.stride, camera.height);
        for (int v = p.y; v < v_end; ++v) {
          for (int u = p.x; u < u_end; ++u) result.pixels.push_back(v * camera.width + u);
        }
      }
    }
  }
  std::sort(result.pixels.begin(), result.pixels.end());
  if (cells == 0) {
    terms.outside = 1;
    return result;
  }
  terms.pixels = cells * cell_pixels;
  terms.supported = supported / cells;
  terms.violated = violated / cells;
  terms.occluded = occluded / cells;
  terms.no_data = no_data / cells;
  terms.outside = outside / cells;
  terms.normals = supported > 0 ? agreeing / supported : 0;
  terms.residual = supported > 0 ? static_cast<float>(std::sqrt(squares / supported)) : 1;
  terms.extent = std::sqrt(area_m_sq) / diameter_m;
  const double noise_per_m = scene.noise.sigma_m(centre.z) / (centre.z * centre.z);
  terms.plane_gain = simpler.gain(1, noise_per_m);
  terms.bend_gain = simpler.gain(2, noise_per_m);

  float counts[static_cast<int>(OutlineState::kStates)] = {};
  float edges = 0, edge_offsets = 0, edge_distances_m = 0;
  for (int j = 1; j + 1 < kCropCells; ++j) {
    for (int i = 1; i + 1 < kCropCells; ++i) {
      const float z = depth_m(i, j);
      if (!std::isfinite(z)) continue;
      if (rendered(depth_m, i - 1, j) && rendered(depth_m, i + 1, j) &&
          rendered(depth_m, i, j - 1) && rendered(depth_m, i, j + 1)) {
        continue;
      }
      const Vec2f direction = outward(depth_m, i, j);
      if (direction == Vec2f{}) continue;
      const float cell_m = z * static_cast<float>(crop.stride) / camera.fx_px;
      const float grain = scene.noise.grain(z) / static_cast<float>(crop.stride);
      const int slack =
          std::max({static_cast<int>(std::lround(kSlack * diameter_m / cell_m)),
                    static_cast<int>(std::lround(kSlackGrains * grain)), crop.stride == 1 ? 2 : 1});
      const int reach =
          std::max(static_cast<int>(std::lround(kOutlineWalk * diameter_m / cell_m)), slack + 2);
      const float sigma = scene.noise.sigma_m(z);
      const Vec3f point = ray_of(pixel_of(i, j)) * z;
      const Vec3f normal = normals(i, j), mean_normal = smooth(i, j);
      const auto step_at = [&](int out) {
        OutlineStep step;
        const int x = i + static_cast<int>(std::lround(direction.x * static_cast<float>(out)));
        const int y = j + static_cast<int>(std::lround(direction.y * static_cast<float>(out)));
        const Vec2<int> p = pixel_of(x, y);
        if (!in_frame(p)) return step;
        step.measured_m = scene.depth_m(p.x, p.y);
        const bool inside = rendered(depth_m, x, y);
        if (out <= 0) {
          step.expected_m = inside ? depth_m(x, y) : NAN;
        } else {
          step.expected_m = inside ? depth_m(x, y) : plane_depth_m(point, normal, ray_of(p));
        }
        step.normals_agree = dot(scene.normals(p.x, p.y), mean_normal) > kNormalsAgree;
        return step;
      };
      const float cosine = -dot(normal, point) / norm(point);
      const int rim = static_cast<int>(std::lround(kRimGrains * grain));
      const OutlineEnd end = outline_end(
          {reach, slack, rim, cell_m, depth_tolerance_m(sigma, diameter_m, max_of(cosine, 0.5f)),
           depth_jump_m(sigma, diameter_m)},
          step_at);
      ++counts[static_cast<int>(end.state)];
      ++terms.outline;
      if (!end.is_edge) continue;
      const float share = end.offset / static_cast<float>(reach + 1);
      ++edges;
      edge_offsets += std::abs(share);
      edge_distances_m += std::abs(end.offset) * cell_m;
      if (!wants.equations) continue;
      // The edge moves across the image as its point does, less what moving away shrinks.
      const Vec3f across{direction.x, direction.y,
                         -(direction.x * point.x + direction.y * point.y) / z};
      const float deviation = max_of(cell_m, 0.005f * diameter_m);
      const double shared = max_of(1.0f, kSharedEdge / static_cast<float>(crop.stride));
      add_equation(point, across, -end.offset * cell_m,
                   tukey_weight(static_cast<double>(share * share)) /
                       (static_cast<double>(deviation) * static_cast<double>(deviation) * shared));
    }
  }
  terms.edge_offset = edges > 0 ? edge_offsets / edges : 1;
  terms.edge_m = edges > 0 ? edge_distances_m / edges : 0;
  float seams = 0;
  for (int j = 0; j + 1 < kCropCells; ++j) {
    for (int i = 0; i + 1 < kCropCells; ++i) {
      const CellState here = state_of(i, j);
      if (here == CellState::kNone) continue;
      for (const Vec2<int> other : {Vec2<int>{i + 1, j}, Vec2<int>{i, j + 1}}) {
        const CellState there = state_of(other.x, other.y);
        if (there == CellState::kNone || there == here) continue;
        const Vec2<int> a = pixel_of(i, j), b = pixel_of(other.x, other.y);
        const float step = std::abs(scene.depth_m(a.x, a.y) - scene.depth_m(b.x, b.y));
        const float jump = depth_jump_m(scene.noise.sigma_m(depth_m(i, j)), diameter_m);
        seams += step < 0.5f * jump ? 1.0f : 0.0f;
      }
    }
  }
  if (terms.outline > 0) {
    terms.departs = seams / terms.outline;
    const auto share = [&](OutlineState state) {
      return counts[static_cast<int>(state)] / terms.outline;
    };
    terms.confirmed = share(OutlineState::kConfirmed);
    terms.continues = share(OutlineState::kContinues);
    terms.falls_short = share(OutlineState::kFallsShort);
    terms.crease = share(OutlineState::kCrease);
    terms.hidden = share(OutlineState::kHidden);
    terms.unknown = share(OutlineState::kUnknown);
  }
  return result;
}

}  // namespace sextant::detail::recognizer
