// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "sextant/core/vec.h"

namespace sextant {

inline constexpr int kMopedDescriptorLength = 128;  ///< numbers of a SIFT descriptor

/// An object as MOPED knows it (Collet, Martinez, Srinivasa, IJRR 2011): places on its surface and
/// how SIFT describes them. The lists have one element a point, `descriptors` 128.
struct MopedModel {
  std::string name;
  std::string version;                    ///< what the file says made it
  std::vector<Vec3f> points_m;            ///< in the object's frame
  std::vector<std::int32_t> views;        ///< photographs that saw the point; 0 where not known
  std::vector<float> errors_px;           ///< mean distance of its projections; 0 where not known
  std::vector<Rgb8> colors;               ///< black where not known
  std::vector<std::uint8_t> descriptors;  ///< round(512 d), at most 255, of d of length 1
  std::int64_t left_out = 0;              ///< points with descriptors of other kinds
};

/// Reads the models of a .moped.xml file in the order in which they stand there; a later one of the
/// same name takes the place of the earlier, as in MOPED. Numbers are separated by blanks or
/// semicolons. Descriptors of any length are made to have length 1. Of the file, `Openrave`,
/// `Cameras` and the observations of points are not read.
///
/// An Error names the file and line: where there is no model, or one without a point of desc_type
/// SIFT; where the numbers of a point are too few, too many or not finite; where a descriptor is
/// zero or has negative numbers.
std::vector<MopedModel> read_moped_models(const std::filesystem::path& path);
/// Reads the same from memory. `name` stands for the file in messages.
std::vector<MopedModel> read_moped_models(std::span<const std::byte> file, const std::string& name);

/// Throws Error unless the lists agree in size, there is a point, all numbers are finite and no
/// descriptor is zero.
void check_moped_model(const MopedModel& model);

/// Writes models that MOPED reads. Coordinates have as many digits as tell them apart, descriptors
/// six decimals. What is written reads back to the same model: bytes that came from a descriptor of
/// length 1, as all of SIFT do, become the same bytes again; others come back at that length.
void write_moped_models(const std::filesystem::path& path, std::span<const MopedModel> models);

}  // namespace sextant
