// SPDX-License-Identifier: Apache-2.0
// How fast a million points are read, against PCL on the same files in the same run, ours and
// theirs in turn, with the files in the page cache. What was read is compared bit by bit first.
// Usage: io_bench [RESULT.json]
#include <pcl/console/print.h>
#include <pcl/io/pcd_io.h>
#include <pcl/io/ply_io.h>
#include <pcl/point_types.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <functional>

#include "measure/report.h"
#include "sextant/core/random.h"
#include "sextant/io/pcd.h"
#include "sextant/io/ply.h"

namespace sextant::measure {
namespace {

constexpr std::int64_t kPoints = 1'000'000;

/// A cloud with some holes, as sensors give them.
Cloud make_cloud(bool with_normals_and_colors) {
  const Context cpu = Context::cpu();
  Cloud cloud;
  cloud.points = Buffer<Vec3f>(cpu, kPoints);
  if (with_normals_and_colors) {
    cloud.normals = Buffer<Vec3f>(cpu, kPoints);
    cloud.colors = Buffer<Rgb8>(cpu, kPoints);
    cloud.attributes.push_back({"curvature", Buffer<float>(cpu, kPoints)});
  }
  for (std::int64_t i = 0; i < kPoints; ++i) {
    const Random random{1, static_cast<std::uint64_t>(i)};
    const Vec3f p{random.uniform(0), random.uniform(1), random.uniform(2)};
    cloud.points.data()[i] = i % 50 == 7 ? Vec3f{NAN, NAN, NAN} : p;
    if (!with_normals_and_colors) continue;
    cloud.normals.data()[i] = normalized(p);
    cloud.colors.data()[i] = {static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i >> 8),
                              static_cast<std::uint8_t>(i >> 16)};
    cloud.attributes[0].get<float>().data()[i] = p.x * p.y;
  }
  return cloud;
}

bool same_point(const Cloud& cloud, std::int64_t i, const pcl::PointXYZ& theirs) {
  return std::memcmp(cloud.points.data() + i, theirs.data, sizeof(Vec3f)) == 0;
}
bool same_point(const Cloud& cloud, std::int64_t i, const pcl::PointXYZRGBNormal& theirs) {
  const Rgb8 color = cloud.colors.data()[i];
  return std::memcmp(cloud.points.data() + i, theirs.data, sizeof(Vec3f)) == 0 &&
         std::memcmp(cloud.normals.data() + i, theirs.normal, sizeof(Vec3f)) == 0 &&
         color == Rgb8{theirs.r, theirs.g, theirs.b};
}

template <class Point>
void require_same(const std::string& what, const Cloud& ours,
                  const pcl::PointCloud<Point>& theirs) {
  require(ours.size() == static_cast<std::int64_t>(theirs.size()), what, ": PCL reads ",
          theirs.size(), " points, we read ", ours.size());
  for (std::int64_t i = 0; i < ours.size(); ++i) {
    require(same_point(ours, i, theirs[static_cast<std::size_t>(i)]), what, ": point ", i,
            " differs from PCL's");
  }
}

/// Reads in turn, so that both meet the same weather; the ratio is the median of the turns' own.
template <class Point>
void compare(const std::string& what, const std::function<Cloud()>& ours,
             const std::function<void(pcl::PointCloud<Point>&)>& theirs, int turns,
             std::optional<double> least_ratio, std::vector<Row>& rows) {
  {
    pcl::PointCloud<Point> cloud;
    theirs(cloud);
    require_same(what, ours(), cloud);
  }
  std::vector<double> our_times, their_times, ratios;
  for (int turn = 0; turn < turns; ++turn) {
    our_times.push_back(milliseconds([&] { ours(); }));
    their_times.push_back(milliseconds([&] {
      pcl::PointCloud<Point> cloud;
      theirs(cloud);
    }));
    ratios.push_back(their_times.back() / our_times.back());
  }
  rows.push_back({what, "ms", spread_of(their_times).median, spread_of(our_times).median, {}, {}});
  const double ratio = spread_of(ratios).median;
  std::optional<bool> met;
  if (least_ratio) met = ratio >= *least_ratio;
  rows.push_back({what + ", PCL's time over ours", "x", {}, ratio, least_ratio, met});
}

template <class Point>
void compare_ply(const std::filesystem::path& folder, const std::string& points, const Cloud& cloud,
                 PlyEncoding encoding, int turns, std::optional<double> least_ratio,
                 std::vector<Row>& rows) {
  const std::string file = (folder / "cloud.ply").string();
  write_ply(file, cloud, {.encoding = encoding});
  compare<Point>(
      "PLY " + std::string(name_of(encoding, kPlyEncodings)) + ", 1 M " + points,
      [&] { return std::move(read_ply(file).vertices); },
      [&](pcl::PointCloud<Point>& read) {
        require(pcl::io::loadPLYFile(file, read) == 0, file, ": PCL cannot read it");
      },
      turns, least_ratio, rows);
}

template <class Point>
void compare_pcd(const std::filesystem::path& folder, const std::string& points, const Cloud& cloud,
                 PcdEncoding encoding, int turns, std::optional<double> least_ratio,
                 std::vector<Row>& rows) {
  const std::string file = (folder / "cloud.pcd").string();
  write_pcd(file, cloud, {.encoding = encoding});
  compare<Point>(
      "PCD " + std::string(name_of(encoding, kPcdEncodings)) + ", 1 M " + points,
      [&] { return read_pcd(file); },
      [&](pcl::PointCloud<Point>& read) {
        require(pcl::io::loadPCDFile(file, read) == 0, file, ": PCL cannot read it");
      },
      turns, least_ratio, rows);
}

template <class Point>
void compare_formats(const std::filesystem::path& folder, const std::string& points,
                     const Cloud& cloud, std::vector<Row>& rows) {
  constexpr double kLeastRatio = 3.0;
  constexpr int kTurns = 15;
  constexpr int kTurnsOfText = 3;
  compare_ply<Point>(folder, points, cloud, PlyEncoding::kBinaryLittleEndian, kTurns, kLeastRatio,
                     rows);
  compare_pcd<Point>(folder, points, cloud, PcdEncoding::kBinary, kTurns, kLeastRatio, rows);
  compare_pcd<Point>(folder, points, cloud, PcdEncoding::kBinaryCompressed, kTurns, {}, rows);
  compare_ply<Point>(folder, points, cloud, PlyEncoding::kAscii, kTurnsOfText, {}, rows);
  compare_pcd<Point>(folder, points, cloud, PcdEncoding::kAscii, kTurnsOfText, {}, rows);
}

int run(const std::string& result) {
  pcl::console::setVerbosityLevel(pcl::console::L_ALWAYS);
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("sextant-io-bench-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  std::vector<Row> rows;
  try {
    compare_formats<pcl::PointXYZ>(folder, "points xyz", make_cloud(false), rows);
    compare_formats<pcl::PointXYZRGBNormal>(folder, "points xyz, normal, rgb", make_cloud(true),
                                            rows);
  } catch (...) {
    std::filesystem::remove_all(folder);
    throw;
  }
  std::filesystem::remove_all(folder);
  publish("io", list_devices().devices.front().name, rows, result);
  return 0;
}

}  // namespace
}  // namespace sextant::measure

int main(int argc, char** argv) {
  return sextant::measure::run_main(argc, argv, sextant::measure::run);
}
