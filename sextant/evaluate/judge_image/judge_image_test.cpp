// SPDX-License-Identifier: Apache-2.0
#include "sextant/evaluate/judge_image.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/devices.h"
#include "tests/error_message.h"
#include "tests/meshes.h"

namespace sextant {
namespace {

const Camera kCamera{160, 120, 130, 130, 79.5, 59.5, {}};

EvaluatedModels ball_and_plate(const Context& context) {
  std::vector<EvaluatedModel> models;
  models.push_back(make_evaluated_model(3, testing::sphere(0.05f, 16, 24), {}));
  models.push_back(
      make_evaluated_model(8, testing::quad({-0.1f, -0.05f, 0}, {0.2f, 0, 0}, {0, 0.1f, 0}), {}));
  return make_evaluated_models(context, std::move(models));
}

Rigid3d at(double x, double y, double z) { return {Mat3d::identity(), {x, y, z}}; }

TEST(JudgeImage, RightWrongFalseMissedAndUnlisted) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const EvaluatedModels models = ball_and_plate(context);
    Image<float> depth(Context::cpu(), kCamera.width, kCamera.height);
    for (float& z : depth.pixels().host()) z = 1.5f;
    const Image<float> measured = copy(context, depth);
    VisibleSurfaceMemory memory;
    const std::vector<TrueInstance> truth{{3, at(-0.3, 0, 1), 1.0},
                                          {3, at(0.3, 0, 1), 0.8},
                                          {3, at(0, 0.3, 1), 0.05},
                                          {8, at(0, 0, 1), 1.0}};
    // ADD within a tenth of 0.1 m: 10 mm.
    const std::vector<Report> reports{{3, 0.9, at(-0.295, 0, 1)},  // right
                                      {3, 0.8, at(-0.3, 0, 1)},    // a second time
                                      {3, 0.7, at(0.32, 0, 1)},    // off by 20 mm
                                      {3, 0.6, at(0, 0.3, 1)},     // of a hidden one
                                      {3, 0.5, at(0, -0.3, 1)},    // nothing there
                                      {8, 0.4, at(0.3, 0.2, 1)}};  // may be there
    const std::vector<char> unlisted{0, 0, 0, 0, 0, 1};
    const ImageJudgement judged =
        judge_image(context, models, kCamera, measured, truth, reports, unlisted, {}, memory);
    const std::vector<Verdict> expected{Verdict::kRight,  Verdict::kWrong, Verdict::kWrong,
                                        Verdict::kHidden, Verdict::kFalse, Verdict::kUnlisted};
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(judged.reports[i].verdict, expected[i]) << i;
    }
    EXPECT_EQ(judged.reports[0].instance, 0);
    EXPECT_NEAR(judged.reports[2].difference.translation_m, 0.02, 1e-9);
    EXPECT_TRUE(std::isnan(judged.reports[4].difference.translation_m));
    EXPECT_EQ(judged.instances[0].report, 0);
    EXPECT_EQ(judged.instances[1].report, -1);
    EXPECT_FALSE(judged.instances[2].wanted);
    EXPECT_EQ(judged.instances[3].report, -1);
    // The first report is 5 mm aside: 0.05 of the diameter, 130 px x 5 mm at 0.95 m or more, times
    // 4 for an image 640 wide, and all of what is visible agrees within the loosest tolerance.
    ASSERT_FALSE(judged.errors.empty());
    EXPECT_EQ(judged.errors[0].report, 0);
    EXPECT_EQ(judged.errors[0].instance, 0);
    EXPECT_NEAR(judged.errors[0].mssd, 0.05, 1e-6);
    EXPECT_GT(judged.errors[0].mspd_px, 4 * 130 * 0.005);
    EXPECT_LT(judged.errors[0].mspd_px, 4 * 130 * 0.005 / 0.95 + 0.01);
    EXPECT_LT(judged.errors[0].vsd[9], 0.3);
    EXPECT_GE(judged.errors[0].vsd[0], judged.errors[0].vsd[9]);
  }
}

TEST(JudgeImage, PhotographsAndStrangers) {
  const Context context = Context::cpu(1);
  const EvaluatedModels models = ball_and_plate(context);
  VisibleSurfaceMemory memory;
  const std::vector<TrueInstance> truth{{3, at(0, 0, 1), 1.0}};
  const std::vector<Report> reports{{3, 0.9, at(0, 0, 1)}};
  const ImageJudgement judged =
      judge_image(context, models, kCamera, {}, truth, reports, {}, {}, memory);
  EXPECT_EQ(judged.reports[0].verdict, Verdict::kRight);
  EXPECT_EQ(judged.errors.at(0).vsd[0], 1.0);
  EXPECT_EQ(judged.errors.at(0).mssd, 0.0);
  const std::vector<Report> strange{{99, 0.9, at(0, 0, 1)}};
  EXPECT_TRUE(testing::mentions(testing::error_message([&] {
                                  judge_image(context, models, kCamera, {}, truth, strange, {}, {},
                                              memory);
                                }),
                                "object 99"));
}

}  // namespace
}  // namespace sextant
