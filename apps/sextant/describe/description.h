// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "apps/sextant/describe/described_surface.h"
#include "sextant/descriptor/descriptor_file.h"
#include "sextant/descriptor/keypoints.h"
#include "sextant/descriptor/shot.h"
#include "sextant/descriptor/tensor.h"

namespace sextant::app {

/// Where a surface is described.
enum class KeypointChoice : std::int32_t { kDefault, kAll, kVoxel, kIss, kRandom };
inline constexpr Choice<KeypointChoice> kKeypointChoices[] = {{"default", KeypointChoice::kDefault},
                                                              {"all", KeypointChoice::kAll},
                                                              {"voxel", KeypointChoice::kVoxel},
                                                              {"iss", KeypointChoice::kIss},
                                                              {"random", KeypointChoice::kRandom}};

/// What `describe` computes. Lengths of 0 are taken from the resolution of the surface.
struct DescribeOptions {
  DescriptorKind descriptor = DescriptorKind::kShot;
  KeypointChoice keypoints = KeypointChoice::kDefault;
  std::int64_t count = 0;  ///< draw at most this many; 0 takes all, or the default of `random`
  std::uint64_t seed = 0;
  bool keep_invalid = false;
  float radius_m = 0;
  float radius_resolutions = 15;
  UniformKeypointOptions voxels;
  ShotOptions shot;
  IssOptions iss;
  PairsOptions pairs;
  TensorOptions tensor;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("descriptor", self.descriptor, "what is computed", kDescriptorKinds);
    visit("keypoints", self.keypoints,
          "which points are described: all, one in each voxel, ISS keypoints, or some drawn at "
          "random; by default one in each voxel, and for tensors random pairs",
          kKeypointChoices);
    visit("count", self.count,
          "draw at most this many of them at random; 0 takes all of them, 1000 of the random ones "
          "and 200 tensors",
          Range{0, 1e12});
    visit("seed", self.seed, "another number draws other points", Range{0, 18446744073709551615.0});
    visit("keep_invalid", self.keep_invalid,
          "also write keypoints without a descriptor, as NaN, so that each keypoint has its row");
    visit("radius_m", self.radius_m,
          "radius of SHOT's sphere; 0 takes it from --radius-resolutions", Range{0, 1e6});
    visit("radius_resolutions", self.radius_resolutions,
          "radius of SHOT's sphere in multiples of the resolution", Range{1, 1e6});
  }
};

/// What was computed, and what is worth knowing about it.
struct Description {
  DescriptorFile file;
  nlohmann::json facts;  ///< keypoints, invalid ones by reason, neighbours or bins of each
  std::string text;      ///< the same for people
};

Description describe_shot(const Context& context, const Surface& surface,
                          const DescribeOptions& options, StepTimes& times);
Description describe_tensors(const Context& context, const Surface& surface,
                             const DescribeOptions& options, StepTimes& times);

/// {"mean": ..., "median": ...} of some numbers, null without any.
nlohmann::json mean_and_median(std::vector<double> numbers);

}  // namespace sextant::app
