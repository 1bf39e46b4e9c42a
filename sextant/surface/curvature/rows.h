// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/simd/points.h"
#include "sextant/surface/curvature/fit.h"
#include "sextant/surface/curvature/rim.h"

// Cells and curvatures of a pack of pixels of a row at once. Host only.

namespace sextant::detail::curvature {

/// An image with a margin of zeros, one coordinate after the other: loops need no bounds.
struct PaddedPlanes {
  static constexpr int kLanesBeyond = 16;  ///< packs may begin at the last pixel
  int width = 0;
  int height = 0;
  int margin = 0;
  std::int64_t stride = 0;
  View<float> values;  ///< x, y, z and, of cells, the pitch
  int planes = 0;

  /// The planes stay in the workspace until its innermost scope ends.
  PaddedPlanes(const Context& context, int image_width, int image_height, int margin_px,
               int plane_count, Workspace& workspace)
      : width(image_width),
        height(image_height),
        margin(margin_px),
        stride(image_width + 2 * margin_px + kLanesBeyond),
        values(
            workspace.take<float>(context, stride * (image_height + 2 * margin_px) * plane_count)),
        planes(plane_count) {}

  std::int64_t plane_size() const { return stride * (height + 2 * margin); }
  float* at(int plane, int u, int v) const {
    return values.data + plane * plane_size() + (v + margin) * stride + (u + margin);
  }
};

/// A row of cells from the measured points.
template <class Pack>
void make_cell_row(const CurvatureOptions& options, const PaddedPlanes& measured, int v,
                   PaddedPlanes& cells) {
  for (int u = 0; u < measured.width; u += Pack::kCount) {
    const auto at = [&](int du, int dv) {
      return Vec3<Pack>{Pack::load(measured.at(0, u + du, v + dv)),
                        Pack::load(measured.at(1, u + du, v + dv)),
                        Pack::load(measured.at(2, u + du, v + dv))};
    };
    const Cell<Pack> cell = make_cell<Pack>(options, at);
    cell.point.x.store(cells.at(0, u, v));
    cell.point.y.store(cells.at(1, u, v));
    cell.point.z.store(cells.at(2, u, v));
    cell.signed_pitch.store(cells.at(3, u, v));
  }
}

/// The rims that the cells of a row make, one byte each. Most packs see at once that they lie
/// beside no edge.
template <class Pack>
void make_rim_row(const noise::FrameNoise& noise, const PaddedPlanes& cells, int v,
                  std::uint8_t* rims) {
  float least_sigma = INFINITY;
  for (const float sigma : noise.sigma_per_m) least_sigma = min_of(least_sigma, sigma);
  const Pack zero(0.0f);
  for (int u = 0; u < cells.width; u += Pack::kCount) {
    const Pack z = Pack::load(cells.at(2, u, v));
    const Pack pitch = Cell<Pack>{{}, Pack::load(cells.at(3, u, v))}.pitch_rad();
    const Pack step = z * (Pack(kSteepest) * pitch + Pack(kEdgeDeviations * least_sigma) * z);
    Pack apart(0.0f);
    auto is_beside_hole = pitch < zero;
    for (const std::int64_t shift :
         {std::int64_t{1}, std::int64_t{-1}, cells.stride, -cells.stride}) {
      const Pack difference = Pack::load(cells.at(2, u, v) + shift) - z;
      apart = LaneMath<Pack>::larger(apart, LaneMath<Pack>::magnitude(difference));
      const Pack other_pitch = Pack::load(cells.at(3, u, v) + shift);
      is_beside_hole = is_beside_hole | (other_pitch * other_pitch <= zero);
    }
    const auto has_point = (pitch > zero) & (z > zero);
    const int count = min_of(Pack::kCount, cells.width - u);
    if (!(has_point & ((apart > step) | is_beside_hole)).any()) {
      std::fill(rims + u, rims + u + count, std::uint8_t{0});
      continue;
    }
    for (int lane = 0; lane < count; ++lane) {
      const auto depth = [&](int du, int dv) {
        const int x = u + lane + du, y = v + dv;
        const bool inside = x >= 0 && y >= 0 && x < cells.width && y < cells.height;
        if (!inside) return -1.0f;
        return *cells.at(3, x, y) != 0.0f ? *cells.at(2, x, y) : 0.0f;
      };
      rims[u + lane] =
          static_cast<std::uint8_t>(rim_at(noise, z.lane(lane), pitch.lane(lane), depth));
    }
  }
}

/// The curvatures of as many pixels as a pack has lanes, from (u, v) on.
template <class Pack>
class CurvaturePack {
 public:
  CurvaturePack(const CurvatureJob& job, const PaddedPlanes& cells, int u, int v)
      : job_(job), u_(u), v_(v), count_(min_of(N, job.points.width - u)) {
    for (int plane = 0; plane < 3; ++plane) from_[plane] = cells.at(plane, u, v);
    stride_ = cells.stride;
    cell_ = Cell<Pack>{load(0, 0), Pack::load(cells.at(3, u, v))}.middle();
  }

  void run() {
    const Pack pitch = cell_.pitch_rad();
    if (!(pitch > Pack(0.0f)).any()) {
      for (int lane = 0; lane < count_; ++lane) {
        write_pixel(job_.out, u_ + lane, v_, {}, PatchResult<float>{{}, 0.0f});
      }
      return;
    }
    Vec3f normals[N];
    for (int lane = 0; lane < N; ++lane) {
      normals[lane] = lane < count_ ? job_.normals(u_ + lane, v_) : Vec3f{NAN, NAN, NAN};
    }
    normal_ = cell_.start(load_points<Pack>(normals));
    if (job_.noise != nullptr) {
      for (int lane = 0; lane < N; ++lane) {
        noise_[lane] = DepthNoise::at(*job_.noise, cell_.point.z.lane(lane));
      }
    }
    if (job_.options.stride_px > 0) {
      const PatchResult<Pack> result = fit<false>(pixel_patch(job_.options), 0.0f, Pack(1.0f));
      for (int lane = 0; lane < count_; ++lane) write(result, lane);
      return;
    }
    run_metric(pitch);
  }

 private:
  static constexpr int N = Pack::kCount;

  Vec3<Pack> load(int du, int dv) const {
    const std::int64_t shift = dv * stride_ + du;
    return {Pack::load(from_[0] + shift), Pack::load(from_[1] + shift),
            Pack::load(from_[2] + shift)};
  }

  /// Pixels that find no good patch try a smaller one.
  void run_metric(const Pack& pitch) {
    float radius_px[N];
    for (int lane = 0; lane < N; ++lane) radius_px[lane] = lane < count_ ? 1.0f : 0.0f;
    for (int size = 0; size < kPatchSizes; ++size) {
      for (int lane = 0; lane < N; ++lane) {
        if (radius_px[lane] == 0.0f) continue;
        radius_px[lane] = rounded_radius_px(patch_radius_px(
            job_.options, noise_[lane], cell_.point.z.lane(lane), pitch.lane(lane), size));
        if (size == 0 && radius_px[lane] == 0.0f) write(PatchResult<Pack>{}, lane);
      }
      run_size(radius_px);
    }
  }

  /// Pixels whose radius is the same number of pixels have the same grid: one fit for each of the
  /// grids that occur. Sets the radius to 0 of those that have found a good patch.
  void run_size(float (&radius_px)[N]) {
    bool done[N];
    for (int lane = 0; lane < N; ++lane) done[lane] = radius_px[lane] == 0.0f;
    for (int first = 0; first < N; ++first) {
      if (done[first]) continue;
      float wanted[N];
      for (int lane = 0; lane < N; ++lane) {
        wanted[lane] = !done[lane] && radius_px[lane] == radius_px[first] ? 1.0f : 0.0f;
      }
      const float radius = radius_px[first];
      const PatchResult<Pack> result =
          fit<true>(metric_patch(job_.options, radius), radius, Pack::load(wanted));
      for (int lane = first; lane < N; ++lane) {
        if (wanted[lane] == 0.0f) continue;
        write(result, lane);
        done[lane] = true;
        if (result.good.lane(lane) > 0.0f) radius_px[lane] = 0.0f;
      }
    }
  }

  template <bool kMetric>
  PatchResult<Pack> fit(const PatchGrid& grid, float radius_px, const Pack& wanted) const {
    const auto load_sample = [this](int du, int dv) { return load(du, dv); };
    auto middle = PatchMiddle<Pack>::of(job_.options, grid, cell_, radius_px);
    float pixel_m[N], density_m[N];
    for (int lane = 0; lane < N; ++lane) {
      pixel_m[lane] = noise_[lane].pixel_m;
      density_m[lane] = noise_[lane].density_m;
    }
    middle.pixel_noise_m = Pack::load(pixel_m);
    middle.density_m = Pack::load(density_m);
    return with_fit_mode<kMetric>(job_.options, [&](auto mode) {
      return fit_patch<decltype(mode)>(job_.options, grid, middle, normal_, wanted, load_sample);
    });
  }

  void write(const PatchResult<Pack>& of, int lane) const {
    const auto pick = [lane](const Vec3<Pack>& p) {
      return Vec3f{p.x.lane(lane), p.y.lane(lane), p.z.lane(lane)};
    };
    const QuadricResult<Pack>& q = of.quadric;
    const PatchResult<float> result{{q.k1_per_m.lane(lane), q.k2_per_m.lane(lane),
                                     pick(q.direction1), pick(q.normal), pick(q.offset_m)},
                                    of.good.lane(lane),
                                    of.deviation_per_m.lane(lane)};
    write_pixel(job_.out, u_ + lane, v_, pick(cell_.point), result);
  }

  const CurvatureJob& job_;
  const int u_;
  const int v_;
  const int count_;
  const float* from_[3];
  std::int64_t stride_;
  Cell<Pack> cell_;
  Vec3<Pack> normal_;
  DepthNoise noise_[N];
};

}  // namespace sextant::detail::curvature
