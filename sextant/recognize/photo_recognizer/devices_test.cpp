// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/photo_recognizer.h"

#include <gtest/gtest.h>

#include "sextant/learn/learn_picture.h"
#include "tests/card_photos.h"
#include "tests/each_device.h"
#include "tests/error_message.h"

namespace sextant {
namespace {

using testing::Card;

constexpr double kWidth_m = 0.2;

LearnedObject learned(const std::string& name, const Card& card) {
  const auto picture =
      testing::make_image<Rgb8>(card.picture.width(), card.picture.height(), [&](int u, int v) {
        const std::uint8_t grey = card.picture(u, v);
        return Rgb8{grey, grey, grey};
      });
  return learn_picture(Context::cpu(), name, picture.view(), card.width_m);
}

TEST(PhotoRecognizer, FindsCardsOnEveryDevice) {
  const Card first = testing::blob_card(320, 240, kWidth_m, 3);
  const Card second = testing::blob_card(300, 260, kWidth_m, 4);
  std::vector<LearnedObject> objects;
  objects.push_back(learned("first", first));
  objects.push_back(learned("second", second));
  const Camera camera{640, 480, 600, 600, 319.5, 239.5, {-0.1, 0.02, 0, 0, 0}};
  const Rigid3d pose_of_first = testing::facing({-0.13, 0.02, 0.7}, {0.3, -0.2, 0.1});
  const Rigid3d pose_of_second = testing::facing({0.12, -0.03, 0.75}, {-0.2, 0.25, 0.9});
  const std::vector<testing::CardPose> cards{{&first, pose_of_first}, {&second, pose_of_second}};
  const Image<std::uint8_t> photo = testing::photograph(cards, camera);
  for (const auto strategy : {PhotoMatchStrategy::kEachObject, PhotoMatchStrategy::kNearest}) {
    PhotoRecognizeOptions options = photo_recognize_options(PhotoPreset::kDefault);
    options.match.strategy = strategy;
    std::vector<std::int32_t> features_of_cpu;
    for (const Context& context : testing::each_device()) {
      SCOPED_TRACE(testing::describe(context));
      PhotoRecognizer recognizer(context, objects, options);
      const PhotoRecognition found = recognizer.recognize(photo, camera);
      ASSERT_EQ(found.features.size(), 1u);
      if (context.is_cpu()) features_of_cpu = found.features;
      EXPECT_NEAR(found.features[0], features_of_cpu[0], 2 + features_of_cpu[0] / 200);
      ASSERT_EQ(found.detections.size(), 2u);
      for (const PhotoDetection& detection : found.detections) {
        const Rigid3d& truth = detection.object == "first" ? pose_of_first : pose_of_second;
        // A hundred features, each right to some tenths of a pixel of 1.2 mm.
        EXPECT_LT(norm(detection.world_from_object.translation - truth.translation), 0.003);
      }
      EXPECT_NE(found.detections[0].object, found.detections[1].object);
      const PhotoRecognition again = recognizer.recognize(photo, camera);
      ASSERT_EQ(again.detections.size(), 2u);
      ASSERT_EQ(again.matches.size(), found.matches.size());
      for (std::size_t i = 0; i < 2; ++i) {
        const Vec3d apart = again.detections[i].world_from_object.translation -
                            found.detections[i].world_from_object.translation;
        EXPECT_EQ(norm(apart), 0);
        EXPECT_EQ(again.detections[i].score, found.detections[i].score);
      }
    }
  }
}

TEST(PhotoRecognizer, RefusesPhotographsOfAnotherSize) {
  const Card card = testing::blob_card(320, 240, kWidth_m, 3);
  std::vector<LearnedObject> objects;
  objects.push_back(learned("card", card));
  for (const Context& context : testing::each_device()) {
    PhotoRecognizer recognizer(context, objects);
    const Camera camera{300, 240, 600, 600, 150, 120, {}};
    EXPECT_TRUE(testing::mentions(
        testing::error_message([&] { recognizer.recognize(card.picture, camera); }),
        "photos: number 0 is 320 x 240 px"));
  }
}

}  // namespace
}  // namespace sextant
