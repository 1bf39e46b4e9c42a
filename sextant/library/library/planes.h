// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

// An array as planes: the first bytes of all elements, then the second bytes and so on. Bytes that
// resemble each other, such as exponents, come together and compress; those that do not, such as
// the ends of mantissas, are kept as they are, which costs nothing to read.

namespace sextant::detail::library {

/// Plane `plane` of elements of this size.
std::vector<std::byte> take_plane(std::span<const std::byte> elements, std::size_t element_bytes,
                                  std::size_t plane);

/// Appends the plane compressed, or as it is where that saves little, and returns the bytes
/// appended. A plane of n bytes that is stored in n bytes is not compressed.
std::size_t store_plane(std::span<const std::byte> plane, std::vector<std::byte>& to);

/// The `bytes` bytes of a plane that was stored: where they lie in the blob, or in `room`, where
/// they were unpacked. Error with `name` when it does not unpack to exactly that many.
std::span<const std::byte> load_plane(std::span<const std::byte> stored, std::size_t bytes,
                                      std::vector<std::byte>& room, const std::string& name);

/// Puts elements together from their planes, which are all of the same length.
void join_planes(std::span<const std::span<const std::byte>> planes, std::span<std::byte> elements);

}  // namespace sextant::detail::library
