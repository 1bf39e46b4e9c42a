// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "apps/sextant/datasets/dataset_writer.h"

// Public sets of frames with known poses, each in a layout of its own. A source is told by the
// files in a folder, not by the folder's name; frames are those that are there.

namespace sextant::app {

struct Source {
  std::string name;     ///< of the data set that is made
  std::string remarks;  ///< what it is, for --list
  bool (*is_here)(const std::filesystem::path& folder);
  void (*convert)(const std::filesystem::path& folder, DatasetWriter& writer);
};

/// All of them. Those for frames in which nothing is known come last: they borrow the models of
/// the others.
const std::vector<Source>& dataset_sources();

bool is_linemod(const std::filesystem::path& folder);
void convert_linemod(const std::filesystem::path& folder, DatasetWriter& writer);
bool is_bins(const std::filesystem::path& folder);
void convert_bins(const std::filesystem::path& folder, DatasetWriter& writer);
bool is_cups(const std::filesystem::path& folder);
void convert_cups(const std::filesystem::path& folder, DatasetWriter& writer);
bool is_ycbv(const std::filesystem::path& folder);
void convert_ycbv(const std::filesystem::path& folder, DatasetWriter& writer);
bool is_visp(const std::filesystem::path& folder);
void convert_visp(const std::filesystem::path& folder, DatasetWriter& writer);
bool is_bunny(const std::filesystem::path& folder);
void convert_bunny(const std::filesystem::path& folder, DatasetWriter& writer);
bool is_milk(const std::filesystem::path& folder);
void convert_milk(const std::filesystem::path& folder, DatasetWriter& writer);
bool is_laser(const std::filesystem::path& folder);
void convert_laser(const std::filesystem::path& folder, DatasetWriter& writer);
bool is_range(const std::filesystem::path& folder);
void convert_range(const std::filesystem::path& folder, DatasetWriter& writer);
bool is_moped(const std::filesystem::path& folder);
void convert_moped(const std::filesystem::path& folder, DatasetWriter& writer);
bool is_mosd(const std::filesystem::path& folder);
void convert_mosd(const std::filesystem::path& folder, DatasetWriter& writer);
bool is_rooms(const std::filesystem::path& folder);
void convert_rooms(const std::filesystem::path& folder, DatasetWriter& writer);

}  // namespace sextant::app
