// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sextant/core/random.h"
#include "sextant/core/vec.h"

// Point sets that neighbour search must get right, for its tests.

namespace sextant::testing {

struct TestCloud {
  std::string name;
  std::vector<Vec3f> points;
};

inline Vec3f uniform_point(std::uint64_t seed, int i) {
  const Random random{seed, static_cast<std::uint64_t>(i)};
  return {random.uniform(0), random.uniform(1), random.uniform(2)};
}

inline TestCloud make_test_cloud(const std::string& name, int count,
                                 const std::function<Vec3f(int)>& point) {
  TestCloud cloud{name, {}};
  for (int i = 0; i < count; ++i) cloud.points.push_back(point(i));
  return cloud;
}

/// A table with a ball on it as a depth camera sees it, with the sensor's noise and its holes.
inline TestCloud organised_cloud(std::uint64_t seed) {
  constexpr int kWidth = 40;
  return make_test_cloud("organised with holes", kWidth * 30, [=](int i) -> Vec3f {
    const Random random{seed, static_cast<std::uint64_t>(i)};
    if (i % 11 == 3) return {NAN, NAN, NAN};
    const float u = (static_cast<float>(i % kWidth) - 19.5f) / 40.0f;
    const float v = (static_cast<float>(i / kWidth) - 14.5f) / 40.0f;
    float z = 1.0f + 0.5f * v;
    if (u * u + v * v < 0.04f) z -= std::sqrt(0.04f - u * u - v * v);
    z += 0.002f * static_cast<float>(random.normal(0));
    return {u * z, v * z, z};
  });
}

inline std::vector<TestCloud> test_clouds(std::uint64_t seed) {
  std::vector<TestCloud> clouds;
  const auto add = [&](const char* name, int count, const std::function<Vec3f(int)>& point) {
    clouds.push_back(make_test_cloud(name, count, point));
  };
  const auto any = [=](int i) { return uniform_point(seed, i); };
  const auto number = [](int i) { return static_cast<float>(i); };

  add("none", 0, any);
  add("one point", 1, any);
  add("five points", 5, any);
  add("uniform", 700, any);
  add("uniform, a millimetre wide", 400, [=](int i) { return any(i) * 1e-3f; });
  add("uniform, 100 km wide", 400, [=](int i) { return any(i) * 1e5f; });
  add("uniform, far from the origin", 400, [=](int i) {
    return any(i) + Vec3f{1e4f, -2e4f, 3e4f};
  });
  add("clusters of all sizes", 600, [=](int i) {
    const Vec3f centre = uniform_point(seed + 1, i % 6) * 10.0f;
    return centre + any(i) * std::pow(10.0f, number(i % 6 - 4));
  });
  add("coplanar", 500, [=](int i) {
    const Vec3f p = any(i);
    return Vec3f{p.x, p.y, 0.5f};
  });
  add("collinear", 300, [=](int i) { return Vec3f{1, 2, 3} * any(i).x; });
  add("coincident", 200, [](int) { return Vec3f{0.1f, -0.2f, 3.0f}; });
  add("coincident in pairs", 300, [=](int i) { return any(i / 2); });
  add("lattice", 9 * 9 * 9, [=](int i) {
    return Vec3f{number(i % 9), number(i / 9 % 9), number(i / 81)} * 0.25f;
  });
  add("lattice in a plane, shuffled", 20 * 20, [=](int i) {
    const int j = (i * 171 + 31) % 400;
    return Vec3f{number(j % 20), 0, number(j / 20)};
  });
  add("two clusters a kilometre apart", 200, [=](int i) {
    return any(i) * 0.01f + Vec3f{i % 3 == 0 ? 1000.0f : 0.0f, 0, 0};
  });
  add("one outlier", 300, [=](int i) { return i == 77 ? Vec3f{1e6f, -1e6f, 0} : any(i) * 0.1f; });
  add("with NaN and infinity", 400, [=](int i) {
    Vec3f p = any(i);
    if (i % 5 == 1) p.y = NAN;
    if (i % 7 == 2) p.x = -INFINITY;
    if (i % 13 == 3) p.z = INFINITY;
    return p;
  });
  add("nothing but NaN", 50, [](int) { return Vec3f{NAN, NAN, NAN}; });
  add("at the ends of float", 60, [=](int i) {
    return i % 2 ? any(i) * 3e38f - Vec3f{1e38f, 2e38f, 0} : any(i) * 1e-38f;
  });
  clouds.push_back(organised_cloud(seed));
  return clouds;
}

}  // namespace sextant::testing
