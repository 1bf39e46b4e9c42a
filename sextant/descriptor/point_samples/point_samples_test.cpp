// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/point_samples.h"

#include <gtest/gtest.h>

#include "sextant/core/random.h"
#include "tests/devices.h"
#include "tests/error_message.h"
#include "tests/meshes.h"

namespace sextant {
namespace {

struct Oriented {
  std::vector<Vec3f> points, normals;
};

PointSamples sample(const Oriented& cloud, float leaf_m, int threads = 1) {
  return sample_points(Context::cpu(threads), view_of(cloud.points), view_of(cloud.normals),
                       {.leaf_m = leaf_m});
}

/// The box |x| <= a, |y| <= b, |z| <= c in twelve triangles.
TriangleMesh box(float a, float b, float c) {
  return testing::mesh_of({{-a, -b, -c},
                           {a, -b, -c},
                           {a, b, -c},
                           {-a, b, -c},
                           {-a, -b, c},
                           {a, -b, c},
                           {a, b, c},
                           {-a, b, c}},
                          {{0, 2, 1},
                           {0, 3, 2},
                           {4, 5, 6},
                           {4, 6, 7},
                           {0, 1, 5},
                           {0, 5, 4},
                           {1, 2, 6},
                           {1, 6, 5},
                           {2, 3, 7},
                           {2, 7, 6},
                           {3, 0, 4},
                           {3, 4, 7}});
}

/// Two walls that meet at a right angle inside voxels, on a lattice of 1 mm.
Oriented corner() {
  Oriented cloud;
  for (int i = 0; i < 20; ++i) {
    for (int j = 0; j < 20; ++j) {
      const float a = 0.0005f + 0.001f * static_cast<float>(i);
      const float b = 0.0005f + 0.001f * static_cast<float>(j);
      cloud.points.push_back({a, b, 0.002f});
      cloud.normals.push_back({0, 0, 1});
      cloud.points.push_back({0.002f, b, a});
      cloud.normals.push_back({1, 0, 0});
    }
  }
  return cloud;
}

TEST(PointSamples, KeepsOnePointAGroupOfNormalsInAVoxel) {
  // Each wall of 20 mm × 20 mm has 4 × 4 voxels of 5 mm, all with one sample of its normal; those
  // where both walls meet have two.
  const PointSamples samples = sample(corner(), 0.005f);
  ASSERT_EQ(samples.points.size(), 32);
  int upward = 0;
  for (std::int64_t i = 0; i < samples.points.size(); ++i) {
    const Vec3f n = samples.normals.host()[static_cast<std::size_t>(i)];
    EXPECT_NEAR(norm(n), 1.0f, 1e-6f);
    upward += n.z == 1.0f;
  }
  EXPECT_EQ(upward, 16);
}

TEST(PointSamples, TakesThePointNearestToTheMeanOfItsGroup) {
  Oriented cloud;
  for (const float x : {0.001f, 0.002f, 0.0035f}) {
    cloud.points.push_back({x, 0.001f, 0.001f});
    cloud.normals.push_back({0, 0, 1});
  }
  const PointSamples samples = sample(cloud, 0.01f);  // the mean is at 2.17 mm
  ASSERT_EQ(samples.points.size(), 1);
  EXPECT_EQ(samples.points.host()[0].x, 0.002f);
}

TEST(PointSamples, IsTheSameForAnyNumberOfThreadsAndLeavesHolesOut) {
  Oriented cloud = corner();
  cloud.points[7].x = NAN;
  cloud.normals[9].y = NAN;
  const PointSamples one = sample(cloud, 0.003f);
  for (const int threads : {2, 7}) {
    const PointSamples other = sample(cloud, 0.003f, threads);
    ASSERT_EQ(other.points.size(), one.points.size());
    for (std::int64_t i = 0; i < one.points.size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      EXPECT_EQ(other.points.host()[at], one.points.host()[at]);
      EXPECT_EQ(other.normals.host()[at], one.normals.host()[at]);
      EXPECT_TRUE(is_finite(one.points.host()[at]));
    }
  }
  EXPECT_EQ(sample({}, 0.01f).points.size(), 0);
}

TEST(PointSamples, RefusesWhatItCannotSample) {
  const Oriented cloud = corner();
  EXPECT_NE(testing::error_message([&] { sample(cloud, 0); }).find("leaf_m"), std::string::npos);
  EXPECT_NE(testing::error_message([&] { sample(cloud, 5e-9f); }).find("voxels"),
            std::string::npos);
  EXPECT_NE(testing::error_message([] {
              dense_model_points(Context::cpu(), testing::mesh_of({{0, 0, 0}}, {}));
            }).find("normals"),
            std::string::npos);
}

TEST(PointSamples, OfAModelLieOnItAndHaveItsNormals) {
  const float radius = 0.05f;
  const TriangleMesh mesh = testing::sphere(radius, 48, 96);
  const ModelSamples model = sample_model(Context::cpu(), mesh);
  EXPECT_NEAR(model.diameter_m, 2 * radius, 0.003 * 2 * radius);
  EXPECT_FLOAT_EQ(model.leaf_m, 0.08f * static_cast<float>(model.diameter_m));
  // A sphere of diameter D has π D² / leaf² = 490 voxels' worth of area; a voxel is cut by the
  // surface in 1.5 pieces of leaf² on average, and a few tiny cuts give no dense point.
  EXPECT_GT(model.samples.points.size(), 490);
  EXPECT_LT(model.samples.points.size(), 1000);
  double error = 0;
  for (std::int64_t i = 0; i < model.samples.points.size(); ++i) {
    const Vec3f p = model.samples.points.host()[static_cast<std::size_t>(i)];
    const Vec3f n = model.samples.normals.host()[static_cast<std::size_t>(i)];
    EXPECT_NEAR(norm(p), radius, 0.0002f);
    EXPECT_GT(dot(n, normalized(p)), 0.98f);
    error += std::acos(std::min(1.0f, dot(n, normalized(p))));
  }
  EXPECT_LT(error / static_cast<double>(model.samples.points.size()), 0.03);
}

TEST(PointSamples, SmoothCreasesToTheScaleOfASensor) {
  const TriangleMesh mesh = box(0.05f, 0.04f, 0.03f);
  const PointSamples dense = dense_model_points(Context::cpu(), mesh, {.dense_points = 40000});
  int beside = 0;
  double angle = 0;
  for (std::int64_t i = 0; i < dense.points.size(); ++i) {
    const Vec3f p = dense.points.host()[static_cast<std::size_t>(i)];
    const Vec3f n = dense.normals.host()[static_cast<std::size_t>(i)];
    const Vec3f room{0.05f - std::abs(p.x), 0.04f - std::abs(p.y), 0.03f - std::abs(p.z)};
    if (room.z > 1e-6f || p.z < 0) continue;  // on the upper face
    if (room.x > 0.006f && room.y > 0.006f) {
      EXPECT_GT(n.z, 0.9999f);
    }
    if (room.x < 0.0003f && room.y > 0.006f) {  // at an edge of it: half of both faces
      ++beside;
      angle += std::atan2(std::abs(n.x), n.z);
    }
  }
  // Some twelve neighbours on either side tell 45° to 0.2 a point, and neighbours share them.
  ASSERT_GT(beside, 20);
  EXPECT_NEAR(angle / beside, M_PI / 4, 0.08);
}

TEST(PointSamples, KeepBothSidesOfAThinWall) {
  const PointSamples dense = dense_model_points(Context::cpu(), box(0.05f, 0.05f, 0.0005f));
  for (std::int64_t i = 0; i < dense.points.size(); ++i) {
    const Vec3f p = dense.points.host()[static_cast<std::size_t>(i)];
    const Vec3f n = dense.normals.host()[static_cast<std::size_t>(i)];
    if (std::abs(p.x) > 0.04f || std::abs(p.y) > 0.04f) continue;
    EXPECT_GT(n.z * p.z, 0.0004f);
  }
}

}  // namespace
}  // namespace sextant
