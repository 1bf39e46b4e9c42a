// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/match/match_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "apps/sextant/input/file_kind.h"
#include "sextant/io/file.h"
#include "sextant/io/json_file.h"

namespace sextant::app {

namespace {

/// Row by row, 16 numbers.
std::array<float, 16> matrix_of(const Rigid3f& pose) {
  const Mat3f& r = pose.rotation;
  const Vec3f& t = pose.translation;
  return {r.row[0].x, r.row[0].y, r.row[0].z, t.x, r.row[1].x, r.row[1].y, r.row[1].z, t.y,
          r.row[2].x, r.row[2].y, r.row[2].z, t.z, 0,          0,          0,          1};
}

/// A name as one field: in quotes, of which those inside are doubled.
std::string quoted(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + "\"";
}

}  // namespace

nlohmann::json matches_to_json(const LibraryMatches& matches, const ResidentLibrary& library) {
  nlohmann::json list = nlohmann::json::array();
  for (const LibraryMatch& m : matches.matches) {
    list.push_back({{"object", library.objects[static_cast<std::size_t>(m.object)].name},
                    {"scene", m.scene},
                    {"model", m.model},
                    {"score", m.score},
                    {"scene_m", {m.scene_m.x, m.scene_m.y, m.scene_m.z}},
                    {"model_m", {m.model_m.x, m.model_m.y, m.model_m.z}},
                    {"scene_from_object", matrix_of(m.scene_from_object)}});
  }
  return list;
}

void write_matches(const std::string& file, const std::vector<NamedMatches>& found,
                   const ResidentLibrary& library) {
  if (lower_extension(file) == ".json") {
    nlohmann::json document;
    for (const NamedMatches& part : found) {
      document[part.kind] = matches_to_json(*part.matches, library);
    }
    write_json_file(file, document);
    return;
  }
  write_file_atomically(file, [&](FileWriter& out) {
    out.write(
        "kind,object,scene,model,score,scene_x_m,scene_y_m,scene_z_m,model_x_m,model_y_m,"
        "model_z_m");
    for (int i = 0; i < 12; ++i) out.write(fmt::format(",scene_from_object_{}{}", i / 4, i % 4));
    out.write("\n");
    for (const NamedMatches& part : found) {
      for (const LibraryMatch& m : part.matches->matches) {
        const std::array<float, 16> matrix = matrix_of(m.scene_from_object);
        out.write(fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", part.kind,
                              quoted(library.objects[static_cast<std::size_t>(m.object)].name),
                              m.scene, m.model, m.score, m.scene_m.x, m.scene_m.y, m.scene_m.z,
                              m.model_m.x, m.model_m.y, m.model_m.z,
                              fmt::join(matrix.begin(), matrix.begin() + 12, ",")));
      }
    }
  });
}

}  // namespace sextant::app
