// SPDX-License-Identifier: Apache-2.0
// Principal curvatures of organised clouds beside PCL's, in the same run, with the errors of each.
// Usage: curvature_bench [--loaded] [RESULT.json]
#include <pcl/features/normal_3d_omp.h>
#include <pcl/features/principal_curvatures.h>

#include <cmath>

#include "bench/loaded.h"
#include "measure/time_graph.h"
#include "sextant/core/random.h"
#include "sextant/surface/curvature.h"
#include "sextant/surface/normals.h"

namespace sextant::measure {
namespace {

constexpr double kFocal_px = 560;
constexpr double kRadius_m = 0.1;
constexpr float kPclRadius_m = 0.02f;

/// A sphere of 0.1 m radius around (0, 0, 1) before a wall at 1.3 m.
struct Scene {
  int width;
  int height;
  std::vector<Vec3f> points;

  /// Where patches of 40 mm stay on the sphere.
  bool measured(std::size_t i) const {
    const int u = static_cast<int>(i) % width;
    const int v = static_cast<int>(i) / width;
    return std::hypot(u - (width - 1) / 2.0, v - (height - 1) / 2.0) < 25;
  }
};

Scene make_scene(int width, int height, double noise_m) {
  Scene scene{width, height, {}};
  for (int v = 0; v < height; ++v) {
    for (int u = 0; u < width; ++u) {
      const Vec3d ray{(u - (width - 1) / 2.0) / kFocal_px, (v - (height - 1) / 2.0) / kFocal_px, 1};
      const double a = norm_sq(ray);
      const double discriminant = 1 - a * (1 - kRadius_m * kRadius_m);
      const double depth =
          discriminant > 0 ? (1 - std::sqrt(discriminant)) / a : 1.3 / (1 + 0.3 * ray.x);
      const Random random{5, static_cast<std::uint64_t>(v * width + u)};
      scene.points.push_back(cast<float>(ray * (depth + noise_m * random.normal(0))));
    }
  }
  return scene;
}

/// Root mean square errors of the two curvatures, in 1/m.
struct Errors {
  double k1 = 0;
  double k2 = 0;
};
template <class CurvatureAt>
Errors errors_of(const Scene& scene, const CurvatureAt& at) {
  Errors errors;
  int count = 0;
  for (std::size_t i = 0; i < scene.points.size(); ++i) {
    if (!scene.measured(i)) continue;
    const Vec2d k = at(i);
    errors.k1 += (k.x - 1 / kRadius_m) * (k.x - 1 / kRadius_m);
    errors.k2 += (k.y - 1 / kRadius_m) * (k.y - 1 / kRadius_m);
    ++count;
  }
  return {std::sqrt(errors.k1 / count), std::sqrt(errors.k2 / count)};
}

/// Normals of 20 mm and their variation over 20 mm; the variance of the normals of a sphere over a
/// disc of radius ρ is ρ² / 4R², hence k = 2 √pc / ρ.
struct Pcl {
  pcl::PointCloud<pcl::PointXYZ>::Ptr cloud;
  pcl::PointCloud<pcl::PrincipalCurvatures> curvatures;

  explicit Pcl(const Scene& scene)
      : cloud(std::make_shared<pcl::PointCloud<pcl::PointXYZ>>(
            static_cast<std::uint32_t>(scene.width), static_cast<std::uint32_t>(scene.height))) {
    for (std::size_t i = 0; i < scene.points.size(); ++i) {
      (*cloud)[i] = {scene.points[i].x, scene.points[i].y, scene.points[i].z};
    }
  }
  void run() {
    auto normals = std::make_shared<pcl::PointCloud<pcl::Normal>>();
    pcl::NormalEstimationOMP<pcl::PointXYZ, pcl::Normal> first;
    first.setInputCloud(cloud);
    first.setRadiusSearch(kPclRadius_m);
    first.compute(*normals);
    pcl::PrincipalCurvaturesEstimation<pcl::PointXYZ, pcl::Normal, pcl::PrincipalCurvatures> second;
    second.setInputCloud(cloud);
    second.setInputNormals(normals);
    second.setRadiusSearch(kPclRadius_m);
    second.compute(curvatures);
  }
  Vec2d at(std::size_t i) const {
    return {2 * std::sqrt(curvatures[i].pc1) / kPclRadius_m,
            2 * std::sqrt(curvatures[i].pc2) / kPclRadius_m};
  }
};

/// A way to choose the patch.
struct Choice {
  std::string name;
  CurvatureOptions options;
};

/// What PCL sees: points up to 20 mm from points up to 20 mm away.
CurvatureOptions same_support() {
  return {.radius_samples = 8, .radius_m = 2 * kPclRadius_m, .iterations = 5};
}

void compare_errors(std::vector<Row>& rows) {
  const Context context = Context::best();
  for (const double noise_mm : {0.0, 0.5, 1.0, 2.0, 3.0}) {
    const Scene scene = make_scene(150, 150, noise_mm / 1000);
    Pcl pcl(scene);
    pcl.run();
    const Errors peer = errors_of(scene, [&](std::size_t i) { return pcl.at(i); });
    const Image<Vec3f> points(copy(context, scene.points), scene.width, scene.height);
    const Image<Vec3f> normals = estimate_normals(context, points);
    for (const Choice& choice :
         {Choice{"40 mm", same_support()}, Choice{"37x37 px", pixel_curvature()}}) {
      const Curvature of = estimate_curvature(context, points, normals, choice.options);
      const std::vector<float> k1 = to_host(context, of.k1_per_m.pixels());
      const std::vector<float> k2 = to_host(context, of.k2_per_m.pixels());
      const Errors ours = errors_of(scene, [&](std::size_t i) { return Vec2d{k1[i], k2[i]}; });
      char noise[16];
      std::snprintf(noise, sizeof noise, "%.1f mm", noise_mm);
      const std::string what =
          ", " + choice.name + ", sphere of 0.1 m, noise " + noise + ", PCL 20 mm of 20 mm normals";
      const bool judged = choice.options.radius_m > 0;
      const auto add = [&](const std::string& name, double theirs, double own) {
        rows.push_back({"RMS error of " + name + what, "1/m", theirs, own,
                        judged ? std::optional(theirs) : std::nullopt,
                        judged ? std::optional(own < theirs) : std::nullopt});
      };
      add("k1", peer.k1, ours.k1);
      add("k2", peer.k2, ours.k2);
    }
  }
}

std::vector<Choice> choices() {
  CurvatureOptions paper = paper_curvature();
  std::vector<Choice> all{{"37x37 (129 samples), 5 iterations", pixel_curvature()},
                          {"default, a patch that follows the noise", {}},
                          {"37x37, 3 iterations, as in the paper", paper}};
  paper.radius_samples = 5;
  paper.stride_px = 2;
  all.push_back({"21x21 (97 samples), 3 iterations, as in the paper", paper});
  paper.radius_samples = 4;
  paper.stride_px = 1;
  all.push_back({"9x9 (69 samples), 3 iterations, as in the paper", paper});
  all.push_back({"20 mm, 5 iterations", {.radius_m = 0.02f, .iterations = 5}});
  all.push_back({"40 mm (8 samples to the rim), 5 iterations", same_support()});
  all.push_back({"dense disc (1041 samples), 3 iterations",
                 {.shape = PatchShape::kDenseDisc,
                  .radius_samples = 6,
                  .stride_px = 3,
                  .average_cells = false,
                  .iterations = 3}});
  return all;
}

/// The result of every mode on resident data.
struct Ours {
  Context context;
  Image<Vec3f> points;
  Image<Vec3f> normals;
  Curvature out;
  Workspace workspace;

  Ours(const Context& where, const Scene& scene)
      : context(where),
        points(copy(where, scene.points), scene.width, scene.height),
        normals(estimate_normals(where, points)),
        out(estimate_curvature(where, points, normals)) {}
  void run(const CurvatureOptions& options) {
    estimate_curvature_into(
        context, points, normals, options,
        {out.k1_per_m, out.k2_per_m, out.direction1, out.normals, out.points, out.valid},
        workspace);
  }
};

void compare_times(std::vector<Row>& rows) {
  const Scene scene = make_scene(640, 480, 0.001);
  Ours ours(Context::cpu(), scene);
  constexpr int kTurns = 5;
  double default_ms = 0;
  for (const Choice& choice : choices()) {
    std::vector<double> sample;
    for (int turn = 0; turn < kTurns; ++turn) {
      sample.push_back(milliseconds([&] { ours.run(choice.options); }));
    }
    const double median = spread_of(sample).median;
    const bool judged = default_ms == 0;
    if (judged) default_ms = median;
    rows.push_back({"curvature, VGA, cpu, " + choice.name,
                    "ms",
                    {},
                    median,
                    judged ? std::optional(500.0) : std::nullopt,
                    judged ? std::optional(median <= 500.0) : std::nullopt});
  }
  Pcl pcl(scene);
  const double peer_ms = milliseconds([&] { pcl.run(); });
  rows.push_back(
      {"curvature, VGA, cpu, 37x37, PCL NormalEstimationOMP and "
       "PrincipalCurvaturesEstimation, 20 mm",
       "ms",
       peer_ms,
       default_ms,
       {},
       {}});
  const double ratio = peer_ms / default_ms;
  rows.push_back(
      {"curvature, VGA, cpu, 37x37, PCL's time over ours", "x", {}, ratio, 5.0, ratio >= 5.0});
}

/// Data resident, as recorded sequences.
void time_on_cuda(std::vector<Row>& rows) {
  const Context context = Context::best();
  if (!context.is_cuda()) return;
  Ours ours(context, make_scene(640, 480, 0.001));
  bool first = true;
  for (const Choice& choice : choices()) {
    const double median = graph_ms(context, [&] { ours.run(choice.options); });
    const double goal_ms = 0.8;
    Row row{"curvature, VGA, " + to_string(context.device()) + ", graph replayed, " + choice.name,
            "ms",
            {},
            median,
            {},
            {}};
    if (first) {
      row.goal = goal_ms;
      row.met = median <= goal_ms;
      row.paper = 19.3;
    }
    first = false;
    rows.push_back(row);
  }
}

int run(const std::string& file) {
  std::vector<Row> rows;
  compare_errors(rows);
  compare_times(rows);
  time_on_cuda(rows);
  publish("curvature", list_devices().devices.back().name, rows, file);
  return 0;
}

std::vector<Contest> contests() {
  const Scene scene = make_scene(640, 480, 0.001);
  const auto ours = std::make_shared<Ours>(Context::cpu(), scene);
  const auto peer = std::make_shared<Pcl>(scene);
  return {{"curvature, VGA, 37x37",
           [ours] { ours->run({}); },
           {{"PCL NormalEstimationOMP and PrincipalCurvaturesEstimation, 20 mm",
             [peer] { peer->run(); }}}}};
}

}  // namespace
}  // namespace sextant::measure

int main(int argc, char** argv) {
  return sextant::measure::run_main(argc, argv, sextant::measure::run, "curvature",
                                    sextant::measure::contests);
}
