// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "sextant/core/mat3.h"
#include "sextant/core/options.h"

namespace sextant {

/// What the numbers of a descriptor are; the values stand in files and never change.
enum class DescriptorKind : std::uint32_t {
  kTensor = 1,
  kShot = 2,
  kColorShot = 3,  ///< colour alone
  kShapeAndColorShot = 4
};
inline constexpr Choice<DescriptorKind> kDescriptorKinds[] = {
    {"tensor", DescriptorKind::kTensor},
    {"shot", DescriptorKind::kShot},
    {"color-shot", DescriptorKind::kColorShot},
    {"cshot", DescriptorKind::kShapeAndColorShot}};

/// Descriptors of one surface with their places, as a file keeps them. The lists lie in host memory
/// and have an element for each descriptor.
struct DescriptorFile {
  DescriptorKind kind = DescriptorKind::kShot;
  int length = 0;              ///< numbers of one descriptor
  float size_m = 0;            ///< radius of the sphere, or edge of a bin of a tensor
  float resolution_m = 0;      ///< of the surface
  std::string options = "{}";  ///< what they were made with, as a JSON object

  std::vector<std::int32_t> points;    ///< which point of the surface, -1 for none of them
  std::vector<std::int32_t> partners;  ///< tensors: the second point of the pair; else empty
  std::vector<float> angles_rad;       ///< tensors: between the two normals; else empty
  std::vector<Vec3f> positions_m;
  std::vector<Mat3f> axes;  ///< rows are the x, y and z axis of the frame

  /// When dense, these are count × length numbers, and `sizes` and `indices` are empty. When
  /// compressed, they are the numbers that are not zero, descriptor after descriptor; `sizes` says
  /// how many each descriptor has, and `indices` which ones, in ascending order.
  std::vector<float> values;
  std::vector<std::int32_t> sizes;
  std::vector<std::uint16_t> indices;

  std::int64_t count() const { return static_cast<std::int64_t>(points.size()); }
  bool compressed() const { return !sizes.empty(); }
};

/// "shot352", "tensor1000": the kind and the length.
std::string name_of(const DescriptorFile& file);

/// All numbers of each descriptor, count × length, whether compressed or not.
std::vector<float> dense_values(const DescriptorFile& file);

/// Writes the format of docs/descriptor_file.md: a reader sees the old file or the whole new one.
/// Throws Error when the lists do not fit together.
void write_descriptor_file(const std::filesystem::path& path, const DescriptorFile& file);

/// Throws Error for another version (with both numbers), and for a file whose parts do not fit
/// together.
/// Memory is set aside only for what the file has room for.
DescriptorFile read_descriptor_file(const std::filesystem::path& path);
/// Reads the same from memory; `name` stands for the file in messages.
DescriptorFile read_descriptor_file(std::span<const std::byte> bytes, const std::string& name);

}  // namespace sextant
