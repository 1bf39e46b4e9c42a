// SPDX-License-Identifier: Apache-2.0
// Models and photographs of the original MOPED: what OpenCV's SIFT matched there, ours must.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "sextant/core/rigid3.h"
#include "sextant/io/image_file.h"
#include "sextant/io/moped_model.h"
#include "sextant/match/photo_matches.h"
#include "tests/shared_data.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;

struct Library {
  std::vector<std::string> names;
  ResidentAppearance appearance;
};

Library read_library(const Context& context, const fs::path& folder) {
  Library library;
  std::vector<std::int32_t> ends;
  std::vector<Vec3f> points;
  std::vector<std::uint8_t> descriptors;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    for (const MopedModel& model : read_moped_models(file)) {
      library.names.push_back(model.name);
      points.insert(points.end(), model.points_m.begin(), model.points_m.end());
      descriptors.insert(descriptors.end(), model.descriptors.begin(), model.descriptors.end());
      ends.push_back(static_cast<std::int32_t>(points.size()));
    }
  }
  library.appearance = {copy(context, ends), copy(context, points), copy(context, descriptors)};
  return library;
}

/// A line of the reference: where OpenCV's SIFT and RANSAC found an object, with how many inliers.
struct Reference {
  std::string image, object;
  int inliers = 0;
  Rigid3d camera_from_object;
};

std::vector<Reference> read_references(const fs::path& path) {
  std::vector<Reference> all;
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream fields(line);
    Reference found;
    int matches = 0;
    double deviation_px = 0;
    Vec3d turn_rad, at_m;
    fields >> found.image >> found.object >> matches >> found.inliers >> deviation_px >> at_m.x >>
        at_m.y >> at_m.z >> turn_rad.x >> turn_rad.y >> turn_rad.z;
    EXPECT_FALSE(fields.fail()) << line;
    found.camera_from_object = {exp_rotation(turn_rad), at_m};
    all.push_back(found);
  }
  return all;
}

/// Matches of the object that the pose puts within 8 px, the bound of OpenCV's RANSAC.
int inliers(const Camera& camera, const Reference& reference, std::int32_t object,
            const std::vector<PhotoMatch>& matches) {
  return static_cast<int>(std::count_if(matches.begin(), matches.end(), [&](const PhotoMatch& m) {
    if (m.object != object) return false;
    const Vec2d at = project(camera, reference.camera_from_object * cast<double>(m.point_m));
    return std::hypot(at.x - double(m.at_px.x), at.y - double(m.at_px.y)) < 8;
  }));
}

TEST(PhotoMatchesCaptured, SupportThePosesOfMopedsObjects) {
  const auto folder = testing::shared_data("moped_cmu");
  if (!folder) GTEST_SKIP() << "there is no moped_cmu";
  const Context cpu = Context::cpu();
  const Library library = read_library(cpu, *folder / "models");
  const Camera camera{1280, 720, 1000, 1000, 640, 360, {}};
  // The reference took two neighbours of the whole library; its numbers of matches are those of the
  // ratio 0.8 of squared distances, as in MOPED's code. Our default has to do as well.
  const PhotoMatchOptions kRules[] = {{PhotoMatchStrategy::kNearest, 2, std::sqrt(0.8f)}, {}};
  struct Counts {
    int reference = 0, ours[2] = {};
  };
  std::map<std::string, Counts> counts;
  std::string seen;
  std::vector<PhotoMatch> matches[2];
  for (const Reference& reference :
       read_references(*folder / "derived_detections_opencv_sift_pnp.csv")) {
    const fs::path image = *folder / "images" / reference.image;
    if (reference.inliers < 20 || !fs::exists(image)) continue;  // fewer may be wrong
    if (reference.image != seen) {
      const SiftFeatures features = compute_sift(cpu, read_image(image));
      for (int r = 0; r < 2; ++r) {
        matches[r] = match_photo(cpu, features, camera, library.appearance, kRules[r]);
      }
      seen = reference.image;
    }
    const auto object = static_cast<std::int32_t>(
        std::find(library.names.begin(), library.names.end(), reference.object) -
        library.names.begin());
    Counts& count = counts[reference.object];
    count.reference += reference.inliers;
    for (int r = 0; r < 2; ++r) count.ours[r] += inliers(camera, reference, object, matches[r]);
  }
  EXPECT_EQ(counts.size(), 8u);
  for (const auto& [name, count] : counts) {
    EXPECT_GE(count.ours[0], 0.9 * count.reference) << name;
    EXPECT_GE(count.ours[1], 0.9 * count.reference) << name << " by the default";
  }
}

}  // namespace
}  // namespace sextant
