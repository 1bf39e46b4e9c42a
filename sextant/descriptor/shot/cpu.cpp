// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sextant/core/for_each.h"
#include "sextant/descriptor/local_frame/lanes.h"
#include "sextant/descriptor/shot/job.h"

namespace sextant::detail::shot {

namespace {

/// What select_within carries along with a neighbour.
enum KnownColumn : int { kNx, kNy, kNz, kVotes, kLight, kA, kB, kKnown };
constexpr int kKnownShape = kLight;

/// Votes of some neighbours, written by many lanes and then counted one after the other.
struct Ballot {
  static constexpr int kRoom = 64;
  alignas(64) std::int32_t entry[kShotVotes][kRoom];
  alignas(64) std::int32_t amount[kShotVotes][kRoom];

  template <class Pack>
  void write(const ShotVotes<Pack>& votes, bool exact, int at) {
    for (int v = 0; v < (exact ? kShotVotes : kApproxShotVotes); ++v) {
      convert<std::int32_t>(votes.entry[v]).store(entry[v] + at);
      convert<std::int32_t>(votes.amount[v] + Pack(0.5f)).store(amount[v] + at);
    }
  }
};

/// Counts of votes. Neighbours follow each other cell by cell, and one after the other they often
/// meet the same entry: two halves in turn, so that an addition need not wait for the last.
class Histogram {
 public:
  explicit Histogram(int length)
      : stride_((length + neighbours::kLanes - 1) / neighbours::kLanes * neighbours::kLanes),
        counts_(static_cast<std::size_t>(2 * stride_)) {}

  void clear() { std::fill(counts_.begin(), counts_.end(), 0); }

  /// `count` is even.
  template <int kVotes>
  void add(const Ballot& ballot, int count) {
    std::int32_t* const even = counts_.data();
    std::int32_t* const odd = even + stride_;
    for (int i = 0; i < count; i += 2) {
      for (int v = 0; v < kVotes; ++v) even[ballot.entry[v][i]] += ballot.amount[v][i];
      for (int v = 0; v < kVotes; ++v) odd[ballot.entry[v][i + 1]] += ballot.amount[v][i + 1];
    }
  }

  /// Scaled to length 1; false when nobody voted.
  template <class Set>
  bool write(float* to, int length) {
    using Ints = IntLanes<local_frame::kFour, Set>;
    local_frame::FourDoubles<Set> squares;
    std::int32_t* const counts = counts_.data();
    for (int i = 0; i < stride_; i += local_frame::kFour) {
      const Ints all = Ints::load(counts + i) + Ints::load(counts + stride_ + i);
      all.store(counts + i);
      const local_frame::FourDoubles<Set> value = convert<double>(all);
      squares += value * value;
    }
    const double length_sq = squares.sum();
    if (!(length_sq > 0.0)) return false;
    const float inverse = static_cast<float>(1.0 / std::sqrt(length_sq));
    for (int i = 0; i < length; ++i) {
      to[i] = static_cast<float>(counts[i]) * inverse;
    }
    return true;
  }

 private:
  int stride_;
  std::vector<std::int32_t> counts_;
};

/// All that one thread needs beside the job.
struct Scratch {
  explicit Scratch(const ShotJob& job) : histogram(job.length) {}
  neighbours::CandidateTile tile;
  neighbours::FloatColumns known;       ///< normals and colours of the tile's candidates
  neighbours::FloatColumns rows;        ///< neighbours
  neighbours::FloatColumns frame_rows;  ///< those within the frame's radius, when that is another
  Histogram histogram;
};

/// Normals and colours of the tile, in its order.
void gather_known(const ShotJob& job, Scratch& scratch) {
  const std::int64_t count = scratch.tile.count();
  const bool color = job.lab != nullptr;
  scratch.known.reserve(kKnown, count);
  float* column[kKnown];
  for (int c = 0; c < kKnown; ++c) column[c] = scratch.known.column(c);
  const std::int32_t* const indices = scratch.tile.indices();
  for (std::int64_t i = 0; i < count; ++i) {
    const Vec3f normal = job.normals[indices[i]];
    const bool votes = can_vote(normal);
    column[kNx][i] = votes ? normal.x : 0.0f;
    column[kNy][i] = votes ? normal.y : 0.0f;
    column[kNz][i] = votes ? normal.z : 0.0f;
    column[kVotes][i] = votes ? 1.0f : 0.0f;
    if (!color) continue;
    const Vec3f lab = job.lab[indices[i]];
    column[kLight][i] = lab.x;
    column[kA][i] = lab.y;
    column[kB][i] = lab.z;
  }
}

neighbours::CandidateColumns candidates(const ShotJob& job, const Scratch& scratch,
                                        const float* (&extra)[kKnown]) {
  const int extras = job.lab ? kKnown : kKnownShape;
  for (int c = 0; c < extras; ++c) extra[c] = scratch.known.column(c);
  return local_frame::columns_of(scratch.tile, extra, extras);
}

/// What all neighbours of one keypoint share.
struct Voting {
  local_frame::LocalFrame frame;
  Vec3f keypoint_lab;
  float scale;
};

/// A pack of neighbours, from `first` on, write their votes at place `at`.
template <class Pack>
void vote(const ShotJob& job, const neighbours::FloatColumns& rows, std::int64_t first,
          const Voting& voting, int at, Ballot& shape, Ballot& color) {
  const auto load = [&](int column) { return Pack::load(rows.column(column) + first); };
  const auto known = [&](int column) { return load(neighbours::kPayload + column); };
  const local_frame::LocalFrame& frame = voting.frame;
  const Vec3<Pack> offset{load(neighbours::kDx), load(neighbours::kDy), load(neighbours::kDz)};
  const Pack distance_sq = load(neighbours::kDistanceSq);
  const Pack inverse = LaneMath<Pack>::inverse_square_root(distance_sq);
  const Vec3<Pack> local{frame_dot(offset, frame.x), frame_dot(offset, frame.y),
                         frame_dot(offset, frame.z)};
  const ShotPlace<Pack> place = shot_place(local, distance_sq, inverse, job.sphere);
  const Pack scale = LaneMath<Pack>::select(distance_sq < Pack(kLeastShotSquare), Pack(0.0f),
                                            known(kVotes) * Pack(voting.scale));
  if (job.shape) {
    const Vec3<Pack> normal{known(kNx), known(kNy), known(kNz)};
    const ShotBin<Pack> bin = shape_bin(frame_dot(normal, frame.z), job.bins);
    shape.write(votes_of(place, bin, static_cast<float>(job.shape_bins), 0.0f, scale), job.exact,
                at);
  }
  if (job.lab) {
    const Vec3<Pack> lab{known(kLight), known(kA), known(kB)};
    const ShotBin<Pack> bin = color_bin(lab, voting.keypoint_lab, job.bins);
    color.write(votes_of(place, bin, static_cast<float>(kColorBins),
                         static_cast<float>(job.color_base), scale),
                job.exact, at);
  }
}

/// Rows 0 .. count - 1 vote; they are filled up with rows that have nothing to give.
template <class Set>
void vote_all(const ShotJob& job, const neighbours::FloatColumns& rows, std::int64_t count,
              const Voting& voting, Histogram& histogram) {
  using Pack = FloatLanes<Set::kFloats, Set>;
  Ballot shape, color;
  for (std::int64_t begin = 0; begin < count; begin += Ballot::kRoom) {
    const int voters = static_cast<int>(min_of<std::int64_t>(Ballot::kRoom, count - begin));
    for (int at = 0; at < voters; at += Pack::kCount) {
      vote<Pack>(job, rows, begin + at, voting, at, shape, color);
    }
    const int even = (voters + 1) / 2 * 2;
    for (const Ballot* ballot : {job.shape ? &shape : nullptr, job.lab ? &color : nullptr}) {
      if (!ballot) continue;
      if (job.exact) {
        histogram.add<kShotVotes>(*ballot, even);
      } else {
        histogram.add<kApproxShotVotes>(*ballot, even);
      }
    }
  }
}

/// The descriptors of queries begin .. end - 1.
struct ShotOfRange {
  ShotJob job;

  template <class Set>
  void operator()(Set, std::int64_t begin, std::int64_t end) const {
    Scratch scratch(job);
    const float* extra[kKnown];
    neighbours::CandidateColumns from{};
    auto gathered = [&](const neighbours::CandidateTile&) {
      gather_known(job, scratch);
      scratch.rows.reserve(int{neighbours::kPayload} + int{kKnown}, scratch.tile.count());
      if (own_frames()) scratch.frame_rows.reserve(neighbours::kPayload, scratch.tile.count());
      from = candidates(job, scratch, extra);
    };
    auto found = [&](const GridPoint& query, const neighbours::CandidateTile&, float) {
      describe<Set>(query, from, scratch);
    };
    auto none = [&](const GridPoint& query) { refuse(query.index, ShotStatus::kNotFinite, {}); };
    const float reach_m =
        job.given_frames ? job.radius_m : max_of(job.radius_m, job.frame_radius_m);
    neighbours::search_cells_within(job.grid, job.queries, begin, end, reach_m, scratch.tile,
                                    gathered, found, none);
  }

 private:
  bool own_frames() const { return !job.given_frames && job.frame_radius_m != job.radius_m; }

  template <class Set>
  void describe(const GridPoint& query, const neighbours::CandidateColumns& from,
                Scratch& scratch) const {
    const Vec3f p = query.position;
    const int columns = neighbours::kPayload + from.extras;
    const std::int64_t within =
        neighbours::select_within<Set>(from, p, job.radius_m * job.radius_m, scratch.rows);
    const local_frame::LocalFrame frame = frame_at<Set>(query, from, within, scratch);
    if (!is_finite(frame.x)) return refuse(query.index, ShotStatus::kNoFrame, {});
    if (within == 0) return refuse(query.index, ShotStatus::kTooFew, {});
    if (within < kLeastShotNeighbours) return refuse(query.index, ShotStatus::kTooFew, frame);
    const std::int64_t count = voters_among(within, job.exact, job.most_neighbours);
    neighbours::thin_out(scratch.rows, columns, within, count);
    scratch.histogram.clear();
    const Vec3f keypoint_lab = job.lab ? job.keypoint_lab[query.index] : Vec3f{};
    vote_all<Set>(job, scratch.rows, count, {frame, keypoint_lab, vote_scale(count)},
                  scratch.histogram);
    if (!scratch.histogram.write<Set>(row(query.index), job.length)) {
      return refuse(query.index, ShotStatus::kNoVote, frame);
    }
    put(query.index, ShotStatus::kDescribed, frame);
  }

  template <class Set>
  local_frame::LocalFrame frame_at(const GridPoint& query, const neighbours::CandidateColumns& from,
                                   std::int64_t count, Scratch& scratch) const {
    if (job.given_frames) {
      const Vec3f* const given = job.given_frames + 3 * std::int64_t{query.index};
      return is_frame(given) ? local_frame::LocalFrame{given[0], given[1], given[2]}
                             : local_frame::LocalFrame{};
    }
    const bool own = own_frames();
    if (own) {
      const float radius_sq = job.frame_radius_m * job.frame_radius_m;
      const neighbours::CandidateColumns bare{from.x, from.y, from.z, from.count, nullptr, 0};
      count = neighbours::select_within<Set>(bare, query.position, radius_sq, scratch.frame_rows);
    }
    return local_frame::frame_from_rows<Set>(own ? scratch.frame_rows : scratch.rows, count,
                                             scratch.tile, query.position, job.frame_radius_m);
  }

  float* row(std::int64_t index) const { return job.values + index * job.length; }

  void put(std::int64_t index, ShotStatus status, const local_frame::LocalFrame& frame) const {
    job.status[index] = status;
    if (job.frames) local_frame::store_frame(frame, job.frames + 3 * index);
  }

  void refuse(std::int64_t index, ShotStatus status, const local_frame::LocalFrame& frame) const {
    std::fill(row(index), row(index) + job.length, NAN);
    put(index, status, frame);
  }
};

}  // namespace

void compute_shot_cpu(const Context& context, const ShotJob& job) {
  const ShotOfRange range{job};
  for_each_chunk(context, job.count, local_frame::kKeypointGrain,
                 [&](std::int64_t begin, std::int64_t end) { run_widest(range, begin, end); });
}

}  // namespace sextant::detail::shot
