// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/eval/set_images.h"

#include <algorithm>
#include <map>

#include "measure/spread_images.h"
#include "sextant/io/bop_results.h"
#include "sextant/io/depth_file.h"
#include "sextant/io/image_file.h"

namespace sextant::app {

namespace fs = std::filesystem;

namespace {

bool has_depth_folder(const BopScene& scene) { return fs::is_directory(scene.folder / "depth"); }

/// No camera sees objects as near as those of a file in metres that is read in millimetres.
class NearPoses {
 public:
  void add(const Rigid3d& camera_from_object) {
    farthest_m_ = std::max(farthest_m_, norm(camera_from_object.translation));
  }
  void refuse(const std::string& file, const char* key) const {
    require(farthest_m_ == 0 || farthest_m_ > kNearestMedian_m, file,
            ": no object lies farther than ", 1000 * farthest_m_, " mm from the camera; ", key,
            " must be in millimetres");
  }

 private:
  double farthest_m_ = 0;
};

/// The whole of a set is judged by its depth, so that a unit which cannot be right ends it.
void require_believable(const SetImage& image, const Image<float>& depth_m) {
  if (believable_depth(depth_m)) return;
  fail(image.depth_file.string(), ": its median depth is ", median_depth_m(depth_m),
       " m with depth_scale ", 1000 * image.image->camera.depth_unit_m(),
       " of scene_camera.json, which is in millimetres per step");
}

}  // namespace

std::vector<SetImage> images_of(const std::vector<BopScene>& scenes, int first, int most) {
  std::vector<SetImage> images;
  for (const BopScene& scene : scenes) {
    NearPoses poses;
    require(scene.has_truth, scene.folder.string(), ": has no scene_gt.json to judge by");
    const bool depth = has_depth_folder(scene);
    for (const BopImage& image : scene.images) {
      SetImage entry;
      entry.scene = &scene;
      entry.image = &image;
      if (depth) entry.depth_file = bop_depth_file(scene, image);
      entry.color_file = bop_color_file(scene, image);
      require(depth || !entry.color_file.empty(), scene.folder.string(), ": image ", image.id,
              " has neither depth/", bop_name(image.id), ".png nor a picture");
      entry.judged.scene = scene.id;
      entry.judged.image = image.id;
      for (std::size_t i = 0; i < image.truth.size(); ++i) {
        poses.add(image.truth[i].camera_from_object);
        const double visible = image.info.empty() ? 1.0 : image.info[i].visible_fraction;
        entry.judged.truth.push_back(
            {image.truth[i].object_id, image.truth[i].camera_from_object, visible});
      }
      images.push_back(std::move(entry));
    }
    poses.refuse((scene.folder / "scene_gt.json").string(), "cam_t_m2c");
  }
  std::vector<SetImage> chosen;
  for (const std::size_t i : measure::spread_images(images.size(), static_cast<std::size_t>(first),
                                                    static_cast<std::size_t>(most))) {
    chosen.push_back(std::move(images[i]));
  }
  return chosen;
}

void add_reports(const std::string& file, double min_score, const std::vector<BopScene>& scenes,
                 std::vector<SetImage>& images) {
  std::map<std::pair<int, int>, SetImage*> by_id;
  for (const BopScene& scene : scenes) {
    for (const BopImage& image : scene.images) by_id[{scene.id, image.id}] = nullptr;
  }
  for (SetImage& image : images) by_id[{image.judged.scene, image.judged.image}] = &image;
  const std::vector<BopResult> results = read_bop_results(file);
  NearPoses poses;
  for (const BopResult& result : results) poses.add(result.camera_from_object);
  poses.refuse(file, "t");
  for (const BopResult& result : results) {
    const auto found = by_id.find({result.scene_id, result.image_id});
    require(found != by_id.end(), file, ": has a result for image ", result.image_id, " of scene ",
            result.scene_id, ", which is not in the data set");
    if (found->second == nullptr) continue;
    JudgedImage& judged = found->second->judged;
    judged.seconds = std::max(judged.seconds, result.seconds);
    if (result.score < min_score) continue;
    judged.reports.push_back({result.object_id, result.score, result.camera_from_object});
  }
}

Image<float> read_pixels(const SetImage& image, Camera& camera) {
  camera = image.image->camera.camera;
  if (image.depth_file.empty()) {
    const ImageInfo info = image_info(image.color_file);
    camera.width = info.width;
    camera.height = info.height;
    return {};
  }
  require(image.image->camera.depth_unit_m() > 0, image.scene->folder.string(), ": image ",
          image.image->id, " has no depth_scale in scene_camera.json");
  Image<float> depth = read_depth(image.depth_file, {.unit_m = image.image->camera.depth_unit_m()});
  require_believable(image, depth);
  camera.width = depth.width();
  camera.height = depth.height();
  return depth;
}

}  // namespace sextant::app
