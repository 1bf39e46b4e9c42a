// SPDX-License-Identifier: Apache-2.0
// Reduce, scan and sort of ten million elements against CUB itself on the same device. Usage:
//   core_bench [RESULT.json]
#include <cmath>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include "measure/report.h"
#include "sextant/core/cuda_check.h"
#include "sextant/core/random.h"
#include "sextant/core/reduce.h"
#include "sextant/core/scan.h"
#include "sextant/core/sort.h"

namespace sextant::measure {
namespace {

constexpr std::int64_t kCount = 10'000'000;
constexpr int kCallsPerSample = 10;  // queued together, so that launch gaps do not count
constexpr int kSamples = 60;

/// Microseconds a call takes on the device, warm.
template <class Work>
Spread microseconds(const Context& context, const Work& work) {
  const cudaStream_t stream = cuda_stream(context);
  cudaEvent_t start, stop;
  check_cuda(cudaEventCreate(&start), "cudaEventCreate");
  check_cuda(cudaEventCreate(&stop), "cudaEventCreate");
  for (int i = 0; i < 20; ++i) work();
  std::vector<double> sample;
  for (int i = 0; i < kSamples; ++i) {
    check_cuda(cudaEventRecord(start, stream), "cudaEventRecord");
    for (int call = 0; call < kCallsPerSample; ++call) work();
    check_cuda(cudaEventRecord(stop, stream), "cudaEventRecord");
    context.synchronize();
    float milliseconds = 0;
    check_cuda(cudaEventElapsedTime(&milliseconds, start, stop), "cudaEventElapsedTime");
    sample.push_back(1000.0 * milliseconds / kCallsPerSample);
  }
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  return spread_of(sample);
}

/// A CUB algorithm with its workspace made beforehand.
template <class Call>
auto with_workspace(const Context& context, const Call& call) {
  std::size_t bytes = 0;
  check_cuda(call(nullptr, bytes), "CUB");
  auto workspace = std::make_shared<Buffer<std::byte>>(context, static_cast<std::int64_t>(bytes));
  return [=]() {
    std::size_t size = bytes;
    check_cuda(call(workspace->data(), size), "CUB");
  };
}

Row compared(const std::string& what, Spread peer, Spread ours) {
  constexpr double kGoalRatio = 2.0;
  return {what,
          "us",
          peer.median,
          ours.median,
          kGoalRatio * peer.median,
          ours.median <= kGoalRatio * peer.median};
}

struct Inputs {
  std::vector<float> floats;
  std::vector<std::int32_t> integers;
  std::vector<std::uint32_t> keys;
};

Inputs make_inputs() {
  Inputs inputs;
  for (std::int64_t i = 0; i < kCount; ++i) {
    const auto words = Random{1, static_cast<std::uint64_t>(i)}.words(0);
    inputs.floats.push_back(static_cast<float>(words.word[0] >> 8) * 0x1p-24f);
    inputs.integers.push_back(static_cast<std::int32_t>(words.word[1] % 7));
    inputs.keys.push_back(words.word[2]);
  }
  return inputs;
}

Row reduce_row(const Context& context, const Inputs& inputs) {
  const Buffer<float> values = copy(context, inputs.floats);
  Buffer<float> result(context, 1);
  const cudaStream_t stream = cuda_stream(context);
  const auto cub_sum = with_workspace(context, [&](void* space, std::size_t& bytes) {
    return cub::DeviceReduce::Sum(space, bytes, values.data(), result.data(), kCount, stream);
  });
  const Spread peer = microseconds(context, cub_sum);
  const Spread ours = microseconds(context, [&] { reduce_sum<float>(context, values, result); });
  Buffer<float> on_host(Context::cpu(), 1);
  reduce_sum<float>(Context::cpu(), view_of(inputs.floats), on_host);
  require(to_host(context, result)[0] == on_host.host()[0], "reduce differs from the CPU");
  return compared("sum of 1e7 floats", peer, ours);
}

Row scan_row(const Context& context, const Inputs& inputs) {
  const Buffer<std::int32_t> values = copy(context, inputs.integers);
  Buffer<std::int32_t> sums(context, kCount);
  const cudaStream_t stream = cuda_stream(context);
  const auto cub_scan = with_workspace(context, [&](void* space, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(space, bytes, values.data(), sums.data(), kCount, stream);
  });
  const Spread peer = microseconds(context, cub_scan);
  const Spread ours =
      microseconds(context, [&] { exclusive_scan<std::int32_t>(context, values, sums); });
  std::vector<std::int32_t> on_host(inputs.integers.size());
  exclusive_scan<std::int32_t>(Context::cpu(), view_of(inputs.integers), view_of(on_host));
  require(to_host(context, sums) == on_host, "scan differs from the CPU");
  return compared("exclusive scan of 1e7 int32", peer, ours);
}

Row sort_row(const Context& context, const Inputs& inputs) {
  const Buffer<std::uint32_t> keys = copy(context, inputs.keys);
  Buffer<std::uint32_t> sorted(context, kCount);
  Buffer<std::uint32_t> values(context, kCount);
  Buffer<std::uint32_t> sorted_values(context, kCount);
  const cudaStream_t stream = cuda_stream(context);
  const auto cub_sort = with_workspace(context, [&](void* space, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(space, bytes, keys.data(), sorted.data(), values.data(),
                                           sorted_values.data(), kCount, 0, 32, stream);
  });
  const Spread peer = microseconds(context, cub_sort);
  // In place: the keys are put back before each call, and that copy is timed by itself.
  const auto restore = [&] { copy<std::uint32_t>(context, keys, sorted); };
  const Spread copying = microseconds(context, restore);
  Spread ours = microseconds(context, [&] {
    restore();
    sort_pairs<std::uint32_t>(context, sorted, sorted_values);
  });
  ours.median -= copying.median;
  std::vector<std::uint32_t> on_host = inputs.keys;
  sort_keys<std::uint32_t>(Context::cpu(), view_of(on_host));
  require(to_host(context, sorted) == on_host, "sort differs from the CPU");
  return compared("stable sort of 1e7 uint32 pairs", peer, ours);
}

int run(const std::string& file) {
  const Context context = Context::cuda();
  const Inputs inputs = make_inputs();
  const std::vector<Row> rows{reduce_row(context, inputs), scan_row(context, inputs),
                              sort_row(context, inputs)};
  publish("core", list_devices().devices.at(1).name, rows, file);
  return 0;
}

}  // namespace
}  // namespace sextant::measure

int main(int argc, char** argv) {
  return sextant::measure::run_main(argc, argv, sextant::measure::run);
}
