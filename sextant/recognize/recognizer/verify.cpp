// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer/verify.h"

#include <algorithm>

#include "sextant/core/eigen3.h"
#include "sextant/core/for_each.h"
#include "sextant/recognize/recognizer/math.h"

namespace sextant::detail::recognizer {

namespace {

constexpr float kWalk = 0.08f;          // of the diameter, across the outline
constexpr float kSlack = 0.025f;        // of the diameter, that an outline may be off
constexpr float kNormalsAgree = 0.77f;  // cosine of 40°
constexpr int kBatch = 32;

/// Whether the measured surface at a cell is the object's.
enum class CellState : std::uint8_t { kNone, kOn, kOff };

bool rendered(ImageView<const float> depth_m, int i, int j) {
  return depth_m.contains(i, j) && std::isfinite(depth_m(i, j));
}

/// Moments of the supported points, for how flat they lie.
struct Moments {
  Vec3d sum{};
  Sym3d squares{};
  double count = 0;
  void add(const Vec3f& p) {
    const Vec3d d = cast<double>(p);
    sum += d;
    squares = squares + outer(d);
    ++count;
  }
  float flatness() const {
    if (count < 4) return 0;
    const Vec3d m = sum / count;
    const Sym3d c{squares.xx / count - m.x * m.x, squares.xy / count - m.x * m.y,
                  squares.xz / count - m.x * m.z, squares.yy / count - m.y * m.y,
                  squares.yz / count - m.y * m.z, squares.zz / count - m.z * m.z};
    const Eigen3<double> e = eigen_jacobi(c);
    return static_cast<float>(std::sqrt(max_of(e.values[0], 0.0) / max_of(e.values[2], 1e-12)));
  }
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

}  // namespace

Verified compare(const SceneFrame& scene, float diameter_m, const Crop& crop,
                 ImageView<const float> depth_m, ImageView<const Vec3f> normals, bool with_pixels) {
  Verified result;
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
  float cells = 0, supported = 0, violated = 0, occluded = 0, no_data = 0, outside = 0;
  float agreeing = 0, area_m_sq = 0;
  double squares = 0;
  Moments moments;
  std::vector<CellState> states(static_cast<std::size_t>(kCropCells * kCropCells));
  const auto state_of = [&](int i, int j) -> CellState& {
    return states[static_cast<std::size_t>(j * kCropCells + i)];
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
      const float cosine = -dot(normals(i, j), ray) / norm(ray);
      const float tolerance = depth_tolerance_m(scene.noise.sigma_m(z), diameter_m, cosine);
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
        squares += static_cast<double>(off / tolerance) * static_cast<double>(off / tolerance);
        agreeing += dot(scene.normals(p.x, p.y), normals(i, j)) > kNormalsAgree ? 1.0f : 0.0f;
        moments.add(ray * z);
        const float side = z * static_cast<float>(crop.stride) / camera.fx_px;
        area_m_sq += side * side;
        if (!with_pixels) continue;
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
  terms.pixels = cells * static_cast<float>(crop.stride * crop.stride);
  terms.supported = supported / cells;
  terms.violated = violated / cells;
  terms.occluded = occluded / cells;
  terms.no_data = no_data / cells;
  terms.outside = outside / cells;
  terms.normals = supported > 0 ? agreeing / supported : 0;
  terms.residual = supported > 0 ? static_cast<float>(std::sqrt(squares / supported)) : 1;
  terms.flatness = moments.flatness();
  terms.extent = std::sqrt(area_m_sq) / diameter_m;

  float counts[static_cast<int>(OutlineState::kStates)] = {};
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
      const float cells_a_m = camera.fx_px / (z * static_cast<float>(crop.stride));
      const int slack = std::max(static_cast<int>(std::lround(kSlack * diameter_m * cells_a_m)),
                                 crop.stride == 1 ? 2 : 1);
      const int reach =
          std::max(static_cast<int>(std::lround(kWalk * diameter_m * cells_a_m)), slack + 2);
      const float sigma = scene.noise.sigma_m(z);
      const Vec3f point = ray_of(pixel_of(i, j)) * z;
      const Vec3f normal = normals(i, j);
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
        step.normals_agree = dot(scene.normals(p.x, p.y), normal) > kNormalsAgree;
        return step;
      };
      const float cosine = -dot(normal, point) / norm(point);
      const OutlineState state =
          outline_state(reach, slack, depth_tolerance_m(sigma, diameter_m, max_of(cosine, 0.5f)),
                        depth_jump_m(sigma, diameter_m), step_at);
      ++counts[static_cast<int>(state)];
      ++terms.outline;
    }
  }
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

Verifier::Verifier(const Context& context, const SceneFrame& scene, const Model& model,
                   const RenderScene& meshes, int mesh)
    : context_(context), scene_(scene), model_(model), meshes_(meshes), mesh_(mesh), radius_m_(0) {
  for (const Vec3f& p : model.render_mesh.vertices.points.host()) {
    radius_m_ = max_of(radius_m_, norm(p - model.centre));
  }
  rendering_.width = kCropCells;
  rendering_.height = kCropCells;
}

Crop Verifier::crop_of(const Rigid3d& pose) const {
  const Vec3d centre = pose * cast<double>(model_.centre);
  const Camera frame = cast<double>(scene_.camera);
  Crop crop;
  crop.camera = frame;
  crop.camera.width = crop.camera.height = kCropCells;
  if (!(centre.z > 0)) {
    crop.camera.cx_px = crop.camera.cy_px = -1e6;  // behind the camera: nothing is rendered
    return crop;
  }
  const double near = std::max(centre.z - radius_m_, 0.3 * centre.z);
  const double reach_px = frame.fx_px * (radius_m_ + kWalk * model_.diameter_m) / near + 3;
  crop.stride = std::max(1, static_cast<int>(std::ceil(2 * reach_px / kCropCells)));
  const Vec2d middle = project(frame, centre);
  crop.first_u = static_cast<int>(std::lround(middle.x)) - crop.stride * kCropCells / 2;
  crop.first_v = static_cast<int>(std::lround(middle.y)) - crop.stride * kCropCells / 2;
  crop.camera.fx_px = frame.fx_px / crop.stride;
  crop.camera.fy_px = frame.fy_px / crop.stride;
  crop.camera.cx_px = (frame.cx_px - crop.first_u) / crop.stride;
  crop.camera.cy_px = (frame.cy_px - crop.first_v) / crop.stride;
  return crop;
}

std::vector<Verified> Verifier::verify(std::span<const Rigid3d> poses, bool with_pixels) {
  std::vector<Verified> results(poses.size());
  RenderOptions options;
  options.normals = true;
  for (std::size_t first = 0; first < poses.size(); first += kBatch) {
    const std::size_t count = std::min<std::size_t>(kBatch, poses.size() - first);
    std::vector<Crop> crops;
    std::vector<Camera> cameras;
    std::vector<Instance> instances;
    for (std::size_t k = 0; k < count; ++k) {
      crops.push_back(crop_of(poses[first + k]));
      cameras.push_back(crops.back().camera);
      instances.push_back({mesh_, static_cast<std::int32_t>(k), 0, cast<float>(poses[first + k])});
    }
    rendering_.views = static_cast<int>(count);
    render_into(context_, meshes_, view_of(std::as_const(cameras)),
                view_of(std::as_const(instances)), options, rendering_, workspace_);
    for_each_chunk(
        context_, static_cast<std::int64_t>(count), 2, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t k = begin; k < end; ++k) {
            const int view = static_cast<int>(k);
            results[first + static_cast<std::size_t>(k)] =
                compare(scene_, model_.diameter_m, crops[static_cast<std::size_t>(k)],
                        rendering_.depth_m_of(view), rendering_.normals_of(view), with_pixels);
          }
        });
  }
  return results;
}

}  // namespace sextant::detail::recognizer
