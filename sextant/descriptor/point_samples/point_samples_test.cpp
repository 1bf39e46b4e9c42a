// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/point_samples.h"

#include <gtest/gtest.h>

#include <array>
#include <map>

#include "sextant/core/random.h"
#include "tests/error_message.h"
#include "tests/meshes.h"
#include "tests/steady_state.h"

namespace sextant {
namespace {

struct Oriented {
  std::vector<Vec3f> points, normals;
};

PointSamples sample(const Oriented& cloud, float leaf_m) {
  return sample_points(Context::cpu(), view_of(cloud.points), view_of(cloud.normals),
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

/// Points on bumps all around, with holes, of which many lie in few voxels.
Oriented bumps(std::uint64_t seed) {
  Oriented cloud;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const Random random{seed, i};
    const Vec3f up =
        normalized(Vec3f{static_cast<float>(random.normal(0)), static_cast<float>(random.normal(1)),
                         static_cast<float>(random.normal(2))});
    const Vec3f off{random.uniform(3), random.uniform(4), random.uniform(5)};
    cloud.points.push_back(up * (0.1f * random.uniform(6)) + Vec3f{-0.01f, 0.02f, 0.5f});
    cloud.normals.push_back(normalized(up + off));
    if (i % 97 == 5) cloud.points.back().y = NAN;
    if (i % 89 == 7) cloud.normals.back().z = INFINITY;
  }
  return cloud;
}

/// The samples as the header defines them, voxel by voxel.
Oriented naive_samples(const Oriented& cloud, float leaf_m, float farthest_m = INFINITY) {
  struct Group {
    std::vector<std::size_t> members;
  };
  std::map<std::array<float, 3>, std::vector<Group>> voxels;
  for (std::size_t i = 0; i < cloud.points.size(); ++i) {
    const Vec3f &p = cloud.points[i], &n = cloud.normals[i];
    if (!is_finite(p) || !is_finite(n) || p.z > farthest_m) continue;
    const float inverse = 1.0f / leaf_m;
    std::vector<Group>& groups =
        voxels[{std::floor(p.z * inverse), std::floor(p.y * inverse), std::floor(p.x * inverse)}];
    std::size_t g = 0;
    while (g < groups.size() && dot(cloud.normals[groups[g].members[0]], n) < std::cos(0.5236f)) {
      ++g;
    }
    if (g == groups.size()) groups.push_back({});
    groups[g].members.push_back(i);
  }
  Oriented samples;
  for (const auto& [at, groups] : voxels) {
    for (const Group& group : groups) {
      Vec3f normal{};
      Vec3d mean{};
      for (const std::size_t i : group.members) {
        normal += cloud.normals[i];
        mean += cast<double>(cloud.points[i]);
      }
      const Vec3f centre = cast<float>(mean / static_cast<double>(group.members.size()));
      std::size_t best = group.members[0];
      for (const std::size_t i : group.members) {
        if (norm_sq(cloud.points[i] - centre) < norm_sq(cloud.points[best] - centre)) best = i;
      }
      samples.points.push_back(cloud.points[best]);
      samples.normals.push_back(normalized(normal));
    }
  }
  return samples;
}

TEST(PointSamples, AreThoseOfTheDefinitionOnEveryDevice) {
  const Oriented cloud = bumps(testing::seed_of_test());
  for (const float leaf_m : {0.003f, 0.02f, 1.0f}) {
    const Oriented naive = naive_samples(cloud, leaf_m);
    ASSERT_FALSE(naive.points.empty());
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context) + ", " + std::to_string(leaf_m));
      const Buffer<Vec3f> points = copy(context, cloud.points);
      const Buffer<Vec3f> normals = copy(context, cloud.normals);
      const PointSamples samples = sample_points(context, points, normals, {.leaf_m = leaf_m});
      EXPECT_EQ(to_host(context, samples.points), naive.points);
      EXPECT_EQ(to_host(context, samples.normals), naive.normals);
      const View<const Vec3f> none = points.view().subview(0, 0);
      EXPECT_EQ(sample_points(context, none, none, {.leaf_m = leaf_m}).points.size(), 0);
    }
  }
}

/// Room for the samples of a cloud at several scales.
struct Scales {
  Context context;
  Oriented cloud;
  Buffer<Vec3f> points = copy(context, cloud.points), normals = copy(context, cloud.normals);
  Buffer<SampleScale> scales =
      copy(context, std::vector<SampleScale>{{0.003f}, {0.05f, 0.45f}, {0.01f}, {0.01f, 0.1f}});
  Buffer<Vec3f> sample_points{context, 20000}, sample_normals{context, 20000};
  Buffer<std::int32_t> first{context, 5};

  void sample(std::int64_t capacity, Workspace& workspace) {
    sample_scales_into(context, points, normals, scales, 0.5236f,
                       sample_points.view().subview(0, capacity),
                       sample_normals.view().subview(0, capacity), first, workspace);
  }
};

TEST(PointSamples, OfSeveralScalesAreThoseOfEach) {
  const Oriented cloud = bumps(testing::seed_of_test());
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    Scales all{context, cloud};
    Workspace workspace;
    all.sample(20000, workspace);
    const std::vector<std::int32_t> first = to_host(context, all.first);
    const std::vector<Vec3f> points = to_host(context, all.sample_points);
    const std::vector<Vec3f> normals = to_host(context, all.sample_normals);
    const std::vector<SampleScale> scales = to_host(context, all.scales);
    EXPECT_EQ(first[0], 0);
    for (std::size_t s = 0; s < scales.size(); ++s) {
      const Oriented naive = naive_samples(cloud, scales[s].leaf_m, scales[s].farthest_m);
      EXPECT_EQ(std::vector<Vec3f>(points.begin() + first[s], points.begin() + first[s + 1]),
                naive.points);
      EXPECT_EQ(std::vector<Vec3f>(normals.begin() + first[s], normals.begin() + first[s + 1]),
                naive.normals);
    }
    EXPECT_EQ(first[4], first[3]);  // nothing is as near as the last one asks
    const View<const Vec3f> none = std::as_const(all.points).view().subview(0, 0);
    sample_scales_into(context, none, none, all.scales, 0.5236f, all.sample_points,
                       all.sample_normals, all.first, workspace);
    EXPECT_EQ(to_host(context, all.first), std::vector<std::int32_t>(5, 0));
    // Of a smaller room, the first scale fills all.
    all.sample(100, workspace);
    EXPECT_EQ(to_host(context, all.first), (std::vector<std::int32_t>{0, 100, 100, 100, 100}));
  }
}

TEST(PointSamples, OfASecondFrameAllocateNothing) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    Scales scales{context, bumps(testing::seed_of_test())};
    testing::expect_steady_calls<Scales>(
        scales, {{"sample_scales", [](Scales& s, Workspace& w) { s.sample(20000, w); }}});
  }
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
