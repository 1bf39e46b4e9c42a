// SPDX-License-Identifier: Apache-2.0
// SHOT descriptors of every point of a surface of 36 thousand points, against PCL's
// SHOTEstimationOMP on the same points and normals, with the same two threads, in the same run. Its
// kd-tree is taken as it comes and unsorted; building the search structure counts on every side.
// Descriptors are compared with PCL's; what the approximate mode loses is measured by matching.
// Usage: shot_bench [--loaded] [RESULT.json]
#include <pcl/console/print.h>
#include <pcl/features/shot_omp.h>
#include <pcl/point_types.h>
#include <pcl/search/kdtree.h>

#include <functional>
#include <numbers>

#include "bench/loaded.h"
#include "bench/stored_points.h"
#include "measure/recall.h"
#include "measure/report.h"
#include "sextant/core/random.h"
#include "sextant/core/rigid3.h"
#include "sextant/descriptor/keypoints.h"
#include "sextant/descriptor/local_frame.h"
#include "sextant/descriptor/shot.h"
#include "sextant/surface/cloud_normals.h"

namespace sextant::measure {
namespace {

constexpr int kThreads = 2;
constexpr int kTurns = 3;
constexpr int kDeviceTurns = 50;
constexpr std::size_t kLength = 352;  ///< of SHOT352

struct Surface {
  std::string name;
  std::vector<Vec3f> points;
  std::vector<Vec3f> normals;
  std::vector<Rgb8> colors;
  float resolution_m = 0;  ///< mean distance of the six nearest: about an edge of the mesh
};

/// Normals, colours and resolution of the points.
void complete(Surface& surface) {
  const Context context = Context::cpu(kThreads);
  surface.normals =
      to_host(context, estimate_cloud_normals(context, view_of(surface.points), {.k = 15}));
  const auto grid =
      build_neighbour_grid(context, view_of(surface.points), NeighbourGridOptions::for_nearest(7));
  const NearestNeighbours nearest = k_nearest(context, grid, 7);
  double sum = 0;
  for (std::size_t i = 0; i < surface.points.size(); ++i) {
    for (std::size_t k = 1; k < 7; ++k) {
      sum += std::sqrt(static_cast<double>(nearest.distances_sq.host()[7 * i + k])) / 6.0;
    }
    const Random random{3, i};
    const auto level = [&](float x) {
      return static_cast<std::uint8_t>(128.0f + 100.0f * std::sin(90.0f * x) +
                                       20.0f * random.uniform(0));
    };
    const Vec3f p = surface.points[i];
    surface.colors.push_back({level(p.x), level(p.y), level(p.z)});
  }
  surface.resolution_m = static_cast<float>(sum / static_cast<double>(surface.points.size()));
}

/// As many points as the bunny has, on a bumpy closed surface of its size.
Surface synthetic_surface() {
  Surface surface{"synthetic surface", {}, {}, {}};
  constexpr int kCount = 35947;
  for (int i = 0; i < kCount; ++i) {
    const double z = 1.0 - (2.0 * i + 1.0) / kCount;
    const double turn = i * std::numbers::pi * (3.0 - std::sqrt(5.0));
    const double s = std::sqrt(1.0 - z * z);
    const Vec3d u{s * std::cos(turn), s * std::sin(turn), z};
    const Random random{1, static_cast<std::uint64_t>(i)};
    const double radius = 0.06 + 0.008 * std::sin(7.0 * u.x + 1.0) * std::cos(9.0 * u.y) +
                          0.005 * std::sin(11.0 * u.z + 4.0 * u.x) + 5e-5 * random.normal(0);
    surface.points.push_back(cast<float>(u * radius + Vec3d{0, 0, 0.5}));
  }
  complete(surface);
  return surface;
}

std::optional<Surface> bunny() {
  std::optional<std::vector<Vec3f>> points = stored_points("stanford_bunny/bun_zipper.ply");
  if (!points) return std::nullopt;
  Surface surface{"bunny", std::move(*points), {}, {}};
  complete(surface);
  return surface;
}

using PclShots = pcl::PointCloud<pcl::SHOT352>;

/// What PCL gets, made before the clock runs.
struct PclInput {
  pcl::PointCloud<pcl::PointXYZ>::Ptr cloud = pcl::make_shared<pcl::PointCloud<pcl::PointXYZ>>();
  pcl::PointCloud<pcl::Normal>::Ptr normals = pcl::make_shared<pcl::PointCloud<pcl::Normal>>();
  explicit PclInput(const Surface& surface) {
    for (const Vec3f& p : surface.points) cloud->push_back({p.x, p.y, p.z});
    for (const Vec3f& n : surface.normals) normals->push_back(pcl::Normal(n.x, n.y, n.z));
  }
};

void pcl_shot(const PclInput& input, float radius_m, bool sorted, PclShots& shots) {
  pcl::SHOTEstimationOMP<pcl::PointXYZ, pcl::Normal, pcl::SHOT352> estimation(kThreads);
  estimation.setInputCloud(input.cloud);
  estimation.setInputNormals(input.normals);
  if (!sorted)
    estimation.setSearchMethod(pcl::make_shared<pcl::search::KdTree<pcl::PointXYZ>>(false));
  estimation.setRadiusSearch(static_cast<double>(radius_m));
  estimation.compute(shots);
}

/// The share of descriptors within 1e-5 of PCL's in every number; those that are NaN on one side
/// alone are not.
double share_equal(const PclShots& theirs, const std::vector<float>& ours) {
  std::size_t equal = 0;
  for (std::size_t row = 0; row < theirs.size(); ++row) {
    bool close = true;
    for (std::size_t i = 0; i < kLength; ++i) {
      const float a = theirs[row].descriptor[i], b = ours[kLength * row + i];
      close = close && (std::isnan(a) ? std::isnan(b) : std::abs(a - b) <= 1e-5f);
    }
    equal += close;
  }
  return static_cast<double>(equal) / static_cast<double>(theirs.size());
}

double mean_neighbours(const Context& context, const Surface& surface, float radius_m) {
  const auto grid = build_neighbour_grid(context, view_of(surface.points),
                                         NeighbourGridOptions::for_radius(radius_m));
  Buffer<std::int64_t> counts(context, grid.size());
  count_neighbours_into(context, grid, radius_m, counts);
  double sum = 0;
  for (const std::int64_t count : counts.host()) sum += static_cast<double>(count);
  return sum / static_cast<double>(counts.size());
}

/// Against PCL, theirs and ours in turn. PCL's best of its two trees counts.
void compare_with_pcl(const Surface& surface, float radii, std::vector<Row>& rows) {
  const Context context = Context::cpu(kThreads);
  const float radius_m = radii * surface.resolution_m;
  const double neighbours = mean_neighbours(context, surface, radius_m);
  const PclInput input(surface);
  const ShotSurface views{view_of(surface.points), view_of(surface.normals), {}};
  PclShots theirs;
  ShotDescriptors ours;
  std::vector<double> sorted_times, unsorted_times, our_times, approx_times;
  for (int turn = 0; turn < kTurns; ++turn) {
    sorted_times.push_back(milliseconds([&] { pcl_shot(input, radius_m, true, theirs); }));
    unsorted_times.push_back(milliseconds([&] { pcl_shot(input, radius_m, false, theirs); }));
    approx_times.push_back(milliseconds(
        [&] { compute_shot(context, views, {.radius_m = radius_m, .mode = ShotMode::kApprox}); }));
    our_times.push_back(
        milliseconds([&] { ours = compute_shot(context, views, {.radius_m = radius_m}); }));
  }
  const std::string what = surface.name + ", " + std::to_string(surface.points.size()) +
                           " points, " + std::to_string(static_cast<int>(neighbours + 0.5)) +
                           " neighbours: ";
  const double sorted = spread_of(sorted_times).median;
  const double unsorted = spread_of(unsorted_times).median;
  const double best = std::min(sorted, unsorted);
  const double exact = spread_of(our_times).median;
  const double approx = spread_of(approx_times).median;
  rows.push_back({what + "SHOT352, PCL with its default tree", "ms", sorted, exact, {}, {}});
  rows.push_back({what + "SHOT352, PCL with an unsorted tree", "ms", unsorted, exact, {}, {}});
  rows.push_back(
      {what + "time of PCL's best over ours", "x", {}, best / exact, 10.0, best / exact >= 10.0});
  rows.push_back({what + "SHOT352 approximate", "ms", best, approx, {}, {}});
  const double equal = share_equal(theirs, to_host(context, ours.values));
  rows.push_back(
      {what + "descriptors within 1e-5 of PCL's", "%", {}, 100.0 * equal, 99.5, equal >= 0.995});
}

/// Time against points × neighbours, which it should grow with.
void measure_growth(const Surface& surface, std::vector<Row>& rows) {
  const Context context = Context::cpu(kThreads);
  const ShotSurface views{view_of(surface.points), view_of(surface.normals),
                          view_of(surface.colors)};
  for (const float radii : {4.0f, 8.0f, 12.0f, 16.0f, 24.0f}) {
    const float radius_m = radii * surface.resolution_m;
    const double total =
        mean_neighbours(context, surface, radius_m) * static_cast<double>(surface.points.size());
    std::vector<double> times;
    for (int turn = 0; turn < kTurns; ++turn) {
      times.push_back(milliseconds([&] { compute_shot(context, views, {.radius_m = radius_m}); }));
    }
    rows.push_back({surface.name + ", " + std::to_string(static_cast<int>(total / 1e6 + 0.5)) +
                        " million neighbours in all, each",
                    "ns",
                    {},
                    spread_of(times).median * 1e6 / total,
                    {},
                    {}});
  }
  const float radius_m = 15.0f * surface.resolution_m;
  const auto time_of = [&](const std::string& what, const std::function<void()>& work) {
    std::vector<double> times;
    for (int turn = 0; turn < kTurns; ++turn) times.push_back(milliseconds(work));
    rows.push_back(
        {surface.name + ", 15 resolutions: " + what, "ms", {}, spread_of(times).median, {}, {}});
  };
  time_of("local frames alone", [&] {
    compute_local_frames(context, views.points, LocalFrameOptions{.radius_m = radius_m});
  });
  time_of("CSHOT1344", [&] {
    compute_shot(context, views, {.radius_m = radius_m, .content = ShotContent::kShapeAndColor});
  });
}

/// A copy that was moved and whose points were shaken by `noise_m`, with its own normals.
Surface noisy_copy(const Surface& surface, const Rigid3f& copy_from_surface, float noise_m,
                   std::uint64_t seed) {
  Surface noisy{surface.name, {}, {}, {}};
  for (std::size_t i = 0; i < surface.points.size(); ++i) {
    const Random random{seed, i};
    const Vec3f shake{static_cast<float>(random.normal(0)), static_cast<float>(random.normal(1)),
                      static_cast<float>(random.normal(2))};
    noisy.points.push_back(copy_from_surface * (surface.points[i] + shake * noise_m));
  }
  const Context context = Context::cpu(kThreads);
  noisy.normals = to_host(
      context, estimate_cloud_normals(context, view_of(noisy.points),
                                      {.k = 15, .viewpoint_m = copy_from_surface.translation}));
  return noisy;
}

/// What the approximate mode loses, with noise of 0.1, 0.3 and 0.5 resolutions.
void measure_descriptiveness(const Surface& surface, std::vector<Row>& rows) {
  const Context context = Context::cpu(kThreads);
  const float radius_m = 15.0f * surface.resolution_m;
  const auto keypoints = to_host(
      context,
      uniform_keypoints(context, view_of(surface.points), {.leaf_m = 6.0f * surface.resolution_m}));
  std::vector<Vec3f> positions;
  for (const std::int32_t i : keypoints) {
    positions.push_back(surface.points[static_cast<std::size_t>(i)]);
  }
  const Rigid3f moved{exp_rotation(Vec3f{0.7f, -0.4f, 1.1f}), {0.2f, 0.1f, -0.3f}};
  for (const float noise : {0.1f, 0.3f, 0.5f}) {
    const Surface copy = noisy_copy(surface, moved, noise * surface.resolution_m, 7);
    double areas[2];
    for (const ShotMode mode : {ShotMode::kExact, ShotMode::kApprox}) {
      const auto describe = [&](const Surface& of) {
        const ShotSurface views{view_of(of.points), view_of(of.normals), {}};
        return to_host(context, compute_shot(context, views, view_of(keypoints),
                                             {.radius_m = radius_m, .mode = mode})
                                    .values);
      };
      // A match is right when it finds the same point within 2 resolutions.
      const RecallCurve curve = recall_curve(
          match_nearest(describe(copy), describe(surface), kLength),
          [&](std::size_t i, std::size_t nearest) {
            return norm(positions[nearest] - positions[i]) <= 2.0f * surface.resolution_m;
          });
      areas[static_cast<int>(mode)] = curve.area;
    }
    char text[64];
    std::snprintf(text, sizeof text, ", noise of %.1f resolutions: ", static_cast<double>(noise));
    rows.push_back({surface.name + text + "area under recall, exact", "%", {}, areas[0], {}, {}});
    rows.push_back({surface.name + text + "area lost by the approximate mode",
                    "points",
                    {},
                    areas[0] - areas[1],
                    2.0,
                    areas[0] - areas[1] <= 2.0});
  }
}

/// Warm, with and without building the grid; memory is allocated before.
void measure_cuda(const Surface& surface, float radii, std::vector<Row>& rows) {
  const DeviceReport list = list_devices();
  const bool present = std::any_of(list.devices.begin(), list.devices.end(), [](const auto& info) {
    return info.device.kind == DeviceKind::kCuda;
  });
  if (!present) return;
  const Context context = Context::cuda();
  const float radius_m = radii * surface.resolution_m;
  const int neighbours = static_cast<int>(mean_neighbours(Context::cpu(), surface, radius_m) + 0.5);
  const auto points = copy(context, surface.points);
  const auto normals = copy(context, surface.normals);
  const auto colors = copy(context, surface.colors);
  const ShotSurface views{points, normals, colors};
  NeighbourGrid grid(context, points.size());
  const auto grid_options = NeighbourGridOptions::for_radius(0.5f * radius_m);
  for (const ShotOptions& options :
       {ShotOptions{.radius_m = radius_m},
        ShotOptions{.radius_m = radius_m, .mode = ShotMode::kApprox},
        ShotOptions{.radius_m = radius_m, .content = ShotContent::kShapeAndColor}}) {
    const auto length = shot_length(options);
    Buffer<float> values(context, points.size() * length);
    Buffer<Vec3f> frames(context, 3 * points.size());
    Buffer<ShotStatus> status(context, points.size());
    const auto describe = [&] {
      compute_shot_into(context, grid, views, options, {values, frames, status});
    };
    const auto time_of = [&](const std::function<void()>& work) {
      std::vector<double> times;
      for (int turn = 0; turn < kDeviceTurns + 3; ++turn) {
        const double time = milliseconds([&] {
          work();
          context.synchronize();
        });
        if (turn >= 3) times.push_back(time);
      }
      return spread_of(times).median;
    };
    build_neighbour_grid_into(context, points, grid_options, grid);
    const double alone = time_of(describe);
    const double whole = time_of([&] {
      build_neighbour_grid_into(context, points, grid_options, grid);
      describe();
    });
    const bool exact = options.mode == ShotMode::kExact && options.content == ShotContent::kShape;
    const std::string what =
        surface.name + ", " + std::to_string(neighbours) +
        " neighbours, CUDA: " + std::string(name_of(options.content, kShotContents)) + " " +
        std::string(name_of(options.mode, kShotModes));
    std::optional<double> goal;
    if (exact) goal = neighbours < 500 ? 0.6 : 2.0;
    std::optional<bool> met;
    if (goal) met = alone <= *goal;
    rows.push_back({what, "ms", {}, alone, goal, met});
    rows.push_back({what + ", with its grid", "ms", {}, whole, {}, {}});
  }
}

int run(const std::string& result) {
  pcl::console::setVerbosityLevel(pcl::console::L_ALWAYS);
  std::vector<Row> rows;
  std::optional<Surface> stored = bunny();
  const Surface surface = stored ? std::move(*stored) : synthetic_surface();
  for (const float radii : {8.0f, 15.0f}) compare_with_pcl(surface, radii, rows);
  measure_growth(surface, rows);
  measure_descriptiveness(surface, rows);
  for (const float radii : {8.0f, 15.0f}) measure_cuda(surface, radii, rows);
  publish("shot", list_devices().devices.front().name + ", 2 threads", rows, result);
  return 0;
}

std::vector<Contest> contests() {
  pcl::console::setVerbosityLevel(pcl::console::L_ALWAYS);
  struct State {
    Context context = Context::cpu(kThreads);
    Surface surface = synthetic_surface();
    float radius_m = 8.0f * surface.resolution_m;
    PclInput input{surface};
    PclShots theirs;
  };
  const auto state = std::make_shared<State>();
  State& s = *state;
  return {{"SHOT352, " + std::to_string(s.surface.points.size()) + " points, 8 resolutions",
           [state, &s] {
             const ShotSurface views{view_of(s.surface.points), view_of(s.surface.normals), {}};
             compute_shot(s.context, views, {.radius_m = s.radius_m});
           },
           {{"PCL SHOTEstimationOMP", [&s] { pcl_shot(s.input, s.radius_m, false, s.theirs); }}}}};
}

}  // namespace
}  // namespace sextant::measure

int main(int argc, char** argv) {
  return sextant::measure::run_main(argc, argv, sextant::measure::run, "shot",
                                    sextant::measure::contests);
}
