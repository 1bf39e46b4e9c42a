// SPDX-License-Identifier: Apache-2.0
#include "sextant/match/point_pairs.h"

#include <algorithm>

#include "sextant/core/for_each.h"
#include "sextant/geometry/neighbours.h"
#include "sextant/match/point_pairs/math.h"

namespace sextant {

using namespace detail::point_pairs;

namespace {

constexpr std::int64_t kMostSamples = 20000;

Quantizer quantizer_of(const PointPairModel& model) {
  return quantizer(model.diameter_m, model.options.distance_step, model.options.angle_bins);
}

bool usable(const Vec3f& point, const Vec3f& normal) {
  return is_finite(point) && is_finite(normal);
}

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

/// What one reference point counts in; made once for many of them.
class Count {
 public:
  Count(const PointPairModel& model, std::int64_t cells)
      : model_points_(model.points.size()),
        votes_(static_cast<std::size_t>(model_points_ * kTurnBins)),
        asked_(static_cast<std::size_t>(cells)) {}

  void begin() {
    std::fill(votes_.begin(), votes_.end(), std::uint16_t{0});
    ++epoch_;
  }
  /// Whether the cell has not voted for this turn yet; it has afterwards.
  bool first_time(std::int64_t cell, int turn) {
    Asked& asked = asked_[static_cast<std::size_t>(cell)];
    const std::uint32_t bit = 1u << (turn >> kTurnShift);
    if (asked.epoch != epoch_) asked = {epoch_, 0};
    if (asked.turns & bit) return false;
    asked.turns |= bit;
    return true;
  }
  void vote(std::uint32_t pair, int scene_turn) {
    const std::uint32_t turn = (pair - static_cast<std::uint32_t>(scene_turn)) & (kTurns - 1);
    std::uint16_t& votes = votes_[(pair >> 8) * kTurnBins + (turn >> kTurnShift)];
    votes = static_cast<std::uint16_t>(votes + (votes != UINT16_MAX));
  }

  struct Peak {
    float votes = 0;
    std::int32_t point = -1;
    float turn_bins = 0;
  };
  /// The points and turns with the most votes, a turn's bin together with the better of its
  /// neighbours; the first of equals. A point proposes each turn once.
  void find_peaks(std::span<Peak> peaks) const {
    for (Peak& peak : peaks) peak = {};
    for (std::int64_t m = 0; m < model_points_; ++m) {
      const std::uint16_t* votes = votes_.data() + m * kTurnBins;
      for (int a = 0; a < kTurnBins; ++a) {
        const int here = votes[a];
        if (here == 0) continue;
        const int before = votes[(a + kTurnBins - 1) % kTurnBins];
        const int after = votes[(a + 1) % kTurnBins];
        if (before > here || after >= here) continue;  // the crest alone
        const int beside = std::max(before, after);
        const float sum = static_cast<float>(here + beside);
        if (!(sum > peaks.back().votes)) continue;
        const float shift = static_cast<float>(after >= before ? beside : -beside) / sum;
        insert(peaks, {sum, static_cast<std::int32_t>(m), static_cast<float>(a) + shift});
      }
    }
  }

 private:
  static void insert(std::span<Peak> peaks, const Peak& peak) {
    std::size_t at = peaks.size() - 1;
    for (; at > 0 && peak.votes > peaks[at - 1].votes; --at) peaks[at] = peaks[at - 1];
    peaks[at] = peak;
  }

  struct Asked {
    std::uint32_t epoch = 0, turns = 0;
  };
  std::int64_t model_points_;
  std::vector<std::uint16_t> votes_;
  std::vector<Asked> asked_;
  std::uint32_t epoch_ = 0;
};

/// Votes with the scene's points whose distance d from the reference has least < d <= most.
void vote_within(const PointPairModel& model, const Quantizer& bins, const NeighbourGridView& grid,
                 View<const Vec3f> normals, const NormalFrame& frame, const Vec3f& normal,
                 float least_m, float most_m, Count& count) {
  const std::uint32_t* first = model.cell_first.data();
  const std::uint32_t* pairs = model.pairs.data();
  for_each_neighbour(
      grid, frame.origin, most_m, [&](const GridPoint& neighbour, float distance_sq) {
        if (!(distance_sq > least_m * least_m)) return;
        const Vec3f d = neighbour.position - frame.origin;
        const PairFeature feature =
            bins.feature(d, std::sqrt(distance_sq), normal, normals[neighbour.index]);
        const int turn = turn_of(frame, d);
        bins.for_each_cell(feature, model.options.spread, [&](std::int64_t cell) {
          if (first[cell] == first[cell + 1] || !count.first_time(cell, turn)) return;
          for (std::uint32_t i = first[cell]; i < first[cell + 1]; ++i) count.vote(pairs[i], turn);
        });
      });
}

}  // namespace

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
  const Quantizer bins = quantizer_of(model);
  const auto for_each_pair = [&](auto&& f) {
    for (std::int64_t m = 0; m < points.size; ++m) {
      if (!usable(points[m], normals[m])) continue;
      const NormalFrame frame = normal_frame(points[m], normals[m]);
      for (std::int64_t i = 0; i < points.size; ++i) {
        if (i == m || !usable(points[i], normals[i])) continue;
        const Vec3f d = points[i] - points[m];
        const PairFeature feature = bins.feature(d, norm(d), normals[m], normals[i]);
        int at[4];
        for (int k = 0; k < 4; ++k) at[k] = bins.bin(k, feature.bins[k]);
        f(bins.cell(at),
          static_cast<std::uint32_t>(m) << 8 | static_cast<std::uint32_t>(turn_of(frame, d)));
      }
    }
  };
  std::vector<std::uint32_t> counts(static_cast<std::size_t>(bins.cells()));
  for_each_pair(
      [&](std::int64_t cell, std::uint32_t) { ++counts[static_cast<std::size_t>(cell)]; });
  drop_crowded(options.crowded, counts);
  model.cell_first = Buffer<std::uint32_t>(context, bins.cells() + 1);
  const std::span<std::uint32_t> first = model.cell_first.host();
  first[0] = 0;
  for (std::size_t c = 0; c < counts.size(); ++c) first[c + 1] = first[c] + counts[c];
  model.pairs = Buffer<std::uint32_t>(context, first.back());
  std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
  for_each_pair([&](std::int64_t cell, std::uint32_t pair) {
    const auto c = static_cast<std::size_t>(cell);
    if (counts[c] > 0) model.pairs.data()[next[c]++] = pair;
  });
  return model;
}

std::vector<PoseVote> vote_for_poses(const Context& context, const PointPairModel& model,
                                     View<const Vec3f> points, View<const Vec3f> normals) {
  require(context.is_cpu(), "vote_for_poses: runs on the CPU, the context on ",
          to_string(context.device()));
  require_on(context, points, "points");
  require_room(context, normals, points.size, "normals");
  const PointPairOptions& options = model.options;
  if (model.pairs.empty() || points.size < 2) return {};
  std::vector<Vec3f> kept;  // a place of NaN is in no cell of the grid
  for (std::int64_t i = 0; i < points.size; ++i) {
    kept.push_back(usable(points[i], normals[i]) ? points[i] : Vec3f{NAN, NAN, NAN});
  }
  const NeighbourGrid grid = build_neighbour_grid(
      context, view_of(kept), NeighbourGridOptions::for_radius(model.diameter_m));
  const Quantizer bins = quantizer_of(model);
  const float inner = min_of(model.inner_reach_m, model.diameter_m);
  const bool two_reaches = inner < 0.9f * model.diameter_m;

  const std::int64_t references =
      (points.size + options.reference_step - 1) / options.reference_step;
  const std::int64_t each = options.peaks * (two_reaches ? 2 : 1);
  std::vector<PoseVote> poses(static_cast<std::size_t>(references * each));
  constexpr std::int64_t kChunks = 16;  // each has a count of its own, about 1 MB
  for_each_chunk(
      context, references, (references + kChunks - 1) / kChunks,
      [&](std::int64_t begin, std::int64_t end) {
        Count count(model, bins.cells());
        std::vector<Count::Peak> peaks(static_cast<std::size_t>(options.peaks));
        for (std::int64_t r = begin; r < end; ++r) {
          const std::int64_t s = r * options.reference_step;
          if (!is_finite(kept[static_cast<std::size_t>(s)])) continue;
          const NormalFrame frame = normal_frame(points[s], normals[s]);
          PoseVote* out = poses.data() + r * each;
          const auto take_peaks = [&] {
            count.find_peaks(peaks);
            for (const Count::Peak& peak : peaks) {
              if (peak.point < 0) continue;
              const std::int64_t m = peak.point;
              const float turn_rad = (peak.turn_bins + 0.5f) * (2 * kPi / kTurnBins);
              *out++ = {
                  pose_of(frame, normal_frame(model.points.data()[m], model.normals.data()[m]),
                          turn_rad),
                  peak.votes, static_cast<std::int32_t>(s)};
            }
          };
          count.begin();
          if (two_reaches) {
            vote_within(model, bins, grid.view(), normals, frame, normals[s], 0, inner, count);
            take_peaks();
          }
          vote_within(model, bins, grid.view(), normals, frame, normals[s], two_reaches ? inner : 0,
                      model.diameter_m, count);
          take_peaks();
        }
      });
  std::erase_if(poses, [](const PoseVote& pose) { return pose.reference < 0; });
  return poses;
}

}  // namespace sextant
