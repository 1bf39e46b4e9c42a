// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/graph.h"

#include "sextant/core/build_config.h"
#include "sextant/core/cuda/backend.h"
#include "sextant/core/error.h"

namespace sextant {

struct Graph::Recording {
  Context context;
  std::function<void()> work;  ///< on the CPU
  void* executable = nullptr;  ///< cudaGraphExec_t
  std::vector<std::function<void()>> temporaries;

  explicit Recording(const Context& recorded_on) : context(recorded_on) {}
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() {
    if constexpr (kBuiltWithCuda) {
      if (executable) detail::cuda::destroy_graph(executable);
    }
    for (const std::function<void()>& release : temporaries) release();
  }
};

Graph Graph::capture(const Context& context, std::function<void()> work) {
  auto recording = std::make_shared<Recording>(context);
  if (context.is_cpu()) {
    recording->work = std::move(work);
    return Graph(std::move(recording));
  }
  if constexpr (kBuiltWithCuda) {
    detail::ContextState& state = context.state();
    require(!state.capturing, "Graph::capture: a capture is already going on in this context");
    detail::cuda::begin_capture(state);
    state.capturing = true;
    try {
      work();
      recording->executable = detail::cuda::end_capture(state);
    } catch (...) {
      detail::cuda::abandon_capture(state);
      state.capturing = false;
      recording->temporaries.swap(state.released_while_capturing);
      throw;
    }
    state.capturing = false;
    recording->temporaries.swap(state.released_while_capturing);
  }
  return Graph(std::move(recording));
}

void Graph::launch() const {
  if (recording_->context.is_cpu()) {
    recording_->work();
  } else if constexpr (kBuiltWithCuda) {
    detail::cuda::launch_graph(recording_->context.state(), recording_->executable);
  }
}

}  // namespace sextant
