// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace sextant::fuzz {

/// Writes a valid file into `folder` (made when missing) together with damaged versions of it: cut
/// short at several places and with single bits turned over. The same bytes give the same files.
void write_seeds(const std::filesystem::path& folder, const std::string& name,
                 std::span<const std::byte> valid);
void write_seeds(const std::filesystem::path& folder, const std::string& name,
                 std::string_view valid);

/// Each fills `root`/<name of the fuzz target> for the targets it knows.
void write_image_corpus(const std::filesystem::path& root);
void write_geometry_corpus(const std::filesystem::path& root);
void write_descriptor_corpus(const std::filesystem::path& root);
void write_dataset_corpus(const std::filesystem::path& root);
void write_library_corpus(const std::filesystem::path& root);

}  // namespace sextant::fuzz
