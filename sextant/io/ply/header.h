// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sextant/io/file.h"
#include "sextant/io/file/facts.h"
#include "sextant/io/ply.h"
#include "sextant/io/points/record.h"

namespace sextant::detail::ply {

struct PlyProperty {
  std::string name;
  points::Scalar type = points::Scalar::kFloat32;
  std::optional<points::Scalar> count_type;  ///< of a list property

  bool is_list() const { return count_type.has_value(); }
};

struct PlyElement {
  std::string name;
  std::int64_t count = 0;
  std::vector<PlyProperty> properties;

  bool has_list() const;
  const PlyProperty* find(std::string_view property) const;
};

struct PlyHeader {
  PlyEncoding encoding = PlyEncoding::kAscii;
  std::vector<PlyElement> elements;
  std::vector<std::string> comments;
  std::vector<std::string> object_infos;
  std::int64_t lines = 0;  ///< of the header, the last included

  const PlyElement* find(std::string_view element) const;
  /// True when binary numbers stand in the other byte order than this machine's.
  bool swap_bytes() const;
};

/// Reads and consumes the header.
PlyHeader read_ply_header(FileReader& source);

/// Does the same as read_ply on an open source; the texture of a TextureFile comment is looked for
/// in `folder`, or nowhere when it is null.
TriangleMesh read_ply(FileReader& source, const std::filesystem::path* folder,
                      const ReadOptions& options, file::FileFacts* facts = nullptr);

/// Returns the name of a number type in the header of a file: "float", "uchar".
std::string_view ply_name(points::Scalar type);

}  // namespace sextant::detail::ply
