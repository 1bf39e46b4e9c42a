// SPDX-License-Identifier: Apache-2.0
#include "sextant/match/tensors.h"

#include <bit>

#include "sextant/core/for_each/anywhere.h"
#include "sextant/core/sort.h"
#include "sextant/match/tensors/blocks_math.h"
#include "sextant/match/tensors/sorted_scene.h"

namespace sextant {

using namespace detail::tensors;

namespace {

void check_set(const Context& context, const TensorSet& set, const char* name) {
  require_on(context, set.frames.view(), name);
  require(set.bins >= 1 && set.bins <= kMostTensorBins, name, ": ", set.bins,
          " bins along an axis; 1 to ", kMostTensorBins, " are possible");
}

SceneTensors arrange_scene(const Context& context, const TensorSet& scene, Workspace& workspace) {
  const std::int64_t capacity = scene.capacity();
  SceneTensors to{capacity,
                  scene.bins,
                  scene.count.data(),
                  scene.frames.data(),
                  scene.sizes.data(),
                  nullptr,
                  workspace.take<TensorMask>(context, 2 * capacity).data,
                  workspace.take<std::uint64_t>(context, capacity).data,
                  workspace.take<std::uint32_t>(context, 2 * capacity * kBlockWords).data};
  to.areas = workspace.take<std::uint32_t>(context, 2 * capacity * to.all_bins()).data;
  const detail::tensor::TensorSource from = detail::tensor::source_of(scene);
  detail::on_device(
      context, [&] { arrange_scene_cuda(context, from, to); },
      [&] { arrange_scene_cpu(context, from, to); });
  return to;
}

/// Tensors of the library that a thread takes at a time. The matches of each such chunk are merged.
constexpr std::int64_t kChunk = 512;

struct ChunkMatcher {
  const MatchJob& job;
  const SortedScene& sorted;

  void visit(std::int64_t begin, std::int64_t end, TensorMatch* lists) const {
    std::uint32_t model[kMostTensorBins * kMostTensorBins * kMostTensorBins];
    for (std::int64_t place = begin; place < end; ++place) {
      const float angle = job.library.angles_rad[place];
      if (!(angle >= 0.0f)) return;  // none after it could be made either
      const float window = job.options.angle_window_rad;
      bool unpacked = false;
      for (std::int64_t i =
               place_of<false>(sorted.angles_rad.data, sorted.angles_rad.size, angle - 2 * window);
           i < sorted.angles_rad.size && sorted.angles_rad[i] <= angle + 2 * window; ++i) {
        const std::int64_t t = sorted.order[i];
        const float scene_angle = sorted.angles_rad[i];
        // As CUDA decides, which looks for places of the library.
        if (!(angle >= scene_angle - window && angle <= scene_angle + window)) continue;
        for (int flipped = 0; flipped < 2; ++flipped) {
          compare(place, t, flipped, model, unpacked, lists);
        }
      }
    }
  }

 private:
  void compare(std::int64_t place, std::int64_t t, int flipped, std::uint32_t* model,
               bool& unpacked, TensorMatch* lists) const {
    const TensorMask& mine = job.library.masks[place];
    const TensorMask& theirs = job.scene.masks[2 * t + flipped];
    int common = 0;
    for (int w = 0; w < kMaskWords; ++w) {
      common += std::popcount(mine.words[w] & theirs.words[w]);
    }
    const float overlap = overlap_of(common, job.library.sizes[place], job.scene.sizes[t]);
    if (overlap < job.options.least_overlap) return;
    if (!unpacked) unpack(place, model);
    unpacked = true;
    const float correlation = correlate(mine, theirs, model, t, flipped);
    if (!(correlation >= job.options.least_correlation)) return;
    insert(lists + t * job.options.k, job.options.k,
           {static_cast<std::int32_t>(job.library.order[place]), flipped, correlation, overlap});
  }

  /// Only the bins of its mask are written, and only those are read.
  void unpack(std::int64_t place, std::uint32_t* model) const {
    const std::int64_t first = job.library.first[place];
    for (std::int64_t e = first; e < first + job.library.sizes[place]; ++e) {
      model[job.library.indices[e]] = job.library.areas[e];
    }
  }

  float correlate(const TensorMask& mine, const TensorMask& theirs, const std::uint32_t* model,
                  std::int64_t t, int flipped) const {
    const std::uint32_t* scene = job.scene.areas + (2 * t + flipped) * job.scene.all_bins();
    CorrelationSums sums;
    for (int w = 0; w < kMaskWords; ++w) {
      for (std::uint64_t rest = mine.words[w] & theirs.words[w]; rest != 0; rest &= rest - 1) {
        const int bin = w * 64 + std::countr_zero(rest);
        if (scene[bin] > 0) sums.add(model[bin], scene[bin]);
      }
    }
    return sums.correlation();
  }
};

}  // namespace

SortedScene detail::tensors::sort_scene(const Context& context, const SceneTensors& scene,
                                        Workspace& workspace) {
  const SortedScene sorted{workspace.take<float>(context, scene.capacity),
                           workspace.take<std::uint32_t>(context, scene.capacity)};
  for_each_anywhere(
      context, scene.capacity,
      ListAngles{scene.frames, scene.count, sorted.angles_rad.data, sorted.order.data});
  sort_pairs(context, sorted.angles_rad, sorted.order, {}, workspace);
  return sorted;
}

void detail::tensors::correlate_cpu(const Context& context, const MatchJob& job,
                                    Workspace& workspace) {
  const SortedScene sorted = sort_scene(context, job.scene, workspace);
  const std::int64_t chunks = (job.library.size + kChunk - 1) / kChunk;
  const std::int64_t row = job.scene.capacity * job.options.k;
  const View<TensorMatch> lists = workspace.take<TensorMatch>(context, chunks * row);
  const ChunkMatcher matcher{job, sorted};
  for_each_chunk(context, job.library.size, kChunk, [&](std::int64_t begin, std::int64_t end) {
    TensorMatch* mine = lists.data + begin / kChunk * row;
    std::fill(mine, mine + row, TensorMatch{});
    matcher.visit(begin, end, mine);
  });
  for_each_chunk(context, job.scene.capacity, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = begin; t < end; ++t) {
      TensorMatch* result = job.matches + t * job.options.k;
      std::fill(result, result + job.options.k, TensorMatch{});
      for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
        for (int i = 0; i < job.options.k; ++i) {
          insert(result, job.options.k, lists[chunk * row + t * job.options.k + i]);
        }
      }
    }
  });
}

TensorMatchOptions paper_tensor_matching() {
  return {.score = TensorScore::kCorrelation, .least_overlap = 0.45f, .least_correlation = 0.45f};
}

TensorIndex index_tensors(const Context& context, const TensorSet& library) {
  check_set(context, library, "library");
  const std::int64_t size = library.capacity();
  TensorIndex index{library.bins,
                    library.indices,
                    Buffer<std::uint32_t>(context, library.values.size()),
                    Buffer<std::uint32_t>(context, size),
                    Buffer<float>(context, size),
                    Buffer<TensorMask>(context, size),
                    Buffer<std::int32_t>(context, size),
                    Buffer<std::int64_t>(context, size),
                    Buffer<std::uint64_t>(context, size),
                    Buffer<std::uint32_t>(context, batches_of(size) * kBatch * kBlockWords)};
  detail::for_each_anywhere(context, size,
                            ListAngles{library.frames.data(), library.count.data(),
                                       index.angles_rad.data(), index.order.data()});
  sort_pairs(context, index.angles_rad.view(), index.order.view());
  detail::for_each_anywhere(context, library.values.size(),
                            FixArea{library.values.data(), index.areas.data()});
  detail::for_each_anywhere(
      context, size,
      ArrangeTensor{index.order.data(), library.masks.data(), library.sizes.data(),
                    library.first.data(), index.masks.data(), index.sizes.data(),
                    index.first.data()});
  detail::for_each_anywhere(
      context, batches_of(size) * kBatch,
      ArrangeBlocks{size, library.bins, library.indices.data(), index.areas.data(),
                    index.sizes.data(), index.first.data(), index.norms_sq.data(),
                    index.blocks.data()});
  return index;
}

void match_tensors_into(const Context& context, const TensorSet& scene, const TensorIndex& library,
                        const TensorMatchOptions& options, View<TensorMatch> matches,
                        Workspace& workspace) {
  check_options(options);
  check_set(context, scene, "scene");
  require_on(context, library.order.view(), "library");
  require(scene.bins == library.bins || library.size() == 0, "scene: ", scene.bins,
          " bins along an axis, but the library's tensors have ", library.bins);
  require_room(context, matches, scene.capacity() * options.k, "matches");
  if (matches.empty()) return;
  Workspace::Scope scope(workspace);
  const MatchJob job{
      arrange_scene(context, scene, workspace),
      {library.size(), library.indices.data, library.areas.data(), library.order.data(),
       library.angles_rad.data(), library.masks.data(), library.sizes.data(), library.first.data(),
       library.norms_sq.data(), library.blocks.data()},
      options,
      matches.data};
  const bool cosine = options.score == TensorScore::kCosine;
  detail::on_device(
      context, [&] { (cosine ? match_cosines_cuda : correlate_cuda)(context, job, workspace); },
      [&] { (cosine ? match_cosines_cpu : correlate_cpu)(context, job, workspace); });
}

Buffer<TensorMatch> match_tensors(const Context& context, const TensorSet& scene,
                                  const TensorIndex& library, const TensorMatchOptions& options) {
  check_options(options);
  Buffer<TensorMatch> matches(context, scene.capacity() * options.k);
  Workspace workspace;
  match_tensors_into(context, scene, library, options, matches, workspace);
  return matches;
}

}  // namespace sextant
