// SPDX-License-Identifier: Apache-2.0
#include "bench/nanoflann_search.h"

#include <Eigen/Eigenvalues>
#include <nanoflann.hpp>

namespace sextant::measure {

namespace {

/// nanoflann's view of the points.
struct PointSource {
  const std::vector<Vec3f>& points;
  std::size_t kdtree_get_point_count() const { return points.size(); }
  float kdtree_get_pt(std::size_t i, std::size_t axis) const {
    return axis == 0 ? points[i].x : axis == 1 ? points[i].y : points[i].z;
  }
  template <class Box>
  bool kdtree_get_bbox(Box&) const {
    return false;
  }
};
using NanoTree =
    nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<float, PointSource>,
                                        PointSource, 3, std::uint32_t>;

}  // namespace

void nanoflann_nearest(const std::vector<Vec3f>& points, Nearest& result) {
  const PointSource source{points};
  NanoTree tree(3, source, nanoflann::KDTreeSingleIndexAdaptorParams(10));
#pragma omp parallel for schedule(dynamic, 1024) num_threads(kThreads)
  for (std::size_t i = 0; i < points.size(); ++i) {
    tree.knnSearch(&points[i].x, kK, &result.indices[i * kK], &result.distances_sq[i * kK]);
  }
}

void nanoflann_normals(const std::vector<Vec3f>& points, std::vector<Vec3f>& normals) {
  const PointSource source{points};
  NanoTree tree(3, source, nanoflann::KDTreeSingleIndexAdaptorParams(10));
#pragma omp parallel for schedule(dynamic, 1024) num_threads(kThreads)
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::uint32_t indices[kK];
    float distances_sq[kK];
    const std::size_t found = tree.knnSearch(&points[i].x, kK, indices, distances_sq);
    Eigen::Vector3f mean = Eigen::Vector3f::Zero();
    const Eigen::Map<const Eigen::Vector3f> p(&points[i].x);
    for (std::size_t j = 0; j < found; ++j) {
      mean += Eigen::Map<const Eigen::Vector3f>(&points[indices[j]].x) - p;
    }
    mean /= static_cast<float>(found);
    Eigen::Matrix3f scatter = Eigen::Matrix3f::Zero();
    for (std::size_t j = 0; j < found; ++j) {
      const Eigen::Vector3f d = Eigen::Map<const Eigen::Vector3f>(&points[indices[j]].x) - p - mean;
      scatter += d * d.transpose();
    }
    Eigen::SelfAdjointEigenSolver<Eigen::Matrix3f> solver;
    solver.computeDirect(scatter);
    Eigen::Vector3f normal = solver.eigenvectors().col(0);
    if (normal.dot(p) > 0) normal = -normal;
    normals[i] = {normal.x(), normal.y(), normal.z()};
  }
}

std::uint64_t nanoflann_within(const std::vector<Vec3f>& points, float radius_m, bool sorted) {
  const PointSource source{points};
  NanoTree tree(3, source, nanoflann::KDTreeSingleIndexAdaptorParams(10));
  std::uint64_t total = 0;
  nanoflann::SearchParams parameters;
  parameters.sorted = sorted;
#pragma omp parallel num_threads(kThreads) reduction(+ : total)
  {
    std::vector<std::pair<std::uint32_t, float>> found;
#pragma omp for schedule(dynamic, 1024)
    for (std::size_t i = 0; i < points.size(); ++i) {
      total += tree.radiusSearch(&points[i].x, radius_m * radius_m, found, parameters);
    }
  }
  return total;
}

}  // namespace sextant::measure
