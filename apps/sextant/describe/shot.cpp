// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "apps/sextant/describe/description.h"
#include "sextant/core/options_json.h"
#include "sextant/core/parcel.h"
#include "sextant/core/random.h"
#include "sextant/descriptor/surface_descriptors.h"
#include "sextant/geometry/gather.h"

namespace sextant::app {

namespace {

constexpr std::int64_t kRandomKeypoints = 1000;

/// Which of `size` things are drawn: `count` of them, or all when there are fewer; in ascending
/// order.
std::vector<std::int32_t> drawn(std::int64_t size, std::int64_t count, std::uint64_t seed) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(size));
  std::iota(all.begin(), all.end(), 0);
  if (count <= 0 || count >= size) return all;
  for (std::int64_t i = 0; i < count; ++i) {
    const Random random{seed, static_cast<std::uint64_t>(i)};
    const std::int64_t other = i + random.below(static_cast<std::uint32_t>(size - i), 0);
    std::swap(all[static_cast<std::size_t>(i)], all[static_cast<std::size_t>(other)]);
  }
  all.resize(static_cast<std::size_t>(count));
  std::sort(all.begin(), all.end());
  return all;
}

struct Keypoints {
  Buffer<std::int32_t> indices;  ///< of points of the surface, on its device
  nlohmann::json facts;
};

Keypoints choose_keypoints(const Context& context, const Surface& surface,
                           const DescribeOptions& options) {
  const float resolution_m = surface.resolution_m;
  const KeypointChoice choice =
      options.keypoints == KeypointChoice::kDefault ? KeypointChoice::kVoxel : options.keypoints;
  Keypoints result;
  result.facts["choice"] = name_of(choice, kKeypointChoices);
  std::int64_t count = options.count;
  if (choice == KeypointChoice::kVoxel) {
    const UniformKeypointOptions voxels = resolved(options.voxels, resolution_m);
    result.facts["leaf_m"] = voxels.leaf_m;
    result.indices = uniform_keypoints(context, surface, voxels);
  } else if (choice == KeypointChoice::kIss) {
    const IssOptions iss = resolved(options.iss, resolution_m);
    result.facts["iss"] = options_to_json(iss);
    result.indices = iss_keypoints(context, surface, iss);
  } else if (choice == KeypointChoice::kAll && options.keep_invalid) {
    result.indices = copy(context, drawn(surface.size(), 0, options.seed));  // holes, too
  } else {
    result.indices = finite_points(context, surface.points);
    if (choice == KeypointChoice::kRandom && count == 0) count = kRandomKeypoints;
  }
  if (count > 0 && count < result.indices.size()) {
    const Buffer<std::int32_t> chosen =
        copy(context, drawn(result.indices.size(), count, options.seed));
    result.indices = gather<std::int32_t>(context, result.indices, chosen);
  }
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

/// Everything that is known of the keypoints, in one piece of memory.
struct ShotParcel {
  Parcel parcel;
  Parcel::Part<std::int32_t> indices;
  Parcel::Part<Vec3f> positions;
  Parcel::Part<std::int32_t> neighbours;
  Parcel::Part<float> values;
  Parcel::Part<Vec3f> frames;
  Parcel::Part<ShotStatus> status;

  ShotParcel(std::int64_t count, int length)
      : indices(parcel.add<std::int32_t>(count)),
        positions(parcel.add<Vec3f>(count)),
        neighbours(parcel.add<std::int32_t>(count)),
        values(parcel.add<float>(count * length)),
        frames(parcel.add<Vec3f>(3 * count)),
        status(parcel.add<ShotStatus>(count)) {}
};

/// Describes the keypoints, and counts the neighbours of each.
ShotParcel described(const Context& context, const Surface& surface, const Keypoints& keypoints,
                     const ShotOptions& shot) {
  const std::int64_t count = keypoints.indices.size();
  ShotParcel result(count, shot_length(shot));
  Parcel& parcel = result.parcel;
  parcel.allocate(context);
  copy<std::int32_t>(context, keypoints.indices, parcel[result.indices]);
  gather_into<Vec3f>(context, surface.points, keypoints.indices, parcel[result.positions]);
  const bool color = shot.content != ShotContent::kShape;
  const Buffer<Rgb8> colors =
      color ? gather<Rgb8>(context, surface.colors, keypoints.indices) : Buffer<Rgb8>();
  const View<const Vec3f> positions = parcel[result.positions];
  const NeighbourGrid& grid =
      surface.grid(context, NeighbourGridOptions::for_radius(0.5f * shot.radius_m));
  Workspace workspace;
  count_neighbours_into(context, grid, positions, shot.radius_m, parcel[result.neighbours],
                        workspace);
  compute_shot_into(
      context, grid, {surface.points, surface.normals, surface.colors}, {positions, colors, {}},
      shot, {parcel[result.values], parcel[result.frames], parcel[result.status]}, workspace);
  return result;
}

/// The descriptors as a file keeps them: those that are there, or all with `keep_invalid`.
DescriptorFile file_of(const ShotParcel& found, const Parcel& on_host, int length,
                       bool keep_invalid) {
  const View<const ShotStatus> status = on_host[found.status];
  const View<const Vec3f> frames = on_host[found.frames];
  const View<const float> values = on_host[found.values];
  DescriptorFile file;
  file.length = length;
  for (std::int64_t i = 0; i < status.size; ++i) {
    if (status[i] != ShotStatus::kDescribed && !keep_invalid) continue;
    file.points.push_back(on_host[found.indices][i]);
    file.positions_m.push_back(on_host[found.positions][i]);
    file.axes.push_back({{frames[3 * i], frames[3 * i + 1], frames[3 * i + 2]}});
    const View<const float> row = values.subview(i * length, length);
    file.values.insert(file.values.end(), row.begin(), row.end());
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

Description describe_shot(const Context& context, const Surface& surface,
                          const DescribeOptions& options, StepTimes& times) {
  const ShotOptions shot = shot_options(options, surface.resolution_m);
  const Keypoints keypoints =
      times.time("keypoints", context, [&] { return choose_keypoints(context, surface, options); });
  const ShotParcel found =
      times.time("describe", context, [&] { return described(context, surface, keypoints, shot); });
  const Parcel on_host = to_host(context, found.parcel);
  Description description;
  description.file = file_of(found, on_host, shot_length(shot), options.keep_invalid);
  description.file.kind = options.descriptor;
  description.file.size_m = shot.radius_m;
  const ShotCounts counts = counts_of(on_host[found.status]);
  std::vector<double> neighbours;
  for (std::int64_t i = 0; i < on_host[found.status].size; ++i) {
    if (on_host[found.status][i] == ShotStatus::kNotFinite) continue;
    neighbours.push_back(on_host[found.neighbours][i]);
  }
  description.facts = {{"keypoints", keypoints.facts},
                       {"described", counts.described},
                       {"invalid",
                        {{"not_finite", counts.not_finite},
                         {"no_frame", counts.no_frame},
                         {"too_few", counts.too_few},
                         {"no_vote", counts.no_vote}}},
                       {"neighbours", mean_and_median(std::move(neighbours))},
                       {"options", options_to_json(shot)}};
  description.text = text_of(description, counts, shot.radius_m);
  return description;
}

}  // namespace sextant::app
