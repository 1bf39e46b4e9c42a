// SPDX-License-Identifier: Apache-2.0
// Models and photographs of the original MOPED: what its authors and OpenCV found there.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "sextant/io/image_file.h"
#include "sextant/io/moped_model.h"
#include "sextant/learn/learn_moped.h"
#include "sextant/recognize/photo_recognizer.h"
#include "tests/shared_data.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;

const Camera kCamera{1280, 720, 1000, 1000, 640, 360, {}};

/// A pose that somebody else found.
struct Pose {
  std::string image, object;
  int inliers = 0;
  Rigid3d camera_from_object;
};

std::vector<LearnedObject> read_objects(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<LearnedObject> objects;
  for (const fs::path& file : files) {
    for (const MopedModel& model : read_moped_models(file)) objects.push_back(learn_moped(model));
  }
  return objects;
}

/// image,model,n_matches,n_inliers,rms_px,tx,ty,tz,rx,ry,rz
std::vector<Pose> read_references(const fs::path& path) {
  std::vector<Pose> poses;
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream fields(line);
    Pose pose;
    double matches = 0, rms_px = 0;
    Vec3d at_m, turn_rad;
    fields >> pose.image >> pose.object >> matches >> pose.inliers >> rms_px >> at_m.x >> at_m.y >>
        at_m.z >> turn_rad.x >> turn_rad.y >> turn_rad.z;
    EXPECT_FALSE(fields.fail()) << line;
    pose.camera_from_object = {exp_rotation(turn_rad), at_m};
    poses.push_back(pose);
  }
  return poses;
}

/// name, translation, quaternion x y z w, score; comments begin with #.
std::vector<Pose> read_printed(const fs::path& path) {
  std::vector<Pose> poses;
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    Pose pose;
    Vec3d t;
    Quaternion<double> q;
    fields >> pose.object >> t.x >> t.y >> t.z >> q.x >> q.y >> q.z >> q.w;
    EXPECT_FALSE(fields.fail()) << line;
    pose.camera_from_object = {to_matrix(normalized(q)), t};
    poses.push_back(pose);
  }
  return poses;
}

bool near(const Rigid3d& a, const Rigid3d& b, double shift_m, double turn_degrees) {
  return norm(a.translation - b.translation) < shift_m &&
         rotation_angle(transpose(a.rotation) * b.rotation) < turn_degrees * 0.017453292519943295;
}

/// How much the matches of an object speak for a pose: Σ 1 / (1 + d²/σ²), σ = 2 px, MOPED's
/// Q-score.
double support(const PhotoRecognition& found, std::int32_t object, const Rigid3d& pose) {
  double sum = 0;
  for (const PhotoMatch& m : found.matches) {
    if (m.object != object) continue;
    const Vec2d at = project(kCamera, pose * cast<double>(m.point_m));
    const Vec2d apart = at - Vec2d{double(m.at_px.x), double(m.at_px.y)};
    sum += 1 / (1 + dot(apart, apart) / 4);
  }
  return sum;
}

class CapturedPhotos : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto folder = testing::shared_data("moped_cmu");
    if (!folder) GTEST_SKIP() << "there is no moped_cmu";
    folder_ = *folder;
    PhotoRecognizer recognizer(Context::cpu(), read_objects(folder_ / "models"));
    for (int i = 1; i <= 11; ++i) {
      const std::string name = "image_00" + std::string(i < 10 ? "0" : "") + std::to_string(i);
      const fs::path file = folder_ / "images" / (name + ".jpg");
      if (!fs::exists(file)) continue;
      found_.emplace(name + ".jpg", recognizer.recognize(read_image(file), kCamera));
    }
    ASSERT_GE(found_.size(), 7u);
  }

  fs::path folder_;
  std::map<std::string, PhotoRecognition> found_;
};

TEST_F(CapturedPhotos, EveryObjectOfTheReferenceIsFound) {
  int sure = 0, same = 0;
  for (const Pose& pose : read_references(folder_ / "derived_detections_opencv_sift_pnp.csv")) {
    const auto photo = found_.find(pose.image);
    if (pose.inliers < 40 || photo == found_.end()) continue;
    ++sure;
    // The nearest of the object's poses.
    const PhotoDetection* nearest = nullptr;
    double least_m = 0.05;
    for (const PhotoDetection& d : photo->second.detections) {
      const double apart_m =
          norm(d.world_from_object.translation - pose.camera_from_object.translation);
      if (d.object != pose.object || apart_m >= least_m) continue;
      nearest = &d;
      least_m = apart_m;
    }
    ASSERT_NE(nearest, nullptr) << pose.image << " " << pose.object;
    if (near(nearest->world_from_object, pose.camera_from_object, 0.01, 5)) {
      ++same;
      continue;
    }
    // The reference kept what its bound of 8 px let in, and the wrong one of the two poses of a
    // front that is nearly flat. Where ours is another, the features must speak for it.
    EXPECT_GT(support(photo->second, nearest->object_index, nearest->world_from_object),
              support(photo->second, nearest->object_index, pose.camera_from_object))
        << pose.image << " " << pose.object;
  }
  EXPECT_GE(sure, 59);
  EXPECT_GE(same, 45);
}

TEST_F(CapturedPhotos, ThePosesThatMopedPrintedAreMet) {
  // They are of the second photograph: the tomato soup stood there only then.
  const auto photo = found_.find("image_0002.jpg");
  ASSERT_NE(photo, found_.end());
  const std::vector<Pose> printed = read_printed(folder_ / "moped_printed_poses.txt");
  EXPECT_EQ(printed.size(), 3u);
  for (const Pose& pose : printed) {
    const auto& detections = photo->second.detections;
    EXPECT_TRUE(std::any_of(detections.begin(), detections.end(), [&](const PhotoDetection& d) {
      return d.object == pose.object &&
             near(d.world_from_object, pose.camera_from_object, 0.005, 3);
    })) << pose.object;
  }
}

TEST_F(CapturedPhotos, WhatIsNotThereIsNotFound) {
  const std::set<std::string> absent{"dasani",         "frozen_rice", "fuze_bottle",
                                     "milk_chocolate", "notebook",    "poptarts"};
  for (const auto& [name, found] : found_) {
    for (const PhotoDetection& d : found.detections) {
      EXPECT_FALSE(absent.contains(d.object)) << name << " " << d.object << " " << d.score;
    }
    for (const PhotoDetection& d : found.rejected) {
      if (!absent.contains(d.object)) continue;
      EXPECT_LT(d.score, 0.5) << name << " " << d.object;
    }
  }
}

TEST_F(CapturedPhotos, WhatStandsStillHasOnePose) {
  // One camera that does not move. The boxes that are seen from the front, with 150 features and
  // more in every photograph, stand where they are; a millimetre is half a pixel at most.
  struct Standing {
    std::string object;
    Rigid3d pose;
    int seen = 0;
  };
  std::vector<Standing> all;
  for (const auto& [name, found] : found_) {
    for (const PhotoDetection& d : found.detections) {
      if (d.inliers.size() < 150 || d.object == "teakettle") continue;
      const auto known = std::find_if(all.begin(), all.end(), [&](const Standing& s) {
        return s.object == d.object &&
               norm(s.pose.translation - d.world_from_object.translation) < 0.05;
      });
      if (known == all.end()) {
        all.push_back({d.object, d.world_from_object, 1});
        continue;
      }
      ++known->seen;
      EXPECT_TRUE(near(known->pose, d.world_from_object, 0.005, 2.5)) << name << " " << d.object;
    }
  }
  EXPECT_EQ(all.size(), 4u);
  for (const Standing& s : all) EXPECT_GE(s.seen, 4) << s.object;
}

}  // namespace
}  // namespace sextant
