// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/describe/describe_flags.h"

#include "apps/sextant/command/options_cli.h"
#include "apps/sextant/describe/frame_picture.h"

namespace sextant::app {

namespace {

/// A length in metres makes its multiple of the resolution idle.
void refuse_multiple(const CLI::App& command, const std::string& length,
                     const std::string& multiple) {
  if (is_given(command, length)) refuse_flags(command, {multiple}, length + " is given");
}

void check_tensor_flags(const CLI::App& command, const DescribeOptions& options) {
  const KeypointChoice choice = options.keypoints;
  if (choice == KeypointChoice::kVoxel || choice == KeypointChoice::kIss) {
    throw CLI::ValidationError("--keypoints",
                               "tensors stand on pairs of points; use random or all");
  }
  constexpr const char* kWhy = "it belongs to SHOT, not to --descriptor tensor";
  refuse_flags(command, {"--radius-m", "--radius-resolutions"}, kWhy);
  refuse_flags(command, flags_of<ShotOptions>("shot"), kWhy);
  refuse_flags(command, flags_of<UniformKeypointOptions>(), kWhy);
  refuse_flags(command, flags_of<IssOptions>("iss"), kWhy);
  if (choice == KeypointChoice::kAll && options.count == 0 && options.pairs.samples == 0) {
    refuse_flags(command, {"--seed"}, "nothing is drawn at random");
  }
}

void check_shot_flags(const CLI::App& command, const DescribeOptions& options) {
  constexpr const char* kWhy = "it belongs to --descriptor tensor";
  refuse_flags(command, flags_of<PairsOptions>("pair"), kWhy);
  refuse_flags(command, flags_of<TensorOptions>("tensor"), kWhy);
  refuse_multiple(command, "--radius-m", "--radius-resolutions");
  const KeypointChoice choice = options.keypoints;
  if (choice != KeypointChoice::kVoxel && choice != KeypointChoice::kDefault) {
    refuse_flags(command, flags_of<UniformKeypointOptions>(), "it belongs to --keypoints voxel");
  }
  refuse_multiple(command, "--leaf-m", "--leaf-resolutions");
  if (choice != KeypointChoice::kIss) {
    refuse_flags(command, flags_of<IssOptions>("iss"), "it belongs to --keypoints iss");
  }
  refuse_multiple(command, "--iss-salient-radius-m", "--iss-salient-resolutions");
  refuse_multiple(command, "--iss-non-max-radius-m", "--iss-non-max-resolutions");
  if (choice != KeypointChoice::kRandom && options.count == 0) {
    refuse_flags(command, {"--seed"}, "nothing is drawn at random");
  }
  if (options.shot.mode == ShotMode::kExact) {
    refuse_flags(command, {"--shot-most-neighbours"}, "it belongs to --shot-mode approx");
  }
  if (options.descriptor == DescriptorKind::kColorShot) {
    refuse_flags(command, {"--shot-bins"}, "it belongs to the shape, which is not described");
  }
}

}  // namespace

void check_describe_flags(const CLI::App& command, const DescribedSurfaceOptions& surface,
                          const DescribeOptions& options, bool with_picture) {
  if (!with_picture) {
    refuse_flags(command, flags_of<FramePictureOptions>("picture"), "it belongs to --picture");
  }
  if (surface.triangulate.edge_length == EdgeLength::kFrame) {
    refuse_flags(command, {"--mesh-edge-steps-per-m"}, "it belongs to --mesh-edge-length local");
  }
  if (options.descriptor == DescriptorKind::kTensor) {
    check_tensor_flags(command, options);
  } else {
    check_shot_flags(command, options);
  }
}

void check_described_input(const CLI::App& command, const Surface& surface,
                           const DescribedSurfaceOptions& surface_options,
                           const DescribeOptions& options, bool with_triangles) {
  const std::string& file = surface_options.input.file;
  if (options.descriptor == DescriptorKind::kTensor) {
    require(surface.organised() || !surface.triangles.empty(), "--descriptor tensor: ", file,
            " has no triangles; give a depth map, an organised cloud or a mesh");
  } else if (options.descriptor != DescriptorKind::kShot) {
    require(!surface.colors.empty(), "--descriptor ", name_of(options.descriptor, kDescriptorKinds),
            ": ", file,
            " has no colours; pass --color IMAGE with a depth map, or a cloud with rgb");
  }
  check_normals_flags(command, surface_options, surface);
  if (!surface.organised()) {
    refuse_flags_for_input(command, {"--pair-window-px"}, file + " has no rows");
  }
  if (surface.organised()) {
    refuse_flags_for_input(command, flags_of<FramePictureOptions>("picture"),
                           file + " is shown as its sensor saw it");
  }
  if (!surface.organised() || !with_triangles) {
    refuse_flags_for_input(command, flags_of<TriangulateOptions>("mesh"),
                           surface.organised() ? "only tensors and pictures need triangles"
                                               : file + " has no rows to be meshed");
  }
}

}  // namespace sextant::app
