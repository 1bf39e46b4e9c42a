// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/sift/pyramid.h"

// The steps of SIFT on CUDA, one file each. Nothing here waits for the device: how many keypoints
// there are is known there alone until the end, and lists have room for `capacity` elements.

namespace sextant::detail::sift {

/// What the host reads at the end.
struct SiftCounts {
  unsigned long long bad_pixel;  ///< the first float that is no usable number: v × width + u
  std::int32_t extrema;          ///< found, of which `capacity` are kept
  std::int32_t keypoints;        ///< of the extrema that are kept, before `most` is applied
};

/// An extremum of any octave.
struct PlacedExtremum {
  Extremum at;
  std::int32_t octave;
};

/// One of the directions of an extremum.
struct PlacedDirection {
  std::int32_t extremum;
  float turns;
};

struct SiftJob {
  PhotoView photo;
  ImageView<const std::uint8_t> mask;
  SiftOptions options;
  ExtremumLimits limits;
  Pyramid pyramid;
  SiftCounts* counts;
};

/// Makes all scales of all octaves, and notes the first bad pixel of a photo of floats.
void make_scales_cuda(const Context& context, const SiftJob& job, const ScalePlan& plan,
                      Workspace& workspace);

/// Extrema are found as bits of words, so that they need not be sorted: two candidates that moved
/// to the same extremum set the same bit.
struct FoundWords {
  View<std::uint32_t> words;
  View<std::int32_t> first;  ///< extrema before each chunk of words, and how many there are
};
FoundWords find_words_cuda(const Context& context, const SiftJob& job, Workspace& workspace);
/// Writes the extrema in order, as far as there is room.
void list_extrema_cuda(const Context& context, const SiftJob& job, const FoundWords& found,
                       const View<PlacedExtremum>& extrema);

/// The directions of all extrema in order; counts->extrema and ->keypoints are known afterwards.
void find_directions_cuda(const Context& context, const SiftJob& job, const FoundWords& found,
                          const View<PlacedExtremum>& extrema,
                          const View<PlacedDirection>& directions, Workspace& workspace);
/// Keeps the options' `most` directions with the largest response, in order.
View<PlacedDirection> keep_strongest_cuda(const Context& context, const SiftJob& job,
                                          const View<PlacedExtremum>& extrema,
                                          const View<PlacedDirection>& directions,
                                          Workspace& workspace);
/// Writes keypoints and descriptors; those that are not wanted are null.
struct FeatureRows {
  SiftKeypoint* keypoints;
  std::uint8_t* bytes;
  float* floats;
};
void describe_cuda(const Context& context, const SiftJob& job, const View<PlacedExtremum>& extrema,
                   const View<PlacedDirection>& directions, const FeatureRows& to);

}  // namespace sextant::detail::sift
