// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/photo_recognizer.h"

#include <gtest/gtest.h>

#include <cstring>

#include "sextant/learn/learn_picture.h"
#include "tests/card_photos.h"
#include "tests/devices.h"
#include "tests/error_message.h"

namespace sextant {
namespace {

using testing::blob_card;
using testing::Card;
using testing::CardPose;
using testing::error_message;
using testing::facing;
using testing::mentions;

constexpr double kWidth_m = 0.1;

Image<Rgb8> in_color(const Image<std::uint8_t>& grey) {
  return testing::make_image<Rgb8>(grey.width(), grey.height(), [&](int u, int v) {
    return Rgb8{grey(u, v), grey(u, v), grey(u, v)};
  });
}

LearnedObject learn(const std::string& name, const Card& card) {
  return learn_picture(Context::cpu(), name, in_color(card.picture).view(), card.width_m);
}

class PhotoRecognizerOfCards : public ::testing::Test {
 protected:
  std::vector<LearnedObject> learned() const {
    std::vector<LearnedObject> objects;
    objects.push_back(learn("tea", tea_));
    objects.push_back(learn("milk", milk_));
    return objects;
  }
  PhotoRecognizer recognizer(const PhotoRecognizeOptions& options = {},
                             const Context& context = Context::cpu()) const {
    return PhotoRecognizer(context, learned(), options);
  }
  std::vector<CardPose> both() const { return {{&tea_, tea_pose_}, {&milk_, milk_pose_}}; }

  static int near(const PhotoRecognition& found, const std::string& name, const Rigid3d& truth) {
    int count = 0;
    for (const PhotoDetection& d : found.detections) {
      count += d.object == name &&
               norm(d.world_from_object.translation - truth.translation) < 0.002 &&
               rotation_angle(transpose(d.world_from_object.rotation) * truth.rotation) < 0.03;
    }
    return count;
  }

  Card tea_ = blob_card(300, 200, kWidth_m, 3), milk_ = blob_card(300, 200, kWidth_m, 4);
  Camera camera_{640, 480, 700, 700, 320, 240, {}};
  Rigid3d tea_pose_ = facing({-0.06, 0.02, 0.36}, {0.2, -0.3, 0.1});
  Rigid3d milk_pose_ = facing({0.05, -0.03, 0.4}, {-0.4, 0.2, 1.7});
};

TEST_F(PhotoRecognizerOfCards, FindsThemWithEveryPreset) {
  const Image<std::uint8_t> photo = testing::photograph(both(), camera_);
  for (const auto& preset : kPhotoPresets) {
    PhotoRecognizer cards = recognizer(photo_recognize_options(preset.value));
    const PhotoRecognition found = cards.recognize(photo, camera_);
    EXPECT_EQ(found.detections.size(), 2u) << preset.name;
    for (const PhotoDetection& d : found.detections) {
      const Rigid3d& truth = d.object == "tea" ? tea_pose_ : milk_pose_;
      EXPECT_LT(norm(d.world_from_object.translation - truth.translation), 0.01) << preset.name;
    }
    // The paper and the code take the first pose that enough matches agree with, which of something
    // flat may be the wrong one of two.
    if (preset.value == PhotoPreset::kDefault) {
      EXPECT_EQ(near(found, "tea", tea_pose_), 1);
      EXPECT_EQ(near(found, "milk", milk_pose_), 1);
    }
    ASSERT_EQ(found.features.size(), 1u);
    EXPECT_GT(found.features[0], 200);
    for (const PhotoDetection& d : found.detections) {
      for (const std::int32_t m : d.inliers) {
        ASSERT_LT(static_cast<std::size_t>(m), found.matches.size());
        EXPECT_EQ(found.matches[static_cast<std::size_t>(m)].object, d.object_index);
      }
    }
  }
}

TEST_F(PhotoRecognizerOfCards, TheSameBitsForAnyNumberOfThreadsAndAgain) {
  const Image<std::uint8_t> photo = testing::photograph(both(), camera_);
  PhotoRecognizer first = recognizer({}, Context::cpu(1));
  const PhotoRecognition expected = first.recognize(photo, camera_);
  for (const int threads : {1, 2, 7}) {
    PhotoRecognizer cards = recognizer({}, Context::cpu(threads));
    // Another photograph in between leaves nothing behind.
    cards.recognize(testing::photograph(std::vector<CardPose>{{&milk_, tea_pose_}}, camera_),
                    camera_);
    const PhotoRecognition found = cards.recognize(photo, camera_);
    ASSERT_EQ(found.detections.size(), expected.detections.size());
    for (std::size_t i = 0; i < found.detections.size(); ++i) {
      const PhotoDetection &a = found.detections[i], &b = expected.detections[i];
      EXPECT_EQ(a.object, b.object);
      EXPECT_EQ(a.score, b.score);
      EXPECT_EQ(a.inliers, b.inliers);
      EXPECT_EQ(std::memcmp(&a.world_from_object, &b.world_from_object, sizeof(Rigid3d)), 0);
      EXPECT_EQ(std::memcmp(a.covariance.data(), b.covariance.data(), sizeof a.covariance), 0);
    }
    EXPECT_EQ(found.rejected.size(), expected.rejected.size());
  }
}

TEST_F(PhotoRecognizerOfCards, SeveralCamerasAndALensThatBends) {
  Rigid3d right;
  right.translation = {0.1, 0, 0};
  right.rotation = exp_rotation(Vec3d{0, -0.2, 0});
  Camera bent = camera_;
  bent.distortion = {-0.25, 0.08, 0.001, -0.002, 0};
  const std::vector<PosedCamera> cameras{{camera_, {}}, {bent, right}};
  const Image<std::uint8_t> one = testing::photograph(both(), camera_);
  const Image<std::uint8_t> two = testing::photograph(both(), bent, right);
  PhotoRecognizer cards = recognizer();
  const std::vector<PhotoView> photos{one, two};
  const PhotoRecognition found = cards.recognize(photos, cameras);
  EXPECT_EQ(near(found, "tea", tea_pose_), 1);
  EXPECT_EQ(near(found, "milk", milk_pose_), 1);
  for (const PhotoDetection& d : found.detections) EXPECT_EQ(d.views, 2);
}

TEST_F(PhotoRecognizerOfCards, PhotographsOfNothingHaveNothingInThem) {
  PhotoRecognizer cards = recognizer();
  for (const auto& [width, height] : {std::pair{1, 1}, {2, 3}, {640, 1}, {640, 480}}) {
    Camera camera = camera_;
    camera.width = width;
    camera.height = height;
    const auto flat =
        testing::make_image<std::uint8_t>(width, height, [](int, int) { return std::uint8_t{77}; });
    const PhotoRecognition found = cards.recognize(flat, camera);
    EXPECT_TRUE(found.detections.empty());
    EXPECT_TRUE(found.matches.empty());
  }
  // Noise has features, none of which fit together.
  Random random{testing::seed_of_test(), 0};
  const auto noise = testing::make_image<std::uint8_t>(640, 480, [&](int u, int v) {
    return static_cast<std::uint8_t>(random.bits(static_cast<std::uint64_t>(v * 640 + u)) & 255);
  });
  EXPECT_TRUE(cards.recognize(noise, camera_).detections.empty());
  // Another card, and one of these in a mirror.
  const Card other = blob_card(300, 200, kWidth_m, 9);
  Card mirrored = blob_card(300, 200, kWidth_m, 3);
  mirrored.picture = testing::make_image<std::uint8_t>(
      300, 200, [&](int u, int v) { return tea_.picture(299 - u, v); });
  for (const Card* card : std::initializer_list<const Card*>{&other, &mirrored}) {
    const auto photo = testing::photograph(std::vector<CardPose>{{card, tea_pose_}}, camera_);
    const PhotoRecognition found = cards.recognize(photo, camera_);
    for (const PhotoDetection& d : found.detections) {
      ADD_FAILURE() << d.object << " " << d.score << " " << d.terms.agreeing << " " << d.terms.share
                    << " " << d.terms.spread_px << " " << d.terms.chance;
    }
  }
}

TEST_F(PhotoRecognizerOfCards, AModelOfThreePointsIsNeverFound) {
  std::vector<LearnedObject> objects = learned();
  LearnedObject few;
  few.name = "few";
  const std::span<const Vec3f> points = objects[0].appearance.points.host();
  few.appearance.points =
      copy(Context::cpu(), std::vector<Vec3f>(points.begin(), points.begin() + 3));
  few.appearance.descriptors = Buffer<std::uint8_t>(Context::cpu(), 3 * kSiftLength);
  std::memcpy(few.appearance.descriptors.data(), objects[0].appearance.descriptors.data(),
              3 * kSiftLength);
  objects.push_back(std::move(few));
  PhotoRecognizer cards(Context::cpu(), objects);
  const PhotoRecognition found = cards.recognize(testing::photograph(both(), camera_), camera_);
  EXPECT_EQ(found.detections.size(), 2u);
  for (const PhotoDetection& d : found.detections) EXPECT_NE(d.object, "few");
}

TEST_F(PhotoRecognizerOfCards, SaysWhatIsWrong) {
  PhotoRecognizer cards = recognizer();
  const Image<std::uint8_t> photo = testing::photograph({}, camera_);
  Camera other = camera_;
  other.width = 320;
  EXPECT_TRUE(mentions(error_message([&] { cards.recognize(photo, other); }), "320 x 480"));
  other = camera_;
  other.fy_px = NAN;
  EXPECT_TRUE(mentions(error_message([&] { cards.recognize(photo, other); }), "fy"));
  EXPECT_TRUE(mentions(error_message([&] { cards.recognize({}, {}); }), "photos"));
  const std::vector<PhotoView> photos{photo, photo};
  const std::vector<PosedCamera> one{{camera_, {}}};
  EXPECT_TRUE(mentions(error_message([&] { cards.recognize(photos, one); }), "1 camera"));
  std::vector<LearnedObject> bare(1);
  bare[0].name = "bare";
  EXPECT_TRUE(
      mentions(error_message([&] { PhotoRecognizer(Context::cpu(), bare); }), "appearance"));
  PhotoRecognizeOptions options;
  options.sift.numbers = SiftNumbers::kFloats;
  EXPECT_TRUE(mentions(error_message([&] { recognizer(options); }), "sift.numbers"));
  // Whoever watches may stop it.
  EXPECT_THROW(cards.recognize(photo, camera_, [](std::int64_t, std::int64_t) { return false; }),
               Cancelled);
}

}  // namespace
}  // namespace sextant
