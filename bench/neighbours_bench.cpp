// SPDX-License-Identifier: Apache-2.0
// Neighbour search and the normals of unorganised clouds, against nanoflann and PCL on the same
// points with the same two threads in the same run, theirs and ours in turn. Building the search
// structure counts on every side. Neighbours are compared with nanoflann's; the error of normals is
// measured against the formulas of the scanned surfaces.
// Usage: neighbours_bench [--loaded] [RESULT.json]
#include <omp.h>
#include <pcl/features/normal_3d_omp.h>
#include <pcl/kdtree/kdtree_flann.h>
#include <pcl/point_types.h>
#include <pcl/search/kdtree.h>

#include <functional>

#if defined(SEXTANT_OPEN3D)
#include <open3d/geometry/PointCloud.h>
#endif

#include "bench/loaded.h"
#include "bench/nanoflann_search.h"
#include "bench/stored_points.h"
#include "measure/report.h"
#include "measure/surface_chain.h"
#include "measure/table_scan.h"
#include "sextant/core/random.h"
#include "sextant/surface/cloud_normals.h"

namespace sextant::measure {
namespace {

constexpr int kTurns = 5;

struct Scan {
  std::string name;
  std::vector<Vec3f> points;
  std::vector<Vec3f> truth;  ///< normals; empty for a captured scan
};

/// A table with a ball, a can, a ring and a box, as a depth camera of 640 x 480 pixels sees it,
/// with half the Kinect's noise and 5 % of the returns missing: 292 thousand points.
Scan synthetic_scan() {
  const Camera camera = vga_camera();
  const AnalyticFrame frame = table_scan(camera);
  Scan scan{"synthetic scan", {}, {}};
  for (int v = 0; v < camera.height; ++v) {
    for (int u = 0; u < camera.width; ++u) {
      const Random random{1, static_cast<std::uint64_t>(v * camera.width + u)};
      const float z = frame.depth_m(u, v);
      if (!std::isfinite(z) || random.uniform(0) < 0.05f) continue;
      const float noisy = z + 0.7e-3f * z * z * static_cast<float>(random.normal(1));
      const Vec3d ray = unproject(camera, Vec2d{double(u), double(v)});
      scan.points.push_back(cast<float>(ray) * noisy);
      scan.truth.push_back(frame.normals(u, v));
    }
  }
  return scan;
}

/// Times both in turn and adds their medians, and the median ratio with its goal.
void compare(const std::string& what, const std::string& peer, const std::function<void()>& ours,
             const std::function<void()>& theirs, std::optional<double> least_ratio,
             std::vector<Row>& rows) {
  std::vector<double> our_times, their_times, ratios;
  for (int turn = 0; turn < kTurns; ++turn) {
    their_times.push_back(milliseconds(theirs));
    let_peers_sleep();
    our_times.push_back(milliseconds(ours));
    ratios.push_back(their_times.back() / our_times.back());
  }
  rows.push_back({what + ", peer " + peer,
                  "ms",
                  spread_of(their_times).median,
                  spread_of(our_times).median,
                  {},
                  {}});
  const double ratio = spread_of(ratios).median;
  std::optional<bool> met;
  if (least_ratio) met = ratio >= *least_ratio;
  rows.push_back({what + ", time of " + peer + " over ours", "x", {}, ratio, least_ratio, met});
}

using PclCloud = pcl::PointCloud<pcl::PointXYZ>;

/// Calls `search` for every point of the cloud, with a tree of all of them.
template <class Search>
void search_pcl(const PclCloud::ConstPtr& cloud, bool sorted, const Search& search) {
  pcl::KdTreeFLANN<pcl::PointXYZ> tree(sorted);
  tree.setInputCloud(cloud);
#pragma omp parallel num_threads(kThreads)
  {
    pcl::Indices indices;
    std::vector<float> distances_sq;
#pragma omp for schedule(dynamic, 1024)
    for (std::size_t i = 0; i < cloud->size(); ++i) {
      search(tree, (*cloud)[i], indices, distances_sq);
    }
  }
}

void pcl_nearest(const PclCloud::ConstPtr& cloud, bool sorted) {
  search_pcl(cloud, sorted, [](const auto& tree, const auto& point, auto& indices, auto& squares) {
    tree.nearestKSearch(point, kK, indices, squares);
  });
}

void pcl_within(const PclCloud::ConstPtr& cloud, float radius_m, bool sorted) {
  search_pcl(cloud, sorted, [&](const auto& tree, const auto& point, auto& indices, auto& squares) {
    tree.radiusSearch(point, radius_m, indices, squares);
  });
}

pcl::PointCloud<pcl::Normal> pcl_normals(const PclCloud::ConstPtr& cloud) {
  pcl::NormalEstimationOMP<pcl::PointXYZ, pcl::Normal> estimation(kThreads);
  estimation.setInputCloud(cloud);
  estimation.setSearchMethod(pcl::make_shared<pcl::search::KdTree<pcl::PointXYZ>>());
  estimation.setKSearch(kK);
  pcl::PointCloud<pcl::Normal> normals;
  estimation.compute(normals);
  return normals;
}

#if defined(SEXTANT_OPEN3D)
void open3d_normals(open3d::geometry::PointCloud& cloud) {
  omp_set_num_threads(kThreads);
  cloud.normals_.clear();
  cloud.EstimateNormals(open3d::geometry::KDTreeSearchParamKNN(kK));
}
#endif

/// Mean angle between normals, in degrees, where both are defined.
double mean_angle_deg(const std::vector<Vec3f>& a, const std::vector<Vec3f>& b) {
  double sum = 0;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!is_finite(a[i]) || !is_finite(b[i])) continue;
    const Vec3d u = cast<double>(a[i]), v = cast<double>(b[i]);
    sum += std::atan2(norm(cross(u, v)), dot(u, v));
    ++count;
  }
  return sum / static_cast<double>(count) * 57.29577951308232;
}

void compare_normals(const Context& context, const Scan& scan, const PclCloud::ConstPtr& cloud,
                     std::vector<Row>& rows) {
  const std::string what = scan.name + ", normals, k = 15";
  std::vector<Vec3f> nano(scan.points.size());
  const auto ours = [&] {
    return estimate_cloud_normals(context, view_of(scan.points), {.k = 15});
  };
  compare(
      what, "NormalEstimationOMP", ours, [&] { pcl_normals(cloud); }, 3.0, rows);
  compare(
      what, "nanoflann + PCA", ours, [&] { nanoflann_normals(scan.points, nano); }, 2.0, rows);
#if defined(SEXTANT_OPEN3D)
  open3d::geometry::PointCloud open3d_cloud;
  for (const Vec3f& p : scan.points) open3d_cloud.points_.emplace_back(p.x, p.y, p.z);
  compare(
      what, "Open3D EstimateNormals", ours, [&] { open3d_normals(open3d_cloud); }, {}, rows);
#endif
  const std::vector<Vec3f> found = to_host(context, ours());
  std::vector<Vec3f> theirs;
  for (const pcl::Normal& n : pcl_normals(cloud)) {
    theirs.push_back({n.normal_x, n.normal_y, n.normal_z});
  }
  const auto accuracy = [&](const std::string& than, const std::vector<Vec3f>& truth,
                            const std::vector<Vec3f>& peer, const std::string& peer_name) {
    const double our_error = mean_angle_deg(found, truth);
    const double peer_error = mean_angle_deg(peer, truth);
    rows.push_back({what + ", mean angle to " + than + ", peer " + peer_name, "deg", peer_error,
                    our_error, peer_error, our_error <= peer_error});
  };
  if (!scan.truth.empty()) {
    accuracy("the truth", scan.truth, theirs, "NormalEstimationOMP");
    accuracy("the truth", scan.truth, nano, "nanoflann + PCA");
  } else {
    rows.push_back({what + ", mean angle to nanoflann + PCA, peer NormalEstimationOMP",
                    "deg",
                    mean_angle_deg(theirs, nano),
                    mean_angle_deg(found, nano),
                    {},
                    {}});
  }
}

/// Share of the neighbours whose distance equals nanoflann's. It rounds in another order, so its
/// k-th may be another point at the same distance up to the last bit.
double share_of_equal_distances(const std::vector<float>& ours, const std::vector<float>& theirs) {
  std::int64_t equal = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    equal += std::abs(ours[i] - theirs[i]) <= 1e-6f * theirs[i];
  }
  return static_cast<double>(equal) / static_cast<double>(ours.size());
}

void compare_nearest(const Context& context, const Scan& scan, const PclCloud::ConstPtr& cloud,
                     std::vector<Row>& rows) {
  const std::string what = scan.name + ", 15 nearest of every point";
  const auto size = static_cast<std::int64_t>(scan.points.size());
  Buffer<std::int32_t> indices(context, size * kK);
  Buffer<float> distances_sq(context, size * kK);
  Nearest nano{std::vector<std::uint32_t>(scan.points.size() * kK),
               std::vector<float>(scan.points.size() * kK)};
  const auto ours = [&] {
    const auto grid =
        build_neighbour_grid(context, view_of(scan.points), NeighbourGridOptions::for_nearest(kK));
    k_nearest_into(context, grid, kK, indices, distances_sq);
  };
  compare(
      what, "nanoflann", ours, [&] { nanoflann_nearest(scan.points, nano); }, {}, rows);
  compare(
      what, "PCL kd-tree, sorted", ours, [&] { pcl_nearest(cloud, true); }, {}, rows);
  compare(
      what, "PCL kd-tree, unsorted", ours, [&] { pcl_nearest(cloud, false); }, {}, rows);
  const double share = share_of_equal_distances(to_host(context, distances_sq), nano.distances_sq);
  rows.push_back({what + ", same distances as nanoflann", "share", {}, share, 1.0, share == 1.0});
}

void compare_within(const Context& context, const Scan& scan, const PclCloud::ConstPtr& cloud,
                    float radius_m, std::vector<Row>& rows) {
  std::int64_t found = 0;
  const auto within = [&](NeighbourOrder order) {
    const auto grid = build_neighbour_grid(context, view_of(scan.points),
                                           NeighbourGridOptions::for_radius(radius_m));
    found = neighbours_within(context, grid, radius_m, order).indices.size();
  };
  within(NeighbourOrder::kCells);
  const double mean = static_cast<double>(found) / static_cast<double>(scan.points.size());
  const std::string what = scan.name + ", all within a radius (" +
                           std::to_string(static_cast<int>(mean + 0.5)) + " neighbours)";
  const auto unsorted = [&] { within(NeighbourOrder::kCells); };
  const auto sorted = [&] { within(NeighbourOrder::kDistance); };
  std::uint64_t nano = 0;
  compare(
      what + " unsorted", "nanoflann", unsorted,
      [&] { nano = nanoflann_within(scan.points, radius_m, false); }, {}, rows);
  compare(
      what + " sorted", "nanoflann", sorted, [&] { nanoflann_within(scan.points, radius_m, true); },
      {}, rows);
  compare(
      what + " unsorted", "PCL kd-tree", unsorted, [&] { pcl_within(cloud, radius_m, false); }, {},
      rows);
  compare(
      what + " sorted", "PCL kd-tree", sorted, [&] { pcl_within(cloud, radius_m, true); }, {},
      rows);
  // nanoflann takes distances below the radius and rounds otherwise: equal up to a few in a
  // million.
  const double ratio = static_cast<double>(found) / static_cast<double>(nano);
  rows.push_back({what + ", number found over nanoflann's",
                  "x",
                  {},
                  ratio,
                  1.0,
                  std::abs(ratio - 1.0) < 1e-5});
}

void compare_all(const Scan& scan, float radius_m, std::vector<Row>& rows) {
  const Context context = Context::cpu(kThreads);
  const auto cloud = pcl::make_shared<PclCloud>();
  for (const Vec3f& p : scan.points) cloud->push_back({p.x, p.y, p.z});
  compare_normals(context, scan, cloud, rows);
  compare_nearest(context, scan, cloud, rows);
  compare_within(context, scan, cloud, radius_m, rows);
}

int run(const std::string& result) {
  std::vector<Row> rows;
  compare_all(synthetic_scan(), 0.01f, rows);
  // A scan of real toys where the captured data is at hand.
  if (std::optional<std::vector<Vec3f>> stored = stored_points("uwa_mian/rs1.pcd")) {
    const Scan scan{"range scan", std::move(*stored), {}};
    const float spacing = NeighbourGridOptions::for_nearest(kK).points_per_cell;
    const auto grid = build_neighbour_grid(Context::cpu(kThreads), view_of(scan.points),
                                           {.points_per_cell = spacing});
    compare_all(scan, 1.5f * grid.view().frame->cell_m, rows);
  }
  publish("neighbours", list_devices().devices.front().name + ", 2 threads", rows, result);
  return 0;
}

std::vector<Contest> contests() {
  struct State {
    Context context = Context::cpu(kThreads);
    Scan scan = synthetic_scan();
    PclCloud::Ptr cloud = pcl::make_shared<PclCloud>();
    std::vector<Vec3f> normals = std::vector<Vec3f>(scan.points.size());
    Nearest nearest{std::vector<std::uint32_t>(scan.points.size() * kK),
                    std::vector<float>(scan.points.size() * kK)};
  };
  const auto state = std::make_shared<State>();
  State& s = *state;
  for (const Vec3f& p : s.scan.points) s.cloud->push_back({p.x, p.y, p.z});
  return {{"cloud normals, k = 15, " + std::to_string(s.scan.points.size()) + " points",
           [state, &s] { estimate_cloud_normals(s.context, view_of(s.scan.points), {.k = 15}); },
           {{"NormalEstimationOMP", [&s] { pcl_normals(s.cloud); }},
            {"nanoflann + PCA", [&s] { nanoflann_normals(s.scan.points, s.normals); }}}},
          {"15 nearest of every point, " + std::to_string(s.scan.points.size()) + " points",
           [state, &s] {
             k_nearest(s.context,
                       build_neighbour_grid(s.context, view_of(s.scan.points),
                                            NeighbourGridOptions::for_nearest(kK)),
                       kK);
           },
           {{"nanoflann", [&s] { nanoflann_nearest(s.scan.points, s.nearest); }},
            {"PCL kd-tree, unsorted", [&s] { pcl_nearest(s.cloud, false); }}}}};
}

}  // namespace
}  // namespace sextant::measure

int main(int argc, char** argv) {
  return sextant::measure::run_main(argc, argv, sextant::measure::run, "neighbours",
                                    sextant::measure::contests);
}
