// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>

#include "sextant/core/graph.h"
#include "sextant/surface/curvature.h"
#include "sextant/surface/curvature/rows.h"
#include "tests/curvature_scene.h"
#include "tests/devices.h"
#include "tests/error_message.h"
#include "tests/instruction_sets.h"

namespace sextant {
namespace {

using namespace detail::curvature;
using testing::curvature_of;
using testing::each_device;
using testing::HostCurvature;
using testing::look_at;
using testing::OrganisedScene;

/// A noisy ball before a wall with a step, holes, infinite points and points behind the sensor.
OrganisedScene cluttered(std::uint64_t seed, int width = 73, int height = 58) {
  const auto surface = [](const Vec3d& ray) -> std::optional<testing::Hit> {
    if (const auto hit = testing::SphereSurface{{0.01, 0, 0.8}, 0.06}(ray)) return hit;
    if (ray.x > 0.04) return testing::PlaneSurface{1.05, {0.2, 0, -1}}(ray);
    return testing::CylinderSurface{{0, 0, 1.4}, 0.4}(ray);
  };
  OrganisedScene scene = look_at(
      surface, {.width = width, .height = height, .focal_px = 300, .noise_m = 0.001, .seed = seed});
  for (std::size_t i = 0; i < scene.points.size(); ++i) {
    const Random random{seed + 1, i};
    Vec3f& p = scene.points[i];
    if (random.uniform(0) < 0.05f) p = {NAN, NAN, NAN};
    if (random.uniform(1) < 0.005f) p.z = INFINITY;
    if (random.uniform(2) < 0.005f) p.x = -INFINITY;
    if (random.uniform(3) < 0.005f) p = -p;
    if (random.uniform(4) < 0.005f) p = p * 1e20f;
  }
  return scene;
}

/// The same fit in double precision, a pixel at a time.
template <class Mode>
PatchResult<double> oracle(const OrganisedScene& scene, const std::vector<Vec3f>& normals,
                           const CurvatureOptions& options, const std::vector<Cell<double>>& cells,
                           int u, int v) {
  const auto index = [&](int x, int y) { return static_cast<std::size_t>(y * scene.width + x); };
  const Cell<double>& cell = cells[index(u, v)];
  if (!(cell.pitch_rad() > 0)) return {{}, 0.0};
  PatchGrid grid = pixel_patch(options);
  if constexpr (Mode::kMetric) {
    grid = metric_patch(
        options, rounded_radius_px(metric_radius_px(options, static_cast<float>(cell.point.z),
                                                    static_cast<float>(cell.pitch_rad()))));
  }
  const auto load = [&](int du, int dv) {
    const int x = u + du;
    const int y = v + dv;
    const bool inside = x >= 0 && y >= 0 && x < scene.width && y < scene.height;
    return inside ? cells[index(x, y)].point : Vec3d{};
  };
  return fit_patch<Mode>(options, grid, PatchMiddle<double>::of(options, grid, cell),
                         cell.start(cast<double>(normals[index(u, v)])), load);
}

PatchResult<double> oracle(const OrganisedScene& scene, const std::vector<Vec3f>& normals,
                           const CurvatureOptions& options, const std::vector<Cell<double>>& cells,
                           int u, int v) {
  const bool ours = QuadricRules(options).ours();
  if (options.radius_m > 0) {
    return ours ? oracle<FitMode<true, true>>(scene, normals, options, cells, u, v)
                : oracle<FitMode<false, true>>(scene, normals, options, cells, u, v);
  }
  return ours ? oracle<FitMode<true, false>>(scene, normals, options, cells, u, v)
              : oracle<FitMode<false, false>>(scene, normals, options, cells, u, v);
}

std::vector<Cell<double>> cells_of(const OrganisedScene& scene, const CurvatureOptions& options) {
  std::vector<Cell<double>> cells;
  for (int v = 0; v < scene.height; ++v) {
    for (int u = 0; u < scene.width; ++u) {
      const auto at = [&](int du, int dv) {
        const int x = u + du;
        const int y = v + dv;
        if (x < 0 || y < 0 || x >= scene.width || y >= scene.height) return Vec3d{};
        const auto i = static_cast<std::size_t>(y * scene.width + x);
        return cast<double>(measured_point(scene.points[i]));
      };
      cells.push_back(make_cell<double>(options, at));
    }
  }
  return cells;
}

std::vector<CurvatureOptions> modes() {
  std::vector<CurvatureOptions> all;
  all.push_back({});
  all.push_back(paper_curvature());
  all.push_back({.radius_m = 0.03f});
  all.push_back({.shape = PatchShape::kDenseDisc, .radius_samples = 5, .stride_px = 1});
  all.push_back(
      {.shape = PatchShape::kDenseDisc, .radius_m = 0.025f, .iterations = 3, .remove_bias = false});
  all.push_back({.shape = PatchShape::kDenseSquare, .radius_samples = 2, .stride_px = 2});
  for (const CurvatureWeights weights :
       {CurvatureWeights::kPaperRejecting, CurvatureWeights::kCode, CurvatureWeights::kNone}) {
    CurvatureOptions options = paper_curvature();
    options.weights = weights;
    options.remove_bias = weights == CurvatureWeights::kCode;
    options.cut_at_edges = true;
    options.first_unweighted = weights == CurvatureWeights::kPaperRejecting;
    all.push_back(options);
  }
  return all;
}

TEST(CurvatureContract, AgreesWithDoublePrecision) {
  const OrganisedScene scene = cluttered(testing::seed_of_test());
  const Context host = Context::cpu(2);
  const std::vector<Vec3f> normals = to_host(host, estimate_normals(host, scene.on(host)).pixels());
  int mode = 0;
  for (const CurvatureOptions& options : modes()) {
    SCOPED_TRACE("mode " + std::to_string(mode++));
    const std::vector<Cell<double>> cells = cells_of(scene, options);
    std::vector<PatchResult<double>> truth;
    for (int v = 0; v < scene.height; ++v) {
      for (int u = 0; u < scene.width; ++u) {
        truth.push_back(oracle(scene, normals, options, cells, u, v));
      }
    }
    for (const Context& context : each_device()) {
      SCOPED_TRACE(testing::describe(context));
      const HostCurvature of = curvature_of(context, scene, options, &normals);
      int compared = 0;
      int wrong = 0;
      for (std::size_t i = 0; i < truth.size(); ++i) {
        ASSERT_EQ(std::isnan(of.k1[i]), of.valid[i] == 0);
        ASSERT_EQ(std::isnan(of.normals[i].x), of.valid[i] == 0);
        const bool good = truth[i].good > 0;
        ++compared;
        if ((of.valid[i] == 1) != good) {
          ++wrong;
        } else if (good) {
          const QuadricResult<double>& q = truth[i].quadric;
          // 1e-5 /mm; more where the surface itself is sharper than 1 m⁻¹ by far.
          const double limit = 0.01 + 1e-3 * std::max(std::abs(q.k1_per_m), std::abs(q.k2_per_m));
          const bool same = std::abs(q.k1_per_m - of.k1[i]) < limit &&
                            std::abs(q.k2_per_m - of.k2[i]) < limit &&
                            testing::angle_rad(q.normal, cast<double>(of.normals[i])) < 1e-3;
          if (!same) ++wrong;
        }
      }
      EXPECT_GT(compared, 4000);
      EXPECT_LE(wrong, compared / 1000 + 1);
    }
  }
}

/// The row of J and the error of one sample with weight 1.
struct Row {
  double j[6];
  double e;
};
Row row_of(const QuadricFit<double>& fit, const Vec3d& offset, bool remove_bias) {
  CurvatureOptions options;
  options.weights = CurvatureWeights::kNone;
  options.remove_bias = remove_bias;
  const QuadricRules rules(options);
  QuadricSums<double> sums;
  const QuadricSample<double> sample = make_sample<false, false>(
      fit, rules, first_weight(rules, 1.0), offset, norm_sq(offset), true, sums);
  Row row{{1.0}, sample.e};
  for (int i = 1; i < 6; ++i) row.j[i] = sample.j[i];
  return row;
}

TEST(CurvatureContract, JacobianIsTheDerivative) {
  const Random random{testing::seed_of_test(), 0};
  std::uint64_t draw = 0;
  const auto number = [&](double size) { return size * (2.0 * random.uniform(draw++) - 1.0); };
  for (int trial = 0; trial < 50; ++trial) {
    const bool remove_bias = trial % 2 == 1;
    QuadricFit<double> fit =
        QuadricFit<double>::begin(normalized(Vec3d{number(0.5), number(0.5), 1}), 1.0);
    // The slope of the quadric is taken to be that of a sphere; of others it is near.
    fit.a = number(0.4);
    fit.b = remove_bias ? 0.0 : number(0.2);
    fit.c = remove_bias ? fit.a : number(0.4);
    fit.lift = number(0.2);
    const Vec3d offset{number(0.7), number(0.7), number(0.3)};
    const Row row = row_of(fit, offset, remove_bias);
    constexpr double kStep = 1e-6;
    for (int unknown = 0; unknown < 6; ++unknown) {
      double e[2];
      for (const int side : {0, 1}) {
        QuadricStep<double> step{};
        step.x[unknown] = side == 0 ? -kStep : kStep;
        QuadricFit<double> moved = fit;
        apply_step(step, moved);
        e[side] = row_of(moved, offset, remove_bias).e;
      }
      EXPECT_NEAR(row.j[unknown], (e[1] - e[0]) / (2 * kStep), 1e-7)
          << "unknown " << unknown << ", trial " << trial;
    }
  }
}

TEST(CurvatureContract, AStepSolvesTheNormalEquations) {
  const Random random{testing::seed_of_test(), 0};
  std::uint64_t draw = 0;
  QuadricSums<double> sums;
  double j[20][6];
  double e[20];
  for (int i = 0; i < 20; ++i) {
    e[i] = random.uniform(draw++) - 0.5;
    for (int k = 0; k < 6; ++k) j[i][k] = random.uniform(draw++) - 0.5;
    for (int r = 0; r < 6; ++r) {
      for (int c = 0; c <= r; ++c) sums.normal[r * (r + 1) / 2 + c] += j[i][r] * j[i][c];
      sums.right[r] += j[i][r] * e[i];
    }
    sums.square += e[i] * e[i];
  }
  const QuadricStep<double> step = solve_step(sums);
  double left[6] = {};
  double square = 0;
  for (int i = 0; i < 20; ++i) {
    double rest = e[i];
    for (int k = 0; k < 6; ++k) rest += j[i][k] * step.x[k];
    for (int k = 0; k < 6; ++k) left[k] += j[i][k] * rest;
    square += rest * rest;
  }
  // The damping is a millionth of the diagonal.
  for (const double value : left) EXPECT_NEAR(value, 0.0, 1e-5);
  EXPECT_NEAR(step.square, square, 1e-5);
  EXPECT_GT(step.least_pivot, 0.01);
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

TEST(CurvatureContract, SameBitsOnEveryRunAndForEveryNumberOfThreads) {
  const OrganisedScene scene = cluttered(testing::seed_of_test());
  for (const float radius_m : {0.0f, 0.03f}) {
    const CurvatureOptions options{.radius_m = radius_m};
    const HostCurvature first = curvature_of(Context::cpu(1), scene, options);
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      const HostCurvature again = curvature_of(context, scene, options);
      if (context.is_cpu()) {
        EXPECT_TRUE(same_bits(first.k1, again.k1));
      }
      const HostCurvature third = curvature_of(context, scene, options);
      EXPECT_TRUE(same_bits(third.k1, again.k1));
      EXPECT_TRUE(same_bits(third.k2, again.k2));
      EXPECT_TRUE(same_bits(third.direction1, again.direction1));
      EXPECT_TRUE(same_bits(third.normals, again.normals));
      EXPECT_TRUE(same_bits(third.points, again.points));
    }
  }
}

TEST(CurvatureContract, SameBitsForEveryInstructionSet) {
  const OrganisedScene scene = cluttered(testing::seed_of_test(), 48, 24);
  const Context host = Context::cpu(1);
  const std::vector<Vec3f> normals = to_host(host, estimate_normals(host, scene.on(host)).pixels());
  for (const float radius_m : {0.0f, 0.03f}) {
    for (const CurvatureWeights weights : {CurvatureWeights::kRobust, CurvatureWeights::kCode}) {
      testing::expect_same_bits_on_every_set([&] {
        const HostCurvature found =
            curvature_of(host, scene, {.radius_m = radius_m, .weights = weights}, &normals);
        std::vector<float> all = found.k1;
        all.insert(all.end(), found.k2.begin(), found.k2.end());
        for (const Vec3f& n : found.normals) all.insert(all.end(), {n.x, n.y, n.z});
        return all;
      });
    }
  }
}

TEST(CurvatureContract, IntoWritesWhatIsAskedForAndCanBeRecorded) {
  const OrganisedScene scene = cluttered(testing::seed_of_test());
  for (const Context& context : each_device()) {
    SCOPED_TRACE(testing::describe(context));
    const Image<Vec3f> points = scene.on(context);
    const Image<Vec3f> normals = estimate_normals(context, points);
    const Curvature all = estimate_curvature(context, points, normals);
    Image<float> k2(context, scene.width, scene.height);
    Image<Vec3f> refined(context, scene.width, scene.height);
    CurvatureViews out;
    out.k2_per_m = k2;
    out.normals = refined;
    Workspace workspace;
    const Graph graph = Graph::capture(
        context, [&] { estimate_curvature_into(context, points, normals, {}, out, workspace); });
    graph.launch();
    graph.launch();
    EXPECT_TRUE(same_bits(to_host(context, k2.pixels()), to_host(context, all.k2_per_m.pixels())));
    EXPECT_TRUE(
        same_bits(to_host(context, refined.pixels()), to_host(context, all.normals.pixels())));
  }
}

/// Every pixel of an image of one value.
OrganisedScene filled(int width, int height, const Vec3f& with) {
  const auto count = static_cast<std::size_t>(width * height);
  return {width, height, std::vector<Vec3f>(count, with), std::vector<Vec3d>(count)};
}

TEST(CurvatureContract, BadPointsGiveNoCurvature) {
  constexpr float kNan = NAN;
  constexpr float kInfinite = INFINITY;
  const Vec3f bad[] = {{kNan, kNan, kNan}, {0, 0, kInfinite}, {kInfinite, 0, 1}, {0, 0, 0},
                       {0, 0, 1},          {0, 0, -1},        {1e30f, 0, 1e30f}, {0, 0, 1e-38f}};
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    for (const Vec3f& value : bad) {
      for (const float radius_m : {0.0f, 0.02f}) {
        const HostCurvature of =
            curvature_of(context, filled(21, 13, value), {.radius_m = radius_m});
        for (const std::uint8_t valid : of.valid) ASSERT_EQ(valid, 0);
        for (const float k : of.k1) ASSERT_TRUE(std::isnan(k));
        for (const Vec3f& p : of.points) ASSERT_TRUE(std::isnan(p.x));
      }
    }
  }
}

TEST(CurvatureContract, SmallImagesAndThinSurfaces) {
  for (const Context& context : each_device()) {
    SCOPED_TRACE(testing::describe(context));
    for (const auto& [width, height] :
         {std::pair{0, 0}, {0, 5}, {1, 1}, {2, 2}, {1, 40}, {40, 1}}) {
      const OrganisedScene scene =
          look_at(testing::PlaneSurface{}, {.width = width, .height = height});
      const HostCurvature of = curvature_of(context, scene);
      ASSERT_EQ(of.valid.size(), scene.points.size());
      for (const std::uint8_t valid : of.valid) EXPECT_EQ(valid, 0);
    }
    // One row of points in an image of holes lies on a line: no curvature, whatever the share.
    OrganisedScene line = look_at(testing::PlaneSurface{}, {.width = 60, .height = 60});
    for (int v = 0; v < 60; ++v) {
      for (int u = 0; u < 60; ++u) {
        if (v != 30) line.point(u, v) = {NAN, NAN, NAN};
      }
    }
    for (const bool average : {false, true}) {
      CurvatureOptions options;
      options.average_cells = average;
      options.least_share = 0.0f;
      const HostCurvature of = curvature_of(context, line, options);
      for (const std::uint8_t valid : of.valid) EXPECT_EQ(valid, 0);
    }
  }
}

TEST(CurvatureContract, SaysWhatIsWrong) {
  const Context context = Context::cpu(1);
  const Image<Vec3f> points(context, 4, 3);
  const Image<Vec3f> normals(context, 4, 3);
  const Image<Vec3f> fewer(context, 3, 3);
  Image<float> small(context, 2, 3);
  EXPECT_THROW(estimate_curvature(context, points, fewer), Error);
  EXPECT_THROW(estimate_curvature(context, points, normals, {.radius_samples = 1}), Error);
  EXPECT_THROW(estimate_curvature(context, points, normals, {.radius_m = -1.0f}), Error);
  EXPECT_THROW(estimate_curvature(context, points, normals, {.iterations = 0}), Error);
  EXPECT_THROW(estimate_curvature(context, points, normals, {.weight_scale_m = NAN}), Error);
  CurvatureViews out;
  out.k1_per_m = small;
  Workspace workspace;
  EXPECT_THROW(estimate_curvature_into(context, points, normals, {}, out, workspace), Error);
  const std::string message =
      testing::error_message([&] { estimate_curvature(context, points, fewer); });
  EXPECT_NE(message.find("normals: is 3 x 3"), std::string::npos) << message;
}

}  // namespace
}  // namespace sextant
