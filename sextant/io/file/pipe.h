// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>

namespace sextant::detail::file {

/// What `keep_pipe` has read from this path, if it has.
std::optional<std::span<const std::byte>> kept_bytes(const std::filesystem::path& path);

}  // namespace sextant::detail::file
