// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/views_folder/poses.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "sextant/core/error.h"
#include "sextant/io/file.h"
#include "sextant/io/json_file.h"
#include "sextant/io/pose_json.h"

namespace sextant::detail::views_folder {

std::string view_key(std::string_view name) {
  const bool number = !name.empty() && std::all_of(name.begin(), name.end(),
                                                   [](char c) { return c >= '0' && c <= '9'; });
  if (!number) return std::string(name);
  const std::size_t first = name.find_first_not_of('0');
  return first == std::string_view::npos ? "0" : std::string(name.substr(first));
}

std::map<std::string, Rigid3d> poses_from_json(std::string_view text, const std::string& name) {
  const nlohmann::json document = parse_json(text, name);
  const bool world = document.is_object() && document.contains("world_from_camera");
  const bool object = document.is_object() && document.contains("camera_from_object");
  require(world != object, name,
          ": expected one of the keys world_from_camera and camera_from_object");
  const char* key = world ? "world_from_camera" : "camera_from_object";
  require(document[key].is_object(), name, ": ", key, " is no object of views");
  std::map<std::string, Rigid3d> poses;
  for (const auto& [view, value] : document[key].items()) {
    const Rigid3d pose = pose_from_json(value, name + ": view " + view);
    require(poses.emplace(view_key(view), world ? pose : inverse(pose)).second, name, ": view ",
            view, " has two poses");
  }
  return poses;
}

std::map<std::string, Rigid3d> poses_from_lines(std::string_view text, const std::string& name) {
  std::map<std::string, Rigid3d> poses;
  int line_number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string line(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    ++line_number;
    std::replace_if(
        line.begin(), line.end(),
        [](char c) { return c == ',' || c == ';' || c == '\r' || c == '\t'; }, ' ');
    std::vector<std::string_view> words;
    for (std::size_t at = 0; at < line.size();) {
      const std::size_t begin = line.find_first_not_of(' ', at);
      if (begin == std::string::npos) break;
      at = std::min(line.find(' ', begin), line.size());
      words.push_back(std::string_view(line).substr(begin, at - begin));
    }
    if (words.empty() || words[0].front() == '#') continue;
    const std::string where = name + ":" + std::to_string(line_number);
    require(words.size() == 8, where, ": expected name, tx, ty, tz, qx, qy, qz, qw; found ",
            words.size(), " words");
    double number[7];
    bool numbers = true;
    for (std::size_t i = 0; i < 7; ++i) {
      const std::string_view word = words[i + 1];
      const auto result = std::from_chars(word.data(), word.data() + word.size(), number[i]);
      numbers = numbers && result.ec == std::errc() && result.ptr == word.data() + word.size();
    }
    if (!numbers && poses.empty()) continue;  // names of the columns
    require(numbers, where, ": a word after the name is no number");
    const Quaternion<double> q{number[6], number[3], number[4], number[5]};
    const double length = std::sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    require(std::abs(length - 1) < 1e-2, where, ": the quaternion has length ", length,
            " instead of 1");
    const Rigid3d pose =
        checked_pose({to_matrix(normalized(q)), {number[0], number[1], number[2]}}, where);
    require(poses.emplace(view_key(words[0]), pose).second, where, ": view ", std::string(words[0]),
            " has two poses");
  }
  return poses;
}

std::map<std::string, Rigid3d> read_poses(const std::filesystem::path& path) {
  const FileBytes bytes = read_file(path);
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return extension == ".json" ? poses_from_json(bytes.text(), path.string())
                              : poses_from_lines(bytes.text(), path.string());
}

}  // namespace sextant::detail::views_folder
