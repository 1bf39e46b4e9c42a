// SPDX-License-Identifier: Apache-2.0
// Votes on the CPU.
#include <bit>
#include <cstring>

#include "sextant/core/for_each.h"
#include "sextant/core/simd/instruction_set.h"
#include "sextant/core/simd/lanes_math.h"
#include "sextant/match/point_pairs/sorted_scene.h"

namespace sextant::detail::point_pairs {

namespace {

constexpr std::int64_t kChunks = 16;  // of references; each has a count of its own
constexpr int kMostPeaks = 16;        // that PointPairOptions allows

/// The turns that the scene has seen of a cell: of pairs within the inner reach, and of others.
struct SeenCell {
  std::uint32_t cell_and_one = 0;  ///< 0 where the place is free
  std::uint32_t turns[2] = {};
};

/// What one reference point counts in; its memory serves many of them.
struct Count {
  std::uint16_t* votes;    ///< samples × kTurnBins
  SeenCell* table;         ///< by open addressing
  std::uint32_t* touched;  ///< places of the table that are taken
  std::uint32_t table_mask;
  int hash_shift;
  std::uint32_t seen = 0;

  void see(std::uint32_t cell, std::uint32_t turn, bool outer) {
    std::uint32_t place = (cell * 0x9E3779B9u) >> hash_shift;
    while (table[place].cell_and_one != cell + 1) {
      if (table[place].cell_and_one == 0) {
        table[place].cell_and_one = cell + 1;
        touched[seen++] = place;
        break;
      }
      place = (place + 1) & table_mask;
    }
    table[place].turns[outer] |= 1u << turn;
  }
  void forget() {
    for (std::uint32_t i = 0; i < seen; ++i) table[touched[i]] = {};
    seen = 0;
  }
};

/// How large the tables of a count are.
struct CountSize {
  std::int64_t votes, places;

  CountSize(const VotingModel& model, std::int64_t points)
      : votes(std::int64_t{model.samples} * kTurnBins) {
    const std::int64_t most = min_of(points * (model.spread > 0 ? 16 : 1), model.bins.cells());
    places = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * most + 2)));
  }
};

struct Peak {
  int point = -1;
  int bin = 0;
  Crest crest;
};

/// The references begin .. end - 1 of one model, for an instruction set.
struct VoteOfReferences {
  const VotingModel& model;
  const SortedScene& scene;
  View<const Vec3f> points, normals;
  int votes_each;
  PoseVote* votes;

  template <class Set>
  void operator()(Set set, std::int64_t begin, std::int64_t end, Count& count) const {
    for (std::int64_t r = begin; r < end; ++r) {
      PoseVote* out = votes + r * votes_each;
      PoseVote* const out_end = out + votes_each;
      const std::int64_t s = r * model.reference_step;
      if (usable(points[s], normals[s])) {
        const NormalFrame<float> frame = normal_frame(points[s], normals[s]);
        see_neighbours(set, frame, count);
        std::memset(count.votes, 0,
                    sizeof(std::uint16_t) * kTurnBins * static_cast<std::size_t>(model.samples));
        if (model.two_reaches) {
          vote(count, false);
          out = write_peaks(frame, static_cast<std::int32_t>(s), count, out);
          vote(count, true);
        } else {
          vote(count, true);
        }
        out = write_peaks(frame, static_cast<std::int32_t>(s), count, out);
        count.forget();
      }
      for (; out != out_end; ++out) *out = {};
    }
  }

 private:
  /// Notes cell and turn of every pair of the reference.
  template <class Set>
  void see_neighbours(Set, const NormalFrame<float>& frame, Count& count) const {
    using Pack = FloatLanes<Set::kFloats, Set>;
    using Ints = IntLanes<Set::kFloats, Set>;
    const auto all = [](const Vec3f& v) { return Vec3<Pack>{Pack(v.x), Pack(v.y), Pack(v.z)}; };
    const NormalFrame<Pack> wide{
        {{all(frame.rotation.row[0]), all(frame.rotation.row[1]), all(frame.rotation.row[2])}},
        all(frame.origin)};
    const Pack outer_sq(model.outer_sq), inner_sq(model.two_reaches ? model.inner_sq : -1.0f);
    scene.for_each_run(frame.origin, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; i += Set::kFloats) {
        const auto load = [&](int c) { return Pack::load(scene.column(c) + i); };
        const Vec3<Pack> d{load(0) - wide.origin.x, load(1) - wide.origin.y,
                           load(2) - wide.origin.z};
        const Pack distance_sq = d.x * d.x + d.y * d.y + d.z * d.z;
        // A pack may see points of the next run too: what was seen twice counts once.
        std::uint32_t near = ((distance_sq <= outer_sq) & (distance_sq > Pack(0.0f))).bits();
        if (near == 0) continue;
        const std::uint32_t outer = (distance_sq > inner_sq).bits();
        const PairFeature<Pack> feature = model.bins.feature(d, distance_sq, wide.rotation.row[0],
                                                             Vec3<Pack>{load(3), load(4), load(5)});
        std::int32_t turns[Set::kFloats], cells[Set::kFloats];
        convert<std::int32_t>(turn_of(wide, d)).store(turns);
        if (model.spread > 0) {
          see_spread(feature, near, outer, turns, count);
          continue;
        }
        const Ints cell = convert<std::int32_t>(model.bins.cell(feature));
        cell.store(cells);
        for (; near != 0; near &= near - 1) {
          const int l = std::countr_zero(near);
          const auto at = static_cast<std::uint32_t>(cells[l]);
          if (model.is_occupied(at)) {
            count.see(at, static_cast<std::uint32_t>(turns[l]), outer >> l & 1);
          }
        }
      }
    });
  }

  template <class Pack>
  void see_spread(const PairFeature<Pack>& feature, std::uint32_t near, std::uint32_t outer,
                  const std::int32_t* turns, Count& count) const {
    for (; near != 0; near &= near - 1) {
      const int l = std::countr_zero(near);
      const PairFeature<float> one{{feature.bins[0].lane(l), feature.bins[1].lane(l),
                                    feature.bins[2].lane(l), feature.bins[3].lane(l)}};
      model.bins.for_each_cell(one, model.spread, [&](std::uint32_t cell) {
        if (model.is_occupied(cell)) {
          count.see(cell, static_cast<std::uint32_t>(turns[l]), outer >> l & 1);
        }
      });
    }
  }

  /// Every cell that was seen votes: pair (m, turn) for (m, turn - t) for every turn t seen.
  void vote(Count& count, bool outer) const {
    for (std::uint32_t i = 0; i < count.seen; ++i) {
      const SeenCell& seen = count.table[count.touched[i]];
      const std::uint32_t turns = outer ? seen.turns[1] & ~seen.turns[0] : seen.turns[0];
      if (turns == 0) continue;
      const std::uint32_t cell = seen.cell_and_one - 1;
      const std::uint32_t* const first = model.pairs + model.cell_first[cell];
      const std::uint32_t* const last = model.pairs + model.cell_first[cell + 1];
      constexpr int kFewTurns = 2;           // that are cheaper one by one
      constexpr std::ptrdiff_t kSetUp = 32;  // votes that setting up rows costs
      const int many = std::popcount(turns) - kFewTurns;
      if (many * (last - first) > kSetUp) {
        vote_rows(count.votes, first, last, turns);
      } else {
        vote_singly(count.votes, first, last, turns);
      }
    }
  }
  static void vote_singly(std::uint16_t* votes, const std::uint32_t* first,
                          const std::uint32_t* last, std::uint32_t turns) {
    for (; turns != 0; turns &= turns - 1) {
      const auto turn = static_cast<std::uint32_t>(std::countr_zero(turns));
      for (const std::uint32_t* pair = first; pair != last; ++pair) {
        ++votes[(*pair & ~31u) + ((*pair - turn) & 31u)];
      }
    }
  }
  /// All turns of a pair at once: row m gets the mask of turns, reversed and shifted.
  static void vote_rows(std::uint16_t* votes, const std::uint32_t* first, const std::uint32_t* last,
                        std::uint32_t turns) {
    std::uint16_t reversed[2 * kTurnBins];  // twice, so that each shift is a load
    for (int j = 0; j < 2 * kTurnBins; ++j) {
      reversed[j] = static_cast<std::uint16_t>(turns >> ((kTurnBins - j) & (kTurnBins - 1)) & 1);
    }
    for (const std::uint32_t* pair = first; pair != last; ++pair) {
      std::uint16_t* row = votes + (*pair & ~31u);
      const std::uint16_t* add = reversed + kTurnBins - (*pair & 31u);
      for (int t = 0; t < kTurnBins; ++t) row[t] = static_cast<std::uint16_t>(row[t] + add[t]);
    }
  }

  /// Writes the poses of the highest crests, the first of equals, and returns the end of them.
  PoseVote* write_peaks(const NormalFrame<float>& frame, std::int32_t reference, const Count& count,
                        PoseVote* out) const {
    Peak peaks[kMostPeaks];
    for (int m = 0; m < model.samples; ++m) {
      const std::uint16_t* row = count.votes + m * kTurnBins;
      // A crest has at most twice the votes of its bin.
      const int least = peaks[model.peaks - 1].crest.votes / 2;
      std::uint16_t above = 0;
      for (int t = 0; t < kTurnBins; ++t) above |= static_cast<std::uint16_t>(row[t] > least);
      if (above == 0) continue;
      for (int t = 0; t < kTurnBins; ++t) {
        const Crest crest =
            crest_of(row[(t + kTurnBins - 1) % kTurnBins], row[t], row[(t + 1) % kTurnBins]);
        if (crest.votes <= peaks[model.peaks - 1].crest.votes) continue;
        int at = model.peaks - 1;
        for (; at > 0 && crest.votes > peaks[at - 1].crest.votes; --at) peaks[at] = peaks[at - 1];
        peaks[at] = {m, t, crest};
      }
    }
    for (int k = 0; k < model.peaks && peaks[k].point >= 0; ++k) {
      *out++ = vote_of(model, frame, peaks[k].point, peaks[k].bin, peaks[k].crest, reference);
    }
    return out;
  }
};

}  // namespace

void vote_cpu(const Context& context, const VotingModel& model, View<const Vec3f> points,
              View<const Vec3f> normals, int votes_each, PoseVote* votes, Workspace& workspace) {
  const std::int64_t references = model.references(points.size);
  if (references == 0) return;
  if (model.samples == 0) {
    std::fill_n(votes, references * votes_each, PoseVote{});
    return;
  }
  const Workspace::Scope scope(workspace);
  const SortedScene scene(context, points, normals, std::sqrt(model.outer_sq), workspace);
  const CountSize size(model, points.size);
  const std::int64_t grain = (references + kChunks - 1) / kChunks;
  const std::int64_t chunks = (references + grain - 1) / grain;
  std::uint16_t* counts = workspace.take<std::uint16_t>(context, chunks * size.votes).data;
  SeenCell* tables = workspace.take<SeenCell>(context, chunks * size.places).data;
  std::uint32_t* touched = workspace.take<std::uint32_t>(context, chunks * size.places / 2).data;
  for_each_chunk(context, references, grain, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t chunk = begin / grain;
    SeenCell* table = tables + chunk * size.places;
    std::fill_n(table, size.places, SeenCell{});
    Count count{counts + chunk * size.votes, table, touched + chunk * size.places / 2,
                static_cast<std::uint32_t>(size.places - 1),
                32 - std::countr_zero(static_cast<std::uint64_t>(size.places))};
    run_widest(VoteOfReferences{model, scene, points, normals, votes_each, votes}, begin, end,
               count);
  });
}

}  // namespace sextant::detail::point_pairs
