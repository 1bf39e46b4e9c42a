// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/context.h"

#include <algorithm>

#include "sextant/core/build_config.h"
#include "sextant/core/cuda/backend.h"
#include "sextant/core/error.h"
#include "sextant/core/threads/thread_count.h"

namespace sextant {

namespace {

constexpr int kMostThreads = 1024;

std::shared_ptr<detail::ContextState> open_cuda(int ordinal, void* stream) {
  if constexpr (kBuiltWithCuda) {
    std::string status;
    const int count = detail::cuda::device_count(status);
    require(count > 0, "Context::cuda: ", status, "; use Context::cpu() or Context::best()");
    require(ordinal >= 0 && ordinal < count, "Context::cuda: ordinal ", ordinal, " is not in 0..",
            count - 1);
    auto state = std::make_shared<detail::ContextState>();
    state->device = {DeviceKind::kCuda, ordinal};
    state->stream = stream;
    detail::cuda::open(*state);
    return state;
  } else {
    static_cast<void>(ordinal);
    static_cast<void>(stream);
    fail(
        "Context::cuda: this build has no CUDA back end; configure with -DSEXTANT_CUDA=ON, or use "
        "Context::cpu()");
  }
}

}  // namespace

detail::ContextState::~ContextState() {
  if constexpr (kBuiltWithCuda) {
    if (device.kind == DeviceKind::kCuda) cuda::close(*this);
  }
}

Context Context::cpu(int threads) {
  require(threads >= 0 && threads <= kMostThreads, "Context::cpu: threads ", threads,
          " is not in 0..", kMostThreads);
  auto state = std::make_shared<detail::ContextState>();
  state->threads = threads > 0 ? threads : std::min(detail::default_threads(), kMostThreads);
  return Context(std::move(state));
}

Context Context::cuda(int ordinal) { return Context(open_cuda(ordinal, nullptr)); }

Context Context::cuda_on_stream(int ordinal, void* stream) {
  require(stream != nullptr,
          "Context::cuda_on_stream: the default stream (null) cannot be shared; create a stream");
  return Context(open_cuda(ordinal, stream));
}

Context Context::best() {
  if constexpr (kBuiltWithCuda) {
    std::string status;
    const int count = detail::cuda::device_count(status);
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      try {
        return cuda(ordinal);
      } catch (const Error&) {
        // Too old for this build's kernels, or somebody else's alone: the next may do.
      }
    }
  }
  return cpu();
}

Device Context::device() const { return state_->device; }
int Context::threads() const { return state_->threads; }
void* Context::stream() const { return state_->stream; }

void Context::synchronize() const {
  if constexpr (kBuiltWithCuda) {
    if (!is_cuda()) return;
    detail::cuda::synchronize(*state_);
    ++state_->synchronisations;
  }
}

Counters Context::counters() const {
  return {state_->allocations,     state_->allocated_bytes, state_->uploads,
          state_->uploaded_bytes,  state_->downloads,       state_->downloaded_bytes,
          state_->synchronisations};
}

}  // namespace sextant
