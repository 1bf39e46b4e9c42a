// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer/compare.h"

namespace sextant::detail::recognizer {

namespace {

/// A rendered pose in host memory.
struct RenderedCells {
  ImageView<const float> depth;
  ImageView<const Vec3f> normals;
  std::vector<Vec3f> sums = std::vector<Vec3f>(std::size_t{kSumsSide} * kSumsSide);
  std::vector<CellState> states = std::vector<CellState>(std::size_t{kCropCells} * kCropCells);

  float depth_m(int i, int j) const { return depth(i, j); }
  Vec3f normal(int i, int j) const { return normals(i, j); }
  Vec3f normal_sum(int i, int j) const { return sums[sum_at(i, j)]; }
  CellState state(int i, int j) const { return states[at(i, j)]; }
  static std::size_t sum_at(int i, int j) {
    return static_cast<std::size_t>(j) * kSumsSide + static_cast<std::size_t>(i);
  }
  void add_up_normals() {
    for (int j = 0; j < kCropCells; ++j) {
      Vec3f row{};
      for (int i = 0; i < kCropCells; ++i) {
        if (std::isfinite(depth(i, j))) row = row + normals(i, j);
        sums[sum_at(i + 1, j + 1)] = sums[sum_at(i + 1, j)] + row;
      }
    }
  }
  static std::size_t at(int i, int j) {
    return static_cast<std::size_t>(j) * kCropCells + static_cast<std::size_t>(i);
  }
};

void count(CellKind kind, CompareSums& sums) {
  sums.cells += kind != CellKind::kEmpty ? 1 : 0;
  sums.outside += kind == CellKind::kOutside ? 1 : 0;
  sums.no_data += kind == CellKind::kNoData ? 1 : 0;
  sums.violated += kind == CellKind::kViolated ? 1 : 0;
  sums.occluded += kind == CellKind::kOccluded ? 1 : 0;
  sums.supported += kind == CellKind::kSupported ? 1 : 0;
}

}  // namespace

CompareSums compare_cells(const FrameView& frame, const ModelView& model, const Vec3f& centre,
                          const Crop& crop, ImageView<const float> depth_m,
                          ImageView<const Vec3f> normals, std::uint32_t* supported) {
  RenderedCells rendered{depth_m, normals};
  rendered.add_up_normals();
  const Comparison<const RenderedCells> comparison{frame,
                                                   model.part_diameter_m,
                                                   centre,
                                                   crop.first_u,
                                                   crop.first_v,
                                                   crop.stride,
                                                   blur_cells(frame, centre, crop.stride),
                                                   rendered};
  CompareSums sums;
  for (int j = 0; j < kCropCells; ++j) {
    for (int i = 0; i < kCropCells; ++i) {
      CellEvidence evidence;
      const CellKind kind = comparison.look_at(i, j, evidence);
      rendered.states[RenderedCells::at(i, j)] = state_of(kind);
      count(kind, sums);
      if (kind == CellKind::kSupported) sums.add(evidence);
      if (kind == CellKind::kOccluded && comparison.shows_plane(i, j)) ++sums.buried;
    }
  }
  for (int j = 0; sums.cells > 0 && j < kCropCells; ++j) {
    for (int i = 0; i < kCropCells; ++i) {
      comparison.look_beside(i, j, sums.borders, sums.seams);
      OutlineEvidence evidence;
      if (comparison.is_outline(i, j) && comparison.look_across(i, j, evidence)) {
        sums.add(evidence);
      }
    }
  }
  for (std::size_t at = 0; supported && at < rendered.states.size(); ++at) {
    if (at % 32 == 0) supported[at / 32] = 0;
    if (rendered.states[at] == CellState::kOn) supported[at / 32] |= 1u << at % 32;
  }
  return sums;
}

std::vector<std::int32_t> supported_pixels(const Cameraf& camera, const Crop& crop,
                                           const std::uint32_t* supported) {
  std::vector<std::int32_t> pixels;
  const auto add_row = [&](int v, int j) {
    for (int i = 0; i < kCropCells; ++i) {
      const std::size_t at = RenderedCells::at(i, j);
      if (!(supported[at / 32] >> at % 32 & 1)) continue;
      const int first = crop.first_u + crop.stride * i;
      const int end = min_of(first + crop.stride, camera.width);
      for (int u = first; u < end; ++u) pixels.push_back(v * camera.width + u);
    }
  };
  for (int j = 0; j < kCropCells; ++j) {
    const int first = crop.first_v + crop.stride * j;
    const int end = min_of(first + crop.stride, camera.height);
    for (int v = first; v < end; ++v) add_row(v, j);
  }
  return pixels;
}

}  // namespace sextant::detail::recognizer
