// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "sextant/io/moped_model.h"

namespace sextant::detail::moped_model {

/// The bytes of a descriptor, round(512 d) of d scaled to length 1, at most 255. False where it is
/// zero; its numbers are finite and none is negative.
bool bytes_of_descriptor(std::span<const double, kMopedDescriptorLength> numbers,
                         std::uint8_t* bytes);

/// Numbers of length 1 whose bytes are these ones, with a margin that six decimals leave; where
/// there are none, the bytes scaled to length 1. Not all of the bytes are zero.
void descriptor_of_bytes(const std::uint8_t* bytes,
                         std::span<double, kMopedDescriptorLength> numbers);

}  // namespace sextant::detail::moped_model
