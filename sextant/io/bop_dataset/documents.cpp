// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sextant/core/options_json.h"
#include "sextant/io/bop_dataset.h"
#include "sextant/io/json_file.h"

namespace sextant {

namespace {

using nlohmann::json;

constexpr double kMetresPerUnit = 0.001;
/// How far a rotation of a file may be from orthonormal: those printed with few digits are mended,
/// others are no rotations.
constexpr double kLoosestRotation = 0.02;

const json& member(const json& object, const char* key, const std::string& where) {
  require(object.is_object(), where, ": must be an object but is ", shown(object));
  const auto found = object.find(key);
  require(found != object.end(), where, ": the key \"", key, "\" is missing");
  return *found;
}

double number_of(const json& value, const char* key, const std::string& where) {
  require(value.is_number(), where, ": \"", key, "\" must be a number but is ", shown(value));
  const double number = value.get<double>();
  require(std::isfinite(number), where, ": \"", key, "\" must be finite but is ", number);
  return number;
}

std::int64_t whole_of(const json& value, const char* key, const std::string& where) {
  const double number = number_of(value, key, where);
  require(number == std::floor(number) && std::abs(number) < 1e15, where, ": \"", key,
          "\" must be a whole number but is ", shown(value));
  return static_cast<std::int64_t>(number);
}

int id_of(const json& value, const char* key, const std::string& where) {
  const std::int64_t number = whole_of(value, key, where);
  require(number >= 0 && number <= 999999999, where, ": \"", key,
          "\" must be between 0 and 999999999 but is ", number);
  return static_cast<int>(number);
}

/// The numbers of a list, or of a list of lists row by row.
template <std::size_t N>
std::array<double, N> numbers_of(const json& object, const char* key, const std::string& where) {
  const json& list = member(object, key, where);
  require(list.is_array(), where, ": \"", key, "\" must be a list of ", N, " numbers but is ",
          shown(list));
  std::vector<double> numbers;
  for (const json& item : list) {
    if (item.is_array()) {
      for (const json& number : item) numbers.push_back(number_of(number, key, where));
    } else {
      numbers.push_back(number_of(item, key, where));
    }
  }
  require(numbers.size() == N, where, ": \"", key, "\" must have ", N, " numbers but has ",
          numbers.size());
  std::array<double, N> result;
  std::copy(numbers.begin(), numbers.end(), result.begin());
  return result;
}

int image_key(const std::string& key, const std::string& name) {
  int id = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
  require(error == std::errc{} && end == key.data() + key.size() && id >= 0 && id <= 999999999,
          name, ": the key ", shown(json(key)), " is not the number of an image");
  return id;
}

/// The images of a document, ascending.
std::vector<std::pair<int, const json*>> images_of(const json& document, const std::string& name) {
  require(document.is_object(), name, ": must have one entry for each image but is ",
          shown(document));
  std::vector<std::pair<int, const json*>> images;
  for (const auto& item : document.items()) {
    images.emplace_back(image_key(item.key(), name), &item.value());
  }
  std::sort(images.begin(), images.end());
  for (std::size_t i = 1; i < images.size(); ++i) {
    require(images[i].first != images[i - 1].first, name, ": image ", images[i].first,
            " is there twice");
  }
  return images;
}

BopInstance instance_of(const json& entry, const std::string& where) {
  BopInstance instance;
  instance.object_id = id_of(member(entry, "obj_id", where), "obj_id", where);
  const std::array<double, 9> r = numbers_of<9>(entry, "cam_R_m2c", where);
  const std::array<double, 3> t = numbers_of<3>(entry, "cam_t_m2c", where);
  const Mat3<double> rotation{{{r[0], r[1], r[2]}, {r[3], r[4], r[5]}, {r[6], r[7], r[8]}}};
  require(is_nearly_rotation(rotation), where, ": \"cam_R_m2c\" is no rotation");
  instance.camera_from_object =
      renormalized(Rigid3d{rotation, Vec3d{t[0], t[1], t[2]} * kMetresPerUnit});
  return instance;
}

std::array<int, 4> box_of(const json& entry, const char* key, const std::string& where) {
  if (!entry.contains(key)) return {-1, -1, -1, -1};
  const std::array<double, 4> numbers = numbers_of<4>(entry, key, where);
  std::array<int, 4> box;
  for (int i = 0; i < 4; ++i) {
    require(std::abs(numbers[i]) < 1e9, where, ": \"", key, "\" has ", numbers[i],
            ", which is no pixel");
    box[i] = static_cast<int>(std::lround(numbers[i]));
  }
  return box;
}

BopInstanceInfo info_of(const json& entry, const std::string& where) {
  const auto count = [&](const char* key) {
    return entry.contains(key) ? whole_of(entry.at(key), key, where) : 0;
  };
  BopInstanceInfo info;
  info.visible_fraction = number_of(member(entry, "visib_fract", where), "visib_fract", where);
  require(info.visible_fraction >= 0 && info.visible_fraction <= 1, where,
          ": \"visib_fract\" must be between 0 and 1 but is ", info.visible_fraction);
  info.all_px = count("px_count_all");
  info.valid_px = count("px_count_valid");
  info.visible_px = count("px_count_visib");
  info.box_px = box_of(entry, "bbox_obj", where);
  info.visible_box_px = box_of(entry, "bbox_visib", where);
  return info;
}

BopImage* find_image(BopScene& scene, int id) {
  const auto found =
      std::lower_bound(scene.images.begin(), scene.images.end(), id,
                       [](const BopImage& image, int wanted) { return image.id < wanted; });
  return found != scene.images.end() && found->id == id ? &*found : nullptr;
}

std::string place(const std::string& name, int image, std::size_t instance) {
  return name + ": image " + std::to_string(image) + ", instance " + std::to_string(instance);
}

}  // namespace

bool is_nearly_rotation(const Mat3<double>& r) {
  for (int i = 0; i < 3; ++i) {
    for (int j = i; j < 3; ++j) {
      const double expected = i == j ? 1.0 : 0.0;
      if (!(std::abs(dot(r.row[i], r.row[j]) - expected) < kLoosestRotation)) return false;
    }
  }
  return dot(cross(r.row[0], r.row[1]), r.row[2]) > 0;
}

BopScene bop_scene_from_json(const BopSceneDocuments& documents) {
  BopScene scene;
  require(documents.camera != nullptr, documents.camera_name, ": is missing");
  for (const auto& [id, entry] : images_of(*documents.camera, documents.camera_name)) {
    const std::string where = documents.camera_name + ": image " + std::to_string(id);
    BopImage image;
    image.id = id;
    image.camera = camera_list_from_json(*entry, where).cameras.front();
    scene.images.push_back(std::move(image));
  }
  if (documents.truth == nullptr) return scene;
  scene.has_truth = true;
  for (const auto& [id, entries] : images_of(*documents.truth, documents.truth_name)) {
    BopImage* image = find_image(scene, id);
    require(image != nullptr, documents.truth_name, ": has the truth of image ", id, ", which ",
            documents.camera_name, " does not list");
    require(entries->is_array(), documents.truth_name, ": image ", id,
            ": must be a list of instances but is ", shown(*entries));
    for (std::size_t i = 0; i < entries->size(); ++i) {
      image->truth.push_back(instance_of((*entries)[i], place(documents.truth_name, id, i)));
    }
  }
  if (documents.info == nullptr) return scene;
  for (const auto& [id, entries] : images_of(*documents.info, documents.info_name)) {
    BopImage* image = find_image(scene, id);
    require(image != nullptr, documents.info_name, ": describes image ", id, ", which ",
            documents.camera_name, " does not list");
    require(entries->is_array() && entries->size() == image->truth.size(), documents.info_name,
            ": image ", id, ": must have one entry for each of the ", image->truth.size(),
            " instances of ", documents.truth_name, " but is ", shown(*entries));
    for (std::size_t i = 0; i < entries->size(); ++i) {
      image->info.push_back(info_of((*entries)[i], place(documents.info_name, id, i)));
    }
  }
  return scene;
}

std::vector<BopTarget> bop_targets_from_json(const json& document, const std::string& name) {
  require(document.is_array(), name, ": must be a list of targets but is ", shown(document));
  std::vector<BopTarget> targets;
  for (std::size_t i = 0; i < document.size(); ++i) {
    const std::string where = name + ": target " + std::to_string(i);
    const json& entry = document[i];
    const auto id = [&](const char* key) { return id_of(member(entry, key, where), key, where); };
    BopTarget target{id("scene_id"), id("im_id"), id("obj_id"), 1};
    if (entry.contains("inst_count")) target.count = id("inst_count");
    targets.push_back(target);
  }
  return targets;
}

std::vector<BopTarget> read_bop_targets(const std::filesystem::path& path) {
  return bop_targets_from_json(read_json_file(path), path.string());
}

void write_bop_targets(const std::filesystem::path& path, const std::vector<BopTarget>& targets) {
  json document = json::array();
  for (const BopTarget& target : targets) {
    document.push_back({{"scene_id", target.scene_id},
                        {"im_id", target.image_id},
                        {"obj_id", target.object_id},
                        {"inst_count", target.count}});
  }
  write_json_file(path, document);
}

}  // namespace sextant
