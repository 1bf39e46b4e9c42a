// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/recognize/photos.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/sextant/command/files.h"
#include "apps/sextant/input/file_kind.h"
#include "sextant/io/camera_json.h"
#include "sextant/io/depth_file.h"
#include "sextant/io/image_file.h"
#include "sextant/io/json_file.h"

namespace sextant::app {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPhotoFiles[] = {".png", ".jpg", ".jpeg", ".ppm",
                                            ".pgm", ".tif", ".tiff"};

bool has_photo_extension(const fs::path& path) {
  return std::find(std::begin(kPhotoFiles), std::end(kPhotoFiles), lower_extension(path)) !=
         std::end(kPhotoFiles);
}

/// A broken picture counts as one: reading it says what is wrong.
bool is_depth(const fs::path& file) {
  try {
    return is_depth_image(image_info(file));
  } catch (const Error&) {
    return false;
  }
}

std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (!it->is_directory()) files.push_back(it->path());
  }
  require(!error, folder.string(), ": ", error.message());
  std::sort(files.begin(), files.end());
  return files;
}

bool names_photo(const std::string& word) {
  if (!fs::is_directory(word)) {
    return fs::exists(word) && kind_of_content(word) == FileKind::kImage && !is_depth(word);
  }
  bool photos = false;
  for (const fs::path& file : files_of(word)) {
    if (!has_photo_extension(file)) continue;
    if (is_depth(file)) return false;
    photos = true;
  }
  return photos;
}

std::vector<std::string> photos_of(const std::string& folder) {
  std::vector<std::string> photos;
  for (const fs::path& file : files_of(folder)) {
    if (has_photo_extension(file)) photos.push_back(file.string());
  }
  return photos;
}

/// The photographs of each camera; a word is a file or a folder.
std::vector<PhotoMoment> moments_of_rig(const std::vector<std::string>& words,
                                        const std::vector<RigCamera>& rig,
                                        const std::string& camera) {
  require(words.size() == rig.size(), camera, ": has ", rig.size(), " cameras, but ", words.size(),
          words.size() == 1 ? " input is given" : " inputs are given",
          "; name a photograph, or a folder, for each camera in their order");
  const bool folders = fs::is_directory(words[0]);
  std::vector<PhotoMoment> moments;
  for (std::size_t c = 0; c < words.size(); ++c) {
    require(fs::is_directory(words[c]) == folders, words[c],
            ": name photographs or folders of them, not both, for the cameras of ", camera);
    const std::vector<std::string> files =
        folders ? photos_of(words[c]) : std::vector<std::string>{words[c]};
    if (c == 0) moments.resize(files.size());
    require(files.size() == moments.size(), words[c], ": has ", files.size(), " photographs, but ",
            words[0], " has ", moments.size(), "; every camera has one for each moment");
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (c == 0) moments[i].name = files[i];
      moments[i].files.push_back(files[i]);
    }
  }
  return moments;
}

void add_remarks(const Photo& photo, const std::string& file, SeenPhotos& seen) {
  if (photo.orientation == 1) return;
  seen.remarks.push_back(
      fmt::format("{}: its Exif says that it is to be turned, but the camera belongs to the pixels "
                  "as the sensor gave them, so that is how it is looked at",
                  file));
}

}  // namespace

bool names_photos(const std::vector<std::string>& words) {
  return !words.empty() && names_photo(words[0]);
}

PhotoList list_photos(const std::vector<std::string>& words, const std::string& camera) {
  for (const std::string& word : words) {
    require(names_photo(word), word, ": is no photograph, as ", words[0],
            " is; look at photographs and at depth in calls of their own");
  }
  PhotoList list;
  list.camera = camera;
  list.several = std::any_of(words.begin(), words.end(),
                             [](const std::string& word) { return fs::is_directory(word); });
  require(!camera.empty(), words[0], ": a photograph needs its camera; pass --camera FILE");
  const bool json = lower_extension(camera) == ".json";
  if (const auto document = json ? read_json_file(camera) : nlohmann::json{}; holds_rig(document)) {
    list.rig = rig_from_json(document, camera);
    list.moments = moments_of_rig(words, list.rig, camera);
    return list;
  }
  for (const std::string& word : words) {
    const std::vector<std::string> files =
        fs::is_directory(word) ? photos_of(word) : std::vector<std::string>{word};
    for (const std::string& file : files) list.moments.push_back({file, {file}});
  }
  list.several = list.several || list.moments.size() > 1;
  return list;
}

SeenPhotos read_photos(const PhotoList& list, const PhotoMoment& moment) {
  SeenPhotos seen;
  for (std::size_t c = 0; c < moment.files.size(); ++c) {
    const std::string& file = moment.files[c];
    seen.photos.push_back(read_photo(file, false));
    add_remarks(seen.photos.back(), file, seen);
    const PhotoView view = seen.photos.back().view();
    if (list.rig.empty()) {
      seen.cameras.push_back(
          {read_camera_json(list.camera, CameraImage{file, view.width, view.height}).camera, {}});
      continue;
    }
    const RigCamera& camera = list.rig[c];
    require(camera.seen.camera.width == view.width && camera.seen.camera.height == view.height,
            file, ": has ", view.width, " x ", view.height, " pixels, but camera ", camera.name,
            " of ", list.camera, " has ", camera.seen.camera.width, " x ",
            camera.seen.camera.height);
    seen.cameras.push_back(camera.seen);
  }
  return seen;
}

}  // namespace sextant::app
