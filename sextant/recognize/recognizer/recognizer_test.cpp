// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include "sextant/descriptor/point_samples.h"
#include "sextant/recognize/recognizer/body_verifier.h"
#include "sextant/recognize/recognizer/refine.h"
#include "sextant/synth/sensor_noise.h"
#include "sextant/synth/table_scene.h"
#include "tests/devices.h"
#include "tests/error_message.h"
#include "tests/solids.h"

namespace sextant {

using namespace detail::recognizer;
namespace {

LearnedObject learned(std::string_view name) {
  LearnedObject object;
  object.name = name;
  object.mesh = make_object(name);
  ModelSamples samples = sample_model(Context::cpu(), object.mesh);
  object.diameter_m = samples.diameter_m;
  object.samples = {samples.leaf_m, std::move(samples.samples.points),
                    std::move(samples.samples.normals)};
  return object;
}

/// The tasmanian devil before a wall, exact.
struct Portrait {
  Camera camera{320, 240, 300, 300, 159.5, 119.5, {}};
  LearnedObject object = learned("tasmanian_devil");
  Rigid3d camera_from_object{exp_rotation(Vec3d{1.9, 0.3, -0.4}), {0.03, 0.04, 0.6}};
  Image<float> depth_m;

  Portrait() {
    const Context context = Context::cpu();
    const RenderScene scene(context, object.mesh);
    const Instance instance{0, 0, 0, cast<float>(camera_from_object)};
    const Rendering picture = render(context, scene, camera, std::span(&instance, 1), {});
    depth_m = Image<float>(context, camera.width, camera.height);
    for (int v = 0; v < camera.height; ++v) {
      for (int u = 0; u < camera.width; ++u) {
        const float z = picture.depth_m_of(0)(u, v);
        depth_m(u, v) = std::isfinite(z) ? z : 1.0f;
      }
    }
  }
};

struct Difference {
  double shift_m, angle_rad;
};
Difference difference(const Portrait& portrait, const Rigid3d& pose) {
  Vec3d centre{};
  for (const Vec3f& p : portrait.object.samples.points.host()) centre += cast<double>(p);
  centre = centre / static_cast<double>(portrait.object.samples.points.size());
  return {norm(pose * centre - portrait.camera_from_object * centre),
          rotation_angle(pose.rotation * transpose(portrait.camera_from_object.rotation))};
}

TEST(Recognizer, RefinementFindsThePoseAgain) {
  const Portrait portrait;
  const Context context = Context::cpu();
  const SceneFrame scene = prepare_scene(context, portrait.depth_m, portrait.camera, {});
  const Model model = make_model(context, portrait.object, {});
  for (int axis = 0; axis < 3; ++axis) {
    const Vec3d along{axis == 0 ? 1.0 : 0.0, axis == 1 ? 1.0 : 0.0, axis == 2 ? 1.0 : 0.0};
    const Vec3d centre = portrait.camera_from_object * cast<double>(model.centre);
    const Rigid3d start =
        motion_about({along * 0.12, along * 0.008}, centre) * portrait.camera_from_object;
    const Difference left =
        difference(portrait, refine(scene.view(), model.view(), cast<float>(start)));
    // Pixels are 2 mm wide and normals are those of 8 mm around: a fifth of a pixel is left.
    EXPECT_LT(left.shift_m, 0.0008) << axis;
    EXPECT_LT(left.angle_rad, 0.02) << axis;
  }
}

TEST(Recognizer, VerificationTellsTheRightPoseFromOthers) {
  const Portrait portrait;
  const Context context = Context::cpu();
  const SceneFrame scene = prepare_scene(context, portrait.depth_m, portrait.camera, {});
  const Model model = make_model(context, portrait.object, {});
  const RenderScene meshes(context, model.render_mesh);
  Workspace workspace;
  const ModelView view = model.view();
  BodyVerifier verifier(context, scene.view(), {std::span(&view, 1), &view, &meshes}, workspace);
  const Rigid3d& right = portrait.camera_from_object;
  const auto moved = [&](const Vec3d& by) {
    return Rigid3d{right.rotation, right.translation + by};
  };
  const std::vector<Rigid3d> poses{right, moved({0.05, 0, 0}), moved({0, 0, -0.08}),
                                   moved({0, 0, 0.1}), moved({0, 0, 0.39})};
  const std::vector<Compared> found = verifier.verify(0, poses, {.pixels = true});
  EXPECT_GT(found[0].terms.supported, 0.97f);
  EXPECT_LT(found[0].terms.violated, 0.02f);
  EXPECT_GT(found[0].terms.normals, 0.9f);
  EXPECT_GT(found[0].terms.confirmed, 0.9f);
  EXPECT_LT(found[0].terms.residual, 0.5f);
  EXPECT_FALSE(found[0].pixels.empty());
  // 5 cm to the right: where the object no longer is, the sensor sees the wall behind it.
  EXPECT_GT(found[1].terms.violated, 0.2f);
  EXPECT_LT(found[1].terms.confirmed, 0.5f);
  // Nearer: seen through everywhere. Farther: behind what is measured.
  EXPECT_GT(found[2].terms.violated, 0.95f);
  EXPECT_GT(found[3].terms.occluded, 0.6f);
  // Only the right pose is nearer to the depths than the simplest surfaces are.
  EXPECT_GT(found[0].terms.plane_gain, 1);
  EXPECT_GT(found[0].terms.bend_gain, 0.5f);
  EXPECT_LT(found[4].terms.plane_gain, 0.1f);
  // On the wall: the wall goes on.
  EXPECT_GT(found[4].terms.continues + found[4].terms.hidden + found[4].terms.falls_short, 0.7f);
  for (const Compared& v : found) {
    const VerificationTerms& t = v.terms;
    EXPECT_NEAR(t.supported + t.violated + t.occluded + t.no_data + t.outside, 1, 1e-5);
    EXPECT_NEAR(t.confirmed + t.continues + t.falls_short + t.crease + t.hidden + t.unknown, 1,
                1e-5);
  }
}

/// A box of 200 x 140 x 60 mm whose face is seen straight on, before a wall: depths alone let it
/// slide, edges do not.
TEST(Recognizer, OutlinesHoldWhatDepthsLetSlide) {
  const Context context = Context::cpu();
  LearnedObject object;
  object.name = "box";
  object.mesh = testing::box(0.2, 0.14, 0.06).mesh();
  const Model model = make_model(context, object, {});
  const Camera camera{320, 240, 300, 300, 159.5, 119.5, {}};
  const Rigid3d right{Mat3d::identity(), {-0.09, -0.08, 0.6}};
  const RenderScene meshes(context, model.render_mesh);
  const Instance instance{0, 0, 0, cast<float>(right)};
  const Rendering picture = render(context, meshes, camera, std::span(&instance, 1), {});
  Image<float> depth_m(context, camera.width, camera.height);
  for (int v = 0; v < camera.height; ++v) {
    for (int u = 0; u < camera.width; ++u) {
      const float z = picture.depth_m_of(0)(u, v);
      depth_m(u, v) = std::isfinite(z) ? z : 1.0f;
    }
  }
  const SceneFrame scene = prepare_scene(context, depth_m, camera, {});
  Workspace workspace;
  const ModelView view = model.view();
  BodyVerifier verifier(context, scene.view(), {std::span(&view, 1), &view, &meshes}, workspace);
  Rigid3d pose{exp_rotation(Vec3d{0, 0, 0.04}), right.translation + Vec3d{0.008, -0.006, 0}};
  for (int round = 0; round < 4; ++round) {
    const Compared found = verifier.verify(0, std::span(&pose, 1))[0];
    pose = outline_step(model.view(), pose, found.equations);
  }
  // A pixel is 2 mm wide.
  EXPECT_LT(norm(pose.translation - right.translation), 0.002);
  EXPECT_LT(rotation_angle(pose.rotation), 0.015);
}

TEST(Recognizer, TheRightPoseOfTheRightObjectIsFound) {
  const Portrait portrait;
  std::vector<LearnedObject> objects;
  objects.push_back(learned("tasmanian_devil"));
  objects.push_back(learned("speaker"));
  const Recognizer recognizer(Context::cpu(), objects);
  const Recognition found = recognizer.recognize(portrait.depth_m, portrait.camera);
  ASSERT_EQ(found.detections.size(), 1u);
  EXPECT_TRUE(found.complete);
  const Detection& devil = found.detections[0];
  EXPECT_EQ(devil.object, "tasmanian_devil");
  EXPECT_GT(devil.score, 0.0);
  EXPECT_LE(devil.score, 1.0);
  const Difference left = difference(portrait, devil.camera_from_object);
  EXPECT_LT(left.shift_m, 0.002);
  EXPECT_LT(left.angle_rad, 0.03);
  EXPECT_GT(devil.pixels.size(), 500u);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_GT(devil.covariance[7 * i], 0) << i;
    for (std::size_t j = 0; j < 6; ++j) {
      EXPECT_EQ(devil.covariance[6 * i + j], devil.covariance[6 * j + i]);
    }
  }
  for (const Detection& rejected : found.rejected) EXPECT_FALSE(rejected.reason.empty());
}

TEST(Recognizer, GivesTheSameForAnyNumberOfThreads) {
  const Portrait portrait;
  std::vector<LearnedObject> objects;
  objects.push_back(learned("tasmanian_devil"));
  RecognizeOptions options;
  options.refined = 20;
  options.polished = 3;
  const auto recognize = [&](int threads) {
    return Recognizer(Context::cpu(threads), objects, options)
        .recognize(portrait.depth_m, portrait.camera);
  };
  const Recognition one = recognize(1);
  for (const int threads : {2, 7}) {
    const Recognition other = recognize(threads);
    ASSERT_EQ(other.detections.size(), one.detections.size());
    ASSERT_EQ(other.rejected.size(), one.rejected.size());
    for (std::size_t i = 0; i < one.rejected.size(); ++i) {
      EXPECT_EQ(other.rejected[i].score, one.rejected[i].score);
      EXPECT_EQ(other.rejected[i].camera_from_object.translation,
                one.rejected[i].camera_from_object.translation);
    }
  }
}

TEST(Recognizer, HeedsWhatIsKnownBeforehand) {
  const Portrait portrait;
  std::vector<LearnedObject> objects;
  objects.push_back(learned("tasmanian_devil"));
  objects.push_back(learned("apple"));
  const Recognizer recognizer(Context::cpu(), objects, {.refined = 20, .polished = 5});
  Image<std::uint8_t> mask(Context::cpu(), portrait.camera.width, portrait.camera.height);
  for (std::uint8_t& m : mask.pixels().host()) m = 0;
  const auto found = [&](const RecognizeHints& hints) {
    return recognizer.recognize(portrait.depth_m, portrait.camera, hints);
  };
  // Nothing is looked for where nothing is admitted, but a given pose is tried.
  EXPECT_TRUE(found({.mask = mask}).detections.empty());
  const Rigid3d near{portrait.camera_from_object.rotation,
                     portrait.camera_from_object.translation + Vec3d{0.004, 0.003, 0}};
  const Recognition tracked = found({.mask = mask, .poses = {{0, near}}});
  ASSERT_EQ(tracked.detections.size(), 1u);
  EXPECT_LT(difference(portrait, tracked.detections[0].camera_from_object).shift_m, 0.002);
  const Recognition late = found({.budget_ms = 1e-6});
  EXPECT_FALSE(late.complete);
  EXPECT_TRUE(late.detections.empty());
  EXPECT_THROW(found({.poses = {{2, near}}}), Error);
}

TEST(Recognizer, FindsNothingWhereNothingIs) {
  const Camera camera{64, 48, 60, 60, 31.5, 23.5, {}};
  std::vector<LearnedObject> objects;
  objects.push_back(learned("apple"));
  const Recognizer recognizer(Context::cpu(), objects);
  Image<float> depth_m(Context::cpu(), 64, 48);
  for (float& z : depth_m.pixels().host()) z = NAN;
  EXPECT_TRUE(recognizer.recognize(depth_m, camera).detections.empty());
  for (float& z : depth_m.pixels().host()) z = 0.8f;  // a wall
  EXPECT_TRUE(recognizer.recognize(depth_m, camera).detections.empty());
  EXPECT_TRUE(Recognizer(Context::cpu(), {}).recognize(depth_m, camera).detections.empty());
}

TEST(Recognizer, RefusesWhatItCannotUse) {
  const Camera camera{64, 48, 60, 60, 31.5, 23.5, {}};
  const Recognizer recognizer(Context::cpu(), {});
  const Image<float> other(Context::cpu(), 10, 10);
  EXPECT_TRUE(testing::mentions(
      testing::error_message([&] { recognizer.recognize(other, camera); }), "depth_m"));
  Camera distorted = camera;
  distorted.distortion.k1 = 0.1;
  const Image<float> depth_m(Context::cpu(), 64, 48);
  EXPECT_TRUE(testing::mentions(
      testing::error_message([&] { recognizer.recognize(depth_m, distorted); }), "distortion"));
  std::vector<LearnedObject> nothing(1);
  nothing[0].name = "void";
  EXPECT_THROW(Recognizer(Context::cpu(), nothing), Error);
}

TEST(Recognizer, MotionsOfSymmetriesBeginWithTheIdentity) {
  Symmetries symmetries;
  symmetries.continuous.push_back({{0, 0, 1}, {0.1, 0, 0}});
  symmetries.discrete.push_back({exp_rotation(Vec3d{M_PI, 0, 0}), {}});
  const std::vector<Rigid3f> motions = motions_of(symmetries, 36);
  ASSERT_EQ(motions.size(), 72u);
  EXPECT_EQ(motions[0].translation, Vec3f{});
  // A point on the axis stays on it.
  for (const Rigid3f& motion : motions) {
    const Vec3f moved = motion * Vec3f{0.1f, 0, 0};
    EXPECT_NEAR(moved.x, 0.1f, 1e-6f);
    EXPECT_NEAR(moved.y, 0, 1e-6f);
  }
}

/// Bytes that the process has allocated and not given back.
std::size_t bytes_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

TEST(Recognizer, FramesLeaveNoMemoryBehind) {
  const Portrait portrait;
  const Recognizer recognizer(Context::cpu(2), std::span(&portrait.object, 1), {.refined = 10});
  const auto look = [&](int frames) {
    for (int i = 0; i < frames; ++i) {
      ASSERT_EQ(recognizer.recognize(portrait.depth_m, portrait.camera).detections.size(), 1u);
    }
  };
  look(4);
  const std::size_t before = bytes_in_use();
  constexpr int kFrames = 20;
  look(kFrames);
  // A frame of floats has 300 kB; what is kept would be kept for each.
  EXPECT_LT(bytes_in_use(), before + kFrames * 1000);
}

}  // namespace
}  // namespace sextant
