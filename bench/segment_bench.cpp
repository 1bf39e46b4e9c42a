// SPDX-License-Identifier: Apache-2.0
// Segmentation of tables with known faces beside PCL's multi-plane segmentation and region growing,
// in the same run, on the same points and normals, with the faces that each finds.
// Usage: segment_bench [--loaded] [RESULT.json]
#include <pcl/search/kdtree.h>
#include <pcl/segmentation/organized_multi_plane_segmentation.h>
#include <pcl/segmentation/region_growing.h>

#include <cmath>
#include <cstdio>
#include <ctime>
#include <numbers>

#include "bench/loaded.h"
#include "measure/report.h"
#include "sextant/surface/cloud_normals.h"
#include "sextant/surface/cloud_segment.h"
#include "tests/labelled_table.h"

namespace sextant::measure {
namespace {

using testing::LabelledTable;
using testing::TableDepth;

using PclPoint = pcl::PointXYZ;
using PclPoints = pcl::PointCloud<PclPoint>;
using PclNormals = pcl::PointCloud<pcl::Normal>;

constexpr int kTurns = 11;
constexpr std::uint64_t kSeeds[] = {1, 2, 3};
constexpr double kThreeDegrees_rad = 3 * std::numbers::pi / 180;

/// One frame for all: points and the normals of `estimate_normals`.
struct Frame {
  LabelledTable table;
  Image<Vec3f> points;
  Image<Vec3f> normals;
  PclPoints::Ptr pcl_points = std::make_shared<PclPoints>();
  PclNormals::Ptr pcl_normals = std::make_shared<PclNormals>();

  Frame(TableDepth depth, SensorModel sensor, std::uint64_t seed)
      : table(testing::labelled_table(seed, {.depth = depth, .sensor = sensor})) {
    const Context host = Context::cpu();
    points = table.points(host);
    normals = estimate_normals(host, points);
    for (std::int64_t i = 0; i < points.pixels().size(); ++i) {
      const Vec3f p = points.pixels().data()[i];
      const Vec3f n = normals.pixels().data()[i];
      pcl_points->push_back({p.x, p.y, p.z});
      pcl_normals->push_back({n.x, n.y, n.z, 0.0f});
    }
    pcl_points->width = pcl_normals->width = static_cast<std::uint32_t>(points.width());
    pcl_points->height = pcl_normals->height = static_cast<std::uint32_t>(points.height());
    pcl_points->is_dense = pcl_normals->is_dense = false;
  }
};

using Labels = std::vector<std::int32_t>;

Labels labels_of(const std::vector<pcl::PointIndices>& regions, std::size_t points) {
  Labels labels(points, 0);
  for (std::size_t r = 0; r < regions.size(); ++r) {
    for (const auto i : regions[r].indices) {
      labels[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(r) + 1;
    }
  }
  return labels;
}

/// With the settings of PCL's tutorial, and regions down to the smallest face that is looked for.
Labels multi_plane(const Frame& frame) {
  pcl::OrganizedMultiPlaneSegmentation<PclPoint, pcl::Normal, pcl::Label> segmentation;
  segmentation.setMinInliers(400);
  segmentation.setAngularThreshold(kThreeDegrees_rad);
  segmentation.setDistanceThreshold(0.02);
  segmentation.setInputNormals(frame.pcl_normals);
  segmentation.setInputCloud(frame.pcl_points);
  std::vector<pcl::PlanarRegion<PclPoint>, Eigen::aligned_allocator<pcl::PlanarRegion<PclPoint>>>
      regions;
  std::vector<pcl::ModelCoefficients> coefficients;
  std::vector<pcl::PointIndices> inliers, label_indices, boundaries;
  auto labels = std::make_shared<pcl::PointCloud<pcl::Label>>();
  segmentation.segmentAndRefine(regions, coefficients, inliers, labels, label_indices, boundaries);
  return labels_of(inliers, frame.pcl_points->size());
}

Labels region_growing(const Frame& frame) {
  pcl::RegionGrowing<PclPoint, pcl::Normal> growing;
  auto indices = std::make_shared<pcl::Indices>();
  for (std::size_t i = 0; i < frame.pcl_points->size(); ++i) {
    if (std::isfinite((*frame.pcl_points)[i].x) &&
        std::isfinite((*frame.pcl_normals)[i].normal_x)) {
      indices->push_back(static_cast<pcl::index_t>(i));
    }
  }
  growing.setMinClusterSize(50);
  growing.setMaxClusterSize(1000000);
  growing.setSearchMethod(std::make_shared<pcl::search::KdTree<PclPoint>>());
  growing.setNumberOfNeighbours(30);
  growing.setInputCloud(frame.pcl_points);
  growing.setIndices(indices);
  growing.setInputNormals(frame.pcl_normals);
  growing.setSmoothnessThreshold(static_cast<float>(kThreeDegrees_rad));
  growing.setCurvatureThreshold(1.0f);
  std::vector<pcl::PointIndices> regions;
  growing.extract(regions);
  return labels_of(regions, frame.pcl_points->size());
}

/// Faces that were found, of all and of the flat ones.
struct Score {
  int faces = 0, found = 0, planes = 0, planes_found = 0, right_kind = 0;

  void add(const LabelledTable& table, const testing::FaceMatch& match) {
    faces += match.faces;
    found += match.found;
    right_kind += match.right_kind;
    for (std::size_t f = 0; f < table.faces.size(); ++f) {
      if (table.faces[f].kind != SurfaceKind::kPlane || table.faces[f].pixels < 400) continue;
      ++planes;
      planes_found += match.region_of_face[f] != 0;
    }
  }
  double share() const { return 100.0 * found / faces; }
  double plane_share() const { return 100.0 * planes_found / planes; }
};

/// Processor time of all threads of this process. Beside other work, which slows threads that wait
/// for each other more than one alone, it still says which does more work.
double processor_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

double median_ratio(const std::vector<double>& theirs, const std::vector<double>& ours) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.size(); ++i) ratios.push_back(theirs[i] / ours[i]);
  return spread_of(ratios).median;
}

void compare(TableDepth depth, SensorModel sensor, const std::string& name,
             std::vector<Row>& rows) {
  const Context context = Context::cpu();
  Score ours, planes, growing;
  std::vector<double> our_ms, plane_ms, growing_ms, our_processor_ms, plane_processor_ms;
  for (const std::uint64_t seed : kSeeds) {
    const Frame frame(depth, sensor, seed);
    Segmentation result;
    Labels labels;
    result = segment(context, frame.points, frame.normals);  // warms up
    growing_ms.push_back(milliseconds([&] { labels = region_growing(frame); }));
    growing.add(frame.table, testing::match_faces(frame.table, labels));
    for (int turn = 0; turn < kTurns; ++turn) {
      const double start_ms = processor_ms();
      our_ms.push_back(
          milliseconds([&] { result = segment(context, frame.points, frame.normals); }));
      const double between_ms = processor_ms();
      plane_ms.push_back(milliseconds([&] { labels = multi_plane(frame); }));
      our_processor_ms.push_back(between_ms - start_ms);
      plane_processor_ms.push_back(processor_ms() - between_ms);
    }
    planes.add(frame.table, testing::match_faces(frame.table, labels));
    ours.add(frame.table,
             testing::match_faces(frame.table, to_host(context, result.labels.pixels()),
                                  result.regions));
  }
  const auto add_share = [&](const std::string& what, double theirs, double share) {
    rows.push_back({what + ", " + name, "%", theirs, share, theirs, share >= theirs});
  };
  add_share("flat faces found, PCL OrganizedMultiPlaneSegmentation", planes.plane_share(),
            ours.plane_share());
  add_share("faces found, PCL RegionGrowing", growing.share(), ours.share());
  rows.push_back({"faces found with the right kind, " + name,
                  "%",
                  {},
                  100.0 * ours.right_kind / ours.faces,
                  {},
                  {}});
  const double median_ms = spread_of(our_ms).median;
  rows.push_back({"segmentation, VGA, PCL OrganizedMultiPlaneSegmentation, " + name, "ms",
                  spread_of(plane_ms).median, median_ms, 100, median_ms <= 100});
  rows.push_back({"segmentation, VGA, PCL RegionGrowing, " + name,
                  "ms",
                  spread_of(growing_ms).median,
                  median_ms,
                  {},
                  {}});
  const double ratio = median_ratio(plane_ms, our_ms);
  rows.push_back({"segmentation, VGA, PCL multi-plane's time over ours, " + name,
                  "x",
                  {},
                  ratio,
                  1,
                  ratio >= 1});
  rows.push_back({"segmentation, VGA, processor time, PCL OrganizedMultiPlaneSegmentation, " + name,
                  "ms",
                  spread_of(plane_processor_ms).median,
                  spread_of(our_processor_ms).median,
                  {},
                  {}});
}

/// The same frame as a cloud in any order, which region growing takes it for.
void time_cloud(std::vector<Row>& rows) {
  const Frame frame(TableDepth::kExact, SensorModel::kKinect, kSeeds[0]);
  const Context context = Context::cpu();
  const Buffer<Vec3f>& points = frame.points.pixels();
  const Buffer<Vec3f>& normals = frame.normals.pixels();
  CloudSegmentation result;
  std::vector<double> our_ms, their_ms;
  Labels labels;
  for (int turn = 0; turn < 3; ++turn) {
    our_ms.push_back(milliseconds([&] { result = segment_cloud(context, points, normals); }));
    their_ms.push_back(milliseconds([&] { labels = region_growing(frame); }));
  }
  Score ours, theirs;
  ours.add(frame.table,
           testing::match_faces(frame.table, to_host(context, result.labels), result.regions));
  theirs.add(frame.table, testing::match_faces(frame.table, labels));
  rows.push_back({"segment_cloud, 307 thousand points, PCL RegionGrowing",
                  "ms",
                  spread_of(their_ms).median,
                  spread_of(our_ms).median,
                  {},
                  {}});
  rows.push_back({"faces found by segment_cloud, PCL RegionGrowing", "%", theirs.share(),
                  ours.share(), theirs.share(), ours.share() >= theirs.share()});
}

struct Input {
  const char* name;
  TableDepth depth;
  SensorModel sensor;
};
constexpr Input kInputs[] = {
    {"exact depth", TableDepth::kExact, SensorModel::kKinect},
    {"Kinect noise", TableDepth::kRaw, SensorModel::kKinect},
    {"Kinect noise, filtered", TableDepth::kFiltered, SensorModel::kKinect},
    {"independent noise", TableDepth::kRaw, SensorModel::kIndependent},
    {"independent noise, filtered", TableDepth::kFiltered, SensorModel::kIndependent},
};

/// The faces that are found at several distances: the table of docs/segment.md.
void count_faces(std::vector<Row>& rows) {
  constexpr Input kMore[] = {
      {"RealSense noise", TableDepth::kRaw, SensorModel::kRealsense},
      {"RealSense noise, filtered", TableDepth::kFiltered, SensorModel::kRealsense}};
  std::vector<Input> inputs(std::begin(kInputs), std::end(kInputs));
  inputs.insert(inputs.end(), std::begin(kMore), std::end(kMore));
  const Context context = Context::cpu();
  for (const Input& input : inputs) {
    for (const double distance_m : {0.6, 0.9, 1.4}) {
      Score score;
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const LabelledTable table = testing::labelled_table(
            seed, {.depth = input.depth, .sensor = input.sensor, .distance_m = distance_m});
        const Image<Vec3f> points = table.points(context);
        const Segmentation found = segment(context, points, estimate_normals(context, points));
        score.add(table, testing::match_faces(table, to_host(context, found.labels.pixels()),
                                              found.regions));
      }
      char at[8];
      std::snprintf(at, sizeof at, "%.1f m", distance_m);
      const std::string where = std::string(", ") + input.name + " at " + at;
      rows.push_back({"faces found of " + std::to_string(score.faces) + where,
                      "",
                      {},
                      static_cast<double>(score.found),
                      {},
                      {}});
      rows.push_back({"faces found with the right kind of " + std::to_string(score.faces) + where,
                      "",
                      {},
                      static_cast<double>(score.right_kind),
                      {},
                      {}});
    }
  }
}

int run(const std::string& file) {
  std::vector<Row> rows;
  for (const Input& input : kInputs) compare(input.depth, input.sensor, input.name, rows);
  count_faces(rows);
  time_cloud(rows);
  publish("segment", list_devices().devices.front().name, rows, file);
  return 0;
}

std::vector<Contest> contests() {
  std::vector<Contest> all;
  for (const Input& input : kInputs) {
    const auto frame = std::make_shared<Frame>(input.depth, input.sensor, kSeeds[0]);
    all.push_back({std::string("segmentation, VGA, ") + input.name,
                   [frame] { segment(Context::cpu(), frame->points, frame->normals); },
                   {{"PCL OrganizedMultiPlaneSegmentation", [frame] { multi_plane(*frame); }}}});
  }
  return all;
}

}  // namespace
}  // namespace sextant::measure

int main(int argc, char** argv) {
  return sextant::measure::run_main(argc, argv, sextant::measure::run, "segment",
                                    sextant::measure::contests);
}
