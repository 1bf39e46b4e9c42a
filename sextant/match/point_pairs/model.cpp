// SPDX-License-Identifier: Apache-2.0
// Makes the tables of models.
#include <algorithm>

#include "sextant/match/point_pairs/job.h"

namespace sextant {

using namespace detail::point_pairs;

namespace {

constexpr std::int64_t kMostSamples = 20000;

/// The longer diagonal of the two smaller extents along the axes of the points' scatter.
float inner_reach(std::span<const Vec3f> points) {
  Vec3d mean{};
  for (const Vec3f& p : points) mean += cast<double>(p);
  mean = mean / static_cast<double>(std::max<std::size_t>(points.size(), 1));
  Sym3d scatter{};
  for (const Vec3f& p : points) {
    scatter = scatter + outer(cast<double>(p) - mean);
  }
  const Eigen3<double> axes = eigen_jacobi(scatter);
  double extent[3];
  for (int k = 0; k < 3; ++k) {
    double low = INFINITY, high = -INFINITY;
    for (const Vec3f& p : points) {
      const double along = dot(axes.vectors.row[k], cast<double>(p));
      low = std::min(low, along);
      high = std::max(high, along);
    }
    extent[k] = high - low;
  }
  std::sort(extent, extent + 3);
  return static_cast<float>(std::hypot(extent[0], extent[1]));
}

/// Empties cells that hold more than `crowded` times the mean of those that hold any.
void drop_crowded(float crowded, std::vector<std::uint32_t>& counts) {
  std::int64_t pairs = 0, held = 0;
  for (const std::uint32_t count : counts) {
    pairs += count;
    held += count > 0;
  }
  if (held == 0) return;
  const double most = std::max(
      1.0, static_cast<double>(crowded) * static_cast<double>(pairs) / static_cast<double>(held));
  for (std::uint32_t& count : counts) {
    if (count > most) count = 0;
  }
}

/// The rows of a table whose pairs ascend in every cell, and where those of each cell begin.
void make_rows(std::span<const std::uint32_t> cell_first, std::span<const std::uint32_t> pairs,
               std::vector<std::uint32_t>& row_first, std::vector<PairRow>& rows) {
  row_first.assign(cell_first.size(), 0);
  rows.clear();
  for (std::size_t c = 0; c + 1 < cell_first.size(); ++c) {
    std::size_t of_point = rows.size();  // the first row of the point
    for (std::uint32_t i = cell_first[c]; i < cell_first[c + 1]; ++i) {
      const std::uint32_t point = pairs[i] / kTurnBins, turn = 1u << pairs[i] % kTurnBins;
      if (of_point < rows.size() && rows[of_point].point != point) of_point = rows.size();
      std::size_t row = of_point;
      while (row < rows.size() && (rows[row].turns & turn)) ++row;
      if (row == rows.size()) rows.push_back({point, 0});
      rows[row].turns |= turn;
    }
    row_first[c + 1] = static_cast<std::uint32_t>(rows.size());
  }
}

}  // namespace

namespace detail::point_pairs {

VotingModel voting_model(const PointPairModel& model) {
  const PointPairOptions& options = model.options;
  const float inner = min_of(model.inner_reach_m, model.diameter_m);
  VotingModel voting;
  voting.bins = quantizer(model.diameter_m, options.distance_step, options.angle_bins);
  voting.spread = options.spread;
  voting.inner_sq = inner * inner;
  voting.outer_sq = model.diameter_m * model.diameter_m;
  voting.two_reaches = inner < 0.9f * model.diameter_m;
  voting.reference_step = options.reference_step;
  voting.peaks = options.peaks;
  voting.samples = model.pairs.empty() ? 0 : static_cast<int>(model.points.size());
  voting.points = model.points.data();
  voting.normals = model.normals.data();
  voting.occupied = model.occupied.data();
  voting.cell_first = model.cell_first.data();
  voting.pairs = model.pairs.data();
  return voting;
}

}  // namespace detail::point_pairs

PointPairModel make_point_pair_model(const Context& context, View<const Vec3f> points,
                                     View<const Vec3f> normals, double diameter_m,
                                     const PointPairOptions& options) {
  check_options(options);
  require(context.is_cpu(), "make_point_pair_model: runs on the CPU, the context on ",
          to_string(context.device()));
  require_room(context, normals, points.size, "normals");
  require(std::isfinite(diameter_m) && diameter_m > 0, "diameter_m: ", diameter_m,
          " is not a positive number");
  require(points.size <= kMostSamples, "points: ", points.size, " are more than ", kMostSamples,
          "; sample them with a larger leaf");
  PointPairModel model;
  model.options = options;
  model.diameter_m = static_cast<float>(diameter_m);
  model.points = copy(context, points);
  model.normals = copy(context, normals);
  model.inner_reach_m = inner_reach(model.points.host());
  const Quantizer bins = quantizer(model.diameter_m, options.distance_step, options.angle_bins);
  const auto for_each_pair = [&](auto&& f) {
    for (std::int64_t m = 0; m < points.size; ++m) {
      if (!usable(points[m], normals[m])) continue;
      const NormalFrame<float> frame = normal_frame(points[m], normals[m]);
      for (std::int64_t i = 0; i < points.size; ++i) {
        if (i == m || !usable(points[i], normals[i])) continue;
        const Vec3f d = points[i] - points[m];
        const float cell = bins.cell(bins.feature(d, norm_sq(d), normals[m], normals[i]));
        f(static_cast<std::size_t>(cell), static_cast<std::uint32_t>(m) * kTurnBins +
                                              static_cast<std::uint32_t>(turn_of(frame, d)));
      }
    }
  };
  std::vector<std::uint32_t> counts(static_cast<std::size_t>(bins.cells()));
  for_each_pair([&](std::size_t cell, std::uint32_t) { ++counts[cell]; });
  drop_crowded(options.crowded, counts);
  model.cell_first = Buffer<std::uint32_t>(context, bins.cells() + 1);
  model.occupied = Buffer<std::uint32_t>(context, bins.cells() / 32 + 1);
  const std::span<std::uint32_t> first = model.cell_first.host();
  std::fill_n(model.occupied.data(), model.occupied.size(), 0u);
  first[0] = 0;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    first[c + 1] = first[c] + counts[c];
    if (counts[c] > 0) model.occupied.data()[c / 32] |= 1u << c % 32;
  }
  model.pairs = Buffer<std::uint32_t>(context, first.back());
  std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
  for_each_pair([&](std::size_t cell, std::uint32_t pair) {
    if (counts[cell] > 0) model.pairs.data()[next[cell]++] = pair;
  });
  for (std::size_t c = 0; c < counts.size(); ++c) {
    std::sort(model.pairs.data() + first[c], model.pairs.data() + first[c + 1]);
  }
  return model;
}

PointPairModels::PointPairModels(const Context& context,
                                 std::span<const PointPairModel* const> models) {
  auto state = std::make_shared<State>();
  std::vector<std::uint32_t> row_first;
  std::vector<PairRow> rows;
  for (const PointPairModel* model : models) {
    PointPairModel table;
    table.options = model->options;
    table.diameter_m = model->diameter_m;
    table.inner_reach_m = model->inner_reach_m;
    table.points = copy(context, model->points);
    table.normals = copy(context, model->normals);
    table.occupied = copy(context, model->occupied);
    if (context.is_cuda()) {
      make_rows(model->cell_first.host(), model->pairs.host(), row_first, rows);
      table.cell_first = copy(context, row_first);
      state->rows.push_back(copy(context, rows));
    } else {
      table.cell_first = copy(context, model->cell_first);
      table.pairs = copy(context, model->pairs);
    }
    VotingModel voting = voting_model(*model);
    voting.points = table.points.data();
    voting.normals = table.normals.data();
    voting.occupied = table.occupied.data();
    voting.cell_first = table.cell_first.data();
    voting.pairs = table.pairs.data();
    if (context.is_cuda()) voting.rows = state->rows.back().data();
    state->host.push_back(voting);
    state->tables.push_back(std::move(table));
    state->most_samples = std::max(state->most_samples, voting.samples);
    state->most_peaks = std::max(state->most_peaks, voting.peaks);
    state->least_step = state->host.size() == 1
                            ? voting.reference_step
                            : std::min(state->least_step, voting.reference_step);
  }
  state->models = copy(context, state->host);
  state_ = std::move(state);
}

std::int32_t PointPairModels::size() const {
  return state_ ? static_cast<std::int32_t>(state_->host.size()) : 0;
}

Device PointPairModels::device() const { return state_ ? state_->models.device() : Device{}; }

}  // namespace sextant
