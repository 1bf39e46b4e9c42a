// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/sift.h"

// The scale space of one octave: which rows of it are at hand, and how they are made.

namespace sextant::detail::sift {

inline constexpr int kMostLayers = 8;  ///< SiftOptions::layers
/// Four sigmas of the widest blur that the options allow.
inline constexpr int kMostRadius = 96;
/// An octave with more pixels goes through memory in slabs.
inline constexpr std::int64_t kSlabPixels = std::int64_t{1} << 24;

/// Half of a symmetric filter; the middle comes first.
struct Kernel {
  int radius = 0;
  float weight[kMostRadius + 1];
};

/// A Gaussian, cut off at four sigmas, whose weights sum up to 1.
Kernel gaussian_kernel(double sigma);

/// Doubles and blurs in one: weight[d + radius] is that of the pixel d to the right of the one that
/// the even pixel of a pair lies in; the odd one has the mirror image.
struct DoublingKernel {
  int radius = 0;
  float weight[2 * kMostRadius + 1];
};

/// Bilinear interpolation between pixel centres, 3/4 and 1/4, followed by a blur of the doubled
/// image.
DoublingKernel doubling_kernel(const Kernel& blur);

struct RowRange {
  int first = 0, end = 0;
  int size() const { return end - first; }
};

/// Some rows of an image in memory that has 16 floats of room behind each row.
struct Rows {
  float* data = nullptr;
  std::int64_t stride = 0;
  int width = 0, height = 0;  ///< of the whole image
  int first = 0;              ///< the row that `data` begins with

  float* row(int v) const { return data + (v - first) * stride; }
};
std::int64_t stride_for(int width);

/// What the options come down to.
struct ScalePlan {
  int layers = 0;
  bool doubled = false;
  int octaves = 0;
  int width = 0, height = 0;  ///< of the first octave
  double sigma = 0;
  Kernel base;                   ///< from the image to the first scale
  DoublingKernel doubling;       ///< the same where the image is doubled
  Kernel step[kMostLayers + 2];  ///< from scale s to s + 1
  int reach = 0;                 ///< rows around a candidate that are looked at
  std::int64_t slab_pixels = kSlabPixels;

  int scales() const { return layers + 3; }
  int width_of(int octave) const { return width >> octave; }
  int height_of(int octave) const { return height >> octave; }
};
ScalePlan make_scale_plan(int width, int height, const SiftOptions& options);

/// The rows of each scale that are needed to look for candidates in the rows `core`.
struct SlabRows {
  RowRange core;
  RowRange scale[kMostLayers + 3];
};
SlabRows rows_for(const ScalePlan& plan, int octave, RowRange core);
/// How many rows an octave is looked at at once.
int core_rows(const ScalePlan& plan, int octave);

/// The scales of one octave, as far as its slab goes.
struct Octave {
  int number = 0;
  int scales = 0;
  SlabRows slab;
  Rows scale[kMostLayers + 3];

  const float* row(int s, int v) const { return scale[s].row(v); }
  int width() const { return scale[0].width; }
  int height() const { return scale[0].height; }
};

/// Brings rows of the photo to floats from 0 to 255; throws for floats that are no such numbers.
void convert_rows(const Context& context, const PhotoView& photo, RowRange range, const Rows& to);
/// Blurs rows; the image goes on beyond its border as in a mirror whose plane runs through the
/// middle of the last pixels.
void blur_rows(const Context& context, const Kernel& kernel, const Rows& from, const Rows& to,
               RowRange range);
/// Doubles and blurs; the mirror lies on the outer edge of the last pixels.
void double_rows(const Context& context, const DoublingKernel& kernel, const Rows& from,
                 const Rows& to, RowRange range);
/// Every other pixel of every other row, for the rows `range` of the result.
void halve_rows(const Context& context, const Rows& from, const Rows& to, RowRange range);

}  // namespace sextant::detail::sift
