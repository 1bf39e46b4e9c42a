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
namespace noise = detail::noise;
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
                           const CurvatureOptions& options, const noise::FrameNoise& frame_noise,
                           const std::vector<Cell<double>>& cells, int u, int v) {
  const auto index = [&](int x, int y) { return static_cast<std::size_t>(y * scene.width + x); };
  const Cell<double> cell = cells[index(u, v)].middle();
  PatchResult<double> result{{}, 0.0};
  if (!(cell.pitch_rad() > 0)) return result;
  const auto z_m = static_cast<float>(cell.point.z);
  const DepthNoise depth_noise = DepthNoise::at(frame_noise, z_m);
  const auto load = [&](int du, int dv) {
    const int x = u + du;
    const int y = v + dv;
    const bool inside = x >= 0 && y >= 0 && x < scene.width && y < scene.height;
    return inside ? cells[index(x, y)].point : Vec3d{};
  };
  PatchGrid grid = pixel_patch(options);
  float radius_px = 0;
  for (int size = 0; size < (Mode::kMetric ? kPatchSizes : 1) && !(result.good > 0); ++size) {
    if constexpr (Mode::kMetric) {
      radius_px = rounded_radius_px(
          patch_radius_px(options, depth_noise, z_m, static_cast<float>(cell.pitch_rad()), size));
      if (radius_px == 0.0f) break;
      grid = metric_patch(options, radius_px);
    }
    auto middle = PatchMiddle<double>::of(options, grid, cell, radius_px);
    middle.pixel_noise_m = double{depth_noise.pixel_m};
    middle.density_m = double{depth_noise.density_m};
    result = fit_patch<Mode>(options, grid, middle, cell.start(cast<double>(normals[index(u, v)])),
                             1.0, load);
  }
  return result;
}

PatchResult<double> oracle(const OrganisedScene& scene, const std::vector<Vec3f>& normals,
                           const CurvatureOptions& options, const noise::FrameNoise& frame_noise,
                           const std::vector<Cell<double>>& cells, int u, int v) {
  const auto fit = [&](auto mode) {
    return oracle<decltype(mode)>(scene, normals, options, frame_noise, cells, u, v);
  };
  return options.stride_px > 0 ? with_fit_mode<false>(options, fit)
                               : with_fit_mode<true>(options, fit);
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

/// Marks the rims of depth edges, each cell for itself.
void mark_rims(const OrganisedScene& scene, const noise::FrameNoise& frame_noise,
               std::vector<Cell<double>>& cells) {
  const auto inside = [&](int x, int y) {
    return x >= 0 && y >= 0 && x < scene.width && y < scene.height;
  };
  const auto cell_at = [&](int x, int y) -> const Cell<double>& {
    return cells[static_cast<std::size_t>(y * scene.width + x)];
  };
  std::vector<std::size_t> marked;
  for (int v = 0; v < scene.height; ++v) {
    for (int u = 0; u < scene.width; ++u) {
      bool is_rim = false;
      for (int y = v - kMostRim_px; y <= v + kMostRim_px; ++y) {
        for (int x = u - kMostRim_px; x <= u + kMostRim_px; ++x) {
          if (!inside(x, y)) continue;
          const auto depth = [&](int du, int dv) {
            if (!inside(x + du, y + dv)) return -1.0f;
            const Cell<double>& other = cell_at(x + du, y + dv);
            return other.signed_pitch != 0 ? static_cast<float>(other.point.z) : 0.0f;
          };
          const Cell<double>& edge = cell_at(x, y);
          const int rim = rim_at(frame_noise, static_cast<float>(edge.point.z),
                                 static_cast<float>(edge.pitch_rad()), depth);
          is_rim = is_rim || is_in_rim(rim, x - u, y - v);
        }
      }
      if (is_rim) marked.push_back(static_cast<std::size_t>(v * scene.width + u));
    }
  }
  for (const std::size_t i : marked) cells[i].point.z = -cells[i].point.z;
}

std::vector<CurvatureOptions> modes() {
  std::vector<CurvatureOptions> all;
  all.push_back({});
  all.push_back({.radius_m = 0.03f});
  all.push_back({.radius_samples = 4, .stride_px = 2});
  all.push_back({.depth_noise_per_m = 1e-3f, .noise_grain_px = 1.0f});
  all.push_back({.depth_noise_per_m = 2e-4f, .noise_grain_px = 8.0f});
  all.push_back(pixel_curvature());
  all.push_back(paper_curvature());
  all.push_back(testing::metric_curvature(0.03f));
  CurvatureOptions dense = pixel_curvature();
  dense.shape = PatchShape::kDenseDisc;
  dense.radius_samples = 5;
  dense.stride_px = 1;
  all.push_back(dense);
  dense.shape = PatchShape::kDenseSquare;
  dense.radius_samples = 2;
  dense.stride_px = 2;
  all.push_back(dense);
  CurvatureOptions paraboloid = testing::metric_curvature(0.025f);
  paraboloid.shape = PatchShape::kDenseDisc;
  paraboloid.iterations = 3;
  paraboloid.remove_bias = false;
  all.push_back(paraboloid);
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
    std::vector<Cell<double>> cells = cells_of(scene, options);
    Workspace workspace;
    const Image<Vec3f> points = scene.on(host);
    const noise::FrameNoise frame_noise = *noise::estimate_frame_noise(
        host, points, {options.depth_noise_per_m, options.noise_grain_px}, workspace);
    if (leaves_out_rims(options)) mark_rims(scene, frame_noise, cells);
    std::vector<PatchResult<double>> truth;
    for (int v = 0; v < scene.height; ++v) {
      for (int u = 0; u < scene.width; ++u) {
        truth.push_back(oracle(scene, normals, options, frame_noise, cells, u, v));
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

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

TEST(CurvatureContract, SameBitsOnEveryRunAndForEveryNumberOfThreads) {
  const OrganisedScene scene = cluttered(testing::seed_of_test());
  for (const CurvatureOptions& options :
       {CurvatureOptions{}, CurvatureOptions{.radius_m = 0.03f}, pixel_curvature()}) {
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
  for (CurvatureOptions options :
       {CurvatureOptions{}, CurvatureOptions{.radius_m = 0.03f}, pixel_curvature()}) {
    for (const CurvatureWeights weights : {CurvatureWeights::kRobust, CurvatureWeights::kCode}) {
      options.weights = weights;
      testing::expect_same_bits_on_every_set([&] {
        const HostCurvature found = curvature_of(host, scene, options, &normals);
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
  EXPECT_THROW(estimate_curvature(context, points, normals, {.iterations = -1}), Error);
  EXPECT_THROW(estimate_curvature(context, points, normals, {.stride_px = 3, .radius_m = 0.02f}),
               Error);
  EXPECT_THROW(estimate_curvature(context, points, normals, {.least_radius_m = 0.2f}), Error);
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
