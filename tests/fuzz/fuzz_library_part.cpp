// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "accept_errors.h"
#include "sextant/library/library/parts.h"

/// The first byte says which part of an object the rest is taken for. What is accepted holds
/// together, and can be stored again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sextant;
  using namespace sextant::detail::library;
  if (size == 0) return 0;
  const PartKind kind = kPartKinds[data[0] % std::size(kPartKinds)];
  const auto blob = std::as_bytes(std::span(data, size)).subspan(1);
  LearnedObject object;
  bool accepted = false;
  fuzz::accept_errors([&] {
    decode_part(kind, blob, "fuzz", object);
    accepted = true;
  });
  if (!accepted) return 0;
  object.name = "fuzz";
  if (encode_parts(object).size() > 1) std::abort();
  return 0;
}
