// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>
#include <vector>

#include "sextant/core/eigen3.h"
#include "sextant/surface/voting.h"

// Tensor voting by its definition: all pairs, in double.

namespace sextant::testing {

/// A result in host memory.
struct HostVotes {
  std::vector<Sym3f> tensors;
  std::vector<Saliency> saliencies;
  std::vector<Vec3f> normals, tangents;
  std::vector<std::int32_t> votes;
  std::vector<std::uint8_t> flags;
};

inline HostVotes on_host(const Context& context, const VotingResult& result) {
  return {to_host(context, result.tensors), to_host(context, result.saliencies),
          to_host(context, result.normals), to_host(context, result.tangents),
          to_host(context, result.votes),   to_host(context, result.flags)};
}
inline HostVotes votes_of(const Context& context, const std::vector<Vec3f>& points,
                          const VotingOptions& options) {
  return on_host(context, vote(context, copy(context, points), options));
}

/// The angle between lines.
inline double angle_deg(const Vec3f& a, const Vec3f& b) {
  const Vec3d u = cast<double>(a), v = cast<double>(b);
  return std::atan2(norm(cross(u, v)), std::abs(dot(u, v))) * 180.0 / std::numbers::pi;
}

/// The largest difference of entries over the largest entry, or over 1e-3 where that is less.
template <class A, class B>
double relative_difference(const Sym3<A>& a, const Sym3<B>& b) {
  const Sym3d x{double(a.xx), double(a.xy), double(a.xz), double(a.yy), double(a.yz), double(a.zz)};
  const Sym3d y{double(b.xx), double(b.xy), double(b.xz), double(b.yy), double(b.yz), double(b.zz)};
  return max_abs(x - y) / std::max(max_abs(y), 1e-3);
}

struct OracleVote {
  Sym3d tensor;
  int votes = 0;
  int at_the_border = 0;  ///< voters that rounding may count or not
};

/// Calls f(j, offset, squared distance, weight) for the voters of a place.
template <class Function>
void for_each_voter(const std::vector<Vec3f>& voters, const Vec3f& place,
                    const VotingOptions& options, OracleVote& result, const Function& f) {
  const double sigma = options.sigma_m;
  for (std::size_t j = 0; j < voters.size(); ++j) {
    if (!is_finite(voters[j])) continue;
    const Vec3d d = cast<double>(voters[j]) - cast<double>(place);
    const double z_sq = norm_sq(d) / (sigma * sigma);
    if (z_sq == 0.0) continue;
    if (std::abs(z_sq - 9) < 1e-5) ++result.at_the_border;
    if (z_sq >= 9) continue;
    const double left = std::sqrt(z_sq) - 3;
    const double weight = options.decay == VoteDecay::kGaussian
                              ? std::exp(-z_sq)
                              : z_sq * left * left * left * left / 16;
    f(j, d, norm_sq(d), weight);
  }
}

/// What `collect(place, result)` gathers at each votee; a hole gets no vote.
template <class Collect>
std::vector<OracleVote> at_every_votee(const std::vector<Vec3f>& votees, const Collect& collect) {
  std::vector<OracleVote> results;
  for (const Vec3f& place : votees) {
    OracleVote& result = results.emplace_back();
    if (is_finite(place)) {
      collect(place, result);
    } else {
      result.tensor.xx = NAN;
    }
  }
  return results;
}

inline std::vector<OracleVote> oracle_votes(const std::vector<Vec3f>& voters,
                                            const std::vector<Vec3f>& votees,
                                            const VotingOptions& options) {
  return at_every_votee(votees, [&](const Vec3f& place, OracleVote& result) {
    const double self = options.self_vote ? 1.0 : 0.0;
    result.tensor = {self, 0, 0, self, 0, self};
    for_each_voter(voters, place, options, result,
                   [&](std::size_t, const Vec3d& d, double d_sq, double weight) {
                     result.tensor = result.tensor + Sym3d{weight, 0, 0, weight, 0, weight} -
                                     outer(d) * (weight / d_sq);
                     ++result.votes;
                   });
  });
}

/// Stick votes of the normals that ball votes gave the voters.
inline std::vector<OracleVote> oracle_sticks(const std::vector<Vec3f>& voters,
                                             const HostVotes& ball,
                                             const std::vector<Vec3f>& votees,
                                             const VotingOptions& options) {
  return at_every_votee(votees, [&](const Vec3f& place, OracleVote& result) {
    for_each_voter(voters, place, options, result,
                   [&](std::size_t j, const Vec3d& d, double d_sq, double weight) {
                     if (!is_finite(ball.normals[j])) return;
                     const Vec3d n = cast<double>(ball.normals[j]);
                     const Vec3d r = d / std::sqrt(d_sq);
                     const double sine = dot(r, n);
                     if (std::abs(sine * sine - 0.5) < 1e-5) ++result.at_the_border;
                     if (sine * sine > 0.5) return;
                     const double scale =
                         weight * double(ball.saliencies[j].stick) * std::pow(1 - sine * sine, 4);
                     result.tensor = result.tensor + outer(n - r * (2 * sine)) * scale;
                     ++result.votes;
                   });
  });
}

/// Within what the header promises.
inline void expect_oracle(const HostVotes& found, const std::vector<OracleVote>& truth) {
  ASSERT_EQ(found.tensors.size(), truth.size());
  for (std::size_t i = 0; i < truth.size(); ++i) {
    ASSERT_EQ(is_finite(found.tensors[i]), is_finite(truth[i].tensor)) << "votee " << i;
    if (!is_finite(truth[i].tensor)) continue;
    if (truth[i].at_the_border > 0) continue;
    ASSERT_EQ(found.votes[i], truth[i].votes) << "votee " << i;
    ASSERT_LT(relative_difference(found.tensors[i], truth[i].tensor), 1e-5) << "votee " << i;
    const Eigen3<double> e = eigen_jacobi(truth[i].tensor);
    if (!(e.values[2] - e.values[1] > 0.01 * std::max(e.values[2], 1e-3))) continue;
    ASSERT_LT(angle_deg(found.normals[i], cast<float>(e.vectors.row[2])), 0.01) << "votee " << i;
  }
}

}  // namespace sextant::testing
