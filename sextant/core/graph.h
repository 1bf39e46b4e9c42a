// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "sextant/core/context.h"

namespace sextant {

/// A recorded sequence of operations that runs again with one launch: a CUDA graph, and on the CPU
/// simply the function. Buffers that the sequence made and returned to the outside are ordinary
/// memory and must live as long as the graph is launched; temporaries are kept by the graph.
class Graph {
 public:
  /// Records what `work` queues on the context. On CUDA nothing runs yet; `work` must not wait for
  /// the device or copy to unpinned host memory. When it throws, the context is as before.
  static Graph capture(const Context& context, std::function<void()> work);

  /// Queues the sequence on the context it was captured on.
  void launch() const;

 private:
  struct Recording;
  explicit Graph(std::shared_ptr<const Recording> recording) : recording_(std::move(recording)) {}
  std::shared_ptr<const Recording> recording_;
};

}  // namespace sextant
