// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/camera_json/values.h"

#include <cmath>
#include <limits>

#include "sextant/core/options_json.h"

namespace sextant::detail::camera_json {

Found find_one(const nlohmann::json& object, std::initializer_list<const char*> keys,
               const std::string& name) {
  Found found;
  for (const char* key : keys) {
    const auto here = object.find(key);
    if (here == object.end()) continue;
    require(!found, name, ": \"", found.key, "\" and \"", key, "\" say the same; keep one of them");
    found = {key, &*here};
  }
  return found;
}

Found find_needed(const nlohmann::json& object, std::initializer_list<const char*> keys,
                  const std::string& name) {
  const Found found = find_one(object, keys, name);
  require(static_cast<bool>(found), name, ": the key \"", *keys.begin(), "\" is missing");
  return found;
}

double number_of(const Found& found, const std::string& name) {
  require(found.value->is_number(), name, ": \"", found.key, "\" must be a number but is ",
          shown(*found.value));
  const double number = found.value->get<double>();
  require(std::isfinite(number), name, ": \"", found.key, "\" must be finite but is ", number);
  return number;
}

double positive_of(const Found& found, const std::string& name) {
  const double number = number_of(found, name);
  require(number > 0, name, ": \"", found.key, "\" must be positive but is ", number);
  return number;
}

int pixels_of(const Found& found, const std::string& name) {
  const double number = number_of(found, name);
  require(number == std::floor(number) && number >= 1 && number <= std::numeric_limits<int>::max(),
          name, ": \"", found.key, "\" must be a positive number of pixels but is ",
          shown(*found.value));
  return static_cast<int>(number);
}

std::vector<double> numbers_of(const Found& found, const std::string& name) {
  const nlohmann::json* list = found.value;
  if (list->is_object() && list->contains("data")) list = &list->at("data");
  require(list->is_array(), name, ": \"", found.key, "\" must be a list of numbers but is ",
          shown(*list));
  std::vector<double> numbers;
  for (const nlohmann::json& item : *list) {
    if (!item.is_array()) {
      numbers.push_back(number_of({found.key, &item}, name));
      continue;
    }
    for (const nlohmann::json& number : item) {
      numbers.push_back(number_of({found.key, &number}, name));
    }
  }
  return numbers;
}

}  // namespace sextant::detail::camera_json
