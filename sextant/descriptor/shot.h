// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/neighbours.h"

namespace sextant {

/// The bins of the angle between a neighbour's normal and the frame's z axis.
enum class ShotBins : std::int32_t {
  kPcl,    ///< 11, where the share beyond bin 9 goes to bin 0: PCL's
  kFixed,  ///< 11 without that wrap
  kPaper   ///< 10
};
inline constexpr Choice<ShotBins> kShotBins[] = {
    {"pcl", ShotBins::kPcl}, {"fixed", ShotBins::kFixed}, {"paper", ShotBins::kPaper}};

enum class ShotContent : std::int32_t {
  kShape,
  kColor,         ///< colour differences in 31 bins: 992 numbers
  kShapeAndColor  ///< CSHOT: the shape's numbers, then the colour's; 1344
};
inline constexpr Choice<ShotContent> kShotContents[] = {
    {"shape", ShotContent::kShape},
    {"color", ShotContent::kColor},
    {"shape-and-color", ShotContent::kShapeAndColor}};

enum class ShotMode : std::int32_t {
  kExact,
  kApprox  ///< ours: only the cosine is shared between bins
};
inline constexpr Choice<ShotMode> kShotModes[] = {{"exact", ShotMode::kExact},
                                                  {"approx", ShotMode::kApprox}};

struct ShotOptions {
  float radius_m = 0.0f;             ///< of the sphere described; 0 takes radius_resolutions
  float radius_resolutions = 15.0f;  ///< the radius in multiples of the surface's resolution
  float frame_radius_m = 0.0f;       ///< of the local frame; 0 takes radius_m
  ShotBins bins = ShotBins::kPcl;
  ShotContent content = ShotContent::kShape;
  ShotMode mode = ShotMode::kExact;
  std::int32_t most_neighbours = 65536;  ///< that vote in the approximate mode
  bool wrap28 = false;                   ///< azimuth wraps at volume 28, as in PCL before 2017

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("radius_m", self.radius_m,
          "of the sphere that a descriptor describes; 0: radius_resolutions", Range{0, 1e6});
    visit("radius_resolutions", self.radius_resolutions,
          "the radius in multiples of the resolution, where radius_m is 0", Range{1, 1e6});
    visit("frame_radius_m", self.frame_radius_m, "of the local frame; 0 takes radius_m",
          Range{0, 1e6});
    visit("bins", self.bins, "pcl: 11 bins as in PCL; fixed: 11 without wrap; paper: 10",
          kShotBins);
    visit("content", self.content, "shape, color, or shape-and-color", kShotContents);
    visit("mode", self.mode, "exact, or approx: only the cosine is shared between bins",
          kShotModes);
    visit("most_neighbours", self.most_neighbours, "that vote in the approximate mode",
          Range{8, 65536});
    visit("wrap28", self.wrap28, "azimuth wraps at volume 28, as in PCL before 2017");
  }
};

/// The options with the length that a radius of 0 stands for on a surface of this resolution.
ShotOptions resolved(const ShotOptions& options, float resolution_m);

/// Numbers of one descriptor: 352 (320 with the paper's bins), 992 or 1344 (1312).
int shot_length(const ShotOptions& options);

/// The surface described, on one device. Normals count as they are, signs included; neighbours
/// without a finite normal do not vote.
struct ShotSurface {
  View<const Vec3f> points;
  View<const Vec3f> normals;
  View<const Rgb8> colors{};  ///< needed when colour is described
};

/// Where it is described. Keypoints need not be points of the surface.
struct ShotKeypoints {
  View<const Vec3f> points;
  View<const Rgb8> colors{};   ///< needed when colour is described
  View<const Vec3f> frames{};  ///< 3 axes a keypoint, as compute_local_frames gives them; or empty
};

/// Why a keypoint has no descriptor.
enum class ShotStatus : std::uint8_t {
  kDescribed,
  kNotFinite,  ///< the keypoint itself, or its index is outside the surface
  kNoFrame,    ///< fewer than five other points within frame_radius_m, or a given frame is NaN
  kTooFew,     ///< fewer than five points within radius_m
  kNoVote      ///< no neighbour has a finite normal
};

struct ShotCounts {
  std::int32_t described = 0;
  std::int32_t not_finite = 0;
  std::int32_t no_frame = 0;
  std::int32_t too_few = 0;
  std::int32_t no_vote = 0;
};
/// Counts the keypoints with each status; these lie in host memory.
ShotCounts counts_of(View<const ShotStatus> status);

struct ShotDescriptors {
  int length = 0;
  Buffer<float> values;       ///< keypoints × length, each of Euclidean length 1, or all NaN
  Buffer<Vec3f> frames;       ///< 3 a keypoint; NaN where there is none
  Buffer<ShotStatus> status;  ///< one a keypoint
  ShotCounts counts;
};

/// What compute_shot_into fills, on the context's device; `frames` may be empty.
struct ShotResult {
  View<float> values;
  View<Vec3f> frames;
  View<ShotStatus> status;
};

/// Computes SHOT descriptors (Tombari, Salti, Di Stefano, ECCV 2010), equal to those of
/// pcl::SHOTEstimation (PCL 1.13) and, with colour, pcl::SHOTColorEstimation. On the same normals
/// at least 99.5 % of them agree within 1e-5 in every number; the others are off by votes within
/// rounding of the edge of a bin. The same ones are NaN.
///
/// CPU and CUDA agree as closely with each other. The bits are the same on every run and for every
/// number of threads. Memory does not grow with the number of neighbours; time grows with their
/// total: on two cores about 10 ns a neighbour, at most a sixteenth of PCL's time (shot_bench).
///
/// The approximate mode is ours: a neighbour counts as lying in the middle of its volume, so that
/// only the cosine's share goes to another bin, and roots, arc cosine and arc tangent are saved.
/// It finds its own again nearly as well: up to 1.2 points less area under the recall curve
/// (`sextant reproduce shot-descriptiveness`). With most_neighbours fewer vote, evenly spread over
/// the order of the grid's cells, which costs much more: 128 of 900 another 19 to 24 points. Frames
/// are exact.
///
/// A radius of 0 is taken from cloud_resolution_m of the surface. Waits for the device, to count
/// the descriptors.
ShotDescriptors compute_shot(const Context& context, const ShotSurface& surface,
                             const ShotKeypoints& keypoints, const ShotOptions& options = {});
/// Describes the surface at some of its points, given by their indices.
ShotDescriptors compute_shot(const Context& context, const ShotSurface& surface,
                             View<const std::int32_t> keypoints, const ShotOptions& options = {});
/// Describes the surface at each of its points.
ShotDescriptors compute_shot(const Context& context, const ShotSurface& surface,
                             const ShotOptions& options = {});

/// Takes the grid of the surface's points; NeighbourGridOptions::for_radius(radius_m / 2) is a good
/// one. radius_m must be given. Does not wait for the device. The workspace takes 16 bytes a
/// keypoint for their order, 12 a point and a keypoint for their colours where colour is described,
/// and on CUDA about 160 more a keypoint for their frames and 16 a point of the surface.
void compute_shot_into(const Context& context, const NeighbourGrid& grid,
                       const ShotSurface& surface, const ShotKeypoints& keypoints,
                       const ShotOptions& options, const ShotResult& result, Workspace& workspace);
/// Describes the surface at each of its points.
void compute_shot_into(const Context& context, const NeighbourGrid& grid,
                       const ShotSurface& surface, const ShotOptions& options,
                       const ShotResult& result, Workspace& workspace);

}  // namespace sextant
