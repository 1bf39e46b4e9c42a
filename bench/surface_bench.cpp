// SPDX-License-Identifier: Apache-2.0
// Normals, statistics and triangulation of organised clouds beside OpenCV's, PCL's and Open3D's, in
// the same run, with the angular error of each. Usage: surface_bench [--loaded] [RESULT.json]
#include <pcl/surface/organized_fast_mesh.h>

#include <cmath>

#include "bench/loaded.h"
#include "bench/normals_contenders.h"
#include "measure/time_graph.h"
#include "sextant/surface/triangulate.h"

namespace sextant::measure {
namespace {

constexpr int kTurns = 21;

using PclMesh = pcl::OrganizedFastMesh<pcl::PointXYZ>;

/// Times in turn, so that all meet the same weather.
std::vector<std::vector<double>> times_of(const std::vector<std::function<void()>>& works) {
  std::vector<std::vector<double>> times(works.size());
  for (int turn = -1; turn < kTurns; ++turn) {
    for (std::size_t k = 0; k < works.size(); ++k) {
      let_peers_sleep();
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

/// The window of a peer with the same name as ours reads other pixels, so each is compared with
/// ours of the window that it is told, and with ours of the square that it reads. Reached means a
/// smaller error: equal is not enough.
void compare_errors(double noise_mm, const SphereScene& scene, const std::vector<Contender>& ours,
                    const std::vector<Contender>& peers, std::vector<Row>& rows) {
  for (const Contender& peer : peers) {
    const double peer_deg = mean_error_deg(scene, peer.normal_at);
    for (const Contender& own : ours) {
      if (own.reach_px != 7 && own.reach_px != peer.reach_px) continue;
      const double own_deg = mean_error_deg(scene, own.normal_at);
      const bool is_goal = !own.name.starts_with("pca");  // the paper's method, kept as it is
      rows.push_back({"error of normals on a sphere, " +
                          std::to_string(static_cast<int>(noise_mm)) + " mm noise, ours " +
                          own.name + ", " + peer.name + " (reads " + std::to_string(peer.reach_px) +
                          "x" + std::to_string(peer.reach_px) + ")",
                      "deg", peer_deg, own_deg, is_goal ? std::optional(peer_deg) : std::nullopt,
                      is_goal ? std::optional(own_deg < peer_deg) : std::nullopt});
    }
  }
}

void compare_times(const std::vector<Contender>& ours, const std::vector<Contender>& peers,
                   std::vector<Row>& rows) {
  std::vector<std::function<void()>> works;
  for (const Contender& own : ours) works.push_back(own.run);
  for (const Contender& peer : peers) works.push_back(peer.run);
  const std::vector<std::vector<double>> times = times_of(works);
  for (std::size_t k = 1; k < ours.size(); ++k) {
    rows.push_back(
        {"normals, VGA, ours " + ours[k].name, "ms", {}, spread_of(times[k]).median, {}, {}});
  }
  double opencv = INFINITY, pcl = INFINITY;
  for (std::size_t k = 0; k < peers.size(); ++k) {
    const std::vector<double>& theirs = times[ours.size() + k];
    rows.push_back({"normals 7x7, VGA, " + peers[k].name,
                    "ms",
                    spread_of(theirs).median,
                    spread_of(times[0]).median,
                    {},
                    {}});
    const double ratio = median_ratio(theirs, times[0]);
    if (peers[k].name.starts_with("OpenCV")) opencv = std::min(opencv, ratio);
    if (peers[k].name.starts_with("PCL")) pcl = std::min(pcl, ratio);
  }
  add_ratio("normals 7x7, VGA, fastest OpenCV's time over ours", opencv, 2, rows);
  add_ratio("normals 7x7, VGA, fastest PCL's time over ours", pcl, 5, rows);
}

void compare_normals(std::vector<Row>& rows) {
  for (const double noise_mm : {0.0, 1.0, 3.0}) {
    const SphereScene scene = make_sphere_scene(noise_mm / 1000);
    const std::vector<Contender> ours = our_normals(scene), peers = peer_normals(scene);
    for (const Contender& own : ours) own.run();
    for (const Contender& peer : peers) peer.run();
    compare_errors(noise_mm, scene, ours, peers, rows);
    if (noise_mm == 1.0) compare_times(ours, peers, rows);
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
  const auto make_curved = [&] {
    estimate_normals_into(context, points, {.method = NormalsMethod::kCurved}, normals);
  };
  const auto measure = [&] {
    surface_statistics_into(context, points, normals, {}, statistics, workspace);
  };
  const auto cut = [&] { triangulate_into(context, points, normals, statistics, {}, cells); };
  time("normals 7x7, PCA", make_pca);
  time("normals 7x7, ray", make_normals);
  time("normals 7x7, curved", make_curved);
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
  Contest normals{"normals 7x7, VGA", our_normals(scene).front().run, {}};
  for (const Contender& peer : peer_normals(scene)) {
    // A loaded run takes hundreds of turns, and a cloud's normals seconds for each.
    if (!peer.name.starts_with("Open3D")) normals.peers.push_back({peer.name, peer.run});
  }
  return {normals, triangulation_contest(scene)};
}

}  // namespace
}  // namespace sextant::measure

int main(int argc, char** argv) {
  return sextant::measure::run_main(argc, argv, sextant::measure::run, "surface",
                                    sextant::measure::contests);
}
