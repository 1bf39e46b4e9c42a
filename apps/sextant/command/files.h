// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// What can be known of a command's files before its work begins.

namespace sextant::app {

/// Which extensions a file may have, in lower case.
using Extensions = std::span<const std::string_view>;
inline constexpr std::string_view kCloudFiles[] = {".ply", ".pcd", ".obj", ".vtk"};
inline constexpr std::string_view kMeshFiles[] = {".ply", ".obj", ".vtk"};
inline constexpr std::string_view kValueFiles[] = {".ply", ".pcd", ".vtk"};  ///< numbers of points
inline constexpr std::string_view kPictureFiles[] = {".png", ".jpg", ".jpeg"};
inline constexpr std::string_view kJsonFiles[] = {".json"};
inline constexpr std::string_view kPngFiles[] = {".png"};
inline constexpr std::string_view kDepthFiles[] = {".png", ".pgm", ".tif", ".tiff"};
inline constexpr std::string_view kArrayFiles[] = {".npy"};
inline constexpr std::string_view kDescriptorFiles[] = {".sxd"};

/// A file that a command reads, and the word of the command line that names it. Empty names are
/// those of options that were not given.
struct InputFile {
  std::string word;
  std::string file;
};

/// A file that a command writes.
struct OutputFile {
  std::string word;
  std::string file;
  Extensions extensions = {};  ///< empty: any
};

/// Throws where an output has a wrong extension, lies in a folder that is not there or where
/// nothing may be written, or is also an input or another output, by this path or another one.
void check_files(const std::vector<InputFile>& inputs, const std::vector<OutputFile>& outputs);

/// "a.npy" and the part "frames" make "a_frames.npy".
std::filesystem::path beside(const std::filesystem::path& path, const char* part);

}  // namespace sextant::app
