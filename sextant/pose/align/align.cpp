// SPDX-License-Identifier: Apache-2.0
#include "sextant/pose/align.h"

#include <algorithm>
#include <mutex>

#include "sextant/core/cuda/dispatch.h"
#include "sextant/core/for_each.h"
#include "sextant/descriptor/keypoints.h"
#include "sextant/geometry/gather.h"
#include "sextant/pose/align/math.h"
#include "sextant/surface/cloud_resolution.h"

namespace sextant {

namespace detail::alignment {

/// The points of one level, without holes.
struct Level {
  Buffer<Vec3f> points;
  Buffer<Vec3f> normals;

  /// Made when the surface is a target for the first time; several threads may ask.
  NeighbourGridView grid_view(const Context& context) {
    std::call_once(once_,
                   [&] { grid_ = build_neighbour_grid(context, points, {.points_per_cell = 2}); });
    return grid_.view();
  }

 private:
  std::once_flag once_;
  NeighbourGrid grid_;
};

PoseEquations<double> run_pass_cpu(const Context& context, const Pass& pass) {
  constexpr std::int64_t kGrain = 512;
  std::vector<PoseEquations<double>> sums(
      static_cast<std::size_t>((pass.count + kGrain - 1) / kGrain));
  for_each_chunk(context, pass.count, kGrain, [&](std::int64_t begin, std::int64_t end) {
    PoseEquations<double> sum;
    for (std::int64_t i = begin; i < end; ++i) {
      pass.associate(i);
      pass.add_equation(i, sum);
    }
    sums[static_cast<std::size_t>(begin / kGrain)] = sum;
  });
  PoseEquations<double> total;
  for (const PoseEquations<double>& sum : sums) total = total + sum;
  return total;
}

namespace {

std::shared_ptr<Level> make_level(const Context& context, const Surface& surface,
                                  View<const std::int32_t> indices) {
  auto level = std::make_shared<Level>();
  level->points = gather<Vec3f>(context, surface.points, indices);
  if (!surface.normals.empty()) {
    level->normals = gather<Vec3f>(context, surface.normals, indices);
  }
  return level;
}

/// Tukey's biweight at kLimit deviations makes the weighted squares of a Gaussian smaller, by the
/// square of kShrink: with u = r / limit of variance v = 1 / kLimit², E[w r²] / E[w] is
/// (1 - 6 v + 15 v²) / (1 - 2 v + 3 v²) of the variance.
constexpr double kLimit = 4.685;
constexpr double kShrink_sq = 0.828;

double variance_of(const PoseEquations<double>& equations) {
  return equations.weight > 0 ? equations.squares / equations.weight / kShrink_sq : 0.0;
}

/// The middle of the points and their mean distance (RMS) from it, by a thousand of them.
struct Extent {
  Vec3d centre;
  double length_m = 0;
  double reach_m = 0;  ///< of the farthest of all points
};
Extent extent_of(const Context& context, const Buffer<Vec3f>& points) {
  const std::vector<Vec3f> all = to_host(context, points);
  const std::size_t step = std::max<std::size_t>(1, all.size() / 1000);
  Extent extent;
  double count = 0;
  for (std::size_t i = 0; i < all.size(); i += step, ++count) {
    extent.centre += cast<double>(all[i]);
  }
  if (!(count > 0)) return extent;
  extent.centre = extent.centre / count;
  double squares = 0;
  for (std::size_t i = 0; i < all.size(); i += step) {
    squares += norm_sq(cast<double>(all[i]) - extent.centre);
  }
  extent.length_m = std::sqrt(squares / count);
  for (const Vec3f& p : all) {
    extent.reach_m = std::max(extent.reach_m, norm(cast<double>(p) - extent.centre));
  }
  return extent;
}

}  // namespace

}  // namespace detail::alignment

AlignSurface::AlignSurface(const Context& context, const Surface& surface,
                           const AlignOptions& options)
    : device_(context.device()) {
  check_options(options);
  check_surface(surface);
  require_on(context, surface.points.view(), "surface.points");
  has_normals_ = !surface.normals.empty();
  const Buffer<std::int32_t> finite = finite_points(context, surface.points);
  points_ = finite.size();
  levels_.push_back(detail::alignment::make_level(context, surface, finite));
  spacing_m_ = cloud_spacing_m(context, levels_[0]->points);
  diagonal_m_ = bounds(context, levels_[0]->points).diagonal_m();
  for (int level = 1; level < options.levels && spacing_m_ > 0; ++level) {
    const float leaf_m = spacing_m_ * static_cast<float>(1 << level);
    const Buffer<std::int32_t> chosen =
        uniform_keypoints(context, surface.points, {.leaf_m = leaf_m});
    levels_.push_back(detail::alignment::make_level(context, surface, chosen));
  }
  if (surface.camera && surface.organised() && has_normals_) {
    camera_ = surface.camera;
    image_ = Image<Vec3f>(copy(context, surface.points), surface.width, surface.height);
    image_normals_ = Image<Vec3f>(copy(context, surface.normals), surface.width, surface.height);
  }
}

Alignment align(const Context& context, const AlignSurface& source, const AlignSurface& target,
                const Rigid3d& guess_target_from_source, const AlignOptions& options) {
  using namespace detail::alignment;
  check_options(options);
  require(source.device_ == context.device() && target.device_ == context.device(),
          "align: source lies on ", to_string(source.device_), " and target on ",
          to_string(target.device_), ", but the context runs on ", to_string(context.device()));
  require(is_finite(guess_target_from_source.translation) &&
              std::abs(determinant(guess_target_from_source.rotation) - 1) < 1e-3,
          "guess_target_from_source: is no rigid motion");
  Alignment result;
  result.target_from_source = guess_target_from_source;
  if (source.points_ < options.least_pairs || target.points_ < options.least_pairs) return result;
  require(target.has_normals_,
          "target: has no normals; estimate them first (surface_operations.h)");
  const bool projected = options.association == AlignAssociation::kProjected;
  require(!projected || target.camera_,
          "association: projected partners need a target with the rows of a camera; take nearest");
  const float spacing_m = target.spacing_m_ > 0 ? target.spacing_m_ : 0.0f;
  const float fine_m = options.fine_distance_m > 0
                           ? options.fine_distance_m
                           : max_of(4 * spacing_m, 0.01f * source.diagonal_m_);
  const float coarse_m = max_of(
      fine_m, options.max_distance_m > 0 ? options.max_distance_m : 0.1f * source.diagonal_m_);
  const double stop_m = options.stop_m > 0 ? options.stop_m : spacing_m * 1e-3;

  const Extent extent = extent_of(context, source.levels_[0]->points);
  const double length_m = max_of(extent.length_m, 1e-9);
  const int levels = static_cast<int>(std::min(source.levels_.size(), target.levels_.size()));
  Workspace workspace;
  PoseEquations<double> equations;
  Vec3d centre;
  float limit_m = coarse_m;
  std::int64_t taken = source.points_;
  for (int level = levels - 1; level >= 0; --level) {
    const Level& from = *source.levels_[static_cast<std::size_t>(level)];
    Level& to = *target.levels_[static_cast<std::size_t>(level)];
    const float share = levels > 1 ? static_cast<float>(level) / static_cast<float>(levels - 1) : 0;
    const float gate_m = fine_m * std::pow(coarse_m / fine_m, share);
    const double stop_level_m = stop_m * (level > 0 ? 10 * (1 << level) : 1);
    Pass pass;
    pass.points = from.points.size();
    if (options.most_points > 0) {
      pass.stride = (pass.points + options.most_points - 1) / options.most_points;
    }
    pass.stride = std::max<std::int64_t>(pass.stride, 1);
    pass.count = (pass.points + pass.stride - 1) / pass.stride;
    taken = pass.count;
    const auto count = static_cast<std::size_t>(pass.count);
    Buffer<std::int32_t> partners = copy(context, std::vector<std::int32_t>(count, -1));
    Buffer<float> alone_m = copy(context, std::vector<float>(count, 0.0f));
    pass.alone_m = alone_m.data();
    pass.source = from.points.data();
    pass.source_normals = from.normals.empty() ? nullptr : from.normals.data();
    pass.projected = projected;
    if (projected) {
      pass.camera = cast<float>(*target.camera_);
      pass.target = target.image_.pixels().data();
      pass.target_normals = target.image_normals_.pixels().data();
    } else {
      pass.grid = to.grid_view(context);
      pass.target = to.points.data();
      pass.target_normals = to.normals.data();
    }
    pass.gate_sq = gate_m * gate_m;
    pass.least_cosine = std::cos(options.max_angle_rad);
    pass.partners = partners.data();
    limit_m = gate_m;
    result.stop = AlignStop::kIterations;
    // The last pass only measures where the one before has led.
    for (int iteration = 0; iteration <= options.iterations; ++iteration) {
      pass.target_from_source = cast<float>(result.target_from_source);
      centre = result.target_from_source * extent.centre;
      pass.centre = cast<float>(centre);
      pass.limit_sq = limit_m * limit_m;
      equations = detail::on_device(
          context, [&] { return run_pass_cuda(context, pass, workspace); },
          [&] { return run_pass_cpu(context, pass); });
      result.directions = pose_directions(equations, length_m);
      if (!(equations.count >= options.least_pairs)) {
        result.stop = AlignStop::kTooFew;
        break;
      }
      if (iteration == options.iterations || result.stop == AlignStop::kConverged) break;
      const Twist3<double> step =
          solve_pose_step(equations, result.directions, options.least_information);
      const double moved_m = norm(step.omega_rad) * length_m + norm(step.v_m);
      const double deviation_m = std::sqrt(variance_of(equations));
      // The chord of a turn is shorter than its arc; floats round at 1e-6 of the reach.
      pass.moved_m = static_cast<float>(norm(step.omega_rad) * extent.reach_m + norm(step.v_m) +
                                        1e-6 * (extent.reach_m + norm(centre)));
      // A step never turns by more than half a radian: partners are another matter after that.
      const double brake = min_of(1.0, 0.5 / max_of(norm(step.omega_rad), 1e-12));
      result.target_from_source =
          renormalized(motion_about({step.omega_rad * brake, step.v_m * brake}, centre) *
                       result.target_from_source);
      limit_m = clamp(static_cast<float>(kLimit * deviation_m), spacing_m * 1e-3f, gate_m);
      ++result.iterations;
      if (moved_m < stop_level_m) result.stop = AlignStop::kConverged;
    }
    if (result.stop == AlignStop::kTooFew) break;
  }
  result.pairs = static_cast<std::int64_t>(equations.count);
  result.centre_m = centre;
  const double variance_m_sq = variance_of(equations);
  result.rms_m = equations.count > 0 ? std::sqrt(variance_m_sq) : NAN;
  result.inlier_share = equations.count / static_cast<double>(taken);
  if (result.stop == AlignStop::kTooFew) result.inlier_share = 0;
  for (double information : result.directions.information) {
    result.degenerate += information > options.least_information ? 0 : 1;
  }
  result.covariance = pose_covariance(equations, result.directions, variance_m_sq,
                                      options.shared_error, options.least_information, coarse_m);
  return result;
}

Alignment align(const Context& context, const Surface& source, const Surface& target,
                const Rigid3d& guess_target_from_source, const AlignOptions& options) {
  return align(context, AlignSurface(context, source, options),
               AlignSurface(context, target, options), guess_target_from_source, options);
}

}  // namespace sextant
