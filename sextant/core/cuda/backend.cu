// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/cuda/backend.h"

#include <cstdint>

#include "sextant/core/cuda_check.h"

namespace sextant::detail::cuda {

namespace {

/// Stands for all kernels: they are compiled for the same architectures.
__global__ void probe_kernel() {}

cudaStream_t stream_of(const ContextState& state) {
  check_cuda(cudaSetDevice(state.device.ordinal), "cudaSetDevice");
  return static_cast<cudaStream_t>(state.stream);
}

}  // namespace

int device_count(std::string& status) {
  int count = 0;
  const cudaError_t result = cudaGetDeviceCount(&count);
  if (result != cudaSuccess) {
    cudaGetLastError();
    status = result == cudaErrorInsufficientDriver
                 ? "no NVIDIA driver, or one older than this build's CUDA " + toolkit_version()
                 : cudaGetErrorString(result);
    return 0;
  }
  status = count > 0 ? "ready" : "no CUDA device";
  return count;
}

DeviceInfo device_info(int ordinal) {
  cudaDeviceProp properties;
  check_cuda(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
  DeviceInfo info;
  info.device = {DeviceKind::kCuda, ordinal};
  info.name = properties.name;
  info.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  info.processors = properties.multiProcessorCount;
  info.instruction_set =
      "sm_" + std::to_string(properties.major) + std::to_string(properties.minor);
  return info;
}

std::string toolkit_version() {
  return std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10);
}

void open(ContextState& state) {
  check_cuda(cudaSetDevice(state.device.ordinal), "cudaSetDevice");
  cudaFuncAttributes attributes;
  check_cuda(cudaFuncGetAttributes(&attributes, probe_kernel),
             "this build has no kernels for the GPU; set CMAKE_CUDA_ARCHITECTURES");
  check_cuda(cudaDeviceGetAttribute(&state.multiprocessors, cudaDevAttrMultiProcessorCount,
                                    state.device.ordinal),
             "cudaDeviceGetAttribute");
  if (!state.stream) {
    cudaStream_t stream;
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    state.stream = stream;
    state.owns_stream = true;
  }
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = state.device.ordinal;
  cudaMemPool_t pool;
  check_cuda(cudaMemPoolCreate(&pool, &properties), "cudaMemPoolCreate");
  state.pool = pool;
  // Keep what was freed: the next frame takes it again without asking the driver.
  std::uint64_t keep_all = UINT64_MAX;
  check_cuda(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep_all),
             "cudaMemPoolSetAttribute");
}

void close(ContextState& state) noexcept {
  // At program exit the driver may be gone already; nothing is left to free then.
  if (cudaSetDevice(state.device.ordinal) != cudaSuccess) return;
  if (state.stream) cudaStreamSynchronize(static_cast<cudaStream_t>(state.stream));
  if (state.pool) cudaMemPoolDestroy(static_cast<cudaMemPool_t>(state.pool));
  if (state.owns_stream) cudaStreamDestroy(static_cast<cudaStream_t>(state.stream));
  cudaGetLastError();
}

void synchronize(const ContextState& state) {
  check_cuda(cudaStreamSynchronize(stream_of(state)), "cudaStreamSynchronize");
}

void* allocate(ContextState& state, std::size_t bytes) {
  void* data = nullptr;
  const cudaStream_t stream = stream_of(state);
  const cudaError_t status =
      state.capturing
          ? cudaMalloc(&data, bytes)
          : cudaMallocFromPoolAsync(&data, bytes, static_cast<cudaMemPool_t>(state.pool), stream);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    cudaMemGetInfo(&free_bytes, &total_bytes);
    fail("cannot allocate ", bytes, " bytes on ", to_string(state.device), ": ", free_bytes, " of ",
         total_bytes, " are free; process less at a time");
  }
  check_cuda(status, "allocation on the device");
  return data;
}

void release(ContextState& state, void* data, bool allocated_in_capture) noexcept {
  if (cudaSetDevice(state.device.ordinal) != cudaSuccess) return;
  if (allocated_in_capture) {
    cudaFree(data);
  } else {
    cudaFreeAsync(data, static_cast<cudaStream_t>(state.stream));
  }
  cudaGetLastError();
}

void* allocate_pinned(std::size_t bytes) {
  void* data = nullptr;
  check_cuda(cudaMallocHost(&data, bytes), "cudaMallocHost");
  return data;
}

void release_pinned(void* data) noexcept {
  cudaFreeHost(data);
  cudaGetLastError();
}

bool is_pinned(const void* data) {
  cudaPointerAttributes attributes{};
  check_cuda(cudaPointerGetAttributes(&attributes, data), "cudaPointerGetAttributes");
  return attributes.type != cudaMemoryTypeUnregistered;
}

void copy(const ContextState& state, void* to, const void* from, std::size_t bytes) {
  check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_of(state)),
             "cudaMemcpyAsync");
}

void begin_capture(ContextState& state) {
  // Relaxed: buffers may be allocated while the sequence is recorded.
  check_cuda(cudaStreamBeginCapture(stream_of(state), cudaStreamCaptureModeRelaxed),
             "cudaStreamBeginCapture");
}

void* end_capture(ContextState& state) {
  cudaGraph_t graph = nullptr;
  check_cuda(cudaStreamEndCapture(stream_of(state), &graph), "cudaStreamEndCapture");
  cudaGraphExec_t executable = nullptr;
  const cudaError_t status = cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphDestroy(graph);
  check_cuda(status, "cudaGraphInstantiate");
  return executable;
}

void abandon_capture(ContextState& state) noexcept {
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(static_cast<cudaStream_t>(state.stream), &graph);
  if (graph) cudaGraphDestroy(graph);
  cudaGetLastError();
}

void launch_graph(const ContextState& state, void* graph) {
  check_cuda(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph), stream_of(state)),
             "cudaGraphLaunch");
}

void destroy_graph(void* graph) noexcept {
  cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph));
  cudaGetLastError();
}

}  // namespace sextant::detail::cuda
