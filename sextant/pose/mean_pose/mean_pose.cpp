// SPDX-License-Identifier: Apache-2.0
#include "sextant/pose/mean_pose.h"

#include <vector>

#include "sextant/core/eigen_n.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

double checked_total(std::size_t poses, std::span<const double> weights) {
  require(poses > 0, "mean_rotation: nothing to take the mean of");
  if (weights.empty()) return static_cast<double>(poses);
  require(weights.size() == poses, "weights: ", weights.size(), " for ", poses, " poses");
  double total = 0;
  for (const double weight : weights) {
    require(weight >= 0 && std::isfinite(weight), "weights: ", weight, " is not a weight");
    total += weight;
  }
  require(total > 0, "weights: all of them are zero");
  return total;
}

}  // namespace

Mat3d mean_rotation(std::span<const Mat3d> rotations, std::span<const double> weights) {
  checked_total(rotations.size(), weights);
  SymN<double, 4> sum;
  for (std::size_t i = 0; i < rotations.size(); ++i) {
    const Quaternion<double> q = to_quaternion(rotations[i]);
    const double row[4] = {q.w, q.x, q.y, q.z};
    sum.add_outer(row, weights.empty() ? 1.0 : weights[i]);
  }
  const EigenN<double, 4> e = eigen_jacobi(sum);
  const double* v = e.vectors[3];
  return to_matrix(normalized(Quaternion<double>{v[0], v[1], v[2], v[3]}));
}

Rigid3d mean_pose(std::span<const Rigid3d> poses, std::span<const double> weights) {
  const double total = checked_total(poses.size(), weights);
  std::vector<Mat3d> rotations;
  Vec3d sum;
  for (std::size_t i = 0; i < poses.size(); ++i) {
    rotations.push_back(poses[i].rotation);
    sum += poses[i].translation * (weights.empty() ? 1.0 : weights[i]);
  }
  return {mean_rotation(rotations, weights), sum / total};
}

}  // namespace sextant
