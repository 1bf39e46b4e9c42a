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

measure::Row row_of(const std::string& what, double ours_ms, std::optional<double> paper_ms,
                    std::optional<double> goal_ms = {}) {
  measure::Row row{what, "ms", {}, ours_ms, goal_ms, {}, paper_ms};
  if (goal_ms) row.met = ours_ms <= *goal_ms;
  return row;
}

}  // namespace

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
  return rows;
}

}  // namespace sextant::app
