// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/eval/recognized_image.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/sextant/command/progress_bar.h"
#include "apps/sextant/eval/judged_image.h"
#include "apps/sextant/input/photo.h"
#include "apps/sextant/recognize/known_objects.h"
#include "apps/sextant/recognize/photographed_objects.h"
#include "sextant/core/build_config.h"
#include "sextant/core/for_each.h"
#include "sextant/core/options_json.h"
#include "sextant/geometry/undistort.h"
#include "sextant/io/depth_file.h"
#include "sextant/io/sha256.h"

namespace sextant::app {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Another build may find other poses: its version, and what its file holds where that can be read.
std::string this_program() {
  std::error_code error;
  const fs::path file = fs::read_symlink("/proc/self/exe", error);
  return std::string(kVersion) + (error ? "" : sha256_of_file(file));
}

std::uint64_t key_of(const ImageToRecognize& image, const std::string& all_images) {
  Fingerprint key;
  key.add(all_images);
  key.add(image.file.string());
  key.add(static_cast<double>(fs::last_write_time(image.file).time_since_epoch().count()));
  const Camera& camera = image.camera.camera;
  const Distortion<double>& d = camera.distortion;
  for (const double value :
       {camera.fx_px, camera.fy_px, camera.cx_px, camera.cy_px, d.k1, d.k2, d.p1, d.p2, d.k3,
        image.camera.depth_unit_m(), double(image.scene), double(image.image)}) {
    key.add(value);
  }
  return key.value();
}

/// Object, score, rotation row by row and translation in metres, to the last digit.
json numbers_of(const BopResult& result) {
  json list{result.object_id, result.score};
  for (const Vec3d& row : result.camera_from_object.rotation.row) {
    for (const double number : {row.x, row.y, row.z}) list.push_back(number);
  }
  const Vec3d& t = result.camera_from_object.translation;
  for (const double number : {t.x, t.y, t.z}) list.push_back(number);
  return list;
}

BopResult result_of(const json& numbers, const json& line, double seconds) {
  const auto row = [&](std::size_t first) {
    return Vec3d{numbers.at(first).get<double>(), numbers.at(first + 1).get<double>(),
                 numbers.at(first + 2).get<double>()};
  };
  return {line.at("scene").get<int>(),
          line.at("image").get<int>(),
          numbers.at(0).get<int>(),
          numbers.at(1).get<double>(),
          {Mat3d{{row(2), row(5), row(8)}}, row(11)},
          seconds};
}

/// Recognised images on disk, one JSON line each.
class RecognizedImages {
 public:
  explicit RecognizedImages(fs::path file) : file_(std::move(file)) {
    std::ifstream in(file_);
    std::string line;
    while (std::getline(in, line)) {
      // A line that an interruption cut off is of no image.
      const json document = json::parse(line, nullptr, false);
      if (!document.is_object() || !document.contains("key")) continue;
      lines_[document.at("key").get<std::uint64_t>()] = document;
    }
  }

  bool find(std::uint64_t key, RecognizedImage& image) const {
    const auto found = lines_.find(key);
    if (found == lines_.end()) return false;
    try {
      image.seconds = found->second.at("seconds").get<double>();
      for (const json& numbers : found->second.at("results")) {
        image.results.push_back(result_of(numbers, found->second, image.seconds));
      }
    } catch (const json::exception&) {
      image = {};
      return false;
    }
    return true;
  }

  void append(std::uint64_t key, const ImageToRecognize& image, const RecognizedImage& found) {
    json results = json::array();
    for (const BopResult& result : found.results) results.push_back(numbers_of(result));
    std::ofstream out(file_, std::ios::app);
    const json document{{"key", key},
                        {"scene", image.scene},
                        {"image", image.image},
                        {"seconds", found.seconds},
                        {"results", results}};
    out << document.dump() << '\n' << std::flush;
    require(static_cast<bool>(out), file_.string(), ": cannot be written");
  }

 private:
  fs::path file_;
  std::map<std::uint64_t, json> lines_;
};

/// The set's numbers of the library's objects.
std::vector<int> numbers_in_set(const RecognizeSet& what, const std::vector<LearnedObject>& objects,
                                const SetObjects& set_objects) {
  std::vector<int> numbers;
  for (const LearnedObject& object : objects) {
    int number = object.bop_id;
    for (const auto& [id, name] : set_objects) {
      if (number == 0 && name == object.name) number = id;
    }
    require(set_objects.contains(number), what.library, ": ",
            number == 0 ? "object '" + object.name +
                              "' has no number in a BOP data set, and the set names none like it"
                        : "object '" + object.name + "' has the number " + std::to_string(number) +
                              ", which the set lacks",
            "; 'sextant learn' gives objects their numbers when it is given the set's folder "
            "models, and 'sextant library remove' takes others out");
    numbers.push_back(number);
  }
  return numbers;
}

using Seconds = std::chrono::duration<double>;

RecognizedImage recognize(const Recognizer& recognizer, const std::vector<int>& numbers,
                          const ImageToRecognize& image) {
  const double unit_m = image.camera.depth_unit_m();
  require(unit_m > 0, image.file.string(), ": scene_camera.json has no depth_scale for it");
  Image<float> depth_m = read_depth(image.file, {.unit_m = unit_m});
  Camera camera = image.camera.camera;
  camera.width = depth_m.width();
  camera.height = depth_m.height();
  const auto start = std::chrono::steady_clock::now();
  if (!camera.distortion.is_zero()) {
    const Camera plain = without_distortion(camera);
    depth_m = undistort(Context::cpu(1), depth_m, camera, plain);
    camera = plain;
  }
  const Recognition found = recognizer.recognize(depth_m, camera);
  RecognizedImage result;
  result.seconds = Seconds(std::chrono::steady_clock::now() - start).count();
  for (const Detection& d : found.detections) {
    const int number = numbers[static_cast<std::size_t>(d.object_index)];
    result.results.push_back(
        {image.scene, image.image, number, d.score, d.camera_from_object, result.seconds});
  }
  return result;
}

RecognizedImage recognize(PhotoRecognizer& recognizer, const std::vector<int>& numbers,
                          const ImageToRecognize& image) {
  const Photo photo = read_photo(image.file.string(), false);
  Camera camera = image.camera.camera;
  camera.width = photo.view().width;
  camera.height = photo.view().height;
  const auto start = std::chrono::steady_clock::now();
  const PhotoRecognition found = recognizer.recognize(photo.view(), camera);
  RecognizedImage result;
  result.seconds = Seconds(std::chrono::steady_clock::now() - start).count();
  for (const PhotoDetection& d : found.detections) {
    const int number = numbers[static_cast<std::size_t>(d.object_index)];
    result.results.push_back(
        {image.scene, image.image, number, d.score, d.world_from_object, result.seconds});
  }
  return result;
}

/// Recognisers of photographs, each for one thread at a time.
class PhotoRecognizers {
 public:
  PhotoRecognizers(int count, const Context& context, std::span<const LearnedObject> objects,
                   const PhotoRecognizeOptions& options) {
    for (int i = 0; i < count; ++i) free_.emplace_back(context, objects, options);
  }

  RecognizedImage recognize(const std::vector<int>& numbers, const ImageToRecognize& image) {
    std::optional<PhotoRecognizer> mine;
    {
      const std::lock_guard lock(mutex_);
      mine.emplace(std::move(free_.back()));
      free_.pop_back();
    }
    const auto give_back = [&] {
      const std::lock_guard lock(mutex_);
      free_.push_back(std::move(*mine));
    };
    try {
      RecognizedImage found = app::recognize(*mine, numbers, image);
      give_back();
      return found;
    } catch (...) {
      give_back();
      throw;
    }
  }

 private:
  std::mutex mutex_;
  std::vector<PhotoRecognizer> free_;
};

}  // namespace

std::vector<RecognizedImage> recognize_set(const RecognizeSet& what,
                                           std::span<const ImageToRecognize> images,
                                           bool photographs, const SetObjects& set_objects,
                                           const fs::path& folder) {
  const Context context = Context::cpu(what.workers > 1 ? 1 : what.threads);
  const std::vector<LearnedObject> objects =
      photographs ? load_photographed_objects(what.library, {})
                  : load_known_objects(context, what.library, what.options);
  const std::vector<int> numbers = numbers_in_set(what, objects, set_objects);
  RecognizedImages store(folder / "recognized.jsonl");
  const std::string all_images = this_program() + sha256_of_file(what.library) +
                                 options_to_json(what.options).dump() +
                                 (photographs ? std::to_string(static_cast<int>(what.preset)) : "");
  std::vector<RecognizedImage> recognized(images.size());
  std::vector<std::uint64_t> keys;
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < images.size(); ++i) {
    keys.push_back(key_of(images[i], all_images));
    if (!store.find(keys[i], recognized[i])) open.push_back(i);
  }
  if (!open.empty()) {
    std::optional<Recognizer> by_depth;
    std::optional<PhotoRecognizers> by_photo;
    if (photographs) {
      PhotoRecognizeOptions options = photo_recognize_options(what.preset);
      options.poses.accept = what.options.accept;
      by_photo.emplace(what.workers, context, objects, options);
    } else {
      by_depth.emplace(context, objects, what.options);
    }
    ProgressBar bar("recognising", {"images", 1});
    const Progress progress = bar.callback();
    std::mutex mutex;
    std::size_t done = 0;
    for_each_chunk(Context::cpu(what.workers), static_cast<std::int64_t>(open.size()), 1,
                   [&](std::int64_t chunk, std::int64_t) {
                     const std::size_t i = open[static_cast<std::size_t>(chunk)];
                     recognized[i] = photographs ? by_photo->recognize(numbers, images[i])
                                                 : recognize(*by_depth, numbers, images[i]);
                     const std::lock_guard lock(mutex);
                     store.append(keys[i], images[i], recognized[i]);
                     report(progress, static_cast<std::int64_t>(++done),
                            static_cast<std::int64_t>(open.size()));
                   });
  }
  std::vector<BopResult> all;
  for (const RecognizedImage& image : recognized) {
    all.insert(all.end(), image.results.begin(), image.results.end());
  }
  write_bop_results(folder / "results.csv", all);
  return recognized;
}

}  // namespace sextant::app
