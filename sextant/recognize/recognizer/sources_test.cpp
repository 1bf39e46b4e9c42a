// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer/sources.h"

#include <gtest/gtest.h>

#include "sextant/learn/learn_mesh.h"
#include "sextant/render/rasterize.h"
#include "sextant/synth/catalogue.h"
#include "tests/error_message.h"

namespace sextant {

using namespace detail::recognizer;
namespace {

/// The tasmanian devil before a wall, exact, and what was learned of it and of the speaker.
struct LearnedPortrait {
  Camera camera{320, 240, 300, 300, 159.5, 119.5, {}};
  Rigid3d camera_from_object{exp_rotation(Vec3d{1.9, 0.3, -0.4}), {0.03, 0.04, 0.6}};
  std::vector<LearnedObject> objects;
  Image<float> depth_m;
  Image<std::uint8_t> wall;  ///< 1 where the devil is not

  LearnedPortrait() {
    const Context context = Context::cpu();
    for (const char* name : {"tasmanian_devil", "speaker"}) {
      objects.push_back(
          learn_mesh(context, name, make_object(name), {.views = 14, .tensors_per_view = 40}));
    }
    const RenderScene scene(context, objects[0].mesh);
    const Instance instance{0, 0, 0, cast<float>(camera_from_object)};
    const Rendering picture = render(context, scene, camera, std::span(&instance, 1), {});
    depth_m = Image<float>(context, camera.width, camera.height);
    wall = Image<std::uint8_t>(context, camera.width, camera.height);
    for (int v = 0; v < camera.height; ++v) {
      for (int u = 0; u < camera.width; ++u) {
        const float z = picture.depth_m_of(0)(u, v);
        depth_m(u, v) = std::isfinite(z) ? z : 1.0f;
        wall(u, v) = std::isfinite(z) ? 0 : 1;
      }
    }
  }

  /// How far a pose is off at most, over the object.
  double error_m(const Rigid3d& pose) const {
    double most = 0;
    for (const Vec3f& p : objects[0].samples.points.host()) {
      const Vec3d x = cast<double>(p);
      most = std::max(most, norm(pose * x - camera_from_object * x));
    }
    return most;
  }
};

const LearnedPortrait& portrait() {
  static const LearnedPortrait once;  // learning takes seconds
  return once;
}

TEST(PoseSources, AreReadFromWords) {
  const PoseSources both = pose_sources("shot,point-pairs");
  EXPECT_TRUE(both.point_pairs);
  EXPECT_FALSE(both.tensors);
  EXPECT_TRUE(both.shot);
  EXPECT_TRUE(pose_sources("tensors").tensors);
  for (const char* wrong : {"", "tensor", "tensors,", "tensors, shot", ",shot"}) {
    EXPECT_TRUE(
        testing::mentions(testing::error_message([&] { pose_sources(wrong); }), "point-pairs"))
        << wrong;
  }
}

TEST(DescriptorSources, ProposeWhereAnObjectLies) {
  const SceneFrame scene = prepare_scene(Context::cpu(), portrait().depth_m, portrait().camera, {});
  for (const char* source : {"tensors", "shot"}) {
    SCOPED_TRACE(source);
    const DescriptorSources sources(Context::cpu(), portrait().objects, pose_sources(source));
    const auto poses = sources.propose(Context::cpu(), scene, {});
    ASSERT_EQ(poses.size(), 2u);
    int right = 0;
    for (const Hypothesis& pose : poses[0]) {
      // Refinement draws samples from a tenth of the diameter.
      right += portrait().error_m(cast<double>(pose.camera_from_object)) <
               0.1 * portrait().objects[0].diameter_m;
    }
    // Chance puts fewer than one in a thousand so near: 6 directions within a tenth of a radian or
    // of the diameter.
    EXPECT_GE(right, 3) << "of " << poses[0].size();
    for (const auto& of_object : sources.propose(Context::cpu(), scene, portrait().wall)) {
      EXPECT_TRUE(of_object.empty());
    }
  }
}

TEST(DescriptorSources, ProposeNothingInAFrameOfHoles) {
  Image<float> holes(Context::cpu(), portrait().camera.width, portrait().camera.height);
  for (float& z : holes.pixels().host()) z = NAN;
  const SceneFrame scene = prepare_scene(Context::cpu(), holes, portrait().camera, {});
  const DescriptorSources sources(Context::cpu(), portrait().objects, pose_sources("tensors,shot"));
  for (const auto& of_object : sources.propose(Context::cpu(), scene, {})) {
    EXPECT_TRUE(of_object.empty());
  }
}

TEST(DescriptorSources, AreTheSameForAnyNumberOfThreads) {
  const SceneFrame scene = prepare_scene(Context::cpu(), portrait().depth_m, portrait().camera, {});
  const auto propose = [&](int threads) {
    const Context context = Context::cpu(threads);
    return DescriptorSources(context, portrait().objects, pose_sources("tensors,shot"))
        .propose(context, scene, {});
  };
  const auto one = propose(1);
  for (const int threads : {2, 7}) {
    const auto other = propose(threads);
    for (std::size_t o = 0; o < one.size(); ++o) {
      ASSERT_EQ(other[o].size(), one[o].size());
      for (std::size_t i = 0; i < one[o].size(); ++i) {
        ASSERT_EQ(other[o][i].camera_from_object.translation,
                  one[o][i].camera_from_object.translation);
        ASSERT_EQ(other[o][i].camera_from_object.rotation.row[0],
                  one[o][i].camera_from_object.rotation.row[0]);
      }
    }
  }
}

TEST(DescriptorSources, EachAloneFindsTheObject) {
  for (const char* sources : {"point-pairs", "tensors", "shot", "point-pairs,tensors,shot"}) {
    SCOPED_TRACE(sources);
    const Recognizer recognizer(Context::cpu(), portrait().objects, {.sources = sources});
    const Recognition found = recognizer.recognize(portrait().depth_m, portrait().camera);
    ASSERT_EQ(found.detections.size(), 1u);
    EXPECT_EQ(found.detections[0].object, "tasmanian_devil");
    EXPECT_LT(portrait().error_m(found.detections[0].camera_from_object), 0.006);
  }
}

TEST(DescriptorSources, AnObjectThatNoSourceKnowsIsRefused) {
  std::vector<LearnedObject> objects(1);
  objects[0].name = "bare";
  objects[0].mesh = make_object("apple");
  EXPECT_NO_THROW(Recognizer(Context::cpu(), objects, {.sources = "point-pairs,tensors"}));
  EXPECT_TRUE(testing::mentions(testing::error_message([&] {
                                  Recognizer(Context::cpu(), objects, {.sources = "tensors,shot"});
                                }),
                                "bare"));
}

}  // namespace
}  // namespace sextant
