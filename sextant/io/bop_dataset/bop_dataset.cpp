// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/bop_dataset.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "sextant/io/file.h"
#include "sextant/io/json_file.h"

namespace sextant {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

/// How the files of the two generations are called.
struct SceneFiles {
  const char* camera;
  const char* truth;
  const char* info;  ///< null where the generation has none
};
constexpr SceneFiles kGenerations[] = {{"scene_camera.json", "scene_gt.json", "scene_gt_info.json"},
                                       {"info.yml", "gt.yml", nullptr}};

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

/// The generation that a folder's files are of; null for a folder that is no scene.
const SceneFiles* generation_of(const fs::path& folder) {
  for (const SceneFiles& files : kGenerations) {
    if (is_file(folder / files.camera) || is_file(folder / files.truth)) return &files;
  }
  return nullptr;
}

std::optional<int> number_of(const std::string& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

std::vector<fs::path> folders_in(const fs::path& root) {
  std::error_code error;
  std::vector<fs::path> folders;
  for (fs::directory_iterator it(root, error), end; !error && it != end; it.increment(error)) {
    if (it->is_directory(error)) folders.push_back(it->path());
  }
  require(!error, root.string(), ": cannot be listed: ", error.message());
  std::sort(folders.begin(), folders.end());
  return folders;
}

/// A numbered folder without a scene's files is a set that is not complete.
std::vector<BopSceneFolder> scenes_in(const fs::path& root) {
  std::vector<BopSceneFolder> scenes;
  for (const fs::path& folder : folders_in(root)) {
    const std::optional<int> id = number_of(folder.filename().string());
    if (!id) continue;
    require(generation_of(folder) != nullptr, folder.string(),
            ": has neither scene_camera.json nor info.yml; the data set is not complete");
    require(scenes.empty() || scenes.back().id != *id, root.string(), ": scene ", *id,
            " is there twice");
    scenes.push_back({*id, folder});
  }
  std::sort(scenes.begin(), scenes.end(),
            [](const BopSceneFolder& a, const BopSceneFolder& b) { return a.id < b.id; });
  return scenes;
}

bool has_scenes(const fs::path& folder) {
  const std::vector<fs::path> folders = folders_in(folder);
  return std::any_of(folders.begin(), folders.end(), [](const fs::path& inner) {
    return number_of(inner.filename().string()) && generation_of(inner) != nullptr;
  });
}

/// The file of a number in a folder, whatever its digits and extension; empty when not there.
fs::path find_image_file(const fs::path& folder, int id) {
  char four[16], six[16];
  std::snprintf(four, sizeof four, "%04d", id);
  std::snprintf(six, sizeof six, "%06d", id);
  for (const char* digits : {six, four}) {
    for (const char* extension : {".png", ".jpg", ".jpeg", ".tif", ".tiff"}) {
      const fs::path path = folder / (std::string(digits) + extension);
      if (is_file(path)) return path;
    }
  }
  return {};
}

std::array<double, 9> numbers_of(const Mat3<double>& m) {
  const Vec3d* r = m.row;
  return {r[0].x, r[0].y, r[0].z, r[1].x, r[1].y, r[1].z, r[2].x, r[2].y, r[2].z};
}

json camera_entry(const CameraFile& file) {
  const Camera& c = file.camera;
  json entry{{"cam_K", {c.fx_px, 0.0, c.cx_px, 0.0, c.fy_px, c.cy_px, 0.0, 0.0, 1.0}}};
  if (file.depth_scale_mm) entry["depth_scale"] = *file.depth_scale_mm;
  return entry;
}

json truth_entry(const BopInstance& instance) {
  const Vec3d t_mm = instance.camera_from_object.translation * 1000.0;
  return {{"obj_id", instance.object_id},
          {"cam_R_m2c", numbers_of(instance.camera_from_object.rotation)},
          {"cam_t_m2c", {t_mm.x, t_mm.y, t_mm.z}}};
}

json info_entry(const BopInstanceInfo& info) {
  return {{"px_count_all", info.all_px},       {"px_count_valid", info.valid_px},
          {"px_count_visib", info.visible_px}, {"visib_fract", info.visible_fraction},
          {"bbox_obj", info.box_px},           {"bbox_visib", info.visible_box_px}};
}

/// One line for each image, as the benchmark writes them, in the order of their numbers.
void write_entries(const fs::path& path, const std::vector<std::pair<int, json>>& entries) {
  write_file_atomically(path, [&](FileWriter& writer) {
    writer.write("{\n");
    for (std::size_t i = 0; i < entries.size(); ++i) {
      writer.write("  \"" + std::to_string(entries[i].first) + "\": " + entries[i].second.dump());
      writer.write(i + 1 < entries.size() ? ",\n" : "\n");
    }
    writer.write("}\n");
  });
}

}  // namespace

std::vector<BopSceneFolder> find_bop_scenes(const fs::path& root, const std::string& split) {
  std::error_code ignored;
  require(fs::is_directory(root, ignored), root.string(), ": is no folder");
  if (split.empty() && generation_of(root) != nullptr) {
    const fs::path absolute = fs::absolute(root);
    const fs::path name =
        absolute.has_filename() ? absolute.filename() : absolute.parent_path().filename();
    return {{number_of(name.string()).value_or(0), root}};
  }
  fs::path folder = root;
  if (!split.empty()) {
    folder = root / split;
    require(fs::is_directory(folder, ignored), folder.string(), ": there is no such split");
  } else if (!has_scenes(root)) {
    std::vector<fs::path> splits;
    for (const fs::path& inner : folders_in(root)) {
      if (has_scenes(inner)) splits.push_back(inner);
    }
    require(!splits.empty(), root.string(),
            ": has no scenes; a BOP data set has folders such as test/000001 with "
            "scene_camera.json and scene_gt.json in them");
    const auto test = std::find_if(splits.begin(), splits.end(),
                                   [](const fs::path& path) { return path.filename() == "test"; });
    if (test != splits.end()) {
      folder = *test;
    } else {
      require(splits.size() == 1, root.string(), ": has ", splits.size(), " splits, ",
              splits[0].filename().string(), " and ", splits.back().filename().string(),
              " among them; say which with --split");
      folder = splits[0];
    }
  }
  std::vector<BopSceneFolder> scenes = scenes_in(folder);
  require(!scenes.empty(), folder.string(), ": has no scenes");
  return scenes;
}

BopScene read_bop_scene(const BopSceneFolder& folder) {
  const SceneFiles* files = generation_of(folder.folder);
  require(files != nullptr, folder.folder.string(),
          ": has neither scene_camera.json nor info.yml; the data set is not complete");
  const auto read = [&](const char* name) -> std::optional<json> {
    if (name == nullptr || !is_file(folder.folder / name)) return std::nullopt;
    const fs::path path = folder.folder / name;
    return path.extension() == ".yml" ? read_simple_yaml(path) : read_json_file(path);
  };
  const std::optional<json> camera = read(files->camera);
  require(camera.has_value(), (folder.folder / files->camera).string(),
          ": is missing; the data set is not complete");
  const std::optional<json> truth = read(files->truth);
  const std::optional<json> info = read(files->info);
  BopSceneDocuments documents;
  documents.camera = &*camera;
  documents.truth = truth ? &*truth : nullptr;
  documents.info = info ? &*info : nullptr;
  documents.camera_name = (folder.folder / files->camera).string();
  documents.truth_name = (folder.folder / files->truth).string();
  if (files->info != nullptr) documents.info_name = (folder.folder / files->info).string();
  BopScene scene = bop_scene_from_json(documents);
  scene.id = folder.id;
  scene.folder = folder.folder;
  return scene;
}

void write_bop_scene(const BopScene& scene) {
  std::error_code error;
  fs::create_directories(scene.folder, error);
  require(!error, scene.folder.string(), ": cannot be made: ", error.message());
  std::vector<std::pair<int, json>> cameras, truths, infos;
  for (const BopImage& image : scene.images) {
    cameras.emplace_back(image.id, camera_entry(image.camera));
    json truth = json::array();
    for (const BopInstance& instance : image.truth) truth.push_back(truth_entry(instance));
    truths.emplace_back(image.id, std::move(truth));
    if (image.info.size() != image.truth.size()) continue;
    json info = json::array();
    for (const BopInstanceInfo& entry : image.info) info.push_back(info_entry(entry));
    infos.emplace_back(image.id, std::move(info));
  }
  write_entries(scene.folder / "scene_camera.json", cameras);
  if (!scene.has_truth) return;
  write_entries(scene.folder / "scene_gt.json", truths);
  if (!infos.empty()) write_entries(scene.folder / "scene_gt_info.json", infos);
}

fs::path bop_depth_file(const BopScene& scene, const BopImage& image) {
  fs::path path = find_image_file(scene.folder / "depth", image.id);
  require(!path.empty(), (scene.folder / "depth" / (bop_name(image.id) + ".png")).string(),
          ": is missing; the data set is not complete");
  return path;
}

fs::path bop_color_file(const BopScene& scene, const BopImage& image) {
  fs::path path = find_image_file(scene.folder / "rgb", image.id);
  return path.empty() ? find_image_file(scene.folder / "gray", image.id) : path;
}

std::string bop_name(int id) {
  char digits[16];
  std::snprintf(digits, sizeof digits, "%06d", id);
  return digits;
}

}  // namespace sextant
