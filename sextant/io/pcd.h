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
/// x y z of any number type, about an origin where floats cannot hold them (Cloud::origin_m);
/// normal_x normal_y normal_z; colours as rgb or rgba packed in a float or integer of four bytes,
/// the upper byte of an integer rgba as the attribute "alpha" unless it is 0 or 255 everywhere.
/// Every other field becomes an attribute of its type with COUNT components; padding ("_") is
/// skipped. HEIGHT above 1 makes the cloud organised, VIEWPOINT is world_from_sensor. POINTS must
/// be WIDTH times HEIGHT.
///
/// Binary points cost one copy: x y z alone are read straight into the cloud.
Cloud read_pcd(const std::filesystem::path& path, const ReadOptions& options = {});
/// Reads the same from memory; `name` stands for the file in messages.
Cloud read_pcd(std::span<const std::byte> file, const std::string& name,
               const ReadOptions& options = {});

/// Writes all of a cloud on the host as version 0.7: points about an origin as doubles, attributes
/// in their types, colours as a packed integer "rgb", or "rgba" with an attribute "alpha" of bytes.
/// Error when an attribute's name is taken or contains a space.
void write_pcd(const std::filesystem::path& path, const Cloud& cloud,
               const PcdWriteOptions& options = {});

}  // namespace sextant
