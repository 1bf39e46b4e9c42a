// SPDX-License-Identifier: Apache-2.0
#include "sextant/learn/learn_picture.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sextant/descriptor/sift.h"
#include "sextant/geometry/camera.h"
#include "sextant/match/descriptors.h"
#include "sextant/render/rasterize.h"
#include "tests/blob_image.h"
#include "tests/error_message.h"

namespace sextant {
namespace {

using testing::error_message;
using testing::make_image;
using testing::mentions;

constexpr int kWidth = 320, kHeight = 200;

std::vector<testing::Blob> card_blobs() {
  return testing::scattered_blobs(kWidth, kHeight, kWidth * kHeight / 60, 5);
}

std::uint8_t level(double brightness) {
  return static_cast<std::uint8_t>(std::lround(std::clamp(brightness, 0.0, 255.0)));
}

Image<Rgb8> card_picture() {
  const auto blobs = card_blobs();
  return make_image<Rgb8>(kWidth, kHeight, [&](int u, int v) {
    const std::uint8_t grey = level(testing::brightness(blobs, u, v));
    return Rgb8{grey, grey, grey};
  });
}

/// What the camera sees of a card that is `width_m` wide, on a grey ground; the ray through each
/// pixel meets the card's plane.
Image<std::uint8_t> photo_of_card(const Camera& camera, const Rigid3d& camera_from_object,
                                  double width_m) {
  const auto blobs = card_blobs();
  const Rigid3d object_from_camera = inverse(camera_from_object);
  return make_image<std::uint8_t>(camera.width, camera.height, [&](int u, int v) {
    const Vec3d ray = object_from_camera.rotation * unproject(camera, Vec2d{double(u), double(v)});
    const Vec3d eye = object_from_camera.translation;
    const Vec3d at = eye - ray * (eye.z / ray.z);
    const double pixel_m = width_m / kWidth;
    const double x = at.x / pixel_m + 0.5 * (kWidth - 1), y = at.y / pixel_m + 0.5 * (kHeight - 1);
    const bool on_card = x >= -0.5 && y >= -0.5 && x <= kWidth - 0.5 && y <= kHeight - 0.5;
    return on_card ? level(testing::brightness(blobs, x, y)) : std::uint8_t{90};
  });
}

TEST(LearnPicture, AnyPhotographOfTheThingMatchesWhereItIs) {
  const double width_m = 0.063;
  const LearnedObject card = learn_picture(Context::cpu(), "card", card_picture().view(), width_m);
  const Camera camera{640, 480, 700, 700, 319.5, 239.5, {}};
  const Rigid3d camera_from_object{exp_rotation(Vec3d{0.35, -0.25, 0.6}), {0.01, -0.005, 0.12}};
  const SiftFeatures seen =
      compute_sift(Context::cpu(), photo_of_card(camera, camera_from_object, width_m));
  const DescriptorRows<std::uint8_t> queries{
      {seen.bytes.data(), std::int64_t{kSiftLength} * seen.count, {}}, kSiftLength};
  const DescriptorRows<std::uint8_t> base{card.appearance.descriptors, kSiftLength};
  const NearestDescriptors nearest = nearest_descriptors(Context::cpu(), queries, base);
  int matched = 0, right = 0;
  for (std::int32_t i = 0; i < seen.count; ++i) {
    if (nearest.distances_sq.data()[2 * i] > 0.49f * nearest.distances_sq.data()[2 * i + 1])
      continue;
    const Vec3f& point = card.appearance.points.data()[nearest.indices.data()[2 * i]];
    const Vec2d expected = project(camera, camera_from_object * cast<double>(point));
    const SiftKeypoint& at = seen.keypoints.data()[i];
    ++matched;
    right += std::hypot(at.u_px - expected.x, at.v_px - expected.y) < 1.0;
  }
  EXPECT_GT(matched, 100);
  EXPECT_GT(right, 0.9 * matched);
}

TEST(LearnPicture, PointsAreMeasuredFromTheMiddle) {
  const Image<Rgb8> picture = card_picture();
  const SiftFeatures features = compute_sift(Context::cpu(), picture);
  const LearnedObject card = learn_picture(Context::cpu(), "card", picture.view(), 0.32);
  ASSERT_EQ(card.appearance.points.size(), features.count);
  EXPECT_EQ(card.source.kind, "picture");
  EXPECT_NEAR(card.diameter_m, std::hypot(0.32, 0.2), 1e-12);
  for (std::int32_t i = 0; i < features.count; ++i) {
    const SiftKeypoint& at = features.keypoints.data()[i];
    const Vec3f& p = card.appearance.points.data()[i];
    EXPECT_NEAR(p.x, 0.001 * (at.u_px - 159.5), 1e-7);
    EXPECT_NEAR(p.y, 0.001 * (at.v_px - 99.5), 1e-7);
    EXPECT_EQ(p.z, 0);
  }
  const auto bytes = features.bytes.host().first(std::size_t{kSiftLength} * features.count);
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), card.appearance.descriptors.data()));
}

TEST(LearnPicture, TheMeshShowsThePictureToTheCamera) {
  // Each quarter has a colour of its own. Sides of odd lengths beyond the limit of the texture.
  const Image<Rgb8> picture = make_image<Rgb8>(1601, 1203, [](int u, int v) {
    const std::uint8_t spots = (u / 20 + v / 20) % 2 == 0 ? 255 : 200;
    return Rgb8{u < 800 ? spots : std::uint8_t{0}, v < 601 ? spots : std::uint8_t{0}, 60};
  });
  const LearnedObject card =
      learn_picture(Context::cpu(), "card", picture.view(), 0.16, {.most_features = 300});
  EXPECT_EQ(card.appearance.points.size(), 300);
  check_mesh(card.mesh);
  EXPECT_LE(card.mesh.materials.at(0).texture.width(), 1024);
  const Camera camera{640, 480, 600, 600, 319.5, 239.5, {}};
  std::vector<Instance> instances(1);
  instances[0].camera_from_object.translation = {0, 0, 0.2f};
  const RenderOptions options{.cull_back_faces = true, .colors = true, .ambient = 1};
  const RenderScene scene(Context::cpu(), card.mesh);
  const Rendering seen = render(Context::cpu(), scene, camera, instances, options);
  const auto color = [&](double x_m, double y_m) {
    const Vec2d at = project(camera, Vec3d{x_m, y_m, 0.2});
    return seen.colors_of(0)(static_cast<int>(std::lround(at.x)),
                             static_cast<int>(std::lround(at.y)));
  };
  const auto is_right = [&](double x_m, double y_m, bool red, bool green) {
    const Rgb8 c = color(x_m, y_m);
    return (c.x > 100) == red && (c.y > 100) == green;
  };
  for (const double near : {0.002, 0.05}) {
    EXPECT_TRUE(is_right(-near, -near, true, true));
    EXPECT_TRUE(is_right(near, -near, false, true));
    EXPECT_TRUE(is_right(-near, near, true, false));
    EXPECT_TRUE(is_right(near, near, false, false));
  }
}

TEST(LearnPicture, NothingIsLearnedWhereTheMaskIsZero) {
  const Image<Rgb8> picture = card_picture();
  const Image<std::uint8_t> mask = make_image<std::uint8_t>(
      kWidth, kHeight, [](int u, int) { return static_cast<std::uint8_t>(u < 160 ? 255 : 0); });
  const LearnedObject all = learn_picture(Context::cpu(), "card", picture.view(), 0.32);
  const LearnedObject half =
      learn_picture(Context::cpu(), "card", picture.view(), 0.32, {}, mask.view());
  EXPECT_GT(half.appearance.points.size(), 20);
  EXPECT_LT(half.appearance.points.size(), all.appearance.points.size());
  for (const Vec3f& p : half.appearance.points.host()) EXPECT_LE(p.x, 0.0005f);
}

TEST(LearnPicture, TheSameForAnyNumberOfThreads) {
  const Image<Rgb8> picture = card_picture();
  const LearnedObject one = learn_picture(Context::cpu(1), "card", picture.view(), 0.32);
  for (const int threads : {2, 7}) {
    const LearnedObject many = learn_picture(Context::cpu(threads), "card", picture.view(), 0.32);
    ASSERT_EQ(many.appearance.points.size(), one.appearance.points.size());
    const auto a = many.appearance.points.host(), b = one.appearance.points.host();
    EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin()));
    const auto c = many.appearance.descriptors.host(), d = one.appearance.descriptors.host();
    EXPECT_TRUE(std::equal(c.begin(), c.end(), d.begin()));
  }
}

TEST(LearnPicture, SaysWhatIsWrong) {
  const auto refusal = [](const Image<Rgb8>& picture, double width_m) {
    return error_message([&] { learn_picture(Context::cpu(), "card", picture.view(), width_m); });
  };
  const Image<Rgb8> card = card_picture();
  const Image<Rgb8> flat = make_image<Rgb8>(300, 200, [](int, int) { return Rgb8{90, 90, 90}; });
  EXPECT_TRUE(mentions(refusal(flat, 0.1), "has 0 SIFT features"));
  EXPECT_TRUE(mentions(refusal(make_image<Rgb8>(1, 1, [](int, int) { return Rgb8{}; }), 0.1),
                       "has 0 SIFT features"));
  EXPECT_TRUE(mentions(refusal({}, 0.1), "no pixels"));
  EXPECT_TRUE(mentions(refusal(card, 63), "63 m across"));
  EXPECT_TRUE(mentions(refusal(card, 1e-4), "check the unit"));
  EXPECT_TRUE(mentions(refusal(card, 0), "no positive length"));
  EXPECT_TRUE(mentions(refusal(card, -1), "no positive length"));
  EXPECT_TRUE(mentions(refusal(card, NAN), "no positive length"));
  EXPECT_TRUE(mentions(refusal(card, INFINITY), "no positive length"));
}

}  // namespace
}  // namespace sextant
