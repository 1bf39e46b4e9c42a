// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "sextant/geometry/mesh.h"

namespace sextant::detail::obj {

/// Loads the image that `material.texture_file` names, relative to `folder`; Windows separators are
/// understood, and a file of that name beside the mesh serves where the path leads nowhere. The
/// texture stays empty when there is no such file or it is no PNG or JPEG that can be decoded. Only
/// regular files are opened: a mesh cannot make its reader wait on a pipe or a device.
void load_texture(const std::filesystem::path& folder, Material& material);

/// Writes the material's image as a PNG and returns the name by which a mesh beside it refers to
/// it; without an image nothing is written and the material's own name for it is returned.
std::string save_texture(const std::filesystem::path& png, const Material& material);

}  // namespace sextant::detail::obj
