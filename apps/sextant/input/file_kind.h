// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "sextant/core/image.h"
#include "sextant/io/depth_file.h"

namespace sextant::app {

/// What a file holds.
enum class FileKind { kGeometry, kImage, kCamera, kMoped };

/// "a cloud or mesh", "an image", "a camera", "a model of MOPED".
const char* describe(FileKind kind);

/// Images and models of MOPED by their first bytes, cameras by .json or a brace at their start,
/// everything else is taken for geometry. What comes through a pipe is kept for those who then read
/// it.
FileKind kind_of_content(const std::filesystem::path& path);
/// The same of bytes from the start of a file.
FileKind kind_of_bytes(std::span<const std::byte> start, const std::filesystem::path& path);
/// Throws Error that lists the known extensions for any other.
FileKind kind_of_extension(const std::filesystem::path& path);

/// ".ply" for "Scan.PLY".
std::string lower_extension(const std::filesystem::path& path);

/// The image that --color names, on the host; Error where it is a depth map.
Image<Rgb8> read_color_image(const std::string& file);

}  // namespace sextant::app
