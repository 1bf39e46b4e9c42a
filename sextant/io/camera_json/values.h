// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sextant::detail::camera_json {

/// A value of an object and the key that it stands under; no value where there is none.
struct Found {
  std::string key;
  const nlohmann::json* value = nullptr;

  explicit operator bool() const { return value != nullptr; }
};

/// The value under any of several keys that mean the same; Error when two of them are there.
Found find_one(const nlohmann::json& object, std::initializer_list<const char*> keys,
               const std::string& name);
/// The same; Error that names the first key when there is none.
Found find_needed(const nlohmann::json& object, std::initializer_list<const char*> keys,
                  const std::string& name);

/// A finite number, or Error.
double number_of(const Found& found, const std::string& name);
/// A positive finite number, or Error.
double positive_of(const Found& found, const std::string& name);
/// A positive whole number of pixels, or Error.
int pixels_of(const Found& found, const std::string& name);
/// The numbers of a list, of a list of lists row by row, or of the list `data` in an object, which
/// is how OpenCV and ROS write matrices.
std::vector<double> numbers_of(const Found& found, const std::string& name);

}  // namespace sextant::detail::camera_json
