// SPDX-License-Identifier: Apache-2.0
// Point-to-plane alignment beside pcl::IterativeClosestPointWithNormals, in the same run, on the
// same points and normals: scans of the Stanford bunny, fragments of a kitchen and LiDAR scans
// where they are there, and an object with an exact truth. Times include trees and grids, not
// normals. Usage: align_bench [RESULT.json]
#include <pcl/point_types.h>
#include <pcl/registration/icp.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "measure/report.h"
#include "sextant/core/random.h"
#include "sextant/geometry/transform.h"
#include "sextant/io/geometry_file.h"
#include "sextant/pose/align.h"
#include "sextant/surface/surface_operations.h"
#include "sextant/synth/catalogue.h"

namespace sextant::measure {
namespace {

namespace fs = std::filesystem;
using PclCloud = pcl::PointCloud<pcl::PointNormal>;

constexpr int kTurns = 3;

/// Two surfaces and what takes one to the other.
struct Case {
  std::string name;
  Surface source, target;
  Rigid3d truth;
  bool exact = false;  ///< the truth is, not only the best that is known
};

/// What takes the source into the target's frame, as four rows.
Rigid3d read_rows(const fs::path& path, int lines_before) {
  std::ifstream text(path);
  std::string line;
  for (int i = 0; i < lines_before; ++i) std::getline(text, line);
  double m[12];
  for (double& number : m) text >> number;
  return {{{{m[0], m[1], m[2]}, {m[4], m[5], m[6]}, {m[8], m[9], m[10]}}}, {m[3], m[7], m[11]}};
}

/// A scan's line of bun.conf: translation and quaternion, with which x ↦ Rᵀ x + t.
Rigid3d read_scan_pose(const fs::path& path, const std::string& scan) {
  std::ifstream text(path);
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    std::string kind, file;
    double t[3], q[4];
    words >> kind >> file;
    for (double& number : t) words >> number;
    for (double& number : q) words >> number;
    if (file == scan) {
      const Mat3d r = to_matrix(normalized(Quaternion<double>{q[3], q[0], q[1], q[2]}));
      return {transpose(r), {t[0], t[1], t[2]}};
    }
  }
  return {};
}

Surface load(const Context& context, const fs::path& path) {
  TriangleMesh mesh = read_geometry(path);
  mesh.triangles = {};
  mesh.vertices.width = mesh.vertices.height = 0;
  Surface surface(std::move(mesh));
  surface.normals = {};
  estimate_normals(context, surface);
  return surface;
}

std::vector<Case> captured_cases(const Context& context) {
  std::vector<Case> cases;
  const fs::path data = fs::path(SEXTANT_SOURCE_DIR) / ".." / "shared" / "data";
  const fs::path bunny = data / "stanford_bunny";
  if (fs::exists(bunny / "bun.conf")) {
    for (const auto& [a, b] :
         {std::pair{"bun045.ply", "bun000.ply"}, {"bun090.ply", "bun045.ply"}}) {
      cases.push_back(
          {std::string("bunny ") + a + " on " + b, load(context, bunny / a),
           load(context, bunny / b),
           inverse(read_scan_pose(bunny / "bun.conf", b)) * read_scan_pose(bunny / "bun.conf", a)});
    }
  }
  const fs::path kitchen = data / "registration" / "teaser_redkitchen";
  if (fs::exists(kitchen)) {
    cases.push_back({"kitchen fragments", load(context, kitchen / "cloud_bin_4.ply"),
                     load(context, kitchen / "cloud_bin_0.ply"),
                     read_rows(kitchen / "gt_bin4_to_bin0.log", 1)});
  }
  const fs::path lidar = data / "registration" / "small_gicp_lidar";
  if (fs::exists(lidar)) {
    cases.push_back({"LiDAR scans", load(context, lidar / "source.ply"),
                     load(context, lidar / "target.ply"),
                     read_rows(lidar / "T_target_source.txt", 0)});
  }
  return cases;
}

/// A toy whose points were drawn twice, with half a millimetre of noise.
Case synthetic_case(const Context& context) {
  const TriangleMesh mesh = make_object("tasmanian_devil");
  Case result;
  result.name = "drawn toy, 0.5 mm of noise";
  result.exact = true;
  const auto triangles = mesh.triangles.host();
  for (Surface* surface : {&result.source, &result.target}) {
    const Random random{7, surface == &result.source ? 1u : 2u};
    std::vector<Vec3f> points;
    for (std::uint64_t i = 0; i < 30000; ++i) {
      const Vec3i t = triangles[random.below(static_cast<std::uint32_t>(triangles.size()), 8 * i)];
      const Vec3f a = mesh.vertices.points.data()[t.x];
      const Vec3f b = mesh.vertices.points.data()[t.y] - a;
      const Vec3f c = mesh.vertices.points.data()[t.z] - a;
      float u = random.uniform(8 * i + 1), v = random.uniform(8 * i + 2);
      if (u + v > 1) {
        u = 1 - u;
        v = 1 - v;
      }
      const auto noise = [&](std::uint64_t k) {
        return static_cast<float>(5e-4 * random.normal(8 * i + k));
      };
      points.push_back(a + b * u + c * v + Vec3f{noise(3), noise(4), noise(5)});
    }
    surface->points = copy(context, points);
    estimate_normals(context, *surface);
  }
  return result;
}

PclCloud::Ptr to_pcl(const Surface& surface) {
  auto cloud = std::make_shared<PclCloud>();
  for (std::int64_t i = 0; i < surface.size(); ++i) {
    const Vec3f p = surface.points.data()[i], n = surface.normals.data()[i];
    if (!is_finite(p) || !is_finite(n)) continue;
    pcl::PointNormal point;
    point.x = p.x;
    point.y = p.y;
    point.z = p.z;
    point.normal_x = n.x;
    point.normal_y = n.y;
    point.normal_z = n.z;
    cloud->push_back(point);
  }
  return cloud;
}

Rigid3d pcl_align(const PclCloud::Ptr& source, const PclCloud::Ptr& target, const Rigid3d& guess,
                  double distance_m) {
  pcl::IterativeClosestPointWithNormals<pcl::PointNormal, pcl::PointNormal> icp;
  icp.setMaxCorrespondenceDistance(distance_m);
  icp.setMaximumIterations(100);
  icp.setTransformationEpsilon(1e-10);
  icp.setInputSource(source);
  icp.setInputTarget(target);
  Eigen::Matrix4f start = Eigen::Matrix4f::Identity();
  for (int i = 0; i < 3; ++i) {
    const Vec3d& row = guess.rotation.row[i];
    const double t[3] = {guess.translation.x, guess.translation.y, guess.translation.z};
    start.row(i) << static_cast<float>(row.x), static_cast<float>(row.y), static_cast<float>(row.z),
        static_cast<float>(t[i]);
  }
  PclCloud moved;
  icp.align(moved, start);
  const Eigen::Matrix4d m = icp.getFinalTransformation().cast<double>();
  return {{{{m(0, 0), m(0, 1), m(0, 2)}, {m(1, 0), m(1, 1), m(1, 2)}, {m(2, 0), m(2, 1), m(2, 2)}}},
          {m(0, 3), m(1, 3), m(2, 3)}};
}

/// RMS of how far the source's points are from where the truth puts them.
double error_m(const Case& item, const Rigid3d& found) {
  double squares = 0, count = 0;
  for (std::int64_t i = 0; i < item.source.size(); i += 17) {
    const Vec3d p = cast<double>(item.source.points.data()[i]);
    if (!is_finite(p)) continue;
    squares += norm_sq(found * p - item.truth * p);
    count += 1;
  }
  return std::sqrt(squares / count);
}

void compare(const Context& context, const Case& item, std::vector<Row>& rows) {
  const Bounds box = bounds(context, item.source.points);
  const double diagonal_m = static_cast<double>(box.diagonal_m());
  const Vec3d middle = item.truth * cast<double>((box.low + box.high) * 0.5f);
  // Five degrees and 3 % of the size off.
  const Rigid3d guess =
      motion_about({Vec3d{0.05, -0.05, 0.05}, Vec3d{0.02, 0.02, -0.01} * diagonal_m}, middle) *
      item.truth;
  const PclCloud::Ptr source = to_pcl(item.source), target = to_pcl(item.target);
  const AlignOptions options{.max_distance_m = static_cast<float>(0.06 * diagonal_m)};
  std::vector<double> ours_ms, peer_ms;
  Rigid3d ours, peer;
  // PCL has one distance; the one with the smaller error counts.
  double distance_m = 0.06 * diagonal_m;
  {
    const double wide = error_m(item, pcl_align(source, target, guess, distance_m));
    const double narrow = error_m(item, pcl_align(source, target, guess, 0.02 * diagonal_m));
    if (narrow < wide) distance_m = 0.02 * diagonal_m;
  }
  for (int turn = 0; turn < kTurns; ++turn) {
    ours_ms.push_back(milliseconds([&] {
      ours = align(context, item.source, item.target, guess, options).target_from_source;
    }));
    peer_ms.push_back(milliseconds([&] { peer = pcl_align(source, target, guess, distance_m); }));
  }
  const double ours_median = spread_of(ours_ms).median, peer_median = spread_of(peer_ms).median;
  rows.push_back({"align, " + item.name + ", time", "ms", peer_median, ours_median, peer_median,
                  ours_median <= peer_median});
  const double ours_mm = 1e3 * error_m(item, ours), peer_mm = 1e3 * error_m(item, peer);
  // Published poses are no better than what both find: a tenth more is no less accurate.
  const double goal = item.exact ? peer_mm : 1.1 * peer_mm;
  rows.push_back(
      {"align, " + item.name + (item.exact ? ", from the truth" : ", from the published pose"),
       "mm", peer_mm, ours_mm, goal, ours_mm <= goal});
  std::printf("%-40s ours %8.1f ms %8.3f mm   PCL %8.1f ms %8.3f mm\n", item.name.c_str(),
              ours_median, ours_mm, peer_median, peer_mm);
}

int run(const std::string& file) {
  const Context context = Context::cpu();
  std::vector<Row> rows;
  compare(context, synthetic_case(context), rows);
  for (const Case& item : captured_cases(context)) compare(context, item, rows);
  publish("align", list_devices().devices.front().name, rows, file);
  return 0;
}

}  // namespace
}  // namespace sextant::measure

int main(int argc, char** argv) {
  return sextant::measure::run_main(argc, argv, sextant::measure::run);
}
