// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/buffer.h"
#include "sextant/geometry/symmetries.h"

namespace sextant {

/// What models_info.json of a BOP data set says of an object. Files are in millimetres.
struct BopModel {
  int id = 0;
  double diameter_m = 0;  ///< largest distance between two vertices
  Vec3d low_m;            ///< corner of the box around the vertices: min_x, min_y, min_z
  Vec3d size_m;           ///< of that box; both are 0 where a file says nothing of it
  Symmetries symmetries;
};

/// Reads models_info.json, or the models_info.yml of older data sets, which has a line
/// `1: {diameter: 102.1, min_x: -37.9, ...}` for each object and no symmetries. The models come in
/// ascending order of their numbers, and there is at least one. The six keys of the box may be
/// missing together. Keys that are not known are left out. An Error names the file and the key, or
/// the line.
std::vector<BopModel> read_bop_models(const std::filesystem::path& path);
std::vector<BopModel> bop_models_from_json(const nlohmann::json& document, const std::string& name);
std::vector<BopModel> bop_models_from_yaml(std::string_view text, const std::string& name);

/// Where a folder of models says what they are: its models_info.json, or models_info.yml where it
/// has that one alone.
std::filesystem::path bop_models_info(const std::filesystem::path& folder);

/// Where the mesh of an object lies beside that file, in millimetres: FOLDER/obj_000001.ply, or
/// obj_01.ply where there is that one alone, as in older data sets.
std::filesystem::path bop_mesh_file(const std::filesystem::path& folder, int id);

/// What is to be said of an object with these vertices, in metres on the host; a diameter that is
/// not known (0) is measured. Error where no vertex is finite.
BopModel make_bop_model(int id, View<const Vec3f> points, const Symmetries& symmetries,
                        double diameter_m = 0);

/// Writes models_info.json; an object without symmetries has no key for them.
void write_bop_models(const std::filesystem::path& path, const std::vector<BopModel>& models);
nlohmann::json bop_models_to_json(const std::vector<BopModel>& models);

}  // namespace sextant
