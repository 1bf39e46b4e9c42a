// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/command/help_format.h"

namespace sextant::app {

namespace {

constexpr std::size_t kColumns = 100;

/// The text with a new line before each word that would pass the last column.
std::string broken(const std::string& text, std::size_t columns) {
  std::istringstream words(text);
  std::string result, line;
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > columns) {
      result += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return result + line;
}

std::string row(const std::string& name, const std::string& description, std::size_t indent) {
  std::ostringstream out;
  CLI::detail::format_help(out, name, broken(description, kColumns - indent), indent);
  return out.str();
}

}  // namespace

std::string HelpFormat::make_option(const CLI::Option* option, bool is_positional) const {
  return row(make_option_name(option, is_positional) + make_option_opts(option),
             make_option_desc(option), get_column_width());
}

std::string HelpFormat::make_subcommand(const CLI::App* command) const {
  return row(command->get_display_name(true), command->get_description(), get_column_width());
}

}  // namespace sextant::app
