// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "sextant/geometry/cloud.h"
#include "sextant/io/read_options.h"

namespace sextant {

enum class PcdEncoding : std::int32_t { kAscii, kBinary, kBinaryCompressed };

inline constexpr Choice<PcdEncoding> kPcdEncodings[] = {
    {"ascii", PcdEncoding::kAscii},
    {"binary", PcdEncoding::kBinary},
    {"binary_compressed", PcdEncoding::kBinaryCompressed}};

/// How a PCD file is written.
struct PcdWriteOptions {
  PcdEncoding encoding = PcdEncoding::kBinary;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("encoding", self.encoding, "ascii, binary, or binary compressed with LZF", kPcdEncodings);
  }
};

/// Reads a cloud to the host from a PCD file of version 0.5 to 0.7 in any of its three encodings.
///
/// x y z of any number type; normal_x normal_y normal_z; colours as rgb or rgba packed in a float
/// or integer of four bytes, whose upper byte is ignored. Every other field becomes an attribute;
/// one with a COUNT of 2 to 16 becomes that many, NAME_0, NAME_1 and so on, longer ones
/// (histograms) and padding ("_") are skipped. HEIGHT above 1 makes the cloud organised, VIEWPOINT
/// is world_from_sensor. POINTS must be WIDTH times HEIGHT.
///
/// Binary points cost one copy: x y z alone are read straight into the cloud.
Cloud read_pcd(const std::filesystem::path& path, const ReadOptions& options = {});
/// Reads the same from memory; `name` stands for the file in messages.
Cloud read_pcd(std::span<const std::byte> file, const std::string& name,
               const ReadOptions& options = {});

/// Writes all of a cloud on the host as version 0.7, colours as a packed integer "rgb". Error when
/// an attribute's name is taken or contains a space.
void write_pcd(const std::filesystem::path& path, const Cloud& cloud,
               const PcdWriteOptions& options = {});

}  // namespace sextant
