// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/for_each/anywhere.h"
#include "sextant/core/parcel.h"
#include "sextant/descriptor/tensor/set_math.h"

namespace sextant {

using namespace detail::tensor;

namespace detail::tensor {

TensorSource source_of(const TensorSet& tensors) {
  return {tensors.bins,           tensors.count.data(), tensors.frames.data(),
          tensors.masks.data(),   tensors.sizes.data(), tensors.first.data(),
          tensors.indices.data(), tensors.values.data()};
}

}  // namespace detail::tensor

namespace {

void check_set(const Context& context, const TensorSet& tensors, const char* name) {
  require_on(context, tensors.count.view(), name);
  require(tensors.bins >= 1 && tensors.count.size() == 1, name,
          ": is empty; make one with compute_tensors or TensorSet(context, capacity, bins)");
}

/// The same parts in memory of the context, or of the host.
template <class Copy>
TensorSet copied(const TensorSet& from, const Copy& copy_part) {
  TensorSet to;
  to.bins = from.bins;
  to.count = copy_part(from.count);
  to.frames = copy_part(from.frames);
  to.masks = copy_part(from.masks);
  to.sizes = copy_part(from.sizes);
  to.first = copy_part(from.first);
  to.indices = copy_part(from.indices);
  to.values = copy_part(from.values);
  return to;
}

}  // namespace

TensorSet copy(const Context& context, const TensorSet& from) {
  return copied(from, [&](const auto& part) { return copy(context, part); });
}

TensorSet to_host(const Context& context, const TensorSet& from) {
  // All parts lie in one piece first, so that they come in one download. Each pass plans the same
  // arrays in the same order and so finds them again.
  Parcel parcel, written, read;
  copied(from, [&]<class T>(const Buffer<T>& part) {
    parcel.add<T>(part.size());
    return Buffer<T>();
  });
  parcel.allocate(context);
  copied(from, [&]<class T>(const Buffer<T>& part) {
    copy<T>(context, part, parcel[written.add<T>(part.size())]);
    return Buffer<T>();
  });
  const Parcel on_host = to_host(context, parcel);
  return copied(from, [&]<class T>(const Buffer<T>& part) {
    return copy(Context::cpu(1), on_host[read.add<T>(part.size())]);
  });
}

TensorSet pack_tensors(const Context& context, const TensorSet& tensors) {
  check_set(context, tensors, "tensors");
  Parcel filled;
  const auto filled_count = filled.add<std::int32_t>(1);
  const auto filled_sizes = filled.add<std::int32_t>(tensors.capacity());
  filled.allocate(context);
  copy<std::int32_t>(context, tensors.count, filled[filled_count]);
  copy<std::int32_t>(context, tensors.sizes, filled[filled_sizes]);
  const Parcel on_host = to_host(context, filled);
  const std::int64_t count = clamp<std::int64_t>(on_host[filled_count][0], 0, tensors.capacity());
  std::vector<std::int64_t> first;
  std::int64_t elements = 0;
  for (const std::int32_t size : on_host[filled_sizes].subview(0, count)) {
    first.push_back(elements);
    elements += size;
  }
  TensorSet packed;
  packed.bins = tensors.bins;
  packed.count = copy(context, tensors.count);
  packed.frames = copy(context, tensors.frames.view().subview(0, count));
  packed.masks = copy(context, tensors.masks.view().subview(0, count));
  packed.sizes = copy(context, tensors.sizes.view().subview(0, count));
  packed.first = copy(context, first);
  packed.indices = Buffer<std::uint16_t>(context, elements);
  packed.values = Buffer<float>(context, elements);
  const PackElement pack{source_of(tensors), rows_of(packed)};
  detail::for_each_anywhere(context, count * pack.from.all_bins(), pack);
  return packed;
}

void unpack_tensors_into(const Context& context, const TensorSet& tensors, View<float> dense) {
  check_set(context, tensors, "tensors");
  const UnpackBin unpack{source_of(tensors), dense.data};
  const std::int64_t elements = tensors.capacity() * unpack.from.all_bins();
  require_room(context, dense, elements, "dense");
  detail::for_each_anywhere(context, elements, unpack);
}

void flip_tensors_into(const Context& context, const TensorSet& tensors, TensorSet& flipped) {
  check_set(context, tensors, "tensors");
  check_set(context, flipped, "flipped");
  require(flipped.bins == tensors.bins, "flipped: made for ", flipped.bins, " bins instead of ",
          tensors.bins);
  require(
      flipped.capacity() == tensors.capacity() && flipped.values.size() == tensors.values.size(),
      "flipped: room for ", flipped.capacity(), " tensors with ", flipped.values.size(),
      " elements instead of ", tensors.capacity(), " with ", tensors.values.size());
  require(flipped.values.data() != tensors.values.data() || tensors.values.empty(),
          "flipped: is the set to flip itself");
  const TensorSource from = source_of(tensors);
  const TensorRows to = rows_of(flipped);
  detail::for_each_anywhere(context, tensors.capacity() * 16, FlipMask{from, to});
  detail::for_each_anywhere(context, tensors.capacity() * from.all_bins(), FlipBin{from, to});
}

}  // namespace sextant
