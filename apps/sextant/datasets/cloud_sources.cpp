// SPDX-License-Identifier: Apache-2.0
// Sets of clouds: PCL's milk carton, laser and range scans with references, and organised clouds
// and depth maps of rooms in which nothing is known.
#include <algorithm>
#include <cmath>
#include <map>

#include "apps/sextant/datasets/source_files.h"
#include "apps/sextant/datasets/sources.h"
#include "apps/sextant/input/cloud_frame.h"
#include "sextant/geometry/no_returns.h"
#include "sextant/io/depth_file.h"

namespace sextant::app {

namespace {

namespace fs = std::filesystem;

/// A reference "# 4x4 MODEL -> SCENE" with the motion that carries one into the other.
struct Reference {
  fs::path model;
  double model_unit_m = 0.001;
  fs::path scene;
  Rigid3d scene_from_model;
};

std::vector<Reference> references_in(const fs::path& folder) {
  std::vector<Reference> references;
  for (const fs::path& file : files_in(folder)) {
    const std::string name = file.filename().string();
    if (!name.starts_with("ref_") || file.extension() != ".txt") continue;
    const std::string comment = first_comment(file);
    std::istringstream words(comment);
    std::string shape, model, word, scene;
    words >> shape >> model;
    while (words >> word && word != "->") {
    }
    words >> scene;
    require(shape == "4x4" && !scene.empty(), file.string(),
            ": line 1: expected '# 4x4 MODEL -> SCENE', found '", comment.substr(0, 60), "'");
    if (!has_file(folder, model) || !has_file(folder, scene)) continue;
    references.push_back({folder / model,
                          comment.find("scaled x1000") < comment.find("->") ? 1.0 : 0.001,
                          folder / scene, motion_of(read_numbers(file), 0.001, file.string())});
  }
  return references;
}

SetFrame set_frame(DepthFrame from) {
  SetFrame frame;
  frame.camera = from.camera;
  frame.depth_m = std::move(from.depth_m);
  frame.color = std::move(from.color);
  return frame;
}

/// Scans of one folder: every model that a reference or `others` names, every scene once.
void convert_scans(const fs::path& folder, DatasetWriter& writer,
                   const std::vector<fs::path>& others) {
  std::map<fs::path, int> objects, scenes;
  std::map<fs::path, double> units;
  for (const fs::path& file : others) units[file] = 0.001;
  const std::vector<Reference> references = references_in(folder);
  for (const Reference& reference : references) {
    units[reference.model] = reference.model_unit_m;
    scenes[reference.scene] = 0;
  }
  for (const auto& [file, unit_m] : units) {
    const int id = static_cast<int>(objects.size()) + 1;
    objects[file] = id;
    writer.add_object(id, file.stem().string(), read_model(file, unit_m));
  }
  int number = 0;
  for (auto& [file, id] : scenes) {
    id = ++number;
    TriangleMesh scene = read_model(file, 0.001);
    double z_sum = 0;
    for (const Vec3f& p : scene.vertices.points.host()) z_sum += std::isfinite(p.z) ? p.z : 0;
    // Scanners that look along -z have y upwards; cameras look along z and have it downwards.
    Rigid3d camera_from_scene;
    if (z_sum < 0) camera_from_scene.rotation = {{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}};
    move(scene, camera_from_scene);
    SetFrame frame = set_frame(frame_of_scene(scene));
    frame.scene = id;
    for (const Reference& reference : references) {
      if (reference.scene != file) continue;
      frame.truth.push_back(
          {objects.at(reference.model), camera_from_scene * reference.scene_from_model});
    }
    writer.add_frame(std::move(frame));
  }
}

}  // namespace

bool is_milk(const fs::path& folder) {
  return has_file(folder, "gt_milk_to_scene.txt") && has_file(folder, "milk.pcd") &&
         has_file(folder, "milk_cartoon_all_small_clorox.pcd");
}

void convert_milk(const fs::path& folder, DatasetWriter& writer) {
  writer.add_object(1, "milk carton", read_model(folder / "milk.pcd"));
  writer.notes().truth = "official";
  writer.notes().criterion.share = 0.1;
  writer.notes().remarks = {"the model is a crop of this very scene: an easy case"};
  const fs::path file = folder / "milk_cartoon_all_small_clorox.pcd";
  TriangleMesh scene = read_model(file);
  clear_no_returns(scene.vertices);
  CloudFrame made = frame_of_cloud(scene.vertices, file.string());
  SetFrame frame = set_frame(std::move(made.frame));
  const fs::path pose = folder / "gt_milk_to_scene.txt";
  frame.truth.push_back(
      {1, made.camera_from_points * motion_of(read_numbers(pose), 1, pose.string())});
  writer.add_frame(std::move(frame));
}

bool is_laser(const fs::path& folder) {
  return has_file(folder, "chef.pcd") && !references_in(folder).empty();
}

void convert_laser(const fs::path& folder, DatasetWriter& writer) {
  writer.notes().truth = "reference";
  writer.notes().criterion.measure = PoseMeasure::kDistanceAndAngle;
  writer.notes().criterion.distance_m = 0.005;
  writer.notes().criterion.angle_rad = 0.0524;
  writer.notes().remarks = {
      "poses were found by point pairs and ICP, they are not the official ones",
      "the scenes hold more models of the set, of which no mesh is here"};
  convert_scans(folder, writer, {});
}

bool is_range(const fs::path& folder) {
  return !has_file(folder, "chef.pcd") && !references_in(folder).empty();
}

void convert_range(const fs::path& folder, DatasetWriter& writer) {
  writer.notes().truth = "reference";
  writer.notes().criterion.measure = PoseMeasure::kAddS;
  writer.notes().criterion.share = 0.1;
  writer.notes().remarks = {"poses were found by point pairs and ICP, they are not official",
                            "boxes, bottle and cup are nearly symmetric, so that ADD-S decides"};
  std::vector<fs::path> others;
  for (const fs::path& file : files_in(folder)) {
    if (file.filename().string().find("rabbit") != std::string::npos) others.push_back(file);
  }
  convert_scans(folder, writer, others);
}

bool is_mosd(const fs::path& folder) {
  const std::vector<fs::path> files = files_in(folder);
  return std::any_of(files.begin(), files.end(), [](const fs::path& file) {
    const std::string name = file.filename().string();
    return file.extension() == ".pcd" && (name.starts_with("test") || name.starts_with("learn")) &&
           last_number(name).has_value();
  });
}

void convert_mosd(const fs::path& folder, DatasetWriter& writer) {
  writer.notes().truth = "none";
  writer.notes().remarks = {"nothing in these scenes is one of the objects: each report is false"};
  int id = 0;
  for (const fs::path& file : files_in(folder)) {
    if (file.extension() != ".pcd") continue;
    TriangleMesh cloud = read_model(file);
    clear_no_returns(cloud.vertices);
    SetFrame frame = set_frame(frame_of_cloud(cloud.vertices, file.string()).frame);
    frame.id = id++;
    writer.add_frame(std::move(frame));
  }
}

bool is_rooms(const fs::path& folder) {
  const std::vector<fs::path> files = files_in(folder);
  return std::any_of(files.begin(), files.end(), [&](const fs::path& file) {
    const std::string name = file.filename().string();
    const std::string frame = name.substr(0, name.find('.'));
    return name.starts_with("frame-") && name.find(".depth.png") != std::string::npos &&
           has_file(folder, frame + ".pose.txt");
  });
}

void convert_rooms(const fs::path& folder, DatasetWriter& writer) {
  writer.notes().truth = "none";
  writer.notes().remarks = {"nothing in these rooms is one of the objects: each report is false"};
  for (const fs::path& depth : files_in(folder)) {
    const std::string name = depth.filename().string();
    if (name.find(".depth.png") == std::string::npos) continue;
    SetFrame frame;
    frame.id = last_number(name.substr(0, name.find('.'))).value_or(0);
    frame.camera = vga(585, 585, 320, 240);
    frame.depth_m = read_depth(depth, {.unit_m = 0.001});
    // The largest number of 16 bits stands for no measurement too.
    for (float& z : frame.depth_m.pixels().host()) z = z < 65.5f ? z : NAN;
    const std::string color = name.substr(0, name.find('.')) + ".color.jpg";
    if (has_file(folder, color)) frame.color_file = folder / color;
    writer.add_frame(std::move(frame));
  }
}

}  // namespace sextant::app
