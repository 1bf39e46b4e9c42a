// SPDX-License-Identifier: Apache-2.0
// Photographs with poses: MOPED's kitchen counter.
#include <map>

#include "apps/sextant/datasets/source_files.h"
#include "apps/sextant/datasets/sources.h"
#include "sextant/io/file.h"
#include "sextant/io/image_file.h"

namespace sextant::app {

namespace {

namespace fs = std::filesystem;

constexpr const char* kPoses = "derived_detections_opencv_sift_pnp.csv";
/// Rows with fewer matches that agree may be wrong.
constexpr int kFewestInliers = 20;

/// What stands between the quotes after `key="` from `at` on; moves `at` behind it.
std::string attribute(std::string_view text, const std::string& key, std::size_t& at) {
  const std::string start = key + "=\"";
  const std::size_t first = text.find(start, at);
  if (first == std::string_view::npos) return {};
  const std::size_t from = first + start.size();
  const std::size_t end = text.find('"', from);
  if (end == std::string_view::npos) return {};
  at = end + 1;
  return std::string(text.substr(from, end - from));
}

/// The points of a MOPED model, in metres, with their colours.
TriangleMesh points_of_model(std::string_view text) {
  std::vector<Vec3f> points;
  std::vector<Rgb8> colors;
  for (std::size_t at = 0;;) {
    const std::string place = attribute(text, "p3d", at);
    if (place.empty()) break;
    Vec3f p;
    std::istringstream(place) >> p.x >> p.y >> p.z;
    points.push_back(p);
    int r = 255, g = 255, b = 255;
    std::istringstream(attribute(text, "color", at)) >> r >> g >> b;
    colors.push_back(
        {static_cast<std::uint8_t>(r), static_cast<std::uint8_t>(g), static_cast<std::uint8_t>(b)});
  }
  TriangleMesh mesh;
  mesh.vertices.points = copy(Context::cpu(), points);
  mesh.vertices.colors = copy(Context::cpu(), colors);
  return mesh;
}

}  // namespace

bool is_moped(const fs::path& folder) {
  return has_file(folder, kPoses) && has_file(folder, "models") && has_file(folder, "images");
}

void convert_moped(const fs::path& folder, DatasetWriter& writer) {
  std::map<std::string, int> objects;
  for (const fs::path& file : files_in(folder / "models")) {
    if (file.filename().string().find(".moped.xml") == std::string::npos) continue;
    const FileBytes bytes = read_file(file);
    std::size_t at = 0;
    const std::string name = attribute(bytes.text(), "name", at);
    const int id = static_cast<int>(objects.size()) + 1;
    objects[name] = id;
    writer.add_object(id, name, points_of_model(bytes.text()));
  }
  SetNotes& notes = writer.notes();
  notes.truth = "reference";
  notes.criterion.measure = PoseMeasure::kDistanceAndAngle;
  notes.criterion.distance_m = 0.02;
  notes.criterion.angle_rad = 0.1745;
  notes.remarks = {
      "photographs without depth; models are sparse points, so that visible shares are rough",
      "poses are those of OpenCV's SIFT and PnP with at least 20 matches that agree",
      "objects that were found in an image but not listed may be there"};
  std::map<std::string, std::vector<BopInstance>> truth;
  const FileBytes bytes = read_file(folder / kPoses);
  std::istringstream lines{std::string(bytes.text())};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (number == 1 || line.empty()) continue;
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream words(line);
    std::string image, model;
    int matches = 0, inliers = 0;
    double rms_px = 0;
    Vec3d t, r;
    words >> image >> model >> matches >> inliers >> rms_px >> t.x >> t.y >> t.z >> r.x >> r.y >>
        r.z;
    require(static_cast<bool>(words), (folder / kPoses).string(), ": line ", number,
            ": has too few numbers");
    const auto object = objects.find(model);
    if (inliers < kFewestInliers || object == objects.end()) continue;
    truth[image].push_back({object->second, {exp_rotation(r), t}});
    std::vector<int>& unlisted = notes.unlisted[-1];
    if (std::find(unlisted.begin(), unlisted.end(), object->second) == unlisted.end()) {
      unlisted.push_back(object->second);
    }
  }
  for (const fs::path& file : files_in(folder / "images")) {
    const std::string name = file.filename().string();
    if (!name.starts_with("image_") || file.extension() != ".jpg") continue;
    const ImageInfo info = image_info(file);
    SetFrame frame;
    frame.id = last_number(name).value_or(0);
    frame.camera = {info.width, info.height, 1000, 1000, 640, 360, {}};
    frame.color_file = file;
    frame.truth = truth[name];
    writer.add_frame(std::move(frame));
  }
}

}  // namespace sextant::app
