// SPDX-License-Identifier: Apache-2.0
#include "sextant/learn/learn_photos.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "sextant/core/random.h"
#include "sextant/io/image_file.h"
#include "tests/board_photos.h"
#include "tests/error_message.h"
#include "tests/shared_data.h"

namespace sextant {
namespace {

using testing::BoxScene;
using testing::error_message;
using testing::mentions;

constexpr Camera kCamera{640, 480, 900, 900, 322, 236, {}};

/// Photographs of the tea box on a grey table, made once.
class LearnPhotos : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    scene_ = new BoxScene;
    scene_->sheet = testing::grey_sheet(1, 1);
    pixels_ = new std::vector<Image<Rgb8>>;
    poses_ = new std::vector<Rigid3d>(testing::poses_around(12, 0.5));
    for (std::size_t i = 0; i < poses_->size(); ++i) {
      testing::PhotoLook look;
      look.seed = i;
      look.light = 0.8 + 0.05 * static_cast<double>(i % 4);
      pixels_->push_back(testing::photograph_of(*scene_, kCamera, (*poses_)[i], look));
    }
  }
  static void TearDownTestSuite() {
    delete scene_;
    delete pixels_;
    delete poses_;
  }

  static LearnPhotosInput input() {
    LearnPhotosInput input;
    for (std::size_t i = 0; i < poses_->size(); ++i) {
      input.photos.push_back(
          {"p" + std::to_string(i), (*pixels_)[i].view(), kCamera, (*poses_)[i], {}});
    }
    return input;
  }
  static double rms_m(const LearnedFromPhotos& learned) {
    double squares = 0;
    for (const LearnedPhotoPoint& point : learned.report.points) {
      const double off = scene_->off_surface_m(point.at_m);
      squares += off * off;
    }
    return std::sqrt(squares / static_cast<double>(learned.report.points.size()));
  }

  static BoxScene* scene_;
  static std::vector<Image<Rgb8>>* pixels_;
  static std::vector<Rigid3d>* poses_;
};
BoxScene* LearnPhotos::scene_ = nullptr;
std::vector<Image<Rgb8>>* LearnPhotos::pixels_ = nullptr;
std::vector<Rigid3d>* LearnPhotos::poses_ = nullptr;

TEST_F(LearnPhotos, PointsLieOnTheObject) {
  const LearnedFromPhotos learned = learn_photos(Context::cpu(2), "tea", input());
  const LearnPhotosReport& report = learned.report;
  EXPECT_EQ(report.used, 12);
  EXPECT_GT(report.points.size(), 150u);
  EXPECT_LT(report.median_px, 0.7);
  // The goal is 0.5 mm; a few stray points decide, which other roundings may add.
  EXPECT_LT(rms_m(learned), 0.00075);
  // The box measures 13 x 7 x 8 cm, its lower corners are hardly seen.
  EXPECT_NEAR(learned.object.diameter_m, 0.168, 0.02);
  const LearnedAppearance& appearance = learned.object.appearance;
  EXPECT_EQ(appearance.points.size(), report.rows);
  EXPECT_EQ(appearance.descriptors.size(), 128 * std::int64_t{report.rows});
  EXPECT_GT(report.rows, static_cast<int>(report.points.size()));
  EXPECT_EQ(learned.object.source.kind, "photographs");
  EXPECT_EQ(learned.object.views.size(), 12u);
  for (const LearnedPhotoPoint& point : report.points) {
    EXPECT_GE(point.sightings.size(), 3u);
    EXPECT_LE(point.mean_px, 2.5);
  }
}

TEST_F(LearnPhotos, TheSameForAnyNumberOfThreads) {
  const LearnedFromPhotos one = learn_photos(Context::cpu(1), "tea", input());
  const LearnedFromPhotos three = learn_photos(Context::cpu(3), "tea", input());
  const auto bytes = [](const LearnedFromPhotos& learned) {
    const auto rows = learned.object.appearance.descriptors.host();
    return std::vector<std::uint8_t>(rows.begin(), rows.end());
  };
  const auto points = [](const LearnedFromPhotos& learned) {
    const auto rows = learned.object.appearance.points.host();
    return std::vector<Vec3f>(rows.begin(), rows.end());
  };
  EXPECT_EQ(bytes(one), bytes(three));
  EXPECT_EQ(points(one), points(three));
}

TEST_F(LearnPhotos, AdjustsPosesThatAreNotExact) {
  LearnPhotosInput off = input();
  for (std::size_t i = 0; i < off.photos.size(); ++i) {
    const Random random{5, i};
    const auto draw = [&](std::uint64_t k) { return random.normal(k); };
    const Twist3<double> twist{Vec3d{draw(0), draw(1), draw(2)} * 0.002,
                               Vec3d{draw(3), draw(4), draw(5)} * 0.001};
    off.photos[i].camera_from_object = exp(twist) * off.photos[i].camera_from_object;
  }
  LearnPhotosOptions options;
  options.epipolar_px = 6;
  options.most_error_px = 6;
  const double before = learn_photos(Context::cpu(2), "tea", off, options).report.median_px;
  options.adjust = true;
  options.pose_m = 0.001;
  options.pose_rad = 0.002;
  const LearnedFromPhotos adjusted = learn_photos(Context::cpu(2), "tea", off, options);
  EXPECT_TRUE(adjusted.report.adjusted);
  EXPECT_GT(before, 1);
  EXPECT_LT(adjusted.report.median_px, 0.5 * before);
  // The world's place is known as well as the mean of twelve poses.
  EXPECT_LT(rms_m(adjusted), 0.002);
}

TEST_F(LearnPhotos, BoxAndMaskSayWhatIsLearned) {
  LearnPhotosInput boxed = input();
  boxed.box = Bounds{{-0.1f, -0.1f, 0.06f}, {0.1f, 0.1f, 0.5f}};
  const LearnedFromPhotos upper = learn_photos(Context::cpu(2), "tea", boxed);
  for (const LearnedPhotoPoint& point : upper.report.points) EXPECT_GE(point.at_m.z, 0.06);
  // Only the left half of every photograph.
  const auto left = testing::make_image<std::uint8_t>(
      640, 480, [](int u, int) { return static_cast<std::uint8_t>(u < 320); });
  LearnPhotosInput masked = input();
  for (ObjectPhoto& photo : masked.photos) photo.mask = left.view();
  const LearnedFromPhotos half = learn_photos(Context::cpu(2), "tea", masked);
  for (const LearnedPhotoPoint& point : half.report.points) {
    for (const auto& sighting : point.sightings) EXPECT_LT(sighting.at_px.x, 320);
  }
}

TEST_F(LearnPhotos, LeavesOutWhatIsNoUse) {
  LearnPhotosInput mixed = input();
  const auto flat = testing::make_image<Rgb8>(640, 480, [](int, int) { return Rgb8{90, 90, 90}; });
  mixed.photos[2].pixels = flat.view();
  mixed.photos[5].camera_from_object = testing::looking_at({0.3, -0.4, 0.3}, {0.3, 0.3, 0.1});
  const LearnedFromPhotos learned = learn_photos(Context::cpu(2), "tea", mixed);
  EXPECT_EQ(learned.report.used, 10);
  EXPECT_TRUE(mentions(learned.report.photos[2].rejected, "shows 0 features"));
  EXPECT_TRUE(mentions(learned.report.photos[5].rejected, "its pose is wrong"));
  EXPECT_LT(rms_m(learned), 0.001);
}

TEST_F(LearnPhotos, SaysWhatIsWrong) {
  const auto refused = [](const LearnPhotosInput& wrong, const LearnPhotosOptions& options = {}) {
    return error_message([&] { learn_photos(Context::cpu(2), "tea", wrong, options); });
  };
  EXPECT_TRUE(mentions(refused({}), "too few"));
  const auto flat = testing::make_image<Rgb8>(640, 480, [](int, int) { return Rgb8{90, 90, 90}; });
  LearnPhotosInput blank = input();
  for (ObjectPhoto& photo : blank.photos) photo.pixels = flat.view();
  const std::string message = refused(blank);
  EXPECT_TRUE(mentions(message, "agree on 0 points"));
  EXPECT_TRUE(mentions(message, "p0 shows 0 features"));
  LearnPhotosInput small = input();
  small.photos[1].camera.width = 320;
  EXPECT_TRUE(mentions(refused(small), "p1"));
  LearnPhotosInput masked = input();
  const auto mask =
      testing::make_image<std::uint8_t>(3, 3, [](int, int) { return std::uint8_t{1}; });
  masked.photos[4].mask = mask.view();
  EXPECT_TRUE(mentions(refused(masked), "p4: mask"));
  LearnPhotosInput references = input();
  references.references.push_back({0, 0, {}});
  EXPECT_TRUE(mentions(refused(references), "references"));
  EXPECT_TRUE(mentions(refused(input(), {.ratio = 2}), "ratio"));
}

TEST(LearnPhotosOfOthers, LearnsTheTempleFromItsKnownCameras) {
  const auto folder = testing::shared_data("middlebury_mview/templeSparseRing");
  if (!folder) GTEST_SKIP() << "middlebury_mview is not there";
  std::ifstream file(*folder / "templeSR_par.txt");
  int count = 0;
  file >> count;
  ASSERT_EQ(count, 16);
  std::vector<Image<Rgb8>> pixels;
  LearnPhotosInput input;
  for (int i = 0; i < count; ++i) {
    ObjectPhoto photo;
    double k[9], r[9], t[3];
    file >> photo.name;
    for (double& x : k) file >> x;
    for (double& x : r) file >> x;
    for (double& x : t) file >> x;
    ASSERT_TRUE(file.good());
    pixels.push_back(read_image(*folder / photo.name));
    photo.camera = {640, 480, k[0], k[4], k[2], k[5], {}};
    photo.camera_from_object = {{{{r[0], r[1], r[2]}, {r[3], r[4], r[5]}, {r[6], r[7], r[8]}}},
                                {t[0], t[1], t[2]}};
    input.photos.push_back(photo);
  }
  for (std::size_t i = 0; i < pixels.size(); ++i) input.photos[i].pixels = pixels[i].view();
  const LearnedFromPhotos learned = learn_photos(Context::cpu(2), "temple", input);
  EXPECT_EQ(learned.report.used, 16);
  EXPECT_GT(learned.report.points.size(), 300u);
  EXPECT_LE(learned.report.median_px, 0.7);
  // The temple is 16 cm high.
  EXPECT_GT(learned.object.diameter_m, 0.15);
  EXPECT_LT(learned.object.diameter_m, 0.22);
}

}  // namespace
}  // namespace sextant
