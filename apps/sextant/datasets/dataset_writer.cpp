// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/datasets/dataset_writer.h"

#include <algorithm>
#include <cmath>

#include "sextant/evaluate/judge_image.h"
#include "sextant/geometry/diameter.h"
#include "sextant/io/bop_models.h"
#include "sextant/io/camera_json.h"
#include "sextant/io/depth_file.h"
#include "sextant/io/ply.h"
#include "sextant/io/png.h"

namespace sextant::app {

namespace {

namespace fs = std::filesystem;

/// Of depth maps that are made here: fine enough for every sensor, and 6.5 m in 16 bits.
constexpr double kWrittenScale_mm = 0.1;
constexpr int kFirstDistractor = 901;
/// BOP asks for instances of which at least this share is seen.
constexpr double kLeastVisible = 0.1;

void make_folders(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  require(!error, folder.string(), ": cannot be made: ", error.message());
}

void scale(TriangleMesh& mesh, double factor) {
  for (Vec3f& p : mesh.vertices.points.host()) p = p * static_cast<float>(factor);
}

TriangleMesh copy_of(const TriangleMesh& mesh) { return copy(Context::cpu(), mesh); }

}  // namespace

DatasetWriter::DatasetWriter(fs::path folder, std::string name, bool symlinks)
    : folder_(std::move(folder)), symlinks_(symlinks) {
  notes_.name = std::move(name);
  make_folders(folder_ / "models");
}

void DatasetWriter::add_object(int id, const std::string& name, TriangleMesh mesh,
                               const Symmetries& symmetries) {
  notes_.objects[id] = name;
  objects_[id] = {name, std::move(mesh), symmetries};
}

void DatasetWriter::add_distractor(const std::string& name, TriangleMesh mesh) {
  const int id = kFirstDistractor + static_cast<int>(notes_.distractors.size());
  notes_.distractors.push_back(id);
  add_object(id, name, std::move(mesh));
}

fs::path DatasetWriter::place(const SetFrame& frame, const char* kind,
                              const std::string& extension) const {
  const fs::path folder = folder_ / "test" / bop_name(frame.scene) / kind;
  make_folders(folder);
  return folder / (bop_name(frame.id) + extension);
}

void DatasetWriter::bring(const fs::path& from, const fs::path& to) const {
  std::error_code error;
  fs::remove(to, error);
  if (symlinks_) {
    fs::create_symlink(fs::absolute(from), to, error);
  } else {
    fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  }
  require(!error, to.string(), ": cannot be made: ", error.message());
}

void DatasetWriter::add_frame(SetFrame frame) {
  Picture picture{frame.camera, {}};
  if (!frame.depth_m.empty()) {
    frame.depth_scale_mm = kWrittenScale_mm;
    picture.depth_file = place(frame, "depth", ".png");
    // What 16 bits cannot hold lies beyond every object.
    const float farthest = static_cast<float>(65535 * kWrittenScale_mm / 1000);
    for (float& z : frame.depth_m.pixels().host()) z = z < farthest ? z : NAN;
    write_depth(picture.depth_file, frame.depth_m, kWrittenScale_mm / 1000);
  } else if (!frame.depth_file.empty()) {
    picture.depth_file = place(frame, "depth", frame.depth_file.extension().string());
    bring(frame.depth_file, picture.depth_file);
  }
  if (!frame.color.empty()) {
    write_png(place(frame, "rgb", ".png"), frame.color.view());
  } else if (!frame.color_file.empty()) {
    bring(frame.color_file, place(frame, "rgb", frame.color_file.extension().string()));
  }
  BopScene& scene = scenes_[frame.scene];
  scene.id = frame.scene;
  scene.folder = folder_ / "test" / bop_name(frame.scene);
  scene.has_truth = true;
  BopImage image;
  image.id = frame.id;
  image.camera = {frame.camera, frame.depth_scale_mm};
  image.truth = std::move(frame.truth);
  const auto at = std::lower_bound(scene.images.begin(), scene.images.end(), image.id,
                                   [](const BopImage& a, int id) { return a.id < id; });
  require(at == scene.images.end() || at->id != image.id, folder_.string(), ": scene ", frame.scene,
          " has image ", frame.id, " twice");
  scene.images.insert(at, std::move(image));
  pictures_[{frame.scene, frame.id}] = picture;
  ++frames_;
}

int DatasetWriter::instances() const {
  std::size_t count = 0;
  for (const auto& [id, scene] : scenes_) {
    for (const BopImage& image : scene.images) count += image.truth.size();
  }
  return static_cast<int>(count);
}

void DatasetWriter::scale_distractors() {
  double sum = 0;
  int count = 0;
  for (const auto& [id, object] : objects_) {
    if (notes_.is_distractor(id)) continue;
    sum += diameter_m(Context::cpu(), object.mesh.vertices.points);
    ++count;
  }
  if (count == 0) return;
  for (const int id : notes_.distractors) {
    TriangleMesh& mesh = objects_.at(id).mesh;
    scale(mesh, sum / count / diameter_m(Context::cpu(), mesh.vertices.points));
  }
}

void DatasetWriter::write_models() const {
  std::vector<BopModel> models;
  for (const auto& [id, object] : objects_) {
    TriangleMesh mesh = copy_of(object.mesh);
    models.push_back(make_bop_model(id, mesh.vertices.points, object.symmetries));
    scale(mesh, 1000);  // models of BOP are in millimetres
    write_ply(bop_mesh_file(folder_ / "models", id), mesh);
  }
  write_bop_models(folder_ / "models" / "models_info.json", models);
}

void DatasetWriter::measure(const Context& context, const Progress& progress) {
  std::vector<EvaluatedModel> list;
  for (const auto& [id, object] : objects_) {
    list.push_back(make_evaluated_model(id, copy_of(object.mesh), object.symmetries));
  }
  const EvaluatedModels models = make_evaluated_models(context, std::move(list));
  VisibleSurfaceMemory memory;
  std::int64_t done = 0;
  for (auto& [scene_id, scene] : scenes_) {
    for (BopImage& image : scene.images) {
      const Picture& picture = pictures_.at({scene_id, image.id});
      Image<float> depth(Context::cpu(), picture.camera.width, picture.camera.height);
      std::fill(depth.pixels().host().begin(), depth.pixels().host().end(), NAN);
      if (!picture.depth_file.empty()) {
        depth = read_depth(picture.depth_file, {.unit_m = image.camera.depth_unit_m()});
      }
      std::vector<DrawnPose> poses;
      for (const BopInstance& instance : image.truth) {
        const int mesh = models.find(instance.object_id);
        require(mesh >= 0, folder_.string(), ": object ", instance.object_id, " has no model");
        poses.push_back({mesh, instance.camera_from_object});
      }
      const Image<float> measured = copy(context, depth);
      for (const VisibleCounts& seen : measure_visible(
               context, models.scene, models.bounds, picture.camera, measured, poses, {}, memory)) {
        const auto box = [](const PixelBox& b) {
          if (b.empty()) return std::array<int, 4>{-1, -1, -1, -1};
          return std::array<int, 4>{b.left, b.top, b.right - b.left, b.bottom - b.top};
        };
        image.info.push_back({seen.all_px, seen.valid_px, seen.visible_px, seen.fraction(),
                              box(seen.box), box(seen.visible_box)});
      }
      report(progress, ++done, frames_);
    }
  }
}

void DatasetWriter::write_targets() const {
  std::vector<BopTarget> targets;
  for (const auto& [scene_id, scene] : scenes_) {
    for (const BopImage& image : scene.images) {
      std::map<int, int> counts;
      for (std::size_t i = 0; i < image.truth.size(); ++i) {
        counts[image.truth[i].object_id] += image.info[i].visible_fraction >= kLeastVisible;
      }
      for (const auto& [object, count] : counts) {
        if (count > 0) targets.push_back({scene_id, image.id, object, count});
      }
    }
  }
  write_bop_targets(folder_ / "test_targets_bop19.json", targets);
}

void DatasetWriter::finish(const Context& context, const Progress& progress) {
  scale_distractors();
  write_models();
  measure(context, progress);
  for (const auto& [id, scene] : scenes_) write_bop_scene(scene);
  write_targets();
  if (!pictures_.empty()) {
    const auto& [key, picture] = *pictures_.begin();
    const BopImage& image = scenes_.at(key.first).images.front();
    write_camera_json(folder_ / "camera.json", {picture.camera, image.camera.depth_scale_mm});
  }
  write_set_notes(folder_, notes_);
}

}  // namespace sextant::app
