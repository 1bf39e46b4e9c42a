// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <nlohmann/json.hpp>

#include "sextant/core/options_json.h"
#include "sextant/io/json_file.h"
#include "sextant/library/library/parts.h"

namespace sextant::detail::library {

namespace {

using nlohmann::json;

json list_of(const Vec3d& v) { return json::array({v.x, v.y, v.z}); }

/// Row by row, 16 numbers.
json matrix_of(const Rigid3d& pose) {
  json numbers = json::array();
  const double translation[] = {pose.translation.x, pose.translation.y, pose.translation.z};
  for (int i = 0; i < 3; ++i) {
    const Vec3d& row = pose.rotation.row[i];
    for (const double number : {row.x, row.y, row.z, translation[i]}) numbers.push_back(number);
  }
  for (const double number : {0.0, 0.0, 0.0, 1.0}) numbers.push_back(number);
  return numbers;
}

json json_of(const Symmetries& symmetries) {
  json discrete = json::array(), continuous = json::array();
  for (const Rigid3d& motion : symmetries.discrete) discrete.push_back(matrix_of(motion));
  for (const ContinuousSymmetry& symmetry : symmetries.continuous) {
    continuous.push_back(
        {{"axis", list_of(symmetry.axis)}, {"point_m", list_of(symmetry.point_m)}});
  }
  return {{"discrete", discrete}, {"continuous", continuous}};
}

/// Takes values out of a document and says what is missing.
class Document {
 public:
  Document(const json& document, std::string where)
      : document_(document), where_(std::move(where)) {
    require(document.is_object(), where_, ": is no JSON object");
  }

  Document object(const char* key) const { return {at(key), where_ + ", " + key}; }
  const json& list(const char* key) const {
    const json& value = at(key);
    require(value.is_array(), where_, ": ", key, " is ", shown(value), ", not a list");
    return value;
  }
  std::string text(const char* key) const {
    const json& value = at(key);
    require(value.is_string(), where_, ": ", key, " is ", shown(value), ", not a text");
    return value.get<std::string>();
  }
  double number(const char* key) const { return finite(at(key), key); }
  bool contains(const char* key) const { return document_.contains(key); }
  std::int64_t count(const char* key) const {
    const json& value = at(key);
    const bool right = value.is_number_unsigned() && value.get<std::uint64_t>() <= INT64_MAX;
    require(right, where_, ": ", key, " is ", shown(value), ", not a number of things");
    return value.get<std::int64_t>();
  }
  int integer(const char* key) const {
    const json& value = at(key);
    const bool right = value.is_number_integer() && value.get<double>() >= INT32_MIN &&
                       value.get<double>() <= INT32_MAX;
    require(right, where_, ": ", key, " is ", shown(value), ", not a whole number");
    return value.get<int>();
  }
  std::vector<double> numbers(const json& value, std::size_t size, const char* key) const {
    require(value.is_array() && value.size() == size, where_, ": ", key, " is ", shown(value),
            ", not a list of ", size, " numbers");
    std::vector<double> list;
    for (const json& number : value) list.push_back(finite(number, key));
    return list;
  }
  Vec3d vector(const char* key) const {
    const std::vector<double> n = numbers(at(key), 3, key);
    return {n[0], n[1], n[2]};
  }
  const std::string& where() const { return where_; }

 private:
  const json& at(const char* key) const {
    const auto found = document_.find(key);
    require(found != document_.end(), where_, ": has no ", key);
    return *found;
  }
  double finite(const json& value, const char* key) const {
    const double number = value.is_number() ? value.get<double>() : NAN;
    require(std::isfinite(number), where_, ": ", key, " is ", shown(value), ", not a number");
    return number;
  }

  const json& document_;
  std::string where_;
};

Symmetries symmetries_of(const Document& document) {
  Symmetries symmetries;
  for (const json& matrix : document.list("discrete")) {
    const std::vector<double> n = document.numbers(matrix, 16, "a discrete symmetry");
    symmetries.discrete.push_back(
        {{{{n[0], n[1], n[2]}, {n[4], n[5], n[6]}, {n[8], n[9], n[10]}}}, {n[3], n[7], n[11]}});
  }
  for (const json& entry : document.list("continuous")) {
    const Document symmetry(entry, document.where());
    symmetries.continuous.push_back({symmetry.vector("axis"), symmetry.vector("point_m")});
  }
  return symmetries;
}

json json_of(const ObjectSource& source) {
  return {{"kind", source.kind},     {"file", source.file},       {"sha256", source.sha256},
          {"unit_m", source.unit_m}, {"options", source.options}, {"remarks", source.remarks}};
}

ObjectSource source_of(const Document& document) {
  ObjectSource source{document.text("kind"),     document.text("file"),    document.text("sha256"),
                      document.number("unit_m"), document.text("options"), {}};
  for (const json& remark : document.list("remarks")) {
    require(remark.is_string(), document.where(), ": a remark is ", shown(remark), ", not a text");
    source.remarks.push_back(remark.get<std::string>());
  }
  return source;
}

std::int64_t tensor_count(const LearnedObject& object) { return object.tensors.set.frames.size(); }

std::int64_t lookalike_count(const LearnedObject& object) {
  return object.lookalikes.terms.size() / std::max(object.lookalikes.length, 1);
}

void require_finite(const LearnedObject& object) {
  const auto check = [&](double value, const char* what) {
    require(std::isfinite(value), object.name, ": ", what, " is not a number");
  };
  check(object.diameter_m, "diameter_m");
  check(object.source.unit_m, "source.unit_m");
  for (const Symmetries* symmetries : {&object.shape_symmetries, &object.appearance_symmetries}) {
    for (const Rigid3d& motion : symmetries->discrete) {
      check(norm(motion.translation) + norm(motion.rotation.row[0]) + norm(motion.rotation.row[1]) +
                norm(motion.rotation.row[2]),
            "a symmetry");
    }
    for (const ContinuousSymmetry& symmetry : symmetries->continuous) {
      check(norm(symmetry.axis) + norm(symmetry.point_m), "a symmetry");
    }
  }
}

}  // namespace

std::string about(const LearnedObject& object) {
  require_finite(object);
  Bounds box = bounds(Context::cpu(), object.mesh.vertices.points);
  if (box.empty()) box = {{0, 0, 0}, {0, 0, 0}};
  const json document{{"bop_id", object.bop_id},
                      {"diameter_m", object.diameter_m},
                      {"low_m", list_of(cast<double>(box.low))},
                      {"high_m", list_of(cast<double>(box.high))},
                      {"source", json_of(object.source)},
                      {"shape_symmetries", json_of(object.shape_symmetries)},
                      {"appearance_symmetries", json_of(object.appearance_symmetries)},
                      {"vertices", object.mesh.vertices.size()},
                      {"triangles", object.mesh.triangles.size()},
                      {"views", object.views.size()},
                      {"samples", object.samples.points.size()},
                      {"leaf_m", static_cast<double>(object.samples.leaf_m)},
                      {"shot", object.shot.points.size()},
                      {"shot_length", object.shot.length},
                      {"shot_radius_m", static_cast<double>(object.shot.radius_m)},
                      {"tensors", tensor_count(object)},
                      {"tensor_elements", object.tensors.set.indices.size()},
                      {"tensor_bins", object.tensors.set.bins},
                      {"tensor_resolution_m", static_cast<double>(object.tensors.resolution_m)},
                      {"appearance", object.appearance.points.size()},
                      {"lookalikes", lookalike_count(object)}};
  // A file may have a name that is not UTF-8.
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

ObjectEntry entry_of(const std::string& name, const std::string& about_json,
                     const std::string& where) {
  const json parsed = parse_json(about_json, where);
  const Document document(parsed, where);
  ObjectEntry entry;
  entry.name = name;
  entry.bop_id = document.integer("bop_id");
  entry.source = source_of(document.object("source"));
  entry.diameter_m = document.number("diameter_m");
  entry.shape_symmetries = symmetries_of(document.object("shape_symmetries"));
  entry.appearance_symmetries = symmetries_of(document.object("appearance_symmetries"));
  entry.low_m = cast<float>(document.vector("low_m"));
  entry.high_m = cast<float>(document.vector("high_m"));
  entry.vertices = document.count("vertices");
  entry.triangles = document.count("triangles");
  entry.views = document.count("views");
  entry.samples = document.count("samples");
  entry.leaf_m = static_cast<float>(document.number("leaf_m"));
  entry.shot = document.count("shot");
  entry.shot_length = document.integer("shot_length");
  entry.shot_radius_m = static_cast<float>(document.number("shot_radius_m"));
  entry.tensors = document.count("tensors");
  entry.tensor_elements = document.count("tensor_elements");
  entry.tensor_bins = document.integer("tensor_bins");
  entry.tensor_resolution_m = static_cast<float>(document.number("tensor_resolution_m"));
  entry.appearance = document.count("appearance");
  // Files of before there were any do not have the number.
  entry.lookalikes = document.contains("lookalikes") ? document.count("lookalikes") : 0;
  return entry;
}

void check_counts(const ObjectEntry& entry, const LearnedObject& object, const ObjectParts& parts,
                  const std::string& where) {
  const auto check = [&](bool wanted, std::int64_t found, std::int64_t expected, const char* what) {
    require(!wanted || found == expected, where, ": has ", found, " ", what, " instead of ",
            expected, "; it is damaged");
  };
  check(parts.mesh, object.mesh.vertices.size(), entry.vertices, "vertices");
  check(parts.mesh, object.mesh.triangles.size(), entry.triangles, "triangles");
  check(parts.views, static_cast<std::int64_t>(object.views.size()), entry.views, "views");
  check(parts.samples, object.samples.points.size(), entry.samples, "samples");
  check(parts.shot, object.shot.points.size(), entry.shot, "SHOT descriptors");
  check(parts.tensors, tensor_count(object), entry.tensors, "tensors");
  check(parts.tensors, object.tensors.set.indices.size(), entry.tensor_elements, "bins");
  check(parts.appearance, object.appearance.points.size(), entry.appearance, "features");
  check(parts.lookalikes, lookalike_count(object), entry.lookalikes, "lookalikes");
  for (const std::int32_t view : object.tensors.views.host()) {
    require(view >= 0 && view < entry.views, where, ": has a tensor of view ", view,
            ", of which there are ", entry.views);
  }
}

}  // namespace sextant::detail::library
