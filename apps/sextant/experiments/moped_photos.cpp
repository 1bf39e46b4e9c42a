// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/experiments/moped_photos.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sextant/core/error.h"
#include "sextant/io/image_file.h"
#include "sextant/io/moped_model.h"

namespace sextant::app {

namespace {

namespace fs = std::filesystem;

fs::path folder_for(const std::string& experiment) {
  const char* data = std::getenv("SEXTANT_SHARED_DATA");
  const fs::path folder = data == nullptr ? fs::path() : fs::path(data) / "moped_cmu";
  require(data != nullptr && fs::exists(folder), experiment,
          ": set SEXTANT_SHARED_DATA to the folder with the captured data; there is no moped_cmu");
  return folder;
}

void read_models(const Context& context, const fs::path& folder, MopedPhotos& data) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::int32_t> ends;
  std::vector<Vec3f> points;
  std::vector<std::uint8_t> descriptors;
  for (const fs::path& file : files) {
    for (const MopedModel& model : read_moped_models(file)) {
      data.objects.push_back(model.name);
      points.insert(points.end(), model.points_m.begin(), model.points_m.end());
      descriptors.insert(descriptors.end(), model.descriptors.begin(), model.descriptors.end());
      ends.push_back(static_cast<std::int32_t>(points.size()));
    }
  }
  data.appearance = {copy(context, ends), copy(context, points), copy(context, descriptors)};
}

/// image,model,n_matches,n_inliers,rms_px,tx,ty,tz,rx,ry,rz: metres and a rotation vector.
void read_detections(const fs::path& folder, MopedPhotos& data) {
  const fs::path path = folder / "derived_detections_opencv_sift_pnp.csv";
  std::ifstream file(path);
  std::string line, seen;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream fields(line);
    std::string image, model;
    int matches = 0, inliers = 0;
    double deviation_px = 0;
    Vec3d at_m, turn_rad;
    fields >> image >> model >> matches >> inliers >> deviation_px >> at_m.x >> at_m.y >> at_m.z >>
        turn_rad.x >> turn_rad.y >> turn_rad.z;
    require(!fields.fail(), path.string(), ": cannot read the line '", line, "'");
    const auto object = std::find(data.objects.begin(), data.objects.end(), model);
    require(object != data.objects.end(), path.string(), ": there is no model '", model, "'");
    if (!fs::exists(folder / "images" / image)) continue;
    if (image != seen) data.photos.push_back(read_image(folder / "images" / image));
    seen = image;
    data.detections.push_back({data.photos.size() - 1,
                               static_cast<std::int32_t>(object - data.objects.begin()),
                               {exp_rotation(turn_rad), at_m},
                               inliers});
  }
}

/// A descriptor of the same patch mirrored, or turned by quarters.
void turn_descriptor(const std::uint8_t* from, int variant, std::uint8_t* to) {
  for (int row = 0; row < 4; ++row) {
    for (int column = 0; column < 4; ++column) {
      for (int direction = 0; direction < 8; ++direction) {
        int r = row, c = variant >= 4 ? 3 - column : column;
        int d = variant >= 4 ? (12 - direction) % 8 : direction;
        for (int quarter = 0; quarter < variant % 4; ++quarter) {
          const int before = r;
          r = 3 - c;
          c = before;
          d = (d + 2) % 8;
        }
        to[(r * 4 + c) * 8 + d] = from[(row * 4 + column) * 8 + direction];
      }
    }
  }
}

}  // namespace

MopedPhotos read_moped_photos(const Context& context, const std::string& experiment) {
  const fs::path folder = folder_for(experiment);
  MopedPhotos data;
  data.camera = {1280, 720, 1000, 1000, 640, 360, {}};
  read_models(context, folder / "models", data);
  read_detections(folder, data);
  require(!data.photos.empty(), experiment, ": moped_cmu/images has no photograph");
  return data;
}

int support(const MopedPhotos& data, const MopedDetection& detection,
            const std::vector<PhotoMatch>& matches) {
  constexpr double kBound_px = 8;
  int count = 0;
  for (const PhotoMatch& match : matches) {
    if (match.object != detection.object) continue;
    const Vec2d seen_px =
        project(data.camera, detection.camera_from_object * cast<double>(match.point_m));
    count += std::hypot(seen_px.x - double(match.at_px.x), seen_px.y - double(match.at_px.y)) <
             kBound_px;
  }
  return count;
}

ResidentAppearance with_objects(const Context& context, const ResidentAppearance& appearance,
                                int objects) {
  const auto known = static_cast<int>(appearance.ends.size());
  require(objects <= 8 * known, "with_objects: ", objects, " of ", known,
          " models; each can be turned in eight ways");
  std::vector<std::int32_t> ends;
  std::vector<Vec3f> points;
  std::vector<std::uint8_t> descriptors;
  for (int object = 0; object < objects; ++object) {
    const int source = object % known;
    const std::int32_t begin = source == 0 ? 0 : appearance.ends.data()[source - 1];
    for (std::int32_t row = begin; row < appearance.ends.data()[source]; ++row) {
      std::uint8_t turned[kSiftLength];
      turn_descriptor(appearance.descriptors.data() + std::int64_t{row} * kSiftLength,
                      object / known, turned);
      points.push_back(appearance.points.data()[row]);
      descriptors.insert(descriptors.end(), turned, turned + kSiftLength);
    }
    ends.push_back(static_cast<std::int32_t>(points.size()));
  }
  return {copy(context, ends), copy(context, points), copy(context, descriptors)};
}

}  // namespace sextant::app
