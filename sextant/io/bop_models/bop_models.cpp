// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/bop_models.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "sextant/core/error.h"
#include "sextant/core/options_json.h"
#include "sextant/geometry/cloud.h"
#include "sextant/geometry/diameter.h"
#include "sextant/io/bop_dataset.h"
#include "sextant/io/file.h"
#include "sextant/io/json_file.h"

namespace sextant {

namespace {

using nlohmann::json;

constexpr double kMm = 0.001;
constexpr double kLargest = 1e12;  ///< millimetres; far beyond any object, and safe to convert

double number_of(const json& value, const std::string& where) {
  require(value.is_number(), where, " must be a number but is ", shown(value));
  const double number = value.get<double>();
  require(std::abs(number) <= kLargest, where, " is ", number, ", which is no size of an object");
  return number;
}

std::vector<double> numbers_of(const json& value, std::size_t count, const std::string& where) {
  require(value.is_array() && value.size() == count, where, " must be a list of ", count,
          " numbers but is ", shown(value));
  std::vector<double> numbers;
  for (const json& item : value) numbers.push_back(number_of(item, where));
  return numbers;
}

const json& needed(const json& object, const char* key, const std::string& where) {
  const auto found = object.find(key);
  require(found != object.end(), where, ": the key \"", key, "\" is missing");
  return *found;
}

Vec3d lengths_of(const json& object, const char* const (&keys)[3], const std::string& where) {
  const auto length = [&](const char* key) {
    return number_of(needed(object, key, where), where + ": \"" + key + "\"") * kMm;
  };
  return {length(keys[0]), length(keys[1]), length(keys[2])};
}

/// The box, where any of its keys is there.
void read_box(const json& object, const std::string& where, BopModel& model) {
  constexpr const char* kLow[] = {"min_x", "min_y", "min_z"};
  constexpr const char* kSize[] = {"size_x", "size_y", "size_z"};
  const auto has = [&](const char* key) { return object.contains(key); };
  if (std::none_of(std::begin(kLow), std::end(kLow), has) &&
      std::none_of(std::begin(kSize), std::end(kSize), has)) {
    return;
  }
  model.low_m = lengths_of(object, kLow, where);
  model.size_m = lengths_of(object, kSize, where);
  require(std::min({model.size_m.x, model.size_m.y, model.size_m.z}) >= 0, where,
          ": its size is negative");
}

/// Four rows of a rigid motion, one after the other, with the translation in millimetres.
Rigid3d motion_of(const json& value, const std::string& where) {
  const std::vector<double> m = numbers_of(value, 16, where);
  const Rigid3d motion{{{{m[0], m[1], m[2]}, {m[4], m[5], m[6]}, {m[8], m[9], m[10]}}},
                       Vec3d{m[3], m[7], m[11]} * kMm};
  require(m[12] == 0 && m[13] == 0 && m[14] == 0 && m[15] == 1, where,
          ": the last four numbers must be 0, 0, 0, 1");
  require(is_nearly_rotation(motion.rotation), where, " is no rotation");
  return renormalized(motion);
}

ContinuousSymmetry axis_of(const json& value, const std::string& where) {
  require(value.is_object(), where, " must be an object but is ", shown(value));
  const std::vector<double> a = numbers_of(needed(value, "axis", where), 3, where + ": \"axis\"");
  const std::vector<double> o =
      numbers_of(needed(value, "offset", where), 3, where + ": \"offset\"");
  const Vec3d axis{a[0], a[1], a[2]};
  require(norm(axis) > 1e-6, where, ": \"axis\" has no direction");
  return {normalized(axis), Vec3d{o[0], o[1], o[2]} * kMm};
}

Symmetries symmetries_of(const json& object, const std::string& where) {
  Symmetries symmetries;
  const auto each = [&](const char* key, const auto& add) {
    const auto list = object.find(key);
    if (list == object.end()) return;
    const std::string place = where + ": \"" + key + "\"";
    require(list->is_array(), place, " must be a list but is ", shown(*list));
    for (const json& item : *list) add(item, place);
  };
  each("symmetries_discrete", [&](const json& item, const std::string& place) {
    symmetries.discrete.push_back(motion_of(item, place));
  });
  each("symmetries_continuous", [&](const json& item, const std::string& place) {
    symmetries.continuous.push_back(axis_of(item, place));
  });
  return symmetries;
}

int id_of(std::string_view text, const std::string& name) {
  int id = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  require(error == std::errc{} && end == text.data() + text.size() && id >= 0, name, ": \"", text,
          "\" is no number of an object");
  return id;
}

/// The parts of a line between separators, without spaces around them.
std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// The object `{diameter: 102.1, min_x: -37.9}` of a line.
json object_of_line(std::string_view text, const std::string& where) {
  require(text.size() >= 2 && text.front() == '{' && text.back() == '}', where,
          ": expected {key: number, ...}");
  text = text.substr(1, text.size() - 2);
  json object = json::object();
  while (!trimmed(text).empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view pair = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const std::size_t colon = pair.find(':');
    require(colon != std::string_view::npos, where, ": expected key: number");
    const std::string_view value = trimmed(pair.substr(colon + 1));
    double number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    require(error == std::errc{} && end == value.data() + value.size(), where, ": \"", value,
            "\" is no number");
    object[std::string(trimmed(pair.substr(0, colon)))] = number;
  }
  return object;
}

json to_json(const Vec3d& v) { return {v.x, v.y, v.z}; }

}  // namespace

std::vector<BopModel> bop_models_from_json(const json& document, const std::string& name) {
  require(document.is_object(), name, ": must be a JSON object but is ", shown(document));
  require(!document.empty(), name, ": has no objects");
  std::vector<BopModel> models;
  for (const auto& [key, object] : document.items()) {
    const std::string where = name + ": object " + key;
    BopModel model;
    model.id = id_of(key, name);
    require(object.is_object(), where, " must be an object but is ", shown(object));
    model.diameter_m = number_of(needed(object, "diameter", where), where + ": \"diameter\"") * kMm;
    require(model.diameter_m > 0, where, ": \"diameter\" must be positive but is ",
            model.diameter_m / kMm);
    read_box(object, where, model);
    model.symmetries = symmetries_of(object, where);
    models.push_back(std::move(model));
  }
  std::stable_sort(models.begin(), models.end(),
                   [](const BopModel& a, const BopModel& b) { return a.id < b.id; });
  for (std::size_t i = 1; i < models.size(); ++i) {
    require(models[i].id != models[i - 1].id, name, ": object ", models[i].id, " is there twice");
  }
  return models;
}

std::vector<BopModel> bop_models_from_yaml(std::string_view text, const std::string& name) {
  json document = json::object();
  int number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#' || line == "---") continue;
    const std::string where = name + ": line " + std::to_string(number);
    const std::size_t colon = line.find(':');
    require(colon != std::string_view::npos, where, ": expected NUMBER: {key: number, ...}");
    const std::string key(trimmed(line.substr(0, colon)));
    require(!document.contains(key), where, ": object ", key, " is there twice");
    document[key] = object_of_line(trimmed(line.substr(colon + 1)), where);
  }
  return bop_models_from_json(document, name);
}

std::vector<BopModel> read_bop_models(const std::filesystem::path& path) {
  const FileBytes file = read_file(path, std::int64_t{1} << 28);
  const std::string_view text = file.text();
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool is_json = first != std::string_view::npos && text[first] == '{';
  return is_json ? bop_models_from_json(parse_json(text, path.string()), path.string())
                 : bop_models_from_yaml(text, path.string());
}

namespace {

/// The first path, unless only the second is there.
std::filesystem::path either(std::filesystem::path first, std::filesystem::path second) {
  return !std::filesystem::exists(first) && std::filesystem::exists(second) ? second : first;
}

}  // namespace

std::filesystem::path bop_models_info(const std::filesystem::path& folder) {
  return either(folder / "models_info.json", folder / "models_info.yml");
}

std::filesystem::path bop_mesh_file(const std::filesystem::path& folder, int id) {
  char of_two_digits[32];
  std::snprintf(of_two_digits, sizeof of_two_digits, "obj_%02d.ply", id);
  return either(folder / ("obj_" + bop_name(id) + ".ply"), folder / of_two_digits);
}

BopModel make_bop_model(int id, View<const Vec3f> points, const Symmetries& symmetries,
                        double known_diameter_m) {
  const Context cpu = Context::cpu();
  const Bounds box = bounds(cpu, points);
  require(box.low.x <= box.high.x, "object ", id, ": has no finite vertex");
  BopModel model;
  model.id = id;
  model.diameter_m = known_diameter_m > 0 ? known_diameter_m : diameter_m(cpu, points);
  model.low_m = cast<double>(box.low);
  model.size_m = cast<double>(box.high) - model.low_m;
  model.symmetries = symmetries;
  return model;
}

json bop_models_to_json(const std::vector<BopModel>& models) {
  json document = json::object();
  for (const BopModel& model : models) {
    require(model.id >= 0 && model.diameter_m > 0, "models: object ", model.id, " of ",
            model.diameter_m, " m has no number or size");
    const Vec3d low = model.low_m / kMm, size = model.size_m / kMm;
    json object = {{"diameter", model.diameter_m / kMm},
                   {"min_x", low.x},
                   {"min_y", low.y},
                   {"min_z", low.z},
                   {"size_x", size.x},
                   {"size_y", size.y},
                   {"size_z", size.z}};
    for (const Rigid3d& m : model.symmetries.discrete) {
      json numbers = json::array();
      const double t_mm[] = {m.translation.x / kMm, m.translation.y / kMm, m.translation.z / kMm};
      for (int r = 0; r < 3; ++r) {
        for (const double x :
             {m.rotation.row[r].x, m.rotation.row[r].y, m.rotation.row[r].z, t_mm[r]}) {
          numbers.push_back(x);
        }
      }
      for (const double x : {0.0, 0.0, 0.0, 1.0}) numbers.push_back(x);
      object["symmetries_discrete"].push_back(numbers);
    }
    for (const ContinuousSymmetry& axis : model.symmetries.continuous) {
      object["symmetries_continuous"].push_back(
          {{"axis", to_json(axis.axis)}, {"offset", to_json(axis.point_m / kMm)}});
    }
    const std::string key = std::to_string(model.id);
    require(!document.contains(key), "models: object ", model.id, " is there twice");
    document[key] = std::move(object);
  }
  return document;
}

void write_bop_models(const std::filesystem::path& path, const std::vector<BopModel>& models) {
  write_json_file(path, bop_models_to_json(models));
}

}  // namespace sextant
