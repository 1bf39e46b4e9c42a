// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/input/file_kind.h"

#include <algorithm>
#include <cctype>

#include "sextant/core/error.h"
#include "sextant/io/file.h"
#include "sextant/io/image_file.h"
#include "sextant/io/jpeg.h"
#include "sextant/io/png.h"
#include "sextant/io/pnm.h"
#include "sextant/io/tiff.h"

namespace sextant::app {

namespace {

/// What a program writes before the first element of an XML file is shorter.
constexpr std::size_t kLookedAtBytes = 512;

}  // namespace

const char* describe(FileKind kind) {
  if (kind == FileKind::kImage) return "an image";
  if (kind == FileKind::kCamera) return "a camera";
  if (kind == FileKind::kMoped) return "a model of MOPED";
  return "a cloud or mesh";
}

std::string lower_extension(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

FileKind kind_of_content(const std::filesystem::path& path) {
  require(!path.empty(), "the name of an input is empty");
  keep_pipe(path);
  FileReader reader(path);
  const std::span<const std::byte> start = reader.peek(kLookedAtBytes);
  require(!start.empty(), path.string(), ": is empty");
  return kind_of_bytes(start, path);
}

FileKind kind_of_bytes(std::span<const std::byte> start, const std::filesystem::path& path) {
  if (is_png(start) || is_jpeg(start) || is_pnm(start) || is_tiff(start)) return FileKind::kImage;
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  const bool xml = lower_extension(path) == ".xml" || text.starts_with("<?xml");
  if (text.starts_with("<Model") || xml) return FileKind::kMoped;
  const bool brace = !start.empty() && start[0] == std::byte{'{'};
  if (brace || lower_extension(path) == ".json") return FileKind::kCamera;
  return FileKind::kGeometry;
}

FileKind kind_of_extension(const std::filesystem::path& path) {
  const std::string extension = lower_extension(path);
  for (const char* known : {".ply", ".pcd", ".obj", ".vtk"}) {
    if (extension == known) return FileKind::kGeometry;
  }
  for (const char* known : {".png", ".jpg", ".jpeg", ".pgm", ".tif", ".tiff"}) {
    if (extension == known) return FileKind::kImage;
  }
  fail(path.string(), ": unknown extension '", extension,
       "'; use .ply, .pcd, .obj, .vtk, .png or .jpg, or .pgm or .tif for depth maps");
}

Image<Rgb8> read_color_image(const std::string& file) {
  const FileBytes bytes = read_file(file, kMaxImageFileBytes);  // once: it may be a pipe
  require(!is_depth_image(image_info(bytes, file)), "--color: ", file,
          " is a depth map, not a colour image");
  return read_image(bytes, file);
}

}  // namespace sextant::app
