// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/buffer.h"

#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>

#include "sextant/core/build_config.h"
#include "sextant/core/cuda/backend.h"

namespace sextant::detail {

namespace {

/// A cache line and the widest SIMD register have this size.
constexpr std::size_t kHostAlignment = 64;

std::size_t checked_bytes(std::int64_t count, std::size_t element_bytes) {
  require(count >= 0, "Buffer: size ", count, " is negative");
  const auto most = std::numeric_limits<std::ptrdiff_t>::max() / element_bytes;
  require(static_cast<std::uint64_t>(count) <= most, "Buffer: ", count, " elements of ",
          element_bytes, " bytes exceed the address space");
  return static_cast<std::size_t>(count) * element_bytes;
}

void* allocate_host(std::size_t bytes) {
  const std::size_t rounded = (bytes + kHostAlignment - 1) / kHostAlignment * kHostAlignment;
  void* data = std::aligned_alloc(kHostAlignment, rounded);
  require(data != nullptr, "cannot allocate ", bytes, " bytes on cpu; process less at a time");
  return data;
}

// Nobody calls it in a build without CUDA.
[[maybe_unused]] std::function<void()> device_release(const std::shared_ptr<ContextState>& state,
                                                      void* data) {
  return [state, data, in_capture = state->capturing]() {
    if constexpr (kBuiltWithCuda) {
      if (state->capturing) {
        // The graph being recorded still uses it. The plain pointer in the closure keeps the state
        // from owning itself; the graph holds the state.
        state->released_while_capturing.push_back(
            [owner = state.get(), data, in_capture]() { cuda::release(*owner, data, in_capture); });
      } else {
        cuda::release(*state, data, in_capture);
      }
    }
  };
}

/// Kernels on the stream may still use what is to be released.
[[maybe_unused]] void release_when_idle(ContextState& state, const std::function<void()>& release) {
  if constexpr (kBuiltWithCuda) {
    try {
      cuda::synchronize(state);
    } catch (const Error&) {
      // The device is lost, and with it whatever used the memory.
    }
  }
  release();
}

}  // namespace

Allocation::Allocation(const Context& context, std::int64_t count, std::size_t element_bytes)
    : device_(context.device()) {
  const std::size_t bytes = checked_bytes(count, element_bytes);
  if (bytes == 0) return;
  ContextState& state = context.state();
  if (context.is_cpu()) {
    data_ = allocate_host(bytes);
    release_ = [data = data_]() { std::free(data); };
  } else if constexpr (kBuiltWithCuda) {
    data_ = cuda::allocate(state, bytes);
    release_ = device_release(context.shared_state(), data_);
  }
  ++state.allocations;
  state.allocated_bytes += static_cast<std::int64_t>(bytes);
}

Allocation::Allocation(const Context& context, Device device, void* data,
                       std::function<void()> release)
    : data_(data), device_(device) {
  if (context.is_cpu() || !release) {
    release_ = std::move(release);
    return;
  }
  if constexpr (kBuiltWithCuda) {
    release_ = [state = context.shared_state(), release = std::move(release)]() {
      if (state->capturing) {
        // The graph holds the state, which must not own itself.
        state->released_while_capturing.push_back(
            [owner = state.get(), release]() { release_when_idle(*owner, release); });
      } else {
        release_when_idle(*state, release);
      }
    };
  }
}

Allocation Allocation::pinned(const Context& context, std::int64_t count,
                              std::size_t element_bytes) {
  const std::size_t bytes = checked_bytes(count, element_bytes);
  if (bytes == 0) return {};
  Allocation allocation;
  if (context.is_cpu()) {
    allocation = Allocation(context, count, element_bytes);
  } else if constexpr (kBuiltWithCuda) {
    void* data = cuda::allocate_pinned(bytes);
    allocation = Allocation(context, Device{}, data, [data]() { cuda::release_pinned(data); });
    ++context.state().allocations;
    context.state().allocated_bytes += static_cast<std::int64_t>(bytes);
  }
  return allocation;
}

void Allocation::reset() noexcept {
  if (release_) release_();
  release_ = nullptr;
  data_ = nullptr;
}

void copy_bytes(const Context& context, Device to_device, void* to, Device from_device,
                const void* from, std::int64_t bytes, bool wait_for_host) {
  const Device host{};
  for (const Device device : {to_device, from_device}) {
    require(device == host || device == context.device(), "copy: memory on ", to_string(device),
            " is not reached by a context on ", to_string(context.device()));
  }
  if (bytes == 0) return;
  if (to_device == host && from_device == host) {
    std::memmove(to, from, static_cast<std::size_t>(bytes));
    return;
  }
  if constexpr (kBuiltWithCuda) {
    ContextState& state = context.state();
    // A graph would keep the pointer and read it at every launch, when the memory may be gone.
    require(!(state.capturing && wait_for_host && from_device != to_device),
            "copy: a graph that is being recorded cannot copy to or from plain host memory; use "
            "copy_async with pinned memory, or copy before the recording");
    // The driver would copy plain memory through a buffer of its own, and wait.
    const void* on_host = to_device == host ? to : from_device == host ? from : nullptr;
    require(wait_for_host || on_host == nullptr || cuda::is_pinned(on_host),
            "copy_async: the memory on the host is not pinned; take it from Buffer::pinned, or use "
            "copy");
    cuda::copy(state, to, from, static_cast<std::size_t>(bytes));
    if (from_device == host) {
      ++state.uploads;
      state.uploaded_bytes += bytes;
    } else if (to_device == host) {
      ++state.downloads;
      state.downloaded_bytes += bytes;
      if (wait_for_host) context.synchronize();
    }
  }
}

}  // namespace sextant::detail
