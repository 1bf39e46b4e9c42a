// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/mat3.h"
#include "sextant/descriptor/pairs.h"
#include "sextant/geometry/cloud.h"

namespace sextant {

/// Which triangles of the cube count.
enum class TensorMode : std::int32_t {
  kGrow,  ///< those that edges connect, inside the cube, with a triangle at p or q: as in the paper
  kAll    ///< all of them
};
inline constexpr Choice<TensorMode> kTensorModes[] = {{"grow", TensorMode::kGrow},
                                                      {"all", TensorMode::kAll}};

/// The most bins along an axis: their cube fits a mask of 1024 bits.
inline constexpr int kMostTensorBins = 10;

struct TensorOptions {
  int bins = 10;                 ///< along each axis
  float bin_resolutions = 2.0f;  ///< edge of a bin in multiples of the resolution
  TensorMode mode = TensorMode::kGrow;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("bins", self.bins, "bins along each axis of a tensor", Range{1, kMostTensorBins});
    visit("bin_resolutions", self.bin_resolutions, "edge of a bin in multiples of the resolution",
          Range{1e-3, 1e6});
    visit("mode", self.mode, "surface connected with the pair, or all in the cube", kTensorModes);
  }
};

/// Where a tensor lies: bin (i, j, k) is the box from (i, j, k) to (i + 1, j + 1, k + 1) of
/// axes (point - origin) / bin_m + bins / 2.
struct TensorFrame {
  Mat3f axes;      ///< its rows are x = n_p × n_q, y = z × x and z = n_p + n_q, of length 1
  Vec3f origin_m;  ///< (p + q) / 2
  float angle_rad = NAN;  ///< between the normals; of a tensor that could not be made, all are NaN
  float bin_m = 0.0f;
  PointPair pair;
};

/// Bit b is set when bin b is not empty; bits from bins³ on are 0.
struct TensorMask {
  std::uint64_t words[16];
};

/// Tensors with only their non-empty bins, all on one device. Tensor t has the elements first[t] ..
/// first[t] + sizes[t] - 1 of `indices` and `values`, in ascending index. The index of bin
/// (i, j, k) is i + bins (j + bins k); the value is the area of the surface in it, in units of
/// bin_m². Only the first count[0] tensors are there.
struct TensorSet {
  int bins = 0;
  Buffer<std::int32_t> count;  ///< one element
  Buffer<TensorFrame> frames;
  Buffer<TensorMask> masks;
  Buffer<std::int32_t> sizes;
  Buffer<std::int64_t> first;
  Buffer<std::uint16_t> indices;
  Buffer<float> values;

  TensorSet() = default;
  /// Room for `capacity` tensors with all their bins.
  TensorSet(const Context& context, std::int64_t capacity, int bins_along_axis);

  std::int64_t capacity() const { return frames.size(); }
  Device device() const { return frames.device(); }
};

/// An organised surface: what estimate_normals and triangulate make of points.
struct OrganisedSurface {
  ImageView<const Vec3f> points;
  ImageView<const Vec3f> normals;
  ImageView<const std::uint8_t> cells;
};

/// Computes a 3D tensor for each pair: the area of the surface in each bin of a grid of bins³ bins
/// about the middle of p and q, in a frame that the two normals span (Mian, Bennamoun and Owens
/// 2006).
///
/// Triangles are cut at the faces of the bins, so that the values add up to the area of the surface
/// in the cube. A bin holds its lower faces, not its upper ones. Areas are summed in multiples of
/// 2⁻²⁰, each piece rounded to one; less than 2⁻¹⁴ is none, and 4096 is the largest. A pair whose
/// normals are parallel or opposite (within 1°), not finite, or whose indices are outside the
/// surface makes an empty tensor whose frame is NaN.
///
/// Candidates are the triangles in tiles of 8 × 8 cells whose bounding box meets the cube: all that
/// can count, without need of a camera. `kGrow` walks from triangle to triangle over shared edges
/// and only over triangles whose bounding box, along the tensor's axes, meets the cube.
///
/// Accuracy: float coordinates at half a metre are right to 1.5e-5 of a bin of 2 mm, which makes
/// 1e-4 of a bin's face in the values; a cut moves by 1e-7 of the length of a triangle's edge,
/// or by 1.5e-6 of a bin where a triangle is longer than one. Bits are the same on every run and
/// for any number of threads; CUDA has the CPU's bits but in the angle, which agrees within 1e-6.
/// Cost: some 1000 triangles a tensor, 100 to 200 ns each on one core. Waits for the device, to
/// pack them.
TensorSet compute_tensors(const Context& context, const OrganisedSurface& surface,
                          View<const PointPair> pairs, float resolution_m,
                          const TensorOptions& options = {});

/// Computes the tensors of the first count[0] pairs, as far as there is room, with the statistics
/// on the context's device. Does not wait. tensors.first[t] becomes t bins³. The workspace takes 26
/// bytes for every 64 pixels and, on CUDA, 4 for each tensor and 48 for every 64 pixels and each
/// multiprocessor.
void compute_tensors_into(const Context& context, const OrganisedSurface& surface,
                          View<const PointPair> pairs, View<const std::int32_t> count,
                          View<const SurfaceStatistics> statistics, const TensorOptions& options,
                          TensorSet& tensors, Workspace& workspace);

/// Returns the same tensors without room to spare: their elements follow each other. Waits for the
/// device.
TensorSet pack_tensors(const Context& context, const TensorSet& tensors);

/// Copies the tensors to another device or to host memory; to_host waits for the device.
TensorSet copy(const Context& context, const TensorSet& from);
TensorSet to_host(const Context& context, const TensorSet& from);

/// Writes all bins³ values of each tensor, one tensor after the other, into room for
/// capacity() bins³. Does not
/// wait, and needs no workspace.
void unpack_tensors_into(const Context& context, const TensorSet& tensors, View<float> dense);

/// Where swapping p and q puts a bin: x and y change their signs.
SEXTANT_HD constexpr int flipped_bin(int index, int bins) {
  const int slab = bins * bins;
  return index / slab * slab + (slab - 1 - index % slab);
}

/// Writes the tensors of the pairs with p and q swapped, T'(i, j, k) = T(bins - 1 - i, bins - 1 -
/// j, k), into a set with the same room (TensorSet's constructor, or a packed copy). Does not wait,
/// and needs no workspace.
void flip_tensors_into(const Context& context, const TensorSet& tensors, TensorSet& flipped);

}  // namespace sextant
