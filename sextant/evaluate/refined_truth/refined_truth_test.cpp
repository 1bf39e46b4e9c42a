// SPDX-License-Identifier: Apache-2.0
#include "sextant/evaluate/refined_truth.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sextant/synth/sensor_noise.h"
#include "sextant/synth/table_scene.h"
#include "tests/devices.h"
#include "tests/error_message.h"

namespace sextant {
namespace {

/// A table with toys as a Kinect sees it.
struct Frame {
  TableScene scene;
  Image<float> depth_m;
  EvaluatedModels models;
  std::vector<TrueInstance> truth;
};

Frame make_frame() {
  const Context cpu = Context::cpu();
  Frame frame;
  TableSceneOptions options;
  options.objects = 4;
  options.set = ObjectSet::kToys;
  options.stacking = 0;
  options.distance_m = 0.7f;
  frame.scene = make_table_scene(cpu, options, 5);
  RenderOptions all;
  all.normals = true;
  const Rendering seen = render_table_scene(cpu, frame.scene, all);
  frame.depth_m = add_sensor_noise(cpu, seen.depth_m_of(0), seen.normals_of(0), frame.scene.camera,
                                   sensor_noise(SensorModel::kKinect), 1);
  std::vector<EvaluatedModel> models;
  for (std::size_t i = 0; i < frame.scene.objects.size(); ++i) {
    const SceneObject& object = frame.scene.objects[i];
    const int id = static_cast<int>(i) + 1;
    models.push_back(make_evaluated_model(
        id, copy(cpu, frame.scene.meshes[static_cast<std::size_t>(object.mesh)]), {}));
    frame.truth.push_back({id, object.camera_from_object, object.visibility.fraction()});
  }
  frame.models = make_evaluated_models(cpu, std::move(models));
  return frame;
}

/// The pose moved by millimetres and turned by degrees about the object's middle.
Rigid3d perturbed(const EvaluatedModel& model, const Rigid3d& pose, const Vec3d& by_m,
                  const Vec3d& turn_rad) {
  const Vec3d middle = pose * model.middle_m;
  const Rigid3d turn{exp_rotation(turn_rad), middle - exp_rotation(turn_rad) * middle + by_m};
  return renormalized(turn * pose);
}

TEST(RefinedTruth, BringsPerturbedPosesBackOntoTheDepthMap) {
  const Frame frame = make_frame();
  std::vector<TrueInstance> given = frame.truth;
  for (std::size_t i = 0; i < given.size(); ++i) {
    given[i].camera_from_object = perturbed(frame.models.models[i], given[i].camera_from_object,
                                            {0.003, -0.002, 0.004}, {0.02, 0.03, -0.02});
  }
  const auto refined =
      refine_truth(Context::cpu(2), frame.models, frame.scene.camera, frame.depth_m, given);
  ASSERT_EQ(refined.size(), given.size());
  int moved_count = 0;
  for (std::size_t i = 0; i < refined.size(); ++i) {
    SCOPED_TRACE(frame.scene.objects[i].name + " seen " + std::to_string(frame.truth[i].visible));
    if (frame.truth[i].visible < 0.25) {
      // Less than the default's 0.3 of its pixels can lie on the measured surface.
      EXPECT_EQ(refined[i].outcome, TruthRefinement::kHardlySeen);
      continue;
    }
    ASSERT_EQ(refined[i].outcome, TruthRefinement::kMoved);
    ++moved_count;
    const EvaluatedModel& model = frame.models.models[i];
    // What the surfaces determine comes back: the mean distance to the true surface shrinks to a
    // fraction of the 5.4 mm that the pose was moved by, to about the sensor's noise.
    const Rigid3d& exact = frame.truth[i].camera_from_object;
    const double before = adds_error_m(model, given[i].camera_from_object, exact);
    const double after = adds_error_m(model, refined[i].camera_from_object, exact);
    EXPECT_LT(after, 0.0015);
    EXPECT_LT(after, before);
    // It says how far the pose moved.
    const PoseDifference moved =
        pose_difference(model, refined[i].camera_from_object, given[i].camera_from_object);
    EXPECT_EQ(refined[i].moved.translation_m, moved.translation_m);
    EXPECT_GT(moved.translation_m, 0.002);
    EXPECT_LT(moved.translation_m, 0.01);
  }
  EXPECT_GE(moved_count, 3);
  // The same for any number of threads.
  const auto again =
      refine_truth(Context::cpu(1), frame.models, frame.scene.camera, frame.depth_m, given);
  for (std::size_t i = 0; i < refined.size(); ++i) {
    EXPECT_EQ(again[i].camera_from_object.translation, refined[i].camera_from_object.translation);
  }
}

TEST(RefinedTruth, KeepsTheGivenPoseWhereItWouldMoveTooFarOrIsNotSeen) {
  Frame frame = make_frame();
  frame.truth.resize(1);
  std::vector<TrueInstance> given = frame.truth;
  given[0].camera_from_object =
      perturbed(frame.models.models[0], given[0].camera_from_object, {0, 0, 0.006}, {});
  const auto refine = [&](const RefineTruthOptions& options) {
    return refine_truth(Context::cpu(), frame.models, frame.scene.camera, frame.depth_m, given,
                        options)[0];
  };
  const RefinedTruth bound = refine({.most_moved = 0.01});
  EXPECT_EQ(bound.outcome, TruthRefinement::kTooFar);
  EXPECT_GT(bound.moved.translation_m, 0.003);
  EXPECT_EQ(bound.camera_from_object.translation, given[0].camera_from_object.translation);
  given[0].camera_from_object.translation.z = 0.4;  // in mid-air
  const RefinedTruth lost = refine({});
  EXPECT_EQ(lost.outcome, TruthRefinement::kHardlySeen);
  EXPECT_EQ(lost.camera_from_object.translation, given[0].camera_from_object.translation);
  given[0].camera_from_object.translation.x = 5;  // outside the picture
  EXPECT_EQ(refine({}).outcome, TruthRefinement::kHardlySeen);
  EXPECT_TRUE(std::isnan(refine({}).moved.translation_m));
  given[0].object_id = 77;
  EXPECT_TRUE(testing::mentions(testing::error_message([&] { refine({}); }), "object 77"));
}

/// It runs on the host alone, and says so instead of reading memory that is elsewhere.
TEST(RefinedTruth, RefusesOtherDevices) {
  const Frame frame = make_frame();
  for (const Context& context : testing::all_contexts()) {
    if (context.is_cpu()) continue;
    EXPECT_TRUE(testing::mentions(testing::error_message([&] {
                                    refine_truth(context, frame.models, frame.scene.camera,
                                                 frame.depth_m, frame.truth);
                                  }),
                                  "runs on the host"));
  }
}

}  // namespace
}  // namespace sextant
