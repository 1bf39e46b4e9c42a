// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/command/user_words.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "apps/sextant/command/options_cli.h"

namespace sextant::app {

std::string in_user_words(const CLI::App& app, const std::string& message) {
  const std::size_t end = message.find(": ");
  if (end == std::string::npos || end == 0) return message;
  const std::string name = message.substr(0, end);
  const bool is_name = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (!is_name) return message;
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  // Behind a prefix as well: --normals-k, --shot-radius-m. Those that were given come first.
  const std::string flag = flag_of(name), behind = flag.substr(1);
  std::vector<std::string> given, all;
  for (const CLI::Option* option : command->get_options()) {
    const std::vector<std::string>& values = option->results();
    if (std::find(values.begin(), values.end(), name) != values.end()) return message;  // a file
    const std::string found = option->get_name();
    if (found == flag) return flag + message.substr(end);
    if (!found.starts_with("--") || !found.ends_with(behind)) continue;
    all.push_back(found);
    if (option->count() > 0) given.push_back(found);
  }
  if (given.size() == 1) return given.front() + message.substr(end);
  if (all.size() == 1) return all.front() + message.substr(end);
  return message;
}

}  // namespace sextant::app
