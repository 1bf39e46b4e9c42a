// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/sym3.h"
#include "sextant/geometry/cloud.h"
#include "sextant/geometry/neighbours.h"

namespace sextant {

/// How a vote loses weight with the distance d.
enum class VoteDecay : std::int32_t {
  kGaussian,  ///< exp(-(d/σ)²), the paper's
  kSmooth     ///< z² (z - 3)⁴ / 16 with z = d/σ: nothing from near points, most from d = σ
};
inline constexpr Choice<VoteDecay> kVoteDecays[] = {{"gaussian", VoteDecay::kGaussian},
                                                    {"smooth", VoteDecay::kSmooth}};

/// How voters are found. The result is the same up to rounding.
enum class VoterSearch : std::int32_t {
  kCells,      ///< by a grid: time grows with points × votes
  kBruteForce  ///< all pairs, as in the paper: for comparison
};
inline constexpr Choice<VoterSearch> kVoterSearches[] = {{"cells", VoterSearch::kCells},
                                                         {"brute_force", VoterSearch::kBruteForce}};

struct VotingOptions {
  float sigma_m = 0.0f;  ///< reach of a vote, cut off at 3 σ; 0 takes default_sigma_m(points)
  VoteDecay decay = VoteDecay::kGaussian;
  bool self_vote = true;     ///< tensors start as the identity: a unit ball of the votee's own
  bool second_pass = false;  ///< the normals found by ball votes cast stick votes
  VoterSearch search = VoterSearch::kCells;
  bool orient = false;  ///< turn normals to the viewpoint's side; else their sign means nothing
  Vec3f viewpoint_m{};

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("sigma_m", self.sigma_m, "reach of votes, which end at 3 sigma; 0 takes the resolution's",
          Range{0, 1e9});
    visit("decay", self.decay, "how votes lose weight with distance", kVoteDecays);
    visit("self_vote", self.self_vote, "tensors start as the identity");
    visit("second_pass", self.second_pass, "let the normals that were found vote once more");
    visit("search", self.search, "how voters are found", kVoterSearches);
    visit("orient", self.orient, "turn normals towards the viewpoint");
    visit("viewpoint_x_m", self.viewpoint_m.x, "normals point towards it", Range{-1e9, 1e9});
    visit("viewpoint_y_m", self.viewpoint_m.y, "normals point towards it", Range{-1e9, 1e9});
    visit("viewpoint_z_m", self.viewpoint_m.z, "normals point towards it", Range{-1e9, 1e9});
  }
};

/// How much a place looks like a surface, a curve and neither, from the tensor's eigenvalues
/// λ1 >= λ2 >= λ3.
struct Saliency {
  float stick = 0;       ///< λ1 - λ2: surface
  float plate = 0;       ///< λ2 - λ3: curve
  float ball = 0;        ///< λ3: no direction
  float confidence = 0;  ///< stick / λ1, in [0, 1]; 0 for a tensor of zeros
};

/// Bits of VotingResult::flags.
inline constexpr std::uint8_t kNormalUndefined = 1;   ///< stick < 1e-6 λ1: the normal is NaN
inline constexpr std::uint8_t kTangentUndefined = 2;  ///< plate < 1e-6 λ1: the tangent is NaN

/// One element per votee. A votee that is not finite has NaN everywhere, no votes and both flags.
struct VotingResult {
  VotingResult() = default;
  VotingResult(const Context& context, std::int64_t votees)
      : tensors(context, votees),
        saliencies(context, votees),
        normals(context, votees),
        tangents(context, votees),
        votes(context, votees),
        flags(context, votees) {}
  std::int64_t size() const { return tensors.size(); }

  Buffer<Sym3f> tensors;
  Buffer<Saliency> saliencies;
  Buffer<Vec3f> normals;       ///< eigenvector of λ1: across the surface
  Buffer<Vec3f> tangents;      ///< eigenvector of λ3: along the curve
  Buffer<std::int32_t> votes;  ///< how many were received
  Buffer<std::uint8_t> flags;
};

/// Sparse tensor voting: every point casts a ball vote to every other one within 3 σ,
///
///   T_i = I + Σ_j w(d_ij) (I - r rᵀ),   r = (x_i - x_j) / d_ij,   0 < d_ij < 3 σ.
///
/// Coincident points (less than 1e-18 m apart) cast no vote to each other; NaN and infinite points
/// neither vote nor receive. With `second_pass`, points whose normal n is defined then cast stick
/// votes T_i = Σ_j stick_j w(d) cos⁸θ v vᵀ with v = n - 2 (r·n) r, the normal of the circle through
/// both, and sin θ = |r·n| <= sin 45°.
///
/// Accuracy: tensors within 1e-5 of their largest entry (of 1e-3, where that is less) of sums in
/// double, normals then within 0.01° where the confidence exceeds 0.01; CPU and CUDA agree as
/// closely. Same bits on every run and for every number of threads. A second pass starts from
/// normals that are wrong by that much.
/// Cost: about 30 flop and one exponential for each point within a box of 7.5 σ. Memory: a grid and
/// the result, however many votes there are. Waits for the device only to find σ when it is 0.
VotingResult vote(const Context& context, View<const Vec3f> points,
                  const VotingOptions& options = {});

/// What the voters say at other places, such as the positions of a grid: a dense field. There,
/// self_vote = false keeps places without votes at zero. sigma_m = 0 is the voters' default.
VotingResult vote_at(const Context& context, View<const Vec3f> voters, View<const Vec3f> votees,
                     const VotingOptions& options = {});

/// Into a result with one element per votee, with a grid of the voters (which brute force does not
/// look at). Any grid of them will do; cells as grid_options proposes make it fast. Does not wait,
/// so sigma_m must be given.
void vote_into(const Context& context, const NeighbourGrid& grid, View<const Vec3f> points,
               const VotingOptions& options, VotingResult& result, Workspace& workspace);
void vote_at_into(const Context& context, const NeighbourGrid& grid, View<const Vec3f> voters,
                  View<const Vec3f> votees, const VotingOptions& options, VotingResult& result,
                  Workspace& workspace);
NeighbourGridOptions grid_options(const VotingOptions& options);

/// Positions x + nx (y + ny z) of a box of places that are step_m apart.
struct PlaceGrid {
  Vec3f low_m;
  float step_m = 0;
  Vec3i size;

  std::int64_t places() const { return std::int64_t{size.x} * size.y * size.z; }
};

/// The places that cover the bounds and `margin_m` around them. Throws Error for more than 2³⁰.
PlaceGrid place_grid(const Bounds& bounds, float step_m, float margin_m = 0.0f);
Buffer<Vec3f> grid_positions(const Context& context, const PlaceGrid& grid);

}  // namespace sextant
