// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/image.h"
#include "sextant/core/options.h"
#include "sextant/core/workspace.h"
#include "sextant/surface/resolution.h"

namespace sextant {

/// Two points of a surface that carry a descriptor: indices into its points, p < q.
struct PointPair {
  std::int32_t p = 0;
  std::int32_t q = 0;
  friend SEXTANT_HD constexpr bool operator==(const PointPair& a, const PointPair& b) {
    return a.p == b.p && a.q == b.q;
  }
};

/// Every point is paired with at most this many partners, its nearest.
inline constexpr int kPartnersPerPoint = 3;
/// Organised points look at most this far, as in the paper.
inline constexpr int kMostPairWindow_px = 14;

struct PairsOptions {
  float least_resolutions = 5.0f;      ///< shortest distance of a pair, in resolutions
  float most_resolutions = 14.0f;      ///< longest
  float least_angle_rad = 0.2617994f;  ///< normals differ by more than this (15°)
  int window_px = kMostPairWindow_px;  ///< organised points look this far around them
  /// With 0 every point looks for partners. Otherwise only this many, drawn at random, do, which is
  /// all that the few pairs of a scene need.
  int samples = 0;
  std::uint64_t seed = 0;  ///< of what is drawn

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("least_resolutions", self.least_resolutions,
          "shortest distance of a pair in multiples of the resolution", Range{0, 1e6});
    visit("most_resolutions", self.most_resolutions,
          "longest distance of a pair in multiples of the resolution", Range{0, 1e6});
    visit("least_angle_rad", self.least_angle_rad,
          "the normals of a pair differ by more than this (15 degrees)", Range{0, 3.1415927});
    visit("window_px", self.window_px, "how far an organised point looks for partners",
          Range{1, kMostPairWindow_px});
    visit("samples", self.samples, "points that look for partners, drawn at random; 0 for all",
          Range{0, 1e9});
    visit("seed", self.seed, "of what is drawn at random", Range{0, 18446744073709551615.0});
  }
};

/// Finds pairs of points of an organised cloud for descriptors. A pair has least_resolutions ≤
/// |p - q| / resolution ≤ most_resolutions and an angle of more than least_angle_rad between its
/// normals. Every point takes its three nearest such partners in the window around it, and of
/// equally distant ones the one with the lower index; (p, q) and (q, p) are the same pair, which
/// stands once in the list, by the index of the point that found it (the lower one when both did),
/// nearest partner first. Normals have length 1; a point that is not finite or whose normal is NaN
/// is in no pair.
///
/// With `samples`, the points that look are drawn one from each of as many equal runs of the image;
/// their partners are still searched among all points.
///
/// The result depends on the input alone, and is the same on every device to the last bit. Planes
/// have no pairs: a surface of radius R has them where R < 53 resolutions. Cost: 841 candidates a
/// point that looks, 12 flop each; 640 × 480 take 60 ms of one core with AVX-512, 4000 samples 9
/// ms. CUDA, when every point looks, leaves out patches of 4 × 4 points that cannot pair. Waits for
/// the device, to learn how many pairs there are. A resolution that is NaN or 0 makes no pairs.
Buffer<PointPair> find_pairs(const Context& context, ImageView<const Vec3f> points,
                             ImageView<const Vec3f> normals, float resolution_m,
                             const PairsOptions& options = {});

/// Reads the resolution from statistics on the context's device. Does not wait: the number of pairs
/// stays there, in one element. Pairs for which there is no room are left out at the end; three for
/// every point that looks always fit. The workspace takes 16 bytes for each point that looks; where
/// CUDA searches every pixel, 3 more.
void find_pairs_into(const Context& context, ImageView<const Vec3f> points,
                     ImageView<const Vec3f> normals, View<const SurfaceStatistics> statistics,
                     const PairsOptions& options, View<PointPair> pairs, View<std::int32_t> count,
                     Workspace& workspace);

/// Draws `amount` of the pairs, or all when there are fewer, uniformly and without repetition.
/// Every pair has a random number made of the seed and its two points, and those with the lowest
/// are taken, lowest first. Whether a pair is drawn before another does not depend on which other
/// pairs there are: a normal that differs in its last bit changes only pairs at its own point.
/// Fewer are the first of more. The same on every device. Cost: a sort of all pairs. Does not wait.
Buffer<PointPair> select_pairs(const Context& context, View<const PointPair> pairs,
                               std::int64_t amount, std::uint64_t seed = 0);

/// Draws as many as there is room for from the first count[0] of `pairs`; their number goes to
/// selected_count. Does not wait. The result must not overlap the pairs. The workspace takes 24
/// bytes for each pair that there is room for.
void select_pairs_into(const Context& context, View<const PointPair> pairs,
                       View<const std::int32_t> count, std::uint64_t seed, View<PointPair> selected,
                       View<std::int32_t> selected_count, Workspace& workspace);

}  // namespace sextant
