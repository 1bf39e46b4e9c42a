// SPDX-License-Identifier: Apache-2.0
// Matching of descriptors and of tensors on the CPU and, where there is one, on the GPU (a replayed
// graph, data resident), which must agree to the last bit. Usage: match_device_bench [RESULT.json]
#include <array>
#include <cmath>

#include "bench/like_descriptors.h"
#include "measure/report.h"
#include "measure/time_graph.h"
#include "sextant/core/random.h"
#include "sextant/match/descriptors.h"
#include "sextant/match/tensors.h"

namespace sextant::measure {
namespace {

/// Tensors with 140 bins on average in a slab of the cube, of random angles.
TensorSet random_tensors(std::int64_t count, std::uint64_t seed) {
  constexpr int kBins = 10;
  TensorSet set(Context::cpu(), count, kBins);
  set.count.host()[0] = static_cast<std::int32_t>(count);
  std::int64_t place = 0;
  for (std::int64_t t = 0; t < count; ++t) {
    const Random own{seed, static_cast<std::uint64_t>(t)};
    const Random kind{97, own.below(kDescriptorKinds, 5000)};
    TensorFrame frame{};
    frame.angle_rad = 0.27f + 0.6f * kind.uniform(4000) + 0.02f * own.uniform(4000);
    set.frames.host()[t] = frame;
    TensorMask mask{};
    set.first.host()[t] = place;
    const int begin = 300 + static_cast<int>(kind.below(150, 4001));
    for (int bin = begin; bin < begin + 250; ++bin) {
      const auto draw = static_cast<std::uint64_t>(bin);
      if (kind.uniform(draw) > 0.6f || own.uniform(draw) < 0.07f) continue;
      mask.words[bin / 64] |= std::uint64_t{1} << (bin % 64);
      set.indices.host()[place] = static_cast<std::uint16_t>(bin);
      const float area = 0.2f + kind.uniform(2000 + draw) + 0.3f * own.uniform(2000 + draw);
      set.values.host()[place++] = std::ldexp(std::round(std::ldexp(area, 20)), -20);
    }
    set.masks.host()[t] = mask;
    set.sizes.host()[t] = static_cast<std::int32_t>(place - set.first.host()[t]);
  }
  return set;
}

Row timed(const std::string& what, const Context& context, const std::function<void()>& work,
          std::optional<double> goal_ms, std::optional<double> paper_ms = {}) {
  work();  // the workspace has its size
  const std::string where = context.is_cpu()
                                ? " (" + std::to_string(context.threads()) + " threads)"
                                : " (" + to_string(context.device()) + ")";
  Row row{what + where, "ms", {}, time_graph(context, work).median, goal_ms, {}, paper_ms};
  if (goal_ms) row.met = row.ours <= *goal_ms;
  return row;
}

struct Nearest {
  std::vector<std::int32_t> indices;
  std::vector<float> distances_sq;
};

template <class T>
Nearest time_nearest(const Context& context, const std::string& what, const std::vector<T>& queries,
                     const std::vector<T>& base, int length, std::optional<double> goal_ms,
                     std::vector<Row>& rows) {
  const Buffer<T> q = copy(context, queries);
  const Buffer<T> b = copy(context, base);
  const auto base_rows = static_cast<std::int32_t>(base.size() / static_cast<std::size_t>(length));
  const Buffer<std::int32_t> ends = copy(context, std::vector<std::int32_t>{base_rows});
  const std::int64_t size = q.size() / length * 2;
  Buffer<std::int32_t> indices(context, size);
  Buffer<float> distances_sq(context, size);
  Workspace workspace;
  rows.push_back(timed(
      what, context,
      [&] {
        nearest_descriptors_into(context, DescriptorRows<T>{q, length},
                                 DescriptorRows<T>{b, length}, ends, {}, indices, distances_sq,
                                 workspace);
      },
      goal_ms));
  return {to_host(context, indices), to_host(context, distances_sq)};
}

std::vector<TensorMatch> time_tensors(const Context& context, const TensorSet& scene,
                                      const TensorSet& library, std::optional<double> goal_ms,
                                      std::optional<double> paper_ms, std::vector<Row>& rows) {
  const TensorSet scene_there = copy(context, scene);
  const TensorSet library_there = copy(context, library);
  const TensorIndex index = index_tensors(context, library_there);
  const TensorMatchOptions options;
  Buffer<TensorMatch> matches(context, scene.capacity() * options.k);
  Workspace workspace;
  rows.push_back(timed(
      "200 tensors against " + std::to_string(library.capacity()), context,
      [&] { match_tensors_into(context, scene_there, index, options, matches, workspace); },
      goal_ms, paper_ms));
  return to_host(context, matches);
}

bool same(const std::vector<TensorMatch>& a, const std::vector<TensorMatch>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](auto& x, auto& y) {
           return x.model == y.model && x.flipped == y.flipped && x.correlation == y.correlation &&
                  x.overlap == y.overlap;
         });
}

int run(const std::string& file) {
  const Context cpu = Context::cpu(2);
  std::vector<Context> contexts{cpu};
  if (const Context best = Context::best(); best.is_cuda()) contexts.push_back(best);
  std::vector<Row> rows;
  std::vector<bool> agreed;

  const auto sift = bytes_like_sift(60000, 1);
  const auto sift_queries = bytes_like_sift(10000, 2);
  const auto shot = floats_like_shot(64000, 3);
  const auto shot_queries = floats_like_shot(2000, 4);
  Nearest first_bytes, first_floats;
  for (const Context& context : contexts) {
    const bool gpu = context.is_cuda();
    const auto goal = [gpu](double ms) { return gpu ? std::optional(ms) : std::nullopt; };
    Nearest bytes = time_nearest(context, "2 nearest of 10000 x 60000 rows of 128 bytes",
                                 sift_queries, sift, 128, goal(0.6), rows);
    Nearest floats = time_nearest(context, "2 nearest of 2000 x 64000 rows of 352 floats",
                                  shot_queries, shot, 352, goal(1.0), rows);
    if (gpu) {
      agreed.push_back(bytes.indices == first_bytes.indices &&
                       bytes.distances_sq == first_bytes.distances_sq);
      agreed.push_back(floats.indices == first_floats.indices &&
                       floats.distances_sq == first_floats.distances_sq);
    }
    first_bytes = std::move(bytes);
    first_floats = std::move(floats);
  }

  const TensorSet scene = random_tensors(200, 5);
  for (const auto& [count, paper_gpu_ms, paper_cpu_ms] : {std::array{2000.0, 75.0, 215.0},
                                                          {4000.0, 140.0, 398.0},
                                                          {16000.0, 534.0, 1589.0},
                                                          {64000.0, 2130.0, 6414.0}}) {
    const TensorSet library = random_tensors(static_cast<std::int64_t>(count), 6);
    std::vector<TensorMatch> first;
    for (const Context& context : contexts) {
      const bool largest = count == 64000.0;
      const bool gpu = context.is_cuda();
      std::optional<double> goal;
      if (largest) goal = gpu ? 0.5 : 60.0;
      std::vector<TensorMatch> found =
          time_tensors(context, scene, library, goal, gpu ? paper_gpu_ms : paper_cpu_ms, rows);
      if (gpu) agreed.push_back(same(first, found));
      first = std::move(found);
    }
  }
  for (std::size_t i = 0; i < agreed.size(); ++i) {
    require(agreed[i], "match_device_bench: CPU and GPU differ in comparison ", i);
  }
  const std::string device = list_devices().devices.back().name;
  publish("match_device", device, rows, file);
  return 0;
}

}  // namespace
}  // namespace sextant::measure

int main(int argc, char** argv) {
  return sextant::measure::run_main(argc, argv, sextant::measure::run);
}
