// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "sextant/geometry/cloud.h"
#include "sextant/io/read_options.h"

namespace sextant {

/// A cloud on the host from a text with the numbers of one point on each line, as .xyz, .xyzn,
/// .xyzrgb, .pts, .asc, .csv and .txt files have them.
///
/// Between the numbers stand blanks, commas or semicolons, as on the first line of numbers; all
/// lines have as many. Empty lines and those that begin with # or // are comments. The first line
/// may be the number of points, or the names of the columns (x y z among them; a comment before the
/// numbers serves too). Without names, the columns behind x y z are taken for what their numbers
/// are: three that make vectors of length 1 for normals, three from 0 to 255 without fractions or
/// from 0 to 1 for colours, others for attributes column_4, column_5 and so on. Where four columns
/// could hold colours, the last three do (scanners write intensity, red, green, blue), unless the
/// last is an opacity that is the same for all in a file that does not begin with the number of
/// points. Attributes are integers of 32 bits where all their numbers are, else doubles. Points are
/// about an origin where floats cannot hold them (Cloud::origin_m).
Cloud read_xyz(const std::filesystem::path& path, const ReadOptions& options = {});
/// The same from memory; `name` stands for the file in messages.
Cloud read_xyz(std::span<const std::byte> file, const std::string& name,
               const ReadOptions& options = {});

}  // namespace sextant
