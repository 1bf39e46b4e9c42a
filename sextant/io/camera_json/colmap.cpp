// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "sextant/io/camera_json/document.h"
#include "sextant/io/text/scanner.h"

namespace sextant::detail::camera_json {

namespace {

using nlohmann::json;
using text::TextScanner;

/// What a model of COLMAP has, in its order.
struct Model {
  std::string_view name;
  std::size_t focals;  ///< one for both axes, or two
  std::size_t numbers;
};
constexpr Model kModels[] = {{"SIMPLE_PINHOLE", 1, 3}, {"PINHOLE", 2, 4}, {"SIMPLE_RADIAL", 1, 4},
                             {"RADIAL", 1, 5},         {"OPENCV", 2, 8},  {"FULL_OPENCV", 2, 12}};

bool is_model_name(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(),
                                      [](char c) { return (c >= 'A' && c <= 'Z') || c == '_'; });
}

/// Stands at the next line that says something; false at the end.
bool find_line(TextScanner& lines) {
  while (lines.skip_space()) {
    if (lines.peek() != '#') return true;
    lines.next_line();
  }
  return false;
}

const Model& model_of(const TextScanner& line, std::string_view word) {
  const auto model = std::find_if(std::begin(kModels), std::end(kModels),
                                  [&](const Model& m) { return m.name == word; });
  if (model == std::end(kModels)) {
    line.fail_here("the camera model ", text::shown(word),
                   " is not understood; those that are: SIMPLE_PINHOLE, PINHOLE, SIMPLE_RADIAL, "
                   "RADIAL, OPENCV, FULL_OPENCV");
  }
  return *model;
}

/// The camera of one line: its number, model, width, height and what the model has.
json camera_of_line(TextScanner& line) {
  line.number<std::int64_t>("CAMERA_ID");
  const Model& model = model_of(line, line.word());
  json camera;
  camera["width"] = line.number<std::int64_t>("WIDTH");
  camera["height"] = line.number<std::int64_t>("HEIGHT");
  std::vector<double> numbers;
  for (std::size_t i = 0; i < model.numbers; ++i) {
    numbers.push_back(line.number<double>("PARAMS"));
    if (!std::isfinite(numbers.back())) line.fail_here("PARAMS hold a number that is not finite");
  }
  line.finish_line();
  camera["fx"] = numbers[0];
  camera["fy"] = numbers[model.focals - 1];
  // COLMAP counts from the corner of the first pixel, not from its centre.
  camera["cx"] = numbers[model.focals] - 0.5;
  camera["cy"] = numbers[model.focals + 1] - 0.5;
  json distortion = json::array();
  for (std::size_t i = model.focals + 2; i < numbers.size(); ++i) distortion.push_back(numbers[i]);
  // Radial coefficients alone lack p1 and p2.
  while (!distortion.empty() && distortion.size() < 4) distortion.push_back(0.0);
  if (!distortion.empty()) camera["distortion"] = distortion;
  return camera;
}

}  // namespace

bool is_colmap(std::string_view text) {
  TextScanner lines(text, "");
  if (!find_line(lines)) return text.find("# Camera list with") != std::string_view::npos;
  std::int64_t number = 0;
  return text::parse_word(lines.word(), number) && is_model_name(lines.word());
}

json colmap_camera(std::string_view text, const std::string& name) {
  TextScanner lines(text, name);
  std::optional<json> camera;
  int count = 0;
  bool same = true;
  for (; find_line(lines); ++count) {
    json next = camera_of_line(lines);
    same = same && (!camera || *camera == next);
    if (!camera) camera = std::move(next);
  }
  require(camera.has_value(), name, ": has no line with a camera");
  require(same, name, ": has ", count,
          " cameras that differ; keep the line of the one that is meant");
  return *camera;
}

}  // namespace sextant::detail::camera_json
