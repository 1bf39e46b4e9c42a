// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sextant/core/buffer.h"

namespace sextant {

/// Memory that operations need only while they run, kept from one call to the next. The second call
/// with the same sizes allocates nothing. One workspace serves any operations, one after the other,
/// of one context; it grows to what the largest of them needs and frees it when it dies.
class Workspace {
 public:
  Workspace() = default;

  /// Everything that is taken while a scope lives is free for others when it ends. Every operation
  /// opens one, so that workspaces can be handed down.
  class Scope {
   public:
    explicit Scope(Workspace& workspace) : workspace_(workspace), first_(workspace.used_) {}
    ~Scope() { workspace_.used_ = first_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Workspace& workspace_;
    std::size_t first_;
  };

  /// Takes room for `count` elements, not initialised, until the innermost scope ends.
  template <class T>
  View<T> take(const Context& context, std::int64_t count) {
    static_assert(std::is_trivially_copyable_v<T>, "the memory is handed out uninitialised");
    require(count >= 0, "Workspace: ", count, " elements");
    if (used_ == slots_.size()) slots_.emplace_back();
    Buffer<std::byte>& slot = slots_[used_++];
    make_room(context, count * static_cast<std::int64_t>(sizeof(T)), slot);
    return {reinterpret_cast<T*>(slot.data()), count, context.device()};
  }

  /// Says how much it holds now.
  std::int64_t bytes() const {
    std::int64_t total = 0;
    for (const Buffer<std::byte>& slot : slots_) total += slot.size();
    return total;
  }

 private:
  /// In the order in which they are taken: an operation that takes the same sizes in the same order
  /// finds them as it left them.
  std::vector<Buffer<std::byte>> slots_;
  std::size_t used_ = 0;
};

}  // namespace sextant
