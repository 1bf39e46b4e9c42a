// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

namespace sextant::detail::library {

/// "SXTL": says in the header of a SQLite file whose it is.
inline constexpr std::int32_t kApplicationId = 0x5358544c;
/// Of the format of docs/library.md.
inline constexpr std::int32_t kFormatVersion = 1;

enum class FileState { kMissing, kEmpty, kLibrary };

/// Looks at the first bytes of the file, which SQLite has not opened yet. Throws Error, with what
/// to do about it, for everything that is not a library of this version.
FileState look_at_file(const std::filesystem::path& path);

}  // namespace sextant::detail::library
