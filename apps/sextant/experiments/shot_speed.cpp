// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "apps/sextant/experiments/bumpy_body.h"
#include "apps/sextant/experiments/experiments.h"
#include "apps/sextant/experiments/peer.h"
#include "measure/time_graph.h"
#include "sextant/descriptor/shot.h"

namespace sextant::app {

namespace {

/// PCL describes only every such point; its time is taken in proportion.
constexpr int kPclEvery = 8;

/// A surface with every point described, and how long that takes.
struct Trial {
  Cloud cloud;  ///< on the host
  float radius_m = 0;
  double neighbours = 0;  ///< of a point, on average
  double exact_ms = 0;
  double approx_ms = 0;       ///< measured beside PCL only
  std::vector<float> values;  ///< of the exact mode

  std::string name() const {
    return fmt::format("{} points x {:.0f} neighbours", cloud.size(), neighbours);
  }
};

/// The grid and the descriptors, warm and without transfers.
double shot_ms(const Context& context, const Cloud& cloud, const ShotOptions& options,
               ShotDescriptors& out) {
  const ShotSurface surface{cloud.points, cloud.normals};
  out = compute_shot(context, surface, options);
  NeighbourGrid grid(context, cloud.size());
  const NeighbourGridOptions cells = NeighbourGridOptions::for_radius(options.radius_m / 2);
  Workspace workspace;
  return measure::graph_ms(context, [&] {
    build_neighbour_grid_into(context, cloud.points, cells, grid);
    compute_shot_into(context, grid, surface, options, {out.values, out.frames, out.status},
                      workspace);
  });
}

Trial run_trial(const Context& context, std::int64_t points, double neighbours, bool approx) {
  Trial trial;
  trial.cloud = bumpy_body(points);
  const double area_each = bumpy_body_area_sq_m() / static_cast<double>(points);
  trial.radius_m = static_cast<float>(std::sqrt(neighbours * area_each / std::numbers::pi));
  const Cloud cloud = copy(context, trial.cloud);
  const NeighbourGrid grid =
      build_neighbour_grid(context, cloud.points, NeighbourGridOptions::for_radius(trial.radius_m));
  Buffer<std::int32_t> counts(context, points);
  count_neighbours_into(context, grid, trial.radius_m, counts);
  for (const std::int32_t count : to_host(context, counts)) {
    trial.neighbours += static_cast<double>(count) / static_cast<double>(points);
  }
  ShotDescriptors found;
  ShotOptions options{.radius_m = trial.radius_m};
  trial.exact_ms = shot_ms(context, cloud, options, found);
  trial.values = to_host(context, found.values);
  if (!approx) return trial;
  options.mode = ShotMode::kApprox;
  trial.approx_ms = shot_ms(context, cloud, options, found);
  return trial;
}

/// The faster of PCL's sorted and unsorted search, and what it computed; `threads` as the peer has
/// it.
struct PclTime {
  std::optional<double> best_ms;
  std::optional<PeerResult> result;
};
PclTime pcl_time(const Trial& trial, int threads) {
  PclTime time;
  for (const char* sorted : {"sorted=1", "sorted=0"}) {
    std::optional<PeerResult> peer =
        run_pcl("shot", trial.cloud,
                {fmt::format("radius_m={}", trial.radius_m), fmt::format("threads={}", threads),
                 fmt::format("every={}", kPclEvery), sorted});
    if (!peer) return time;
    const double ms = peer->times_ms.at("shot").get<double>();
    time.best_ms = std::min(time.best_ms.value_or(ms), ms);
    if (!time.result) time.result = std::move(peer);
  }
  return time;
}

/// The share of PCL's descriptors that ours equal within 1e-5 in every number, in per cent.
double equal_share(const Trial& trial, const PeerResult& pcl) {
  constexpr int kLength = 352;
  std::size_t equal = 0, count = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(trial.cloud.size()); i += kPclEvery) {
    bool same = true;
    for (int j = 0; j < kLength && same; ++j) {
      const float ours = trial.values[i * kLength + static_cast<std::size_t>(j)];
      const float theirs = pcl.value(i, j);
      same = std::isnan(ours) ? std::isnan(theirs) : std::abs(ours - theirs) <= 1e-5f;
    }
    equal += same ? 1 : 0;
    ++count;
  }
  return 100.0 * static_cast<double>(equal) / static_cast<double>(count);
}

/// PCL in the same run: how much faster we are, and whether the numbers are the same.
void compare(const Context& context, const Trial& trial, std::vector<measure::Row>& rows) {
  constexpr double kPaperExact = 40.7, kPaperApprox = 54;
  const PclTime serial = pcl_time(trial, 0);
  const std::string name = trial.name();
  measure::Row exact{name + ", exact", "ms", serial.best_ms, trial.exact_ms, {}, {}};
  if (context.is_cuda()) {
    exact.goal = trial.neighbours < 600 ? 0.6 : 2.0;
    exact.met = trial.exact_ms <= *exact.goal;
  }
  rows.push_back(exact);
  rows.push_back({name + ", approx", "ms", serial.best_ms, trial.approx_ms, {}, {}});
  if (!serial.best_ms) return;
  const auto faster = [&](const char* mode, double ours_ms, double paper) {
    const double ratio = *serial.best_ms / ours_ms;
    measure::Row row{
        fmt::format("{} over serial PCL, {}", mode, name), "x", {}, ratio, {}, {}, paper};
    if (context.is_cuda()) {
      row.goal = paper;
      row.met = ratio >= paper;
    }
    rows.push_back(row);
  };
  faster("exact", trial.exact_ms, kPaperExact);
  faster("approx", trial.approx_ms, kPaperApprox);
  if (context.is_cpu()) {
    const PclTime threaded = pcl_time(trial, context.threads());
    const double ratio = *threaded.best_ms / trial.exact_ms;
    rows.push_back({fmt::format("exact over PCL's OMP, {} threads, {}", context.threads(), name),
                    "x",
                    {},
                    ratio,
                    10,
                    ratio >= 10});
  }
  const double equal = equal_share(trial, *serial.result);
  rows.push_back({"equal to PCL's within 1e-5, " + name, "%", {}, equal, 99.5, equal >= 99.5});
}

}  // namespace

/// SHOT352 at every point of a bumpy body. The paper's figures are speed-ups of a GTX 570 over one
/// thread of a CPU. Two of the trials go beside PCL; all show that time grows with the total number
/// of neighbours.
std::vector<measure::Row> shot_speed(const Context& context) {
  struct Size {
    std::int64_t points;
    double neighbours;
    bool beside_pcl;
  };
  constexpr Size kSizes[] = {{4500, 300, false}, {9000, 300, false},  {18000, 300, false},
                             {36000, 300, true}, {36000, 100, false}, {36000, 600, false},
                             {36000, 1100, true}};
  std::vector<measure::Row> rows;
  std::vector<double> nanoseconds;
  for (const Size& size : kSizes) {
    const Trial trial = run_trial(context, size.points, size.neighbours, size.beside_pcl);
    if (size.beside_pcl) {
      compare(context, trial, rows);
    } else {
      rows.push_back({trial.name() + ", exact", "ms", {}, trial.exact_ms, {}, {}});
    }
    const double total = static_cast<double>(trial.cloud.size()) * trial.neighbours;
    nanoseconds.push_back(1e6 * trial.exact_ms / total);
  }
  const auto [least, most] = std::minmax_element(nanoseconds.begin(), nanoseconds.end());
  rows.push_back({"time of a neighbour, exact: least of all sizes", "ns", {}, *least, {}, {}});
  rows.push_back({"time of a neighbour, exact: most of all sizes", "ns", {}, *most, {}, {}});
  return rows;
}

}  // namespace sextant::app
