// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/obj/texture_file.h"

#include <algorithm>
#include <cstdint>
#include <system_error>

#include "sextant/io/image_file.h"
#include "sextant/io/png.h"

namespace sextant::detail::obj {

namespace {

/// Files that the kernel makes up claim no bytes, or far more than an image has.
constexpr std::uintmax_t kLargestFileBytes = std::uintmax_t{1} << 30;

bool is_readable_image_file(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) || error) return false;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  return !error && bytes > 0 && bytes <= kLargestFileBytes;
}

}  // namespace

void load_texture(const std::filesystem::path& folder, Material& material) {
  std::string name = material.texture_file;
  if (name.empty() || name.find('\0') != std::string::npos) return;
  std::string forward = name;
  std::replace(forward.begin(), forward.end(), '\\', '/');
  const std::filesystem::path bare = std::filesystem::path(forward).filename();
  for (const std::filesystem::path& candidate :
       {std::filesystem::path(name), std::filesystem::path(forward), bare}) {
    const std::filesystem::path path = folder / candidate;
    if (!is_readable_image_file(path)) continue;
    try {
      material.texture = read_image(path);
    } catch (const Error&) {
      material.texture = {};
    }
    return;
  }
}

std::string save_texture(const std::filesystem::path& png, const Material& material) {
  if (material.texture.empty()) return material.texture_file;
  write_png(png, material.texture.view());
  return png.filename().string();
}

}  // namespace sextant::detail::obj
