// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/cholesky.h"
#include "sextant/pose/point_to_plane.h"
#include "sextant/recognize/recognizer.h"
#include "sextant/recognize/recognizer/crop.h"
#include "sextant/recognize/recognizer/math.h"

// One cell of the comparison of a rendered pose with the frame, for host and device. What cells say
// is added up in CompareSums, of which the terms are made.

namespace sextant::detail::recognizer {

inline constexpr float kSlack = 0.025f;        ///< of the diameter, that an outline may be off
inline constexpr float kSlackGrains = 0.25f;   ///< of what errs together, likewise
inline constexpr float kRimGrains = 0.6f;      ///< over which a step in depth may be smeared
inline constexpr float kBlurGrains = 0.5f;     ///< over which a sensor blurs a surface
inline constexpr float kNormalsAgree = 0.77f;  ///< cosine of 40°
inline constexpr float kSharedEdge = 4;        ///< pixels along an edge that err together

/// Whether the measured surface at a cell is the object's.
enum class CellState : std::uint8_t { kNone, kOn, kOff };

/// What the frame shows at a rendered cell.
enum class CellKind : std::uint8_t {
  kEmpty,  ///< not rendered
  kOutside,
  kNoData,
  kViolated,
  kOccluded,
  kSupported,
};
SEXTANT_HD inline CellState state_of(CellKind kind) {
  if (kind == CellKind::kSupported) return CellState::kOn;
  return kind == CellKind::kViolated || kind == CellKind::kOccluded ? CellState::kOff
                                                                    : CellState::kNone;
}

/// One line of the equations.
struct EquationRow {
  double row[6];
  double residual;
  double weight;
};

/// What a supported cell says.
struct CellEvidence {
  EquationRow equation;
  double polynomial[6];  ///< 1, x, y, x², xy, y² of the cell
  double measured;       ///< 1/z, less a value near all of them, so that the sums keep their digits
  double off;            ///< what measured 1/z is more than rendered 1/z
  double ratio;          ///< of the difference in depth to the tolerance
  double side_m;         ///< of the cell on the surface
  bool normals_agree;
};

/// What a cell of the outline says.
struct OutlineEvidence {
  OutlineState state;
  bool is_edge;
  double share;       ///< the edge's distance from the outline over the walk's length
  double distance_m;  ///< the same in metres
  EquationRow equation;
};

/// Sums for polynomials of degree 1 and 2 that explain the measured inverse depths.
struct SimplerSums {
  SymN<double, 6> quadratic;
  double right[6] = {};
  double squares = 0;
  double object = 0;  ///< of what the rendered surface leaves
};

/// What all cells of a pose say.
struct CompareSums {
  std::int32_t cells = 0, outside = 0, no_data = 0, violated = 0, occluded = 0, supported = 0;
  std::int32_t agreeing = 0;
  std::int32_t outline[static_cast<int>(OutlineState::kStates)] = {};
  std::int32_t edges = 0, seams = 0;
  std::int32_t borders = 0;  ///< of the cells where the measured surface is the object's
  std::int32_t buried = 0;   ///< of the occluded ones, those that the dominant plane hides
  double squares = 0, area_m_sq = 0, edge_offsets = 0, edge_distances_m = 0;
  SimplerSums simpler;
  PoseEquations<double> equations;

  SEXTANT_HD void add(const CellEvidence& e) {
    agreeing += e.normals_agree ? 1 : 0;
    squares += e.ratio * e.ratio;
    area_m_sq += e.side_m * e.side_m;
    simpler.quadratic.add_outer(e.polynomial, 1);
    for (int k = 0; k < 6; ++k) simpler.right[k] += e.polynomial[k] * e.measured;
    simpler.squares += e.measured * e.measured;
    simpler.object += e.off * e.off;
    equations.add(e.equation.row, e.equation.residual, e.equation.weight);
  }
  SEXTANT_HD void add(const OutlineEvidence& e) {
    ++outline[static_cast<int>(e.state)];
    if (!e.is_edge) return;
    ++edges;
    edge_offsets += std::abs(e.share);
    edge_distances_m += std::abs(e.distance_m);
    equations.add(e.equation.row, e.equation.residual, e.equation.weight);
  }
};

inline constexpr int kSumsSide = kCropCells + 1;  ///< of sums over all cells above and to the left

/// How many cells about each the rendered normals are averaged over, as a sensor's normals are of a
/// plane through many pixels.
SEXTANT_HD inline int blur_cells(const FrameView& frame, const Vec3f& centre, int stride) {
  const float blur_px =
      max_of(static_cast<float>(frame.normal_radius_px), kBlurGrains * frame.noise.grain(centre.z));
  return static_cast<int>(std::lround(blur_px / static_cast<float>(stride)));
}

/// Compares one rendered pose with the frame. Rendered has depth_m(i, j), NaN for none, normal(i,
/// j) and state(i, j) of cells, and normal_sum(i, j) of all cells above and to the left of a cell's
/// corner.
template <class Rendered>
struct Comparison {
  const FrameView& frame;
  float diameter_m;
  Vec3f centre;  ///< the object's, in the camera's frame
  int first_u, first_v, stride;
  int blur;  ///< see blur_cells
  Rendered& rendered;

  SEXTANT_HD Vec2<int> pixel_of(int i, int j) const {
    return {first_u + stride * i, first_v + stride * j};
  }
  SEXTANT_HD Vec3f ray_of(const Vec2<int>& p) const {
    const Cameraf& camera = frame.camera;
    return {(static_cast<float>(p.x) - camera.cx_px) / camera.fx_px,
            (static_cast<float>(p.y) - camera.cy_px) / camera.fy_px, 1};
  }
  SEXTANT_HD bool is_rendered(int i, int j) const {
    return i >= 0 && j >= 0 && i < kCropCells && j < kCropCells &&
           std::isfinite(rendered.depth_m(i, j));
  }
  SEXTANT_HD EquationRow equation(const Vec3f& x, const Vec3f& n, float residual,
                                  double weight) const {
    EquationRow result;
    point_to_plane_jacobian(cast<double>(x - centre), cast<double>(n), result.row);
    result.residual = static_cast<double>(residual);
    result.weight = weight;
    return result;
  }

  /// The mean of the rendered normals about a cell.
  SEXTANT_HD Vec3f mean_normal(int i, int j) const {
    const int left = max_of(i - blur, 0), right = min_of(i + blur + 1, kCropCells);
    const int top = max_of(j - blur, 0), bottom = min_of(j + blur + 1, kCropCells);
    const Vec3f mean = rendered.normal_sum(right, bottom) - rendered.normal_sum(left, bottom) -
                       rendered.normal_sum(right, top) + rendered.normal_sum(left, top);
    const float length = norm(mean);
    return length > 0 ? mean * (1 / length) : Vec3f{};
  }

  /// Fills the evidence where the cell is supported.
  SEXTANT_HD CellKind look_at(int i, int j, CellEvidence& evidence) const {
    const float z = rendered.depth_m(i, j);
    if (!std::isfinite(z)) return CellKind::kEmpty;
    const Vec2<int> p = pixel_of(i, j);
    if (!frame.contains(p.x, p.y)) return CellKind::kOutside;
    const float measured = frame.depth_m(p.x, p.y);
    if (!std::isfinite(measured)) return CellKind::kNoData;
    const Vec3f ray = ray_of(p);
    const Vec3f normal = rendered.normal(i, j);
    const float cosine = -dot(normal, ray) / norm(ray);
    const float sigma = frame.noise.sigma_m(z);
    const float tolerance = depth_tolerance_m(sigma, diameter_m, cosine);
    const float off = measured - z;
    if (off > tolerance) return CellKind::kViolated;
    if (off < -tolerance) return CellKind::kOccluded;
    const double ratio = static_cast<double>(off / tolerance);
    evidence.ratio = ratio;
    evidence.normals_agree = dot(frame.normals(p.x, p.y), mean_normal(i, j)) > kNormalsAgree;
    const double x = (i - 0.5 * kCropCells) / kCropCells, y = (j - 0.5 * kCropCells) / kCropCells;
    const double polynomial[6] = {1, x, y, x * x, x * y, y * y};
    for (int k = 0; k < 6; ++k) evidence.polynomial[k] = polynomial[k];
    const double measured_per_m = 1 / static_cast<double>(measured);
    evidence.measured = measured_per_m - 1 / static_cast<double>(centre.z);
    evidence.off = measured_per_m - 1 / static_cast<double>(z);
    evidence.side_m = static_cast<double>(z * static_cast<float>(stride) / frame.camera.fx_px);
    // The distance along the ray, seen along the normal.
    const float residual = -dot(normal, ray) * off;
    const double deviation = static_cast<double>(sigma * max_of(cosine, 0.2f));
    const auto shared_cells =
        static_cast<double>(max_of(1.0f, kSharedPixels / static_cast<float>(stride * stride)));
    evidence.equation =
        equation(ray * z, normal, residual,
                 tukey_weight(ratio * ratio) / (deviation * deviation * shared_cells));
    return CellKind::kSupported;
  }

  /// Whether the dominant plane is what the frame shows there.
  SEXTANT_HD bool shows_plane(int i, int j) const {
    const Vec2<int> p = pixel_of(i, j);
    return frame.contains(p.x, p.y) && frame.is_on_plane(p.x, p.y);
  }

  SEXTANT_HD bool is_outline(int i, int j) const {
    return i > 0 && j > 0 && i + 1 < kCropCells && j + 1 < kCropCells && is_rendered(i, j) &&
           !(is_rendered(i - 1, j) && is_rendered(i + 1, j) && is_rendered(i, j - 1) &&
             is_rendered(i, j + 1));
  }

  /// The direction out of the outline at a cell of it: away from the rendered cells around.
  SEXTANT_HD Vec2f outward(int i, int j) const {
    constexpr int kRadius = 3;
    Vec2f sum{};
    for (int y = -kRadius; y <= kRadius; ++y) {
      for (int x = -kRadius; x <= kRadius; ++x) {
        if (!is_rendered(i + x, j + y)) {
          sum = sum + Vec2f{static_cast<float>(x), static_cast<float>(y)};
        }
      }
    }
    const float length = std::sqrt(dot(sum, sum));
    return length > 0 ? sum * (1 / length) : Vec2f{};
  }

  /// Walks across the outline at a cell of it; false where no direction leads out.
  SEXTANT_HD bool look_across(int i, int j, OutlineEvidence& evidence) const {
    const float z = rendered.depth_m(i, j);
    const Vec2f direction = outward(i, j);
    if (direction == Vec2f{}) return false;
    const float cell_m = z * static_cast<float>(stride) / frame.camera.fx_px;
    const float grain = frame.noise.grain(z) / static_cast<float>(stride);
    const int slack = max_of(max_of(static_cast<int>(std::lround(kSlack * diameter_m / cell_m)),
                                    static_cast<int>(std::lround(kSlackGrains * grain))),
                             stride == 1 ? 2 : 1);
    const int reach =
        max_of(static_cast<int>(std::lround(kOutlineWalk * diameter_m / cell_m)), slack + 2);
    const float sigma = frame.noise.sigma_m(z);
    const Vec3f point = ray_of(pixel_of(i, j)) * z;
    const Vec3f normal = rendered.normal(i, j), mean = mean_normal(i, j);
    const auto step_at = [&](int out) {
      OutlineStep step;
      const int x = i + static_cast<int>(std::lround(direction.x * static_cast<float>(out)));
      const int y = j + static_cast<int>(std::lround(direction.y * static_cast<float>(out)));
      const Vec2<int> p = pixel_of(x, y);
      if (!frame.contains(p.x, p.y)) return step;
      step.measured_m = frame.depth_m(p.x, p.y);
      const bool inside = is_rendered(x, y);
      if (out <= 0) {
        step.expected_m = inside ? rendered.depth_m(x, y) : NAN;
      } else {
        step.expected_m = inside ? rendered.depth_m(x, y) : plane_depth_m(point, normal, ray_of(p));
      }
      step.normals_agree = dot(frame.normals(p.x, p.y), mean) > kNormalsAgree;
      return step;
    };
    const float cosine = -dot(normal, point) / norm(point);
    const int rim = static_cast<int>(std::lround(kRimGrains * grain));
    const OutlineEnd end = outline_end(
        {reach, slack, rim, cell_m, depth_tolerance_m(sigma, diameter_m, max_of(cosine, 0.5f)),
         depth_jump_m(sigma, diameter_m)},
        step_at);
    evidence.state = end.state;
    evidence.is_edge = end.is_edge;
    if (!end.is_edge) return true;
    const float share = end.offset / static_cast<float>(reach + 1);
    evidence.share = static_cast<double>(share);
    evidence.distance_m = static_cast<double>(end.offset * cell_m);
    // The edge moves across the image as its point does, less what moving away shrinks.
    const Vec3f across{direction.x, direction.y,
                       -(direction.x * point.x + direction.y * point.y) / z};
    const auto deviation = static_cast<double>(max_of(cell_m, 0.005f * diameter_m));
    const auto shared = static_cast<double>(max_of(1.0f, kSharedEdge / static_cast<float>(stride)));
    evidence.equation = equation(
        point, across, -end.offset * cell_m,
        tukey_weight(static_cast<double>(share * share)) / (deviation * deviation * shared));
    return true;
  }

  /// Counts where the measured surface leaves the object's between a cell and the next to the right
  /// or below, and where it does so without a step.
  SEXTANT_HD void look_beside(int i, int j, std::int32_t& borders, std::int32_t& seams) const {
    if (i + 1 >= kCropCells || j + 1 >= kCropCells) return;
    const CellState here = rendered.state(i, j);
    if (here == CellState::kNone) return;
    for (int down = 0; down < 2; ++down) {
      const int x = i + 1 - down, y = j + down;
      const CellState there = rendered.state(x, y);
      if (there == CellState::kNone || there == here) continue;
      ++borders;
      const Vec2<int> a = pixel_of(i, j), b = pixel_of(x, y);
      const float step = std::abs(frame.depth_m(a.x, a.y) - frame.depth_m(b.x, b.y));
      const float jump = depth_jump_m(frame.noise.sigma_m(rendered.depth_m(i, j)), diameter_m);
      seams += step < 0.5f * jump ? 1 : 0;
    }
  }
};

/// What the polynomial of N terms leaves of the measured inverse depths.
template <int N>
SEXTANT_HD double left_by_polynomial(const SimplerSums& sums) {
  SymN<double, N> m;
  double x[N];
  for (int i = 0; i < N; ++i) {
    x[i] = sums.right[i];
    for (int j = 0; j <= i; ++j) m.at(i, j) = sums.quadratic.at(i, j);
  }
  const Cholesky<double, N> factors = cholesky(m, 1e-9);
  if (!factors.ok) return 0;
  factors.solve(x);
  double rest = sums.squares;
  for (int i = 0; i < N; ++i) rest -= x[i] * sums.right[i];
  return rest;
}

/// The logarithm of by how much the rendered surface is nearer than what leaves `rest`; deviations
/// below half the noise count as equal.
SEXTANT_HD inline float gain_over(double rest, const SimplerSums& sums, double count,
                                  double noise_per_m) {
  if (count < 30) return 0;
  const double floor = 0.25 * noise_per_m * noise_per_m;
  return static_cast<float>(
      0.5 * std::log((max_of(rest, 0.0) / count + floor) / (sums.object / count + floor)));
}

/// The deviation along the direction that the equations tell least, symmetries aside, over the
/// diameter.
SEXTANT_HD inline float weakest_of(const PoseEquations<double>& equations, const ModelView& model) {
  const auto diameter = static_cast<double>(model.diameter_m);
  const PoseDirections along = pose_directions(equations, 0.5 * diameter);
  const double information = along.information[model.free_turns] * equations.weight;
  const double deviation = 1 / std::sqrt(max_of(information, 1e-12));
  return static_cast<float>(min_of(deviation / diameter, 1.0));
}

/// How much the object is hidden by what it touches: 1 where that holds of a border as long as half
/// the outline, 0 where most of what hides the object lies before it.
SEXTANT_HD inline float sinking(const CompareSums& sums, float outline) {
  constexpr float kLeastSeams = 0.4f, kMostBorders = 0.5f, kFew = 3;
  const float seams = static_cast<float>(sums.seams) / (static_cast<float>(sums.borders) + kFew);
  const float borders = min_of(static_cast<float>(sums.borders) / outline, kMostBorders);
  return max_of(seams - kLeastSeams, 0.0f) / (1 - kLeastSeams) * borders / kMostBorders;
}

/// The terms of a pose with the object's centre there, compared in cells `stride` pixels wide.
SEXTANT_HD inline VerificationTerms terms_of(const CompareSums& sums, const FrameView& frame,
                                             const ModelView& model, const Vec3f& centre,
                                             int stride) {
  VerificationTerms terms;
  if (sums.cells == 0) {
    terms.outside = 1;
    terms.weakest = weakest_of(sums.equations, model);
    return terms;
  }
  const auto cells = static_cast<float>(sums.cells);
  const auto supported = static_cast<float>(sums.supported);
  terms.pixels = cells * static_cast<float>(stride * stride);
  terms.supported = supported / cells;
  terms.violated = static_cast<float>(sums.violated) / cells;
  terms.occluded = static_cast<float>(sums.occluded) / cells;
  terms.no_data = static_cast<float>(sums.no_data) / cells;
  terms.outside = static_cast<float>(sums.outside) / cells;
  terms.buried = static_cast<float>(sums.buried) / cells;
  terms.normals = sums.supported > 0 ? static_cast<float>(sums.agreeing) / supported : 0;
  terms.residual =
      sums.supported > 0 ? static_cast<float>(std::sqrt(sums.squares / sums.supported)) : 1;
  terms.extent = static_cast<float>(std::sqrt(sums.area_m_sq)) / model.diameter_m;
  const auto noise_per_m =
      static_cast<double>(frame.noise.sigma_m(centre.z) / (centre.z * centre.z));
  terms.plane_gain =
      gain_over(left_by_polynomial<3>(sums.simpler), sums.simpler, sums.supported, noise_per_m);
  terms.bend_gain =
      gain_over(left_by_polynomial<6>(sums.simpler), sums.simpler, sums.supported, noise_per_m);
  terms.edge_offset =
      sums.edges > 0 ? static_cast<float>(sums.edge_offsets / static_cast<double>(sums.edges)) : 1;
  terms.edge_m = sums.edges > 0
                     ? static_cast<float>(sums.edge_distances_m / static_cast<double>(sums.edges))
                     : 0;
  for (const std::int32_t count : sums.outline) terms.outline += static_cast<float>(count);
  if (terms.outline > 0) {
    terms.departs = static_cast<float>(sums.seams) / terms.outline;
    terms.sinks = sinking(sums, terms.outline);
    const auto share = [&](OutlineState state) {
      return static_cast<float>(sums.outline[static_cast<int>(state)]) / terms.outline;
    };
    terms.confirmed = share(OutlineState::kConfirmed);
    terms.continues = share(OutlineState::kContinues);
    terms.falls_short = share(OutlineState::kFallsShort);
    terms.crease = share(OutlineState::kCrease);
    terms.hidden = share(OutlineState::kHidden);
    terms.unknown = share(OutlineState::kUnknown);
  }
  terms.weakest = weakest_of(sums.equations, model);
  return terms;
}

}  // namespace sextant::detail::recognizer
