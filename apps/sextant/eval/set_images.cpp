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

}  // namespace

std::vector<SetImage> images_of(const std::vector<BopScene>& scenes, int first, int most) {
  std::vector<SetImage> images;
  for (const BopScene& scene : scenes) {
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
        const double visible = image.info.empty() ? 1.0 : image.info[i].visible_fraction;
        entry.judged.truth.push_back(
            {image.truth[i].object_id, image.truth[i].camera_from_object, visible});
      }
      images.push_back(std::move(entry));
    }
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
  for (const BopResult& result : read_bop_results(file)) {
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
  camera.width = depth.width();
  camera.height = depth.height();
  return depth;
}

}  // namespace sextant::app
