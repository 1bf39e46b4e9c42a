// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "apps/sextant/describe/description.h"
#include "sextant/core/options_json.h"
#include "sextant/core/random.h"

namespace sextant::app {

namespace {

constexpr std::int64_t kRandomKeypoints = 1000;

/// `count` of the indices, or all when there are fewer; in ascending order.
std::vector<std::int32_t> drawn(std::vector<std::int32_t> from, std::int64_t count,
                                std::uint64_t seed) {
  const auto size = static_cast<std::int64_t>(from.size());
  if (count <= 0 || count >= size) return from;
  for (std::int64_t i = 0; i < count; ++i) {
    const Random random{seed, static_cast<std::uint64_t>(i)};
    const std::int64_t other = i + random.below(static_cast<std::uint32_t>(size - i), 0);
    std::swap(from[static_cast<std::size_t>(i)], from[static_cast<std::size_t>(other)]);
  }
  from.resize(static_cast<std::size_t>(count));
  std::sort(from.begin(), from.end());
  return from;
}

/// The indices of the points that are not holes.
std::vector<std::int32_t> finite_points(const Context& context, const Cloud& cloud) {
  const std::vector<Vec3f> points = to_host(context, cloud.points);
  std::vector<std::int32_t> indices;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (is_finite(points[i])) indices.push_back(static_cast<std::int32_t>(i));
  }
  return indices;
}

struct Keypoints {
  std::vector<std::int32_t> indices;
  nlohmann::json facts;
};

Keypoints choose_keypoints(const Context& context, const DescribedSurface& surface,
                           const DescribeOptions& options) {
  const Cloud& cloud = surface.cloud();
  const float resolution_m = surface.resolution_m;
  const KeypointChoice choice =
      options.keypoints == KeypointChoice::kDefault ? KeypointChoice::kVoxel : options.keypoints;
  Keypoints result;
  result.facts["choice"] = name_of(choice, kKeypointChoices);
  std::int64_t count = options.count;
  if (choice == KeypointChoice::kVoxel) {
    const UniformKeypointOptions voxels = resolved(options.voxels, resolution_m);
    result.facts["leaf_m"] = voxels.leaf_m;
    result.indices = to_host(context, uniform_keypoints(context, cloud.points, voxels));
  } else if (choice == KeypointChoice::kIss) {
    const IssOptions iss = resolved(options.iss, resolution_m);
    result.facts["iss"] = options_to_json(iss);
    result.indices = to_host(context, iss_keypoints(context, cloud.points, iss));
  } else {
    result.indices = finite_points(context, cloud);
    if (choice == KeypointChoice::kRandom && count == 0) count = kRandomKeypoints;
  }
  result.indices = drawn(std::move(result.indices), count, options.seed);
  result.facts["count"] = result.indices.size();
  return result;
}

ShotOptions shot_options(const DescribeOptions& options, float resolution_m) {
  ShotOptions shot = options.shot;
  shot.radius_m = options.radius_m;
  shot.radius_resolutions = options.radius_resolutions;
  shot = resolved(shot, resolution_m);
  shot.content = options.descriptor == DescriptorKind::kShot        ? ShotContent::kShape
                 : options.descriptor == DescriptorKind::kColorShot ? ShotContent::kColor
                                                                    : ShotContent::kShapeAndColor;
  return shot;
}

std::vector<Vec3f> positions_of(const Context& context, const Cloud& cloud,
                                const std::vector<std::int32_t>& indices) {
  const std::vector<Vec3f> points = to_host(context, cloud.points);
  std::vector<Vec3f> positions;
  for (const std::int32_t i : indices) positions.push_back(points[static_cast<std::size_t>(i)]);
  return positions;
}

nlohmann::json count_neighbours(const Context& context, const Cloud& cloud,
                                const std::vector<Vec3f>& positions, float radius_m) {
  const NeighbourGrid grid =
      build_neighbour_grid(context, cloud.points, NeighbourGridOptions::for_radius(radius_m / 2));
  const Buffer<Vec3f> queries = copy(context, positions);
  Buffer<std::int32_t> counts(context, queries.size());
  Workspace workspace;
  count_neighbours_into(context, grid, queries, radius_m, counts, workspace);
  const std::vector<std::int32_t> on_host = to_host(context, counts);
  return mean_and_median({on_host.begin(), on_host.end()});
}

/// The descriptors as a file keeps them: those that are there, or all with `keep_invalid`.
DescriptorFile file_of(const Context& context, const ShotDescriptors& found,
                       const Keypoints& keypoints, const std::vector<Vec3f>& positions,
                       bool keep_invalid) {
  const std::vector<float> values = to_host(context, found.values);
  const std::vector<Vec3f> frames = to_host(context, found.frames);
  const std::vector<ShotStatus> status = to_host(context, found.status);
  DescriptorFile file;
  file.length = found.length;
  for (std::size_t i = 0; i < status.size(); ++i) {
    if (status[i] != ShotStatus::kDescribed && !keep_invalid) continue;
    file.points.push_back(keypoints.indices[i]);
    file.positions_m.push_back(positions[i]);
    file.axes.push_back({{frames[3 * i], frames[3 * i + 1], frames[3 * i + 2]}});
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(i) * found.length;
    file.values.insert(file.values.end(), first, first + found.length);
  }
  return file;
}

std::string text_of(const Description& description, const ShotCounts& counts, float radius_m) {
  const nlohmann::json& facts = description.facts;
  std::string text = fmt::format("  {} keypoints ({}), {} {} descriptors of radius {:.2f} mm",
                                 facts["keypoints"]["count"].get<std::size_t>(),
                                 facts["keypoints"]["choice"].get<std::string>(), counts.described,
                                 name_of(description.file), 1000 * radius_m);
  if (!facts["neighbours"].is_null()) {
    text += fmt::format(", {:.0f} neighbours each", facts["neighbours"]["median"].get<double>());
  }
  std::string reasons;
  const auto add = [&](std::int64_t count, const char* reason) {
    if (count == 0) return;
    reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", count, reason);
  };
  add(counts.not_finite, "not finite");
  add(counts.no_frame, "with too few points for a frame");
  add(counts.too_few, "with fewer than 5 neighbours");
  add(counts.no_vote, "whose neighbours have no normals");
  return text + (reasons.empty() ? "\n" : fmt::format("\n  without descriptor: {}\n", reasons));
}

}  // namespace

nlohmann::json mean_and_median(std::vector<double> numbers) {
  if (numbers.empty()) return nullptr;
  const double mean =
      std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return {{"mean", mean}, {"median", *middle}};
}

Description describe_shot(const Context& context, const DescribedSurface& surface,
                          const DescribeOptions& options, StepTimes& times) {
  const Cloud& cloud = surface.cloud();
  const ShotOptions shot = shot_options(options, surface.resolution_m);
  require(shot.content == ShotContent::kShape || !cloud.colors.empty(), "--descriptor ",
          name_of(options.descriptor, kDescriptorKinds),
          ": the input has no colours; pass --color IMAGE with a depth map, or a cloud with rgb");
  const Keypoints keypoints =
      times.time("keypoints", context, [&] { return choose_keypoints(context, surface, options); });
  const Buffer<std::int32_t> indices = copy(context, keypoints.indices);
  const ShotDescriptors found = times.time("describe", context, [&] {
    return compute_shot(context, {cloud.points, cloud.normals, cloud.colors}, indices, shot);
  });
  const std::vector<Vec3f> positions = positions_of(context, cloud, keypoints.indices);
  Description description;
  description.file = file_of(context, found, keypoints, positions, options.keep_invalid);
  description.file.kind = options.descriptor;
  description.file.size_m = shot.radius_m;
  const ShotCounts& counts = found.counts;
  description.facts = {
      {"keypoints", keypoints.facts},
      {"described", counts.described},
      {"invalid",
       {{"not_finite", counts.not_finite},
        {"no_frame", counts.no_frame},
        {"too_few", counts.too_few},
        {"no_vote", counts.no_vote}}},
      {"neighbours",
       times.time("count", context,
                  [&] { return count_neighbours(context, cloud, positions, shot.radius_m); })},
      {"options", options_to_json(shot)}};
  description.text = text_of(description, counts, shot.radius_m);
  return description;
}

}  // namespace sextant::app
