// SPDX-License-Identifier: Apache-2.0
#include "sextant/library/library/planes.h"

#include <zlib.h>

#include <algorithm>

#include "sextant/core/error.h"

namespace sextant::detail::library {

namespace {

/// Higher levels take longer to write and save little.
constexpr int kLevel = 6;
/// A plane that shrinks to more than this share of itself is not worth the time to unpack it.
constexpr double kWorthwhile = 0.8;
/// Deflate makes at most 1032 bytes of one.
constexpr std::size_t kMostInflation = 1032;
/// Elements that are put together at a time, so that they stay in the nearest cache.
constexpr std::size_t kBlock = 1024;

template <std::size_t kPlanes>
void join(std::span<const std::span<const std::byte>> planes, std::byte* to) {
  const std::byte* from[kPlanes];
  for (std::size_t b = 0; b < kPlanes; ++b) from[b] = planes[b].data();
  const std::size_t count = planes[0].size();
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t b = 0; b < kPlanes; ++b) to[i * kPlanes + b] = from[b][i];
  }
}

void join_any(std::span<const std::span<const std::byte>> planes, std::byte* to) {
  const std::size_t count = planes[0].size();
  for (std::size_t first = 0; first < count; first += kBlock) {
    const std::size_t last = std::min(count, first + kBlock);
    for (std::size_t b = 0; b < planes.size(); ++b) {
      for (std::size_t i = first; i < last; ++i) to[i * planes.size() + b] = planes[b][i];
    }
  }
}

}  // namespace

std::vector<std::byte> take_plane(std::span<const std::byte> elements, std::size_t element_bytes,
                                  std::size_t plane) {
  std::vector<std::byte> taken(elements.size() / element_bytes);
  for (std::size_t i = 0; i < taken.size(); ++i) taken[i] = elements[i * element_bytes + plane];
  return taken;
}

std::size_t store_plane(std::span<const std::byte> plane, std::vector<std::byte>& to) {
  uLongf packed_bytes = compressBound(plane.size());
  std::vector<std::byte> packed(packed_bytes);
  const int result = compress2(reinterpret_cast<Bytef*>(packed.data()), &packed_bytes,
                               reinterpret_cast<const Bytef*>(plane.data()), plane.size(), kLevel);
  require(result == Z_OK, "no memory to compress ", plane.size(), " bytes");
  const bool worthwhile =
      static_cast<double>(packed_bytes) < kWorthwhile * static_cast<double>(plane.size());
  const std::span<const std::byte> stored =
      worthwhile ? std::span<const std::byte>(packed).first(packed_bytes) : plane;
  to.insert(to.end(), stored.begin(), stored.end());
  return stored.size();
}

std::span<const std::byte> load_plane(std::span<const std::byte> stored, std::size_t bytes,
                                      std::vector<std::byte>& room, const std::string& name) {
  if (stored.size() == bytes) return stored;
  require(stored.size() < bytes && bytes / kMostInflation <= stored.size(), name, ": ",
          stored.size(), " stored bytes cannot hold ", bytes);
  room.resize(bytes);
  uLongf unpacked = bytes;
  const int result = uncompress(reinterpret_cast<Bytef*>(room.data()), &unpacked,
                                reinterpret_cast<const Bytef*>(stored.data()), stored.size());
  require(result == Z_OK && unpacked == bytes, name, ": is damaged: it does not unpack");
  return room;
}

void join_planes(std::span<const std::span<const std::byte>> planes,
                 std::span<std::byte> elements) {
  switch (planes.size()) {
    case 0:
      return;
    case 1:
      std::copy(planes[0].begin(), planes[0].end(), elements.begin());
      return;
    case 2:
      return join<2>(planes, elements.data());
    case 4:
      return join<4>(planes, elements.data());
    default:
      return join_any(planes, elements.data());
  }
}

}  // namespace sextant::detail::library
