// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <utility>

#include "sextant/core/view.h"

namespace sextant {

namespace detail {

/// Untyped memory on one device, freed on the stream it was allocated on.
class Allocation {
 public:
  Allocation() = default;
  Allocation(const Context& context, std::int64_t count, std::size_t element_bytes);
  /// Holds somebody else's memory: `release` runs when the context's stream is done with it, and
  /// when a graph that was recorded meanwhile is gone.
  Allocation(const Context& context, Device device, void* data, std::function<void()> release);
  /// Takes page-locked host memory, for copies that overlap with work on the device.
  static Allocation pinned(const Context& context, std::int64_t count, std::size_t element_bytes);
  ~Allocation() { reset(); }
  Allocation(Allocation&& other) noexcept { swap(other); }
  Allocation& operator=(Allocation&& other) noexcept {
    Allocation moved(std::move(other));
    swap(moved);
    return *this;
  }

  void* data() const { return data_; }
  Device device() const { return device_; }

 private:
  void reset() noexcept;
  void swap(Allocation& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(device_, other.device_);
    std::swap(release_, other.release_);
  }

  void* data_ = nullptr;
  Device device_;
  std::function<void()> release_;
};

void copy_bytes(const Context& context, Device to_device, void* to, Device from_device,
                const void* from, std::int64_t bytes, bool wait_for_host);

}  // namespace detail

/// Owns elements on one device: move-only, uninitialised when made, freed in stream order.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>, "buffers cross devices byte by byte");

 public:
  /// Empty, on the CPU.
  Buffer() = default;
  Buffer(const Context& context, std::int64_t size)
      : allocation_(context, size, sizeof(T)), size_(size) {}
  Buffer(Buffer&& other) noexcept
      : allocation_(std::move(other.allocation_)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    allocation_ = std::move(other.allocation_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  /// Takes over memory of somebody else (NumPy, DLPack, a camera driver) without a copy; `release`
  /// runs once, when the buffer dies and the work queued on the context's stream is done. `data`
  /// must lie on the context's device.
  static Buffer adopt(const Context& context, T* data, std::int64_t size,
                      std::function<void()> release) {
    require(size >= 0, "adopt: size ", size, " is negative");
    require(data != nullptr || size == 0, "adopt: data is null but size is ", size);
    Buffer buffer;
    buffer.allocation_ = detail::Allocation(context, context.device(), data, std::move(release));
    buffer.size_ = size;
    return buffer;
  }

  /// Takes host memory that `copy_async` moves while the device works; plain memory for a CPU
  /// context.
  static Buffer pinned(const Context& context, std::int64_t size) {
    Buffer buffer;
    buffer.allocation_ = detail::Allocation::pinned(context, size, sizeof(T));
    buffer.size_ = size;
    return buffer;
  }

  T* data() { return static_cast<T*>(allocation_.data()); }
  const T* data() const { return static_cast<const T*>(allocation_.data()); }
  std::int64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Device device() const { return allocation_.device(); }

  View<T> view() { return {data(), size_, device()}; }
  View<const T> view() const { return {data(), size_, device()}; }
  operator View<T>() { return view(); }
  operator View<const T>() const { return view(); }

  /// Returns the elements as host memory; throws when they lie elsewhere.
  std::span<T> host() {
    require_host();
    return {data(), static_cast<std::size_t>(size_)};
  }
  std::span<const T> host() const {
    require_host();
    return {data(), static_cast<std::size_t>(size_)};
  }

 private:
  void require_host() const {
    require(device().kind == DeviceKind::kCpu, "host(): the buffer lies on ", to_string(device()),
            "; use sextant::to_host(context, buffer)");
  }

  detail::Allocation allocation_;
  std::int64_t size_ = 0;
};

/// Copies between any two devices of which one is the context's. A copy to the host has finished
/// when the call returns; the others are ordered on the context's stream, and page-locked host
/// memory must stay as it is until the stream has read it. A graph cannot hold it: see copy_async.
template <class T>
void copy(const Context& context, View<const T> from, View<T> to) {
  require(from.size == to.size, "copy: ", from.size, " elements into room for ", to.size);
  detail::copy_bytes(context, to.device, to.data, from.device, from.data,
                     from.size * static_cast<std::int64_t>(sizeof(T)), true);
}

/// As `copy`, but never waits: the host side must be pinned and stay untouched until
/// `context.synchronize()`.
template <class T>
void copy_async(const Context& context, View<const T> from, View<T> to) {
  require(from.size == to.size, "copy_async: ", from.size, " elements into room for ", to.size);
  detail::copy_bytes(context, to.device, to.data, from.device, from.data,
                     from.size * static_cast<std::int64_t>(sizeof(T)), false);
}

/// Makes a new buffer on the context's device with the same elements.
template <class T>
Buffer<std::remove_const_t<T>> copy(const Context& context, View<T> from) {
  Buffer<std::remove_const_t<T>> to(context, from.size);
  copy<std::remove_const_t<T>>(context, from, to.view());
  return to;
}
template <class T>
Buffer<T> copy(const Context& context, const Buffer<T>& from) {
  return copy(context, from.view());
}
template <class T>
Buffer<T> copy(const Context& context, const std::vector<T>& from) {
  return copy(context, view_of(from));
}

/// Makes a new buffer, without the elements, where it is too small or on another device.
template <class T>
void make_room(const Context& context, std::int64_t size, Buffer<T>& buffer) {
  const bool fits = buffer.size() >= size && buffer.device() == context.device();
  if (!fits) buffer = Buffer<T>(context, size);
}

/// Makes a new buffer in host memory with the same elements.
template <class T>
Buffer<T> to_host_buffer(const Context& context, const Buffer<T>& from) {
  Buffer<T> to(Context::cpu(), from.size());
  copy<T>(context, from, to);
  return to;
}

/// Returns the elements as a host vector, whatever device they lie on.
template <class T>
std::vector<std::remove_const_t<T>> to_host(const Context& context, View<T> from) {
  std::vector<std::remove_const_t<T>> to(static_cast<std::size_t>(from.size));
  copy<std::remove_const_t<T>>(context, from, view_of(to));
  return to;
}
template <class T>
std::vector<T> to_host(const Context& context, const Buffer<T>& from) {
  return to_host(context, from.view());
}

}  // namespace sextant
