// SPDX-License-Identifier: Apache-2.0
#include "sextant/match/photo_matches/on_device.h"

#include <algorithm>
#include <tuple>

#include "sextant/core/cuda/dispatch.h"
#include "sextant/core/for_each/anywhere.h"
#include "sextant/core/scan.h"
#include "sextant/match/photo_matches/places.h"

namespace sextant::detail::photo_matches {

AppearanceRows find_rows(const Context& context, const ResidentAppearance& appearance) {
  const std::vector<std::int32_t> ends = to_host(context, appearance.ends);
  const std::vector<Vec3f> points = to_host(context, appearance.points);
  std::vector<std::int32_t> twins(points.size());
  find_twins(Context::cpu(), view_of(ends), view_of(points), view_of(twins));
  std::vector<std::int32_t> with_twins;
  for (std::size_t row = 0; row < twins.size(); ++row) {
    if (twins[row] != kAlone) with_twins.push_back(static_cast<std::int32_t>(row));
  }
  const auto twin_of = [&](std::int32_t row) { return twins[static_cast<std::size_t>(row)]; };
  std::stable_sort(with_twins.begin(), with_twins.end(),
                   [&](std::int32_t a, std::int32_t b) { return twin_of(a) < twin_of(b); });
  std::vector<std::int32_t> twin_ends;
  for (std::size_t i = 0; i < with_twins.size(); ++i) {
    const bool last =
        i + 1 == with_twins.size() || twin_of(with_twins[i]) != twin_of(with_twins[i + 1]);
    if (last) twin_ends.push_back(static_cast<std::int32_t>(i + 1));
  }
  return {copy(context, object_of_rows(view_of(ends), static_cast<std::int64_t>(points.size()))),
          copy(context, twins), copy(context, with_twins), copy(context, twin_ends)};
}

namespace {

constexpr std::int64_t kMostDistances = std::int64_t{1} << 26;  ///< 256 MB at once
constexpr std::int64_t kMostPairs = std::int64_t{1} << 22;      ///< 64 MB
constexpr std::int64_t kWholeFeatures = 256;                    ///< what a block takes

std::int64_t pairs_of_feature(const DeviceJob& job) {
  return job.options.strategy == PhotoMatchStrategy::kEachObject ? job.ends.size : job.options.k;
}

/// How many features at once keep the memory within bounds.
std::int64_t features_at_once(const DeviceJob& job) {
  std::int64_t most = kMostPairs / pairs_of_feature(job);
  if (job.options.strategy == PhotoMatchStrategy::kNearest) {
    most = std::min(most, kMostDistances / job.points.size);
  }
  return std::max<std::int64_t>(most / kWholeFeatures, 1) * kWholeFeatures;
}

/// Appends the matches of some features.
void append_matches(const Context& context, const DeviceJob& job, std::int64_t first,
                    std::int64_t count, std::vector<PhotoMatch>& matches, Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  const View<Pair> pairs = workspace.take<Pair>(context, count * pairs_of_feature(job));
  on_device(
      context,
      [&] {
        if (job.options.strategy == PhotoMatchStrategy::kEachObject) {
          pair_each_object_cuda(context, job, first, count, pairs, workspace);
        } else {
          pair_nearest_cuda(context, job, first, count, pairs, workspace);
        }
      },
      [&] { fail("match_on_device: has no version for ", to_string(context.device())); });
  const View<std::int32_t> is_match = workspace.take<std::int32_t>(context, pairs.size);
  const View<std::int32_t> place = workspace.take<std::int32_t>(context, pairs.size + 1);
  for_each_anywhere(context, pairs.size,
                    IsMatch{pairs.data, job.at_px.data, {job.options.ratio}, is_match.data});
  exclusive_scan<std::int32_t>(context, is_match, place, workspace);
  std::int32_t total = 0;
  copy<std::int32_t>(context, place.subview(pairs.size, 1),
                     View<std::int32_t>{&total, 1, Device{}});
  if (total == 0) return;
  const View<PhotoMatch> found = workspace.take<PhotoMatch>(context, total);
  for_each_anywhere(context, pairs.size,
                    WriteMatch{pairs.data, is_match.data, place.data, job.at_px.data,
                               job.objects.data, job.ends.data, job.points.data, found.data});
  const std::size_t before = matches.size();
  matches.resize(before + static_cast<std::size_t>(total));
  copy<PhotoMatch>(context, found, View<PhotoMatch>{&matches[before], total, Device{}});
}

}  // namespace

std::vector<PhotoMatch> match_on_device(const Context& context, const PhotoFeatures& photo,
                                        const ResidentAppearance& appearance,
                                        const AppearanceRows& rows,
                                        const PhotoMatchOptions& options, Workspace& workspace) {
  std::vector<PhotoMatch> matches;
  const std::int64_t features = photo.at_px.size;
  if (features == 0 || appearance.points.empty()) return matches;
  const DeviceJob job{
      photo.descriptors, photo.at_px, appearance.descriptors, appearance.ends, appearance.points,
      rows.objects,      rows.twins,  rows.twin_rows,         rows.twin_ends,  options};
  const std::int64_t at_once = features_at_once(job);
  for (std::int64_t first = 0; first < features; first += at_once) {
    append_matches(context, job, first, std::min(at_once, features - first), matches, workspace);
  }
  std::sort(matches.begin(), matches.end(), [](const PhotoMatch& a, const PhotoMatch& b) {
    return std::tie(a.feature, a.object) < std::tie(b.feature, b.object);
  });
  return matches;
}

std::vector<PhotoMatch> match_photo_on_device(const Context& context, const SiftFeatures& features,
                                              const Camera& camera,
                                              const ResidentAppearance& appearance,
                                              const AppearanceRows& rows,
                                              const PhotoMatchOptions& options,
                                              Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  const View<Vec2f> places = workspace.take<Vec2f>(context, features.count);
  for_each_anywhere(context, features.count,
                    UndistortedPlace{camera, features.keypoints.data(), places.data});
  return match_on_device(
      context,
      {features.bytes.view().subview(0, std::int64_t{features.count} * kSiftLength), places},
      appearance, rows, options, workspace);
}

}  // namespace sextant::detail::photo_matches
