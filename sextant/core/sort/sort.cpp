// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/sort/cuda.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "sextant/core/cuda/dispatch.h"
#include "sextant/core/for_each.h"

namespace sextant {

namespace {

constexpr int kDigitBits = 8;
constexpr int kDigits = 1 << kDigitBits;

/// They turn keys into unsigned numbers of the same order.
std::uint32_t ordered(std::uint32_t key) { return key; }
std::uint64_t ordered(std::uint64_t key) { return key; }
std::uint32_t ordered(float key) {
  const auto bits = std::bit_cast<std::uint32_t>(key == 0.0f ? 0.0f : key);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

template <class Key>
int digit_of(Key key, int shift, std::uint32_t mask) {
  return static_cast<int>(static_cast<std::uint32_t>(ordered(key) >> shift) & mask);
}

/// One stable pass over one digit: every part of the input counts its digits, and each part then
/// knows where its elements of each digit begin.
template <class Key>
void radix_pass(const Context& context, std::int64_t part, View<const Key> keys, View<Key> to_keys,
                const std::uint32_t* values, std::uint32_t* to_values, int shift,
                std::uint32_t mask, View<std::int64_t> first) {
  const std::int64_t parts = first.size / kDigits;
  for_each_chunk(context, keys.size, part, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t* count = first.data + begin / part * kDigits;
    std::fill(count, count + kDigits, 0);
    for (std::int64_t i = begin; i < end; ++i) ++count[digit_of(keys[i], shift, mask)];
  });
  std::int64_t total = 0;
  for (int digit = 0; digit < kDigits; ++digit) {
    for (std::int64_t p = 0; p < parts; ++p) {
      total += std::exchange(first[p * kDigits + digit], total);
    }
  }
  for_each_chunk(context, keys.size, part, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t* next = first.data + begin / part * kDigits;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t to = next[digit_of(keys[i], shift, mask)]++;
      to_keys[to] = keys[i];
      if (values) to_values[to] = values[i];
    }
  });
}

template <class Key>
void sort_cpu(const Context& context, View<Key> keys, std::uint32_t* values, SortBits bits,
              Workspace& workspace) {
  if (keys.size < 2) return;
  const Workspace::Scope scope(workspace);
  const View<Key> spare_keys = workspace.take<Key>(context, keys.size);
  const View<std::uint32_t> spare_values =
      workspace.take<std::uint32_t>(context, values ? keys.size : 0);
  View<Key> from = keys;
  View<Key> to = spare_keys;
  std::uint32_t* from_values = values;
  // Room for nothing may be memory of an earlier call: without values there is no place for them.
  std::uint32_t* to_values = values ? spare_values.data : nullptr;
  // One part per thread: the answer of a stable sort does not depend on the parts.
  const std::int64_t part =
      std::max<std::int64_t>(4096, (keys.size + context.threads() - 1) / context.threads());
  const std::int64_t parts = (keys.size + part - 1) / part;
  const View<std::int64_t> first = workspace.take<std::int64_t>(context, parts * kDigits);
  for (int shift = bits.begin; shift < bits.end; shift += kDigitBits) {
    const int width = std::min(kDigitBits, bits.end - shift);
    radix_pass<Key>(context, part, from, to, from_values, to_values, shift, (1u << width) - 1u,
                    first);
    std::swap(from, to);
    std::swap(from_values, to_values);
  }
  if (from.data == keys.data) return;
  copy<Key>(context, from, keys);
  if (values) std::copy(from_values, from_values + keys.size, values);
}

template <class Key>
void sort(const Context& context, View<Key> keys, std::uint32_t* values, SortBits bits,
          Workspace& workspace) {
  require_on(context, keys, "keys");
  constexpr int kKeyBits = static_cast<int>(sizeof(Key)) * 8;
  if (bits.end == -1) bits.end = kKeyBits;
  require(0 <= bits.begin && bits.begin <= bits.end && bits.end <= kKeyBits, "bits: ", bits.begin,
          " to ", bits.end, " is not a range within ", kKeyBits, " bits");
  require(keys.size <= std::numeric_limits<std::int32_t>::max(), "keys: ", keys.size,
          " are more than one sort takes (2147483647)");
  detail::on_device(
      context, [&] { detail::sort_cuda(context, keys, values, bits, workspace); },
      [&] { sort_cpu(context, keys, values, bits, workspace); });
}

}  // namespace

template <class Key>
void sort_keys(const Context& context, View<Key> keys, SortBits bits, Workspace& workspace) {
  sort<Key>(context, keys, nullptr, bits, workspace);
}

template <class Key>
void sort_pairs(const Context& context, View<Key> keys, View<std::uint32_t> values, SortBits bits,
                Workspace& workspace) {
  require_on(context, values, "values");
  require(values.size == keys.size, "values: ", values.size, " for ", keys.size, " keys");
  sort(context, keys, values.data, bits, workspace);
}

#define SEXTANT_SORT(Key)                                                                 \
  template void sort_keys<Key>(const Context&, View<Key>, SortBits, Workspace&);          \
  template void sort_pairs<Key>(const Context&, View<Key>, View<std::uint32_t>, SortBits, \
                                Workspace&);
SEXTANT_SORT(std::uint32_t)
SEXTANT_SORT(std::uint64_t)
SEXTANT_SORT(float)
#undef SEXTANT_SORT

}  // namespace sextant
