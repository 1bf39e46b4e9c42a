// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/rig_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sextant/core/error.h"
#include "sextant/io/camera_json.h"
#include "sextant/io/json_file.h"
#include "sextant/io/pose_json.h"

namespace sextant {

namespace {

constexpr std::size_t kMostCameras = 1000;
constexpr double kMostApart_m = 1000;  // of cameras that see the same objects

RigCamera camera_of_rig(const nlohmann::json& entry, std::size_t number, const std::string& name) {
  RigCamera camera;
  require(entry.is_object(), name, ": camera ", number, " is no object");
  nlohmann::json rest = entry;
  camera.name = std::to_string(number);
  if (const auto found = rest.find("name"); found != rest.end()) {
    require(found->is_string(), name, ": camera ", number, ": \"name\" is no text");
    camera.name = found->get<std::string>();
    rest.erase("name");
  }
  const std::string where = name + ": camera " + camera.name;
  const bool world = rest.contains("world_from_camera");
  require(world != rest.contains("camera_from_world"), where,
          ": expected one of the keys \"world_from_camera\" and \"camera_from_world\"");
  const char* key = world ? "world_from_camera" : "camera_from_world";
  const Rigid3d pose = pose_from_json(rest[key], where + ": \"" + key + "\"");
  rest.erase(key);
  camera.seen = {camera_from_json(rest, where).camera, world ? pose : inverse(pose)};
  return camera;
}

void check_rig(const std::vector<RigCamera>& rig, const std::string& name) {
  for (std::size_t i = 0; i < rig.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      require(rig[i].name != rig[k].name, name, ": two cameras are called ", rig[i].name);
    }
    const double apart_m =
        norm(rig[i].seen.world_from_camera.translation - rig[0].seen.world_from_camera.translation);
    require(apart_m < kMostApart_m, name, ": camera ", rig[i].name, " stands ", apart_m,
            " m from camera ", rig[0].name, "; poses are in metres");
  }
}

}  // namespace

bool holds_rig(const nlohmann::json& document) {
  return document.is_object() && document.contains("cameras");
}

std::vector<RigCamera> rig_from_json(const nlohmann::json& document, const std::string& name) {
  require(holds_rig(document), name, ": the key \"cameras\" is missing");
  for (const auto& item : document.items()) {
    require(item.key() == "cameras", name, ": unknown key \"", item.key(),
            "\"; a rig has \"cameras\" alone");
  }
  const nlohmann::json& list = document["cameras"];
  require(list.is_array() && !list.empty(), name, ": \"cameras\" is no list of cameras");
  require(list.size() <= kMostCameras, name, ": ", list.size(), " cameras are more than ",
          kMostCameras);
  std::vector<RigCamera> rig;
  for (std::size_t i = 0; i < list.size(); ++i) rig.push_back(camera_of_rig(list[i], i, name));
  check_rig(rig, name);
  return rig;
}

std::vector<RigCamera> read_rig_json(const std::filesystem::path& path) {
  return rig_from_json(read_json_file(path), path.string());
}

nlohmann::json rig_to_json(const std::vector<RigCamera>& rig) {
  nlohmann::json list = nlohmann::json::array();
  for (const RigCamera& camera : rig) {
    nlohmann::json entry = camera_to_json({camera.seen.camera, {}});
    entry["name"] = camera.name;
    entry["world_from_camera"] = pose_to_json(camera.seen.world_from_camera);
    list.push_back(std::move(entry));
  }
  return {{"cameras", std::move(list)}};
}

void write_rig_json(const std::filesystem::path& path, const std::vector<RigCamera>& rig) {
  write_json_file(path, rig_to_json(rig));
}

}  // namespace sextant
