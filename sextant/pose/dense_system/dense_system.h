// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace sextant::detail {

/// A dense symmetric positive definite system of equations on the host, of which the lower triangle
/// is used: n³ / 3 flop to solve it.
class DenseSystem {
 public:
  explicit DenseSystem(std::size_t size) : size_(size), matrix_(size * size, 0.0), right_(size) {}

  std::size_t size() const { return size_; }
  void add(std::size_t i, std::size_t j, double value) { matrix_[i * size_ + j] += value; }
  void add_right(std::size_t i, double value) { right_[i] += value; }
  double at(std::size_t i, std::size_t j) const { return matrix_[i * size_ + j]; }
  double right(std::size_t i) const { return right_[i]; }

  /// Cholesky's factor in place of the lower triangle; false where it is not positive definite.
  bool factorize() {
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = matrix_[i * size_ + j];
        for (std::size_t k = 0; k < j; ++k) sum -= matrix_[i * size_ + k] * matrix_[j * size_ + k];
        if (i == j) {
          if (!(sum > 0)) return false;
          matrix_[i * size_ + i] = std::sqrt(sum);
        } else {
          matrix_[i * size_ + j] = sum / matrix_[j * size_ + j];
        }
      }
    }
    return true;
  }
  /// Solves for a right side in place, with the factor.
  void solve(std::vector<double>& b) const {
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t k = 0; k < i; ++k) b[i] -= matrix_[i * size_ + k] * b[k];
      b[i] /= matrix_[i * size_ + i];
    }
    for (std::size_t i = size_; i-- > 0;) {
      for (std::size_t k = i + 1; k < size_; ++k) b[i] -= matrix_[k * size_ + i] * b[k];
      b[i] /= matrix_[i * size_ + i];
    }
  }
  /// Puts the solution into the place of the right side; false as factorize.
  bool solve() {
    if (!factorize()) return false;
    solve(right_);
    return true;
  }
  const double* solution() const { return right_.data(); }

 private:
  std::size_t size_;
  std::vector<double> matrix_, right_;
};

}  // namespace sextant::detail
