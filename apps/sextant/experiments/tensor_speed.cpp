// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/experiments/experiments.h"
#include "measure/tensor_chain.h"
#include "measure/time_graph.h"

namespace sextant::app {

namespace {

using measure::TensorChain;

/// Milliseconds for `amount` tensors, each with a call of its own that goes to the next of
/// `streams` streams; the time ends when all streams are done.
double one_call_a_tensor_ms(TensorChain& chain, int amount, int streams) {
  struct Lane {
    Context context;
    TensorSet tensors;
    Workspace workspace;
    explicit Lane(const Context& on) : context(on), tensors(on, 1, TensorOptions{}.bins) {}
  };
  std::vector<Lane> lanes;
  for (int i = 0; i < streams; ++i)
    lanes.emplace_back(Context::cuda(chain.context.device().ordinal));
  const Buffer<std::int32_t> one = copy(chain.context, std::vector<std::int32_t>{1});
  chain.context.synchronize();
  const auto all = [&] {
    for (int t = 0; t < amount; ++t) {
      Lane& lane = lanes[static_cast<std::size_t>(t % streams)];
      compute_tensors_into(lane.context, chain.surface(), chain.selected.view().subview(t, 1), one,
                           chain.statistics, {}, lane.tensors, lane.workspace);
    }
    for (const Lane& lane : lanes) lane.context.synchronize();
  };
  all();
  std::vector<double> sample;
  for (int i = 0; i < 15; ++i) sample.push_back(measure::milliseconds(all));
  return measure::spread_of(sample).median;
}

/// Page-locked room on the host for what goes to the device and comes back.
struct Transfers {
  Buffer<float> depth_m;
  Buffer<TensorFrame> frames;
  Buffer<TensorMask> masks;
  Buffer<std::int32_t> sizes;
  Buffer<std::uint16_t> indices;
  Buffer<float> values;

  Transfers(const TensorChain& chain, std::int64_t amount)
      : depth_m(Buffer<float>::pinned(chain.context, chain.depth_m.pixels().size())),
        frames(Buffer<TensorFrame>::pinned(chain.context, amount)),
        masks(Buffer<TensorMask>::pinned(chain.context, amount)),
        sizes(Buffer<std::int32_t>::pinned(chain.context, amount)),
        indices(Buffer<std::uint16_t>::pinned(chain.context, amount * bins_of(chain))),
        values(Buffer<float>::pinned(chain.context, amount * bins_of(chain))) {
    copy<float>(chain.context, chain.depth_m.pixels().view(), depth_m.view());
  }
  static std::int64_t bins_of(const TensorChain& chain) {
    const std::int64_t bins = chain.tensors.bins;
    return bins * bins * bins;
  }

  void upload(TensorChain& chain) {
    copy_async<float>(chain.context, depth_m.view(), chain.depth_m.pixels().view());
  }
  /// Brings the room of every bin, as the device does not tell how many are filled without a wait.
  void download(const TensorChain& chain) {
    const auto bring = [&]<class T>(const Buffer<T>& from, Buffer<T>& to) {
      copy_async<T>(chain.context, from.view().subview(0, to.size()), to.view());
    };
    bring(chain.tensors.frames, frames);
    bring(chain.tensors.masks, masks);
    bring(chain.tensors.sizes, sizes);
    bring(chain.tensors.indices, indices);
    bring(chain.tensors.values, values);
  }
};

measure::Row row_of(const std::string& what, double ours_ms, std::optional<double> paper_ms,
                    std::optional<double> goal_ms = {}) {
  measure::Row row{what, "ms", {}, ours_ms, goal_ms, {}, paper_ms};
  if (goal_ms) row.met = ours_ms <= *goal_ms;
  return row;
}

/// The last row of Table 3, which counts the transfers.
void add_transfers(TensorChain& chain, std::vector<measure::Row>& rows) {
  constexpr std::int64_t kAmount = 200;
  Transfers transfers(chain, kAmount);
  const auto add = [&](const char* what, std::optional<double> paper_ms,
                       const std::function<void()>& work) {
    rows.push_back(row_of(what, measure::graph_ms(chain.context, work), paper_ms));
  };
  add("upload of the depth map", {}, [&] { transfers.upload(chain); });
  add("download of 200 tensors", {}, [&] { transfers.download(chain); });
  add("depth to 200 tensors, all steps, upload and download counted", 490.0, [&] {
    transfers.upload(chain);
    chain.run(TensorChain::kSamples, kAmount);
    transfers.download(chain);
  });
}

/// Fig. 13: tensors alone against one thread of this machine's CPU. The paper's Table 3 has one
/// figure of it, for 200.
void add_speedup(std::int64_t amount, TensorChain& one_thread, bool cuda,
                 std::vector<measure::Row>& rows) {
  measure::Row& ours = rows.back();
  one_thread.select(amount);
  ours.peer = measure::graph_ms(one_thread.context, [&] { one_thread.describe(); });
  measure::Row speedup{std::to_string(amount) + " tensors, speed-up over one CPU thread",
                       "x",
                       {},
                       *ours.peer / ours.ours,
                       {},
                       {}};
  if (cuda && amount == 200) speedup.paper = 93.64;
  rows.push_back(speedup);
}

}  // namespace

/// The peer of the rows with one call is one thread of the CPU.
std::vector<measure::Row> tensor_speed(const Context& context) {
  const bool cuda = context.is_cuda();
  // The paper's method for normals; its times are those of a GTX 480 and of its CPU.
  TensorChain chain(context, NormalsMethod::kPca);
  const auto milliseconds = [&](const std::function<void()>& work) {
    return measure::graph_ms(context, work);
  };
  const auto here = [&](double gpu_ms, double cpu_ms) { return cuda ? gpu_ms : cpu_ms; };
  chain.run(0, TensorChain::kMostTensors);
  context.synchronize();
  TensorChain one_thread(Context::cpu(1), NormalsMethod::kPca);
  one_thread.run(0, TensorChain::kMostTensors);

  std::vector<measure::Row> rows;
  rows.push_back(row_of("valid pairs, every pixel", milliseconds([&] { chain.pair_up(0); }),
                        here(9, 4479), here(0.2, 60)));
  rows.push_back(row_of("valid pairs, 4000 pixels drawn",
                        milliseconds([&] { chain.pair_up(TensorChain::kSamples); }), {}));
  chain.pair_up(0);
  chain.select(1);
  rows.push_back(row_of("one tensor", milliseconds([&] { chain.describe(); }), here(3, 130)));
  for (const std::int64_t amount : {50, 100, 200, 500, 1000, 2000}) {
    chain.select(amount);
    std::optional<double> paper_ms, goal_ms;
    if (amount == 200) paper_ms = here(490, 45887), goal_ms = here(0.1, 60);
    if (amount == 2000 && cuda) goal_ms = 0.4;
    rows.push_back(row_of(std::to_string(amount) + " tensors, one call",
                          milliseconds([&] { chain.describe(); }), paper_ms, goal_ms));
    add_speedup(amount, one_thread, cuda, rows);
  }
  if (cuda) {
    chain.select(200);
    rows.push_back(row_of("200 tensors, a call each on one stream",
                          one_call_a_tensor_ms(chain, 200, 1), 2690.0));
    for (const int streams : {2, 4, 8, 16}) {
      rows.push_back(row_of("200 tensors, a call each on " + std::to_string(streams) + " streams",
                            one_call_a_tensor_ms(chain, 200, streams),
                            streams == 16 ? std::optional(490.0) : std::nullopt));
    }
  }
  rows.push_back(row_of("depth to 200 tensors, all steps",
                        milliseconds([&] { chain.run(TensorChain::kSamples, 200); }),
                        here(512, 52065), cuda ? std::optional(0.6) : std::nullopt));
  if (cuda) add_transfers(chain, rows);
  return rows;
}

}  // namespace sextant::app
