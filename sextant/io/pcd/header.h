// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sextant/io/file.h"
#include "sextant/io/file/facts.h"
#include "sextant/io/pcd.h"
#include "sextant/io/points/record.h"

namespace sextant::detail::pcd {

struct PcdHeader {
  PcdEncoding encoding = PcdEncoding::kAscii;
  std::vector<points::RecordField> fields;
  std::int64_t width = 0;
  std::int64_t height = 1;
  std::int64_t points = 0;
  Rigid3d world_from_sensor;
  std::vector<std::string> comments;
  std::int64_t lines = 0;  ///< of the header, the last included
};

/// Reads and consumes the header.
PcdHeader read_pcd_header(FileReader& source);

/// Does the same as read_pcd on an open source.
Cloud read_pcd(FileReader& source, const ReadOptions& options, file::FileFacts* facts = nullptr);

}  // namespace sextant::detail::pcd
