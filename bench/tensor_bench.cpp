// SPDX-License-Identifier: Apache-2.0
// Pairs and tensors of one VGA frame on the CPU and, where there is one, on the GPU (a replayed
// graph, data resident), which must agree to the last bit; beside them the paper's kernel, a thread
// for each bin. Usage: tensor_bench [RESULT.json]
#include <cmath>
#include <cstring>

#include "bench/tensor_voxel.h"
#include "measure/tensor_chain.h"
#include "measure/time_graph.h"
#include "sextant/core/build_config.h"

namespace sextant::measure {
namespace {

struct Goals {
  double dense_ms, tensors_200_ms;
  std::optional<double> tensors_2000_ms, chain_ms;
};

Row with_goal(const std::string& what, double ours_ms, std::optional<double> goal_ms) {
  Row row{what, "ms", {}, ours_ms, goal_ms, {}};
  if (goal_ms) row.met = ours_ms <= *goal_ms;
  return row;
}

void add_rows(TensorChain& chain, const Goals& goals, std::vector<Row>& rows) {
  const Context& context = chain.context;
  const std::string where = context.is_cpu()
                                ? " (" + std::to_string(context.threads()) + " threads)"
                                : " (" + to_string(context.device()) + ")";
  const auto time = [&](const std::string& what, std::optional<double> goal_ms,
                        const std::function<void()>& work) {
    rows.push_back(with_goal(what + where, time_graph(context, work).median, goal_ms));
  };
  chain.run(0, TensorChain::kMostTensors);  // every buffer has its content
  time("valid pairs of 640x480, every pixel", goals.dense_ms, [&] { chain.pair_up(0); });
  const std::int64_t dense = to_host(context, chain.pair_count)[0];
  time("valid pairs, 4000 pixels drawn", {}, [&] { chain.pair_up(TensorChain::kSamples); });
  const std::int64_t sampled = to_host(context, chain.pair_count)[0];
  rows.push_back({"pairs of every pixel" + where, "pairs", {}, double(dense), {}, {}});
  rows.push_back({"pairs of 4000 pixels" + where, "pairs", {}, double(sampled), {}, {}});
  for (const std::int64_t amount : {std::int64_t{200}, TensorChain::kMostTensors}) {
    chain.select(amount);
    const std::string what = std::to_string(amount) + " tensors, ";
    const std::optional<double> goal =
        amount == 200 ? std::optional(goals.tensors_200_ms) : goals.tensors_2000_ms;
    time(what + "grow", goal, [&] { chain.describe(); });
    time(what + "all", {}, [&] { chain.describe({.mode = TensorMode::kAll}); });
  }
  const std::vector<std::int32_t> sizes = to_host(context, chain.tensors.sizes);
  double bins = 0;
  for (const std::int32_t size : sizes) bins += size;
  rows.push_back({"bins of a tensor that are not empty" + where,
                  "bins",
                  {},
                  bins / static_cast<double>(sizes.size()),
                  {},
                  {}});
  time("depth to 200 tensors, all steps", goals.chain_ms,
       [&] { chain.run(TensorChain::kSamples, 200); });
}

/// The paper's kernel on the same pairs, and how far its tensors are from ours.
void add_voxel_rows([[maybe_unused]] TensorChain& chain, [[maybe_unused]] std::vector<Row>& rows) {
  if constexpr (kBuiltWithCuda) {
    constexpr int kReach_px = 32;
    constexpr std::int64_t kTensors = 200;
    const Context& context = chain.context;
    chain.run(TensorChain::kSamples, kTensors);
    chain.describe({.mode = TensorMode::kAll});
    Buffer<float> ours(context, chain.tensors.capacity() * 1000);
    unpack_tensors_into(context, chain.tensors, ours);
    Buffer<float> theirs(context, kTensors * 1000);
    const double voxel_ms = time_graph(context, [&] {
                              voxel_tensors(context, chain.surface(), chain.tensors.frames,
                                            kTensors, kReach_px, theirs);
                            }).median;
    const double our_ms =
        time_graph(context, [&] { chain.describe({.mode = TensorMode::kAll}); }).median;
    rows.push_back(
        {"200 tensors, all, beside a thread for each bin", "ms", voxel_ms, our_ms, {}, {}});
    const std::vector<float> a = to_host(context, ours);
    const std::vector<float> b = to_host(context, theirs);
    std::int64_t apart = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
      // Ours are 0 below 2⁻¹⁴, and contracted arithmetic cuts elsewhere by 1e-5.
      if (std::abs(a[i] - b[i]) > 1e-3f) ++apart;
    }
    rows.push_back({"bins where the two differ by more than 0.001",
                    "share",
                    {},
                    double(apart) / double(b.size()),
                    1e-3,
                    double(apart) <= 1e-3 * double(b.size())});
  }
}

/// The tensors of a frame with the same surface on both devices.
bool same_tensors(TensorChain& cpu, TensorChain& cuda) {
  cpu.run(TensorChain::kSamples, 200);
  copy<Vec3f>(cuda.context, cpu.points.view(), cuda.points.view());
  copy<Vec3f>(cuda.context, cpu.normals.pixels().view(), cuda.normals.pixels().view());
  copy<std::uint8_t>(cuda.context, cpu.cells.pixels().view(), cuda.cells.pixels().view());
  copy<SurfaceStatistics>(cuda.context, cpu.statistics.view(), cuda.statistics.view());
  cuda.pair_up(TensorChain::kSamples);
  cuda.select(200);
  cuda.describe();
  const TensorSet a = pack_tensors(cpu.context, cpu.tensors);
  const TensorSet b = to_host(cuda.context, pack_tensors(cuda.context, cuda.tensors));
  return a.values.size() == b.values.size() && a.capacity() == b.capacity() &&
         std::memcmp(a.values.data(), b.values.data(),
                     static_cast<std::size_t>(a.values.size()) * sizeof(float)) == 0 &&
         std::memcmp(a.masks.data(), b.masks.data(),
                     static_cast<std::size_t>(a.masks.size()) * sizeof(TensorMask)) == 0;
}

int run(const std::string& file) {
  std::vector<Row> rows;
  TensorChain on_cpu(Context::cpu(2));
  add_rows(on_cpu, {60.0, 60.0, {}, {}}, rows);
  if (Context::best().is_cuda()) {
    TensorChain on_cuda(Context::best());
    add_rows(on_cuda, {0.2, 0.1, 0.4, 0.6}, rows);
    add_voxel_rows(on_cuda, rows);
    require(same_tensors(on_cpu, on_cuda), "the tensors of CPU and CUDA differ");
  }
  publish("tensor", list_devices().devices.back().name, rows, file);
  return 0;
}

}  // namespace
}  // namespace sextant::measure

int main(int argc, char** argv) {
  return sextant::measure::run_main(argc, argv, sextant::measure::run);
}
