// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/obj/lines.h"

#include <algorithm>
#include <cstddef>

#include "sextant/io/text/scanner.h"

namespace sextant::detail::obj {

namespace {

/// The place of the backslash that continues the line which ends at `end`, or npos.
std::size_t continuation(std::string_view text, std::size_t start, std::size_t end) {
  while (end > start && text::is_blank(text[end - 1])) --end;
  return end > start && text[end - 1] == '\\' ? end - 1 : std::string_view::npos;
}

bool is_comment(std::string_view text, std::size_t start) {
  while (start < text.size() && text::is_blank(text[start])) ++start;
  return start < text.size() && text[start] == '#';
}

struct Keyword {
  std::string_view word;
  const char* part;
};
constexpr Keyword kKeywords[] = {{"l", "lines"},
                                 {"p", "single points"},
                                 {"g", "groups"},
                                 {"o", "groups"},
                                 {"s", ""},
                                 {"mg", ""},
                                 {"usemap", ""},
                                 {"maplib", ""},
                                 {"bevel", ""},
                                 {"c_interp", ""},
                                 {"d_interp", ""},
                                 {"lod", ""},
                                 {"shadow_obj", ""},
                                 {"trace_obj", ""},
                                 {"ctech", ""},
                                 {"stech", ""},
                                 {"call", "other files"},
                                 {"csh", "commands"},
                                 {"vp", "curves and surfaces"},
                                 {"cstype", "curves and surfaces"},
                                 {"deg", "curves and surfaces"},
                                 {"bmat", "curves and surfaces"},
                                 {"step", "curves and surfaces"},
                                 {"curv", "curves and surfaces"},
                                 {"curv2", "curves and surfaces"},
                                 {"surf", "curves and surfaces"},
                                 {"parm", "curves and surfaces"},
                                 {"trim", "curves and surfaces"},
                                 {"hole", "curves and surfaces"},
                                 {"scrv", "curves and surfaces"},
                                 {"sp", "curves and surfaces"},
                                 {"end", "curves and surfaces"},
                                 {"con", "curves and surfaces"},
                                 {"bsp", "curves and surfaces"},
                                 {"bzp", "curves and surfaces"},
                                 {"cdc", "curves and surfaces"},
                                 {"cdp", "curves and surfaces"},
                                 {"res", "curves and surfaces"}};

}  // namespace

std::string join_lines(std::string_view text) {
  if (text.find('\\') == std::string_view::npos) return {};
  std::string joined;
  std::size_t owed = 0;  // ends of lines that were taken out
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const bool comment = owed == 0 && is_comment(text, start);
    const std::size_t backslash = comment ? std::string_view::npos : continuation(text, start, end);
    if (backslash != std::string_view::npos && end < text.size()) {
      joined.append(text.substr(start, backslash - start)).append(" ");
      ++owed;
    } else {
      joined.append(text.substr(start, end - start)).append(owed + (end < text.size()), '\n');
      owed = 0;
    }
    start = end + 1;
  }
  return joined;
}

const char* part_of_mesh(std::string_view keyword) {
  const auto* found = std::find_if(std::begin(kKeywords), std::end(kKeywords),
                                   [&](const Keyword& known) { return known.word == keyword; });
  return found == std::end(kKeywords) ? nullptr : found->part;
}

bool begins_with_mesh(std::string_view start) {
  text::TextScanner text(start, "");
  while (text.skip_space()) {
    const std::string_view word = text.word();
    if (!word.starts_with('#')) {
      for (const char* known : {"v", "vn", "vt", "f", "g", "o", "s", "mtllib", "usemtl"}) {
        if (word == known) return true;
      }
      return false;
    }
    text.next_line();
  }
  return false;
}

}  // namespace sextant::detail::obj
