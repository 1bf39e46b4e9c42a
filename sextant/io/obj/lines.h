// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace sextant::detail::obj {

/// The text with the lines joined that end in a backslash; empty when none does. The backslash
/// becomes a blank and the end of the line moves behind the next one that ends without a backslash,
/// so that lines keep their numbers. Comments are not continued: some end in the name of a folder.
std::string join_lines(std::string_view text);

/// What kind of thing a line with this keyword describes, for the words of the format that are not
/// read: "lines", "groups"; empty for what only says how something is shown; null for other words.
const char* part_of_mesh(std::string_view keyword);

/// Whether a text of unknown kind begins as OBJ files do: with v, f, mtllib and such.
bool begins_with_mesh(std::string_view start);

}  // namespace sextant::detail::obj
