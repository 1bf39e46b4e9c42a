// SPDX-License-Identifier: Apache-2.0
// Normals, statistics and triangulation of organised clouds beside OpenCV's and PCL's, in the same
// run, with the angular error of each. Usage: surface_bench [--loaded] [RESULT.json]
#include <pcl/features/integral_image_normal.h>
#include <pcl/surface/organized_fast_mesh.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <opencv2/core.hpp>
#include <opencv2/rgbd.hpp>

#include "bench/loaded.h"
#include "bench/sphere_scene.h"
#include "measure/time_graph.h"
#include "sextant/surface/normals.h"
#include "sextant/surface/triangulate.h"

namespace sextant::measure {
namespace {

constexpr int kTurns = 21;

using PclCloud = pcl::PointCloud<pcl::PointXYZ>;
using PclMethod = pcl::IntegralImageNormalEstimation<pcl::PointXYZ, pcl::Normal>;
using PclMesh = pcl::OrganizedFastMesh<pcl::PointXYZ>;

/// One way to make normals: its time and its error at each noise.
struct Contender {
  std::string name;
  std::function<void()> run;
  std::function<Vec3d(std::size_t)> normal_at;
};

/// OpenCV's estimator with its tables made beforehand.
struct OpenCvNormals {
  cv::Mat points;
  cv::Mat depth;
  cv::Mat normals;
  cv::Ptr<cv::rgbd::RgbdNormals> estimator;
  bool from_depth = false;

  OpenCvNormals(const SphereScene& scene, int method)
      : points(kHeight, kWidth, CV_32FC3), depth(kHeight, kWidth, CV_32F) {
    from_depth = method == cv::rgbd::RgbdNormals::RGBD_NORMALS_METHOD_LINEMOD;
    for (int i = 0; i < kWidth * kHeight; ++i) {
      const Vec3f& p = scene.points[static_cast<std::size_t>(i)];
      points.at<cv::Vec3f>(i / kWidth, i % kWidth) = {p.x, p.y, p.z};
      depth.at<float>(i / kWidth, i % kWidth) = p.z;
    }
    const cv::Mat camera = (cv::Mat_<float>(3, 3) << kFocal_px, 0, (kWidth - 1) / 2.0, 0, kFocal_px,
                            (kHeight - 1) / 2.0, 0, 0, 1);
    estimator = cv::makePtr<cv::rgbd::RgbdNormals>(kHeight, kWidth, CV_32F, camera, 7, method);
    estimator->initialize();
  }
  void run() { (*estimator)(from_depth ? depth : points, normals); }
  Vec3d normal_at(std::size_t i) const {
    const auto pixel = static_cast<int>(i);
    const cv::Vec3f n = normals.at<cv::Vec3f>(pixel / kWidth, pixel % kWidth);
    return {n[0], n[1], n[2]};
  }
};

PclCloud::Ptr pcl_cloud(const SphereScene& scene) {
  auto cloud = std::make_shared<PclCloud>(kWidth, kHeight);
  for (std::size_t i = 0; i < scene.points.size(); ++i) {
    (*cloud)[i] = {scene.points[i].x, scene.points[i].y, scene.points[i].z};
  }
  return cloud;
}

struct PclNormals {
  PclCloud::Ptr cloud;
  pcl::PointCloud<pcl::Normal> normals;
  PclMethod::NormalEstimationMethod method;

  PclNormals(const SphereScene& scene, PclMethod::NormalEstimationMethod chosen)
      : cloud(pcl_cloud(scene)), method(chosen) {}
  void run() {
    // The integral images are part of the work: they depend on the frame.
    PclMethod estimator;
    estimator.setNormalEstimationMethod(method);
    estimator.setMaxDepthChangeFactor(0.02f);
    estimator.setNormalSmoothingSize(7.0f);
    estimator.setInputCloud(cloud);
    estimator.compute(normals);
  }
  Vec3d normal_at(std::size_t i) const {
    return {normals[i].normal_x, normals[i].normal_y, normals[i].normal_z};
  }
};

struct OurNormals {
  Context context = Context::cpu();
  Image<Vec3f> points;
  Image<Vec3f> normals;
  NormalsOptions options;

  OurNormals(const SphereScene& scene, const NormalsOptions& chosen)
      : points(copy(context, scene.points), kWidth, kHeight),
        normals(context, kWidth, kHeight),
        options(chosen) {}
  void run() { estimate_normals_into(context, points, options, normals); }
  Vec3d normal_at(std::size_t i) const { return cast<double>(normals.pixels().host()[i]); }
};

template <class Estimator, class Method>
Contender contender(const std::string& name, const SphereScene& scene, Method method) {
  auto estimator = std::make_shared<Estimator>(scene, method);
  return {name, [estimator] { estimator->run(); },
          [estimator](std::size_t i) { return estimator->normal_at(i); }};
}

std::vector<Contender> normals_contenders(const SphereScene& scene) {
  std::vector<Contender> all;
  all.push_back(contender<OurNormals>("ours, ray", scene, NormalsOptions{}));
  all.push_back(
      contender<OurNormals>("ours, PCA", scene, NormalsOptions{.method = NormalsMethod::kPca}));
  // PCL's average 3D gradient with a window of 7 reads 9 x 9 points.
  all.push_back(
      contender<OurNormals>("ours, ray, 9x9 points", scene, NormalsOptions{.radius_px = 4}));
  using cv::rgbd::RgbdNormals;
  all.push_back(contender<OpenCvNormals>("OpenCV RgbdNormals FALS", scene,
                                         int{RgbdNormals::RGBD_NORMALS_METHOD_FALS}));
  all.push_back(contender<OpenCvNormals>("OpenCV RgbdNormals LINEMOD", scene,
                                         int{RgbdNormals::RGBD_NORMALS_METHOD_LINEMOD}));
  all.push_back(contender<OpenCvNormals>("OpenCV RgbdNormals SRI", scene,
                                         int{RgbdNormals::RGBD_NORMALS_METHOD_SRI}));
  all.push_back(contender<PclNormals>("PCL integral images, covariance", scene,
                                      PclMethod::COVARIANCE_MATRIX));
  all.push_back(contender<PclNormals>("PCL integral images, average 3D gradient", scene,
                                      PclMethod::AVERAGE_3D_GRADIENT));
  all.push_back(contender<PclNormals>("PCL integral images, average depth change", scene,
                                      PclMethod::AVERAGE_DEPTH_CHANGE));
  all.push_back(contender<PclNormals>("PCL integral images, simple 3D gradient", scene,
                                      PclMethod::SIMPLE_3D_GRADIENT));
  return all;
}

/// Times in turn, so that all meet the same weather.
std::vector<std::vector<double>> times_of(const std::vector<std::function<void()>>& works) {
  std::vector<std::vector<double>> times(works.size());
  for (int turn = -1; turn < kTurns; ++turn) {
    for (std::size_t k = 0; k < works.size(); ++k) {
      const double time = milliseconds(works[k]);
      if (turn >= 0) times[k].push_back(time);  // the first round warms up
    }
  }
  return times;
}

double median_ratio(const std::vector<double>& theirs, const std::vector<double>& ours) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.size(); ++i) ratios.push_back(theirs[i] / ours[i]);
  return spread_of(ratios).median;
}

void add_ratio(const std::string& what, double ratio, double goal, std::vector<Row>& rows) {
  rows.push_back({what, "x", {}, ratio, goal, ratio >= goal});
}

void compare_normals(std::vector<Row>& rows) {
  for (const double noise_mm : {0.0, 1.0, 3.0}) {
    const SphereScene scene = make_sphere_scene(noise_mm / 1000);
    const std::vector<Contender> all = normals_contenders(scene);
    std::vector<std::function<void()>> works;
    for (const Contender& c : all) works.push_back(c.run);
    std::vector<std::vector<double>> times;
    if (noise_mm == 1.0) {
      times = times_of(works);
    } else {
      for (const auto& work : works) work();
    }
    const double ours_deg = mean_error_deg(scene, all[0].normal_at);
    for (std::size_t k = 1; k < all.size(); ++k) {
      const double error_deg = mean_error_deg(scene, all[k].normal_at);
      const std::string what = "error of normals 7x7 on a sphere, " +
                               std::to_string(static_cast<int>(noise_mm)) + " mm noise, " +
                               all[k].name;
      // The same least squares but for the weights: equal within half a per cent.
      const bool same_task = all[k].name == "OpenCV RgbdNormals FALS";
      rows.push_back({what, "deg", error_deg, ours_deg,
                      same_task ? std::optional(error_deg) : std::nullopt,
                      same_task ? std::optional(ours_deg <= 1.005 * error_deg) : std::nullopt});
    }
    if (times.empty()) continue;
    double opencv = INFINITY, pcl = INFINITY;
    for (std::size_t k = 1; k < all.size(); ++k) {
      rows.push_back({"normals 7x7, VGA, " + all[k].name,
                      "ms",
                      spread_of(times[k]).median,
                      spread_of(times[0]).median,
                      {},
                      {}});
      const double ratio = median_ratio(times[k], times[0]);
      if (all[k].name.starts_with("OpenCV")) opencv = std::min(opencv, ratio);
      if (all[k].name.starts_with("PCL")) pcl = std::min(pcl, ratio);
    }
    add_ratio("normals 7x7, VGA, fastest OpenCV's time over ours", opencv, 2, rows);
    add_ratio("normals 7x7, VGA, fastest PCL's time over ours", pcl, 5, rows);
  }
}

void pcl_triangulate(const PclCloud::Ptr& cloud, float max_edge_m,
                     std::vector<pcl::Vertices>& polygons) {
  PclMesh mesh;
  mesh.setInputCloud(cloud);
  mesh.setTriangulationType(PclMesh::TRIANGLE_LEFT_CUT);
  mesh.setMaxEdgeLength(max_edge_m);
  polygons.clear();
  mesh.reconstruct(polygons);
}

void compare_triangulation(std::vector<Row>& rows) {
  const SphereScene scene = make_sphere_scene(0.001);
  const Context context = Context::cpu();
  const Image<Vec3f> points(copy(context, scene.points), kWidth, kHeight);
  const Image<Vec3f> normals = estimate_normals(context, points);
  Buffer<SurfaceStatistics> statistics(context, 1);
  Workspace workspace;
  Image<std::uint8_t> cells(context, kWidth - 1, kHeight - 1);
  const auto measure = [&] {
    surface_statistics_into(context, points, normals, {}, statistics, workspace);
  };
  const auto cut = [&] { triangulate_into(context, points, normals, statistics, {}, cells); };
  Buffer<Vec3i> triangles;
  const auto list = [&] {
    cut();
    triangles = triangle_indices(context, cells);
  };
  measure();
  const float max_edge_m = edge_limits(statistics.host()[0], {}).max_edge_m;
  const PclCloud::Ptr cloud = pcl_cloud(scene);
  std::vector<pcl::Vertices> polygons;
  const auto peer = [&] { pcl_triangulate(cloud, max_edge_m, polygons); };
  const auto times = times_of({cut, list, measure, peer});
  const double peer_ms = spread_of(times[3]).median;
  rows.push_back({"triangulation, VGA, mask, PCL OrganizedFastMesh",
                  "ms",
                  peer_ms,
                  spread_of(times[0]).median,
                  {},
                  {}});
  rows.push_back({"triangulation, VGA, mask and index list, PCL OrganizedFastMesh",
                  "ms",
                  peer_ms,
                  spread_of(times[1]).median,
                  {},
                  {}});
  add_ratio("triangulation, VGA, mask, PCL's time over ours", median_ratio(times[3], times[0]), 10,
            rows);
  add_ratio("triangulation, VGA, mask and index list, PCL's time over ours",
            median_ratio(times[3], times[1]), 10, rows);
  rows.push_back({"triangles",
                  "",
                  static_cast<double>(polygons.size()),
                  static_cast<double>(triangles.size()),
                  {},
                  {}});
  rows.push_back({"statistics, VGA, robust", "ms", {}, spread_of(times[2]).median, {}, {}});
}

/// The same work for a loaded run.
Contest triangulation_contest(const SphereScene& scene) {
  struct State {
    Context context = Context::cpu();
    Image<Vec3f> points;
    Image<Vec3f> normals;
    Buffer<SurfaceStatistics> statistics{context, 1};
    Workspace workspace;
    Image<std::uint8_t> cells{context, kWidth - 1, kHeight - 1};
    PclCloud::Ptr cloud;
    std::vector<pcl::Vertices> polygons;
  };
  const auto state = std::make_shared<State>();
  State& s = *state;
  s.points = Image<Vec3f>(copy(s.context, scene.points), kWidth, kHeight);
  s.normals = estimate_normals(s.context, s.points);
  s.cloud = pcl_cloud(scene);
  surface_statistics_into(s.context, s.points, s.normals, {}, s.statistics, s.workspace);
  const float max_edge_m = edge_limits(s.statistics.host()[0], {}).max_edge_m;
  return {"triangulation, VGA, mask and index list",
          [state, &s] {
            triangulate_into(s.context, s.points, s.normals, s.statistics, {}, s.cells);
            triangle_indices(s.context, s.cells);
          },
          {{"PCL OrganizedFastMesh",
            [&s, max_edge_m] { pcl_triangulate(s.cloud, max_edge_m, s.polygons); }}}};
}

/// Normals, statistics and triangulation as one recorded sequence, data resident.
void time_chain_on_cuda(std::vector<Row>& rows) {
  const Context context = Context::best();
  if (!context.is_cuda()) return;
  const Image<Vec3f> points(copy(context, make_sphere_scene(0.001).points), kWidth, kHeight);
  Image<Vec3f> normals(context, kWidth, kHeight);
  Buffer<SurfaceStatistics> statistics(context, 1);
  Workspace workspace;
  Image<std::uint8_t> cells(context, kWidth - 1, kHeight - 1);
  const auto time = [&](const std::string& what, const std::function<void()>& work) {
    work();  // makes room in the workspace
    rows.push_back({what + ", VGA, " + to_string(context.device()) + ", graph replayed",
                    "ms",
                    {},
                    graph_ms(context, work),
                    {},
                    {}});
  };
  const auto make_normals = [&] { estimate_normals_into(context, points, {}, normals); };
  const auto make_pca = [&] {
    estimate_normals_into(context, points, {.method = NormalsMethod::kPca}, normals);
  };
  const auto measure = [&] {
    surface_statistics_into(context, points, normals, {}, statistics, workspace);
  };
  const auto cut = [&] { triangulate_into(context, points, normals, statistics, {}, cells); };
  time("normals 7x7, PCA", make_pca);
  time("normals 7x7, ray", make_normals);
  time("statistics", measure);
  time("triangulation mask", cut);
  time("normals, statistics and triangulation", [&] {
    make_normals();
    measure();
    cut();
  });
}

int run(const std::string& file) {
  std::vector<Row> rows;
  compare_normals(rows);
  compare_triangulation(rows);
  time_chain_on_cuda(rows);
  publish("surface", list_devices().devices.back().name, rows, file);
  return 0;
}

std::vector<Contest> contests() {
  const SphereScene scene = make_sphere_scene(0.001);
  Contest normals{"normals 7x7, VGA", {}, {}};
  for (const Contender& contender : normals_contenders(scene)) {
    if (contender.name == "ours, ray") {
      normals.ours = contender.run;
    } else if (!contender.name.starts_with("ours")) {
      normals.peers.push_back({contender.name, contender.run});
    }
  }
  return {normals, triangulation_contest(scene)};
}

}  // namespace
}  // namespace sextant::measure

int main(int argc, char** argv) {
  return sextant::measure::run_main(argc, argv, sextant::measure::run, "surface",
                                    sextant::measure::contests);
}
