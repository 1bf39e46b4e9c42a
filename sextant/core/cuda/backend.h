// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "sextant/core/context/state.h"

/// The CUDA runtime as the host code sees it; defined in backend.cu and called only under
/// `if constexpr (kBuiltWithCuda)`. Failures throw Error.
namespace sextant::detail::cuda {

/// Counts the usable devices; when there are none, `status` says why.
int device_count(std::string& status);
DeviceInfo device_info(int ordinal);
std::string toolkit_version();

/// Fills stream (unless given) and pool of a state whose device is set.
void open(ContextState& state);
void close(ContextState& state) noexcept;
void synchronize(const ContextState& state);

void* allocate(ContextState& state, std::size_t bytes);
/// Frees in stream order, or at once where the memory was allocated during a capture.
void release(ContextState& state, void* data, bool allocated_in_capture) noexcept;
void* allocate_pinned(std::size_t bytes);
void release_pinned(void* data) noexcept;
/// Says whether the device reaches this host memory without a copy.
bool is_pinned(const void* data);
void copy(const ContextState& state, void* to, const void* from, std::size_t bytes);

void begin_capture(ContextState& state);
/// Returns the executable graph (cudaGraphExec_t) of what was queued since begin_capture.
void* end_capture(ContextState& state);
/// Ends a capture that failed, dropping what was recorded.
void abandon_capture(ContextState& state) noexcept;
void launch_graph(const ContextState& state, void* graph);
void destroy_graph(void* graph) noexcept;

}  // namespace sextant::detail::cuda
