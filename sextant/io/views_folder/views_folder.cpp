// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/views_folder.h"

#include <algorithm>
#include <charconv>

#include "sextant/io/camera_json.h"
#include "sextant/io/depth_file.h"
#include "sextant/io/file.h"
#include "sextant/io/image_file.h"
#include "sextant/io/views_folder/poses.h"

namespace sextant {

namespace fs = std::filesystem;
using namespace detail::views_folder;

namespace {

/// The files of a folder that are called PREFIX_NAME.EXTENSION, by the key of NAME.
struct NamedFile {
  std::string name;
  fs::path path;
};

std::vector<NamedFile> files_called(const fs::path& folder, std::string_view prefix,
                                    std::initializer_list<std::string_view> extensions) {
  std::vector<NamedFile> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string stem = entry.path().stem().string();
    std::string extension = entry.path().extension().string();
    std::transform(extension.begin(), extension.end(), extension.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    if (stem.size() <= prefix.size() || stem.compare(0, prefix.size(), prefix) != 0) continue;
    if (std::find(extensions.begin(), extensions.end(), extension) == extensions.end()) continue;
    files.push_back({view_key(stem.substr(prefix.size())), entry.path()});
  }
  // Numbers by their value, then other names by the alphabet.
  const auto digits = [](const std::string& s) {
    return std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  std::sort(files.begin(), files.end(), [&](const NamedFile& a, const NamedFile& b) {
    const bool a_number = digits(a.name), b_number = digits(b.name);
    if (a_number != b_number) return a_number;
    if (a_number && a.name.size() != b.name.size()) return a.name.size() < b.name.size();
    return a.name != b.name ? a.name < b.name : a.path < b.path;
  });
  for (std::size_t i = 1; i < files.size(); ++i) {
    require(files[i].name != files[i - 1].name, files[i].path.string(), ": is the same view as ",
            files[i - 1].path.filename().string(), "; remove one of them");
  }
  return files;
}

const fs::path* path_of(const std::vector<NamedFile>& files, const std::string& name) {
  for (const NamedFile& file : files) {
    if (file.name == name) return &file.path;
  }
  return nullptr;
}

/// The nine numbers of Intrinsic.txt.
CameraFile intrinsic_camera(const fs::path& path, const CameraImage& image) {
  const FileBytes bytes = read_file(path, 1 << 20);
  const std::string_view text = bytes.text();
  double m[9] = {};
  int count = 0;
  const char* at = text.data();
  const char* end = text.data() + text.size();
  while (at != end && count < 9) {
    if (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t') {
      ++at;
      continue;
    }
    const std::from_chars_result result = std::from_chars(at, end, m[count]);
    require(result.ec == std::errc(), path.string(), ": number ", count + 1,
            " of the 3x3 camera matrix is none");
    ++count;
    at = result.ptr;
  }
  require(count == 9 && m[0] > 0 && m[4] > 0 && m[8] == 1 && m[3] == 0, path.string(),
          ": is no 3x3 camera matrix, fx 0 cx 0 fy cy 0 0 1");
  CameraFile file;
  file.camera = {image.width, image.height, m[0], m[4], m[2], m[5], {}};
  check_camera(file.camera);
  return file;
}

CameraFile camera_of(const fs::path& folder, const CameraImage& image) {
  std::error_code ignored;
  if (fs::exists(folder / "camera.json", ignored)) {
    return read_camera_json(folder / "camera.json", image);
  }
  if (fs::exists(folder / "Intrinsic.txt", ignored)) {
    return intrinsic_camera(folder / "Intrinsic.txt", image);
  }
  fail(folder.string(), ": has no camera.json; write one with width, height, fx, fy, cx and cy");
}

template <class T>
void require_size(const fs::path& path, const Image<T>& image, const Image<float>& depth,
                  const fs::path& depth_path) {
  require(image.width() == depth.width() && image.height() == depth.height(), path.string(),
          ": is ", image.width(), " x ", image.height(), " px, but ",
          depth_path.filename().string(), " is ", depth.width(), " x ", depth.height(),
          "; register it to the depth first");
}

std::map<std::string, Rigid3d> poses_for(const fs::path& folder, const ViewsFolderOptions& options,
                                         fs::path& file) {
  if (!options.poses) return {};
  std::error_code ignored;
  if (!options.pose_file.empty()) {
    file = options.pose_file;
  } else if (fs::exists(folder / "poses.json", ignored)) {
    file = folder / "poses.json";
  } else if (fs::exists(folder / "poses.csv", ignored)) {
    file = folder / "poses.csv";
  } else {
    return {};
  }
  std::map<std::string, Rigid3d> poses = read_poses(file);
  require(!poses.empty(), file.string(), ": has no poses");
  return poses;
}

}  // namespace

std::vector<RgbdView> read_views_folder(const fs::path& folder, const ViewsFolderOptions& options) {
  std::error_code error;
  require(fs::is_directory(folder, error), folder.string(), ": is no folder of views");
  const std::vector<NamedFile> depths =
      files_called(folder, "depth_", {".png", ".pgm", ".tif", ".tiff"});
  require(!depths.empty(), folder.string(),
          ": has no depth_*.png; name the depth maps depth_0.png, depth_1.png and so on");
  const std::vector<NamedFile> colors = files_called(folder, "color_", {".png", ".jpg", ".jpeg"});
  const std::vector<NamedFile> masks = files_called(folder, "mask_", {".png", ".jpg", ".jpeg"});
  fs::path pose_file;
  const std::map<std::string, Rigid3d> poses = poses_for(folder, options, pose_file);

  std::vector<RgbdView> views;
  for (const NamedFile& depth : depths) {
    RgbdView view;
    view.name = depth.name;
    const ImageInfo info = image_info(depth.path);
    const CameraFile camera = camera_of(folder, {depth.path.string(), info.width, info.height});
    view.camera = camera.camera;
    view.depth_m =
        read_depth(depth.path, {.unit_m = options.unit_m, .camera_unit_m = camera.depth_unit_m()});
    if (const fs::path* path = path_of(colors, depth.name)) {
      view.color = read_image(*path);
      require_size(*path, view.color, view.depth_m, depth.path);
    }
    if (const fs::path* path = options.masks ? path_of(masks, depth.name) : nullptr) {
      const Image<Rgb8> picture = read_image(*path);
      require_size(*path, picture, view.depth_m, depth.path);
      view.mask = Image<std::uint8_t>(Context::cpu(), picture.width(), picture.height());
      for (std::int64_t i = 0; i < picture.pixels().size(); ++i) {
        const Rgb8 p = picture.pixels().data()[i];
        view.mask.pixels().data()[i] = p.x > 127 || p.y > 127 || p.z > 127 ? 255 : 0;
      }
    }
    if (!poses.empty()) {
      const auto found = poses.find(depth.name);
      require(found != poses.end(), pose_file.string(), ": has ", poses.size(), " poses for ",
              depths.size(), " views, and none for view ", depth.name,
              "; add it, or leave the poses out to have the views registered");
      view.world_from_camera = found->second;
    }
    views.push_back(std::move(view));
  }
  return views;
}

}  // namespace sextant
