// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/buffer.h"

namespace sextant {

/// Several arrays in one piece of memory, so that they cross devices in one copy:
///
///   Parcel parcel;
///   const auto values = parcel.add<float>(count * length);
///   const auto status = parcel.add<ShotStatus>(count);
///   parcel.allocate(context);
///   compute_shot_into(…, {parcel[values], {}, parcel[status]}, workspace);
///   const Parcel on_host = to_host(context, parcel);   // one download
///   on_host[status].begin() …
class Parcel {
 public:
  /// Names an array of a parcel.
  template <class T>
  struct Part {
    std::int64_t first_byte = 0;
    std::int64_t count = 0;
  };

  /// Plans an array of `count` elements.
  template <class T>
  Part<T> add(std::int64_t count) {
    static_assert(std::is_trivially_copyable_v<T>, "parcels cross devices byte by byte");
    require(count >= 0, "Parcel: ", count, " elements");
    constexpr std::int64_t kAlignment = 256;  // of an array in device memory
    const Part<T> part{bytes_, count};
    const std::int64_t end = bytes_ + count * static_cast<std::int64_t>(sizeof(T));
    bytes_ = (end + kAlignment - 1) / kAlignment * kAlignment;
    return part;
  }

  /// Takes memory for what was planned, and does not initialise it.
  void allocate(const Context& context) { memory_ = Buffer<std::byte>(context, bytes_); }

  template <class T>
  View<T> operator[](Part<T> part) {
    return {reinterpret_cast<T*>(at(part)), part.count, memory_.device()};
  }
  template <class T>
  View<const T> operator[](Part<T> part) const {
    return {reinterpret_cast<const T*>(at(part)), part.count, memory_.device()};
  }

  /// Copies the arrays to host memory; waits for the device.
  friend Parcel to_host(const Context& context, const Parcel& from) {
    Parcel to;
    to.bytes_ = from.bytes_;
    to.memory_ = to_host_buffer(context, from.memory_);
    return to;
  }

 private:
  template <class T>
  std::byte* at(Part<T> part) {
    return const_cast<std::byte*>(std::as_const(*this).at(part));
  }
  template <class T>
  const std::byte* at(Part<T> part) const {
    require(part.count == 0 || part.first_byte < memory_.size(),
            "Parcel: allocate it after its last array was added");
    return part.count == 0 ? nullptr : memory_.data() + part.first_byte;
  }

  Buffer<std::byte> memory_;
  std::int64_t bytes_ = 0;
};

}  // namespace sextant
