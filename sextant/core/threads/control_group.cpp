// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>

#include "sextant/core/threads/thread_count.h"

namespace sextant::detail {

namespace {

/// The parts of a text between separators, empty ones included.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool contains(const std::vector<std::string_view>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

/// A number at the beginning of the text, blanks before it aside.
std::optional<long long> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  long long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  return number;
}

/// mountinfo writes blanks, tabs, line feeds and backslashes as three octal digits.
std::string without_escapes(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    int code = 0;
    if (text[i] == '\\' && i + 3 < text.size() &&
        std::from_chars(&text[i + 1], &text[i + 4], code, 8).ptr == &text[i + 4]) {
      plain += static_cast<char>(code);
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

/// Where a hierarchy of control groups is mounted, and which of its groups is seen there.
struct Mount {
  bool version2;
  std::string root;
  std::string point;
};

std::optional<Mount> parse_mount(std::string_view line) {
  // 36 35 98:0 ROOT POINT OPTIONS [OPTIONAL...] - TYPE SOURCE SUPER_OPTIONS
  const std::vector<std::string_view> fields = split(line, ' ');
  const auto dash = std::find(fields.begin(), fields.end(), "-");
  if (dash - fields.begin() < 6 || fields.end() - dash < 4) return std::nullopt;
  const bool version2 = dash[1] == "cgroup2";
  const bool version1 = dash[1] == "cgroup" && contains(split(dash[3], ','), "cpu");
  if (!version1 && !version2) return std::nullopt;
  return Mount{version2, without_escapes(fields[3]), without_escapes(fields[4])};
}

/// The group's path below the mount point: empty, or with a slash in front. A group outside of what
/// is mounted cannot be read; then the mounted one is the innermost that is known.
std::string path_below(const Mount& mount, std::string_view group) {
  const std::string_view root = mount.root == "/" ? std::string_view{} : mount.root;
  const bool below = group.starts_with(root) &&
                     (group.size() == root.size() || group[root.size()] == '/') &&
                     group.find("/..") == std::string_view::npos;
  if (!below) return {};
  const std::string_view path = group.substr(root.size());
  return path == "/" ? std::string{} : std::string(path);
}

std::string text_of(const std::string& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

std::optional<int> parse_thread_list(std::string_view text) {
  const std::optional<long long> number = leading_number(text);
  if (!number || *number <= 0 || *number > INT32_MAX) return std::nullopt;
  const std::size_t end = text.find_first_not_of(" \t0123456789");
  if (end != std::string_view::npos && text[end] != ',') return std::nullopt;
  return static_cast<int>(*number);
}

std::optional<int> parse_quota(std::string_view text) {
  const std::optional<long long> quota_us = leading_number(text);
  if (!quota_us || *quota_us <= 0) return std::nullopt;
  const std::size_t blank = text.find_first_of(" \t\n", text.find_first_of("0123456789"));
  if (blank == std::string_view::npos) return std::nullopt;
  const std::optional<long long> period_us = leading_number(text.substr(blank + 1));
  if (!period_us || *period_us <= 0) return std::nullopt;
  const long long threads = *quota_us / *period_us + (*quota_us % *period_us != 0);
  return static_cast<int>(std::min<long long>(threads, INT32_MAX));
}

std::vector<std::string> control_group_directories(std::string_view groups,
                                                   std::string_view mounts) {
  std::vector<Mount> known;
  for (const std::string_view line : split(mounts, '\n')) {
    if (std::optional<Mount> mount = parse_mount(line)) known.push_back(std::move(*mount));
  }
  std::vector<std::string> directories;
  for (const std::string_view line : split(groups, '\n')) {
    // HIERARCHY:CONTROLLERS:PATH; version 2 is hierarchy 0 without controllers.
    const std::vector<std::string_view> fields = split(line, ':');
    if (fields.size() < 3) continue;
    const bool version2 = fields[0] == "0" && fields[1].empty();
    if (!version2 && !contains(split(fields[1], ','), "cpu")) continue;
    const std::string_view group = line.substr(fields[0].size() + fields[1].size() + 2);
    for (const Mount& mount : known) {
      if (mount.version2 != version2) continue;
      for (std::string path = path_below(mount, group);; path.resize(path.rfind('/'))) {
        directories.push_back(mount.point + path);
        if (path.empty()) break;
      }
    }
  }
  return directories;
}

std::optional<int> control_group_threads(const std::string& process_directory) {
  std::optional<int> least;
  for (const std::string& directory : control_group_directories(
           text_of(process_directory + "/cgroup"), text_of(process_directory + "/mountinfo"))) {
    const std::string version1 =
        text_of(directory + "/cpu.cfs_quota_us") + " " + text_of(directory + "/cpu.cfs_period_us");
    for (const std::string& text : {text_of(directory + "/cpu.max"), version1}) {
      const std::optional<int> quota = parse_quota(text);
      if (quota && (!least || *quota < *least)) least = quota;
    }
  }
  return least;
}

}  // namespace sextant::detail
