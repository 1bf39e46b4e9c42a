// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/eigen3.h"
#include "sextant/surface/normals/math.h"
#include "sextant/surface/voting.h"

// Votes to one place. T is a number, or a pack of numbers that stand for as many voters.

namespace sextant::detail::voting {

inline constexpr float kVoteReach = 3.0f;          ///< in units of σ, exclusive
inline constexpr float kLeastDistanceSq = 1e-36f;  ///< of nearer points no direction is known
inline constexpr float kLeastSaliency = 1e-6f;     ///< of λ1, below which a direction is undefined

/// The weight of a vote from the distance d, where ratio_sq = (d/σ)² < 9.
template <VoteDecay kDecay, class T>
SEXTANT_HD inline T decay_of(const T& ratio_sq) {
  if constexpr (kDecay == VoteDecay::kGaussian) {
    return LaneMath<T>::quick_exp2(ratio_sq * -kLog2e);
  } else {
    const T left = LaneMath<T>::square_root(ratio_sq) - kVoteReach;
    const T left_sq = left * left;
    return ratio_sq * left_sq * left_sq * 0.0625f;
  }
}

/// For ball votes W = Σ w and S = Σ w r rᵀ; for stick votes S alone is the tensor.
template <class T>
struct VoteSums {
  T votes{};
  T weight{};
  T xx{}, xy{}, xz{}, yy{}, yz{}, zz{};
};

template <class T>
SEXTANT_HD inline void add(VoteSums<T>& to, const VoteSums<T>& more) {
  to.votes += more.votes;
  to.weight += more.weight;
  to.xx += more.xx;
  to.xy += more.xy;
  to.xz += more.xz;
  to.yy += more.yy;
  to.yz += more.yz;
  to.zz += more.zz;
}

template <class T>
SEXTANT_HD inline void add_outer(VoteSums<T>& to, const T& scale, const T& x, const T& y,
                                 const T& z) {
  const T sx = scale * x;
  const T sy = scale * y;
  const T sz = scale * z;
  to.xx += sx * x;
  to.xy += sx * y;
  to.xz += sx * z;
  to.yy += sy * y;
  to.yz += sy * z;
  to.zz += sz * z;
}

/// (x, y, z) from votee to voter or back; a weight of 0 adds nothing as long as all is finite.
template <class T>
SEXTANT_HD inline void add_ball_vote(VoteSums<T>& sums, const T& x, const T& y, const T& z,
                                     const T& weight, const T& inverse_sq) {
  sums.weight += weight;
  const T scale = weight * inverse_sq;
  add_outer(sums, scale, x, y, z);
}

/// The reflection v = n - 2 (r·n) r of the voter's normal, up to its sign, and cos²θ = 1 - (r·n)².
template <class T>
struct StickVote {
  T x, y, z;
  T cosine_sq;
};
template <class T>
SEXTANT_HD inline StickVote<T> stick_vote(const T& x, const T& y, const T& z, const T& inverse_sq,
                                          const T& nx, const T& ny, const T& nz) {
  const T along = x * nx + y * ny + z * nz;
  const T share = along * inverse_sq;
  const T twice = share + share;
  return {nx - twice * x, ny - twice * y, nz - twice * z, 1.0f - along * share};
}
inline constexpr float kLeastCosineSq = 0.5f;  ///< θ <= 45°

/// Everything that the votes to a list of places need.
struct VotingJob {
  NeighbourGridView grid;    ///< of the voters; unused by brute force
  const GridPoint* votees;   ///< in cell order
  View<const Vec3f> voters;  ///< brute force
  View<const Vec3f> places;  ///< votees in the caller's order
  const Vec4f* sticks;       ///< by index of the voter: normal and saliency; for stick votes
  float radius_m;
  float inverse_sigma_sq;
  bool self_vote;
  Sym3f* tensors;
  std::int32_t* votes;
};

/// One vote, to be added or not.
template <VoteDecay kDecay, bool kSticks>
SEXTANT_HD inline void add_vote(const VotingJob& job, const Vec3f& votee, const Vec3f& voter,
                                std::int32_t index, VoteSums<float>& sums) {
  const float distance_sq = squared_distance(voter, votee);
  if (!(distance_sq < job.radius_m * job.radius_m) || !(distance_sq >= kLeastDistanceSq)) return;
  const Vec3f d = voter - votee;
  const float inverse_sq = LaneMath<float>::quick_inverse(distance_sq);
  float weight = decay_of<kDecay>(distance_sq * job.inverse_sigma_sq);
  if constexpr (kSticks) {
    const Vec4f stick = job.sticks[index];
    const StickVote<float> vote = stick_vote(d.x, d.y, d.z, inverse_sq, stick.x, stick.y, stick.z);
    const float cosine_sq = vote.cosine_sq;
    if (!(cosine_sq >= kLeastCosineSq) || !(stick.w > 0.0f)) return;
    weight *= stick.w * (cosine_sq * cosine_sq) * (cosine_sq * cosine_sq);
    add_outer(sums, weight, vote.x, vote.y, vote.z);
  } else {
    add_ball_vote(sums, d.x, d.y, d.z, weight, inverse_sq);
  }
  if (weight > 0.0f) sums.votes += 1.0f;
}

/// One ball vote between finite places, without branches: where neighbouring threads differ in
/// whether a voter is within reach, passing over it saves nothing.
template <VoteDecay kDecay>
SEXTANT_HD inline void add_near_ball_vote(const VotingJob& job, const Vec3f& votee,
                                          const Vec3f& voter, VoteSums<float>& sums) {
  const float distance_sq = squared_distance(voter, votee);
  const bool counts = distance_sq < job.radius_m * job.radius_m && distance_sq >= kLeastDistanceSq;
  const Vec3f d = voter - votee;
  const float inverse_sq = LaneMath<float>::quick_inverse(counts ? distance_sq : 1.0f);
  float weight = decay_of<kDecay>(distance_sq * job.inverse_sigma_sq);
  weight = counts ? weight : 0.0f;
  add_ball_vote(sums, d.x, d.y, d.z, weight, inverse_sq);
  sums.votes += weight > 0.0f ? 1.0f : 0.0f;
}

/// Stores the tensor of the votee with that index; NaN when it is not finite.
template <bool kSticks>
SEXTANT_HD inline void store_tensor(const VotingJob& job, bool finite, std::int64_t index,
                                    const VoteSums<float>& sums) {
  Sym3f tensor{sums.xx, sums.xy, sums.xz, sums.yy, sums.yz, sums.zz};
  if constexpr (!kSticks) {
    const float diagonal = sums.weight + (job.self_vote ? 1.0f : 0.0f);
    tensor = Sym3f{diagonal, 0, 0, diagonal, 0, diagonal} - tensor;
  }
  if (!finite) tensor = {NAN, NAN, NAN, NAN, NAN, NAN};
  job.tensors[index] = tensor;
  job.votes[index] = finite ? static_cast<std::int32_t>(sums.votes) : 0;
}

/// The tensor of one place, split. In double: the difference of two eigenvalues decides.
struct SplitTensor {
  const Sym3f* tensors;
  const Vec3f* places;
  bool orient;
  Vec3f viewpoint_m;
  Saliency* saliencies;
  Vec3f* normals;
  Vec3f* tangents;
  std::uint8_t* flags;

  SEXTANT_HD void operator()(std::int64_t i) const {
    const Sym3f t = tensors[i];
    const Eigen3<double> e = eigen(Sym3d{t.xx, t.xy, t.xz, t.yy, t.yz, t.zz});
    const double most = e.values[2];
    const double stick = e.values[2] - e.values[1];
    const double plate = e.values[1] - e.values[0];
    saliencies[i] = {static_cast<float>(stick), static_cast<float>(plate),
                     static_cast<float>(e.values[0]),
                     most == 0.0 ? 0.0f : static_cast<float>(stick / most)};
    const bool has_normal = most > 0.0 && stick >= double(kLeastSaliency) * most;
    const bool has_tangent = most > 0.0 && plate >= double(kLeastSaliency) * most;
    const Vec3f nothing{NAN, NAN, NAN};
    Vec3f normal = has_normal ? cast<float>(e.vectors.row[2]) : nothing;
    if (orient) normal = normals::oriented_towards(viewpoint_m, places[i], normal);
    normals[i] = normal;
    tangents[i] = has_tangent ? cast<float>(e.vectors.row[0]) : nothing;
    flags[i] = static_cast<std::uint8_t>((has_normal ? 0 : kNormalUndefined) |
                                         (has_tangent ? 0 : kTangentUndefined));
  }
};

/// What a voter of the second pass brings; without a defined normal, nothing.
struct MakeStick {
  const Vec3f* normals;
  const Saliency* saliencies;
  Vec4f* sticks;
  SEXTANT_HD void operator()(std::int64_t i) const {
    const Vec3f n = normals[i];
    sticks[i] = is_finite(n) ? Vec4f{n.x, n.y, n.z, saliencies[i].stick} : Vec4f{};
  }
};

struct PlaceAt {
  PlaceGrid grid;
  Vec3f* positions;
  SEXTANT_HD void operator()(std::int64_t i) const {
    const std::int64_t yz = i / grid.size.x;
    positions[i] = {grid.low_m.x + grid.step_m * static_cast<float>(i % grid.size.x),
                    grid.low_m.y + grid.step_m * static_cast<float>(yz % grid.size.y),
                    grid.low_m.z + grid.step_m * static_cast<float>(yz / grid.size.y)};
  }
};

void cast_votes_cuda(const Context& context, const VotingJob& job, VoteDecay decay,
                     VoterSearch search);

}  // namespace sextant::detail::voting
