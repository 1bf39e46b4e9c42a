// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "sextant/core/host_device.h"

namespace sextant {

/// A symmetric N×N matrix as its packed lower triangle: entry (i, j) with j <= i lies at
/// i (i + 1) / 2 + j. Normal equations and covariances are such matrices.
template <class T, int N>
struct SymN {
  static constexpr int kSize = N;
  T packed[N * (N + 1) / 2] = {};

  SEXTANT_HD T& at(int i, int j) { return i >= j ? packed[index(i, j)] : packed[index(j, i)]; }
  SEXTANT_HD const T& at(int i, int j) const {
    return i >= j ? packed[index(i, j)] : packed[index(j, i)];
  }

  /// Adds weight · row rowᵀ, one line of a least-squares problem.
  SEXTANT_HD void add_outer(const T (&row)[N], T weight) {
    for (int i = 0; i < N; ++i) {
      const T scaled = weight * row[i];
      for (int j = 0; j <= i; ++j) packed[index(i, j)] += scaled * row[j];
    }
  }

 private:
  static SEXTANT_HD constexpr int index(int i, int j) { return i * (i + 1) / 2 + j; }
};

/// M = L Lᵀ. `ok` is false, and the rest meaningless, unless M is positive definite beyond
/// rounding.
template <class T, int N>
struct Cholesky {
  SymN<T, N> lower;
  bool ok = false;

  /// Solves M x = b in place.
  SEXTANT_HD void solve(T (&b)[N]) const {
    for (int i = 0; i < N; ++i) {
      for (int k = 0; k < i; ++k) b[i] -= lower.at(i, k) * b[k];
      b[i] /= lower.at(i, i);
    }
    for (int i = N - 1; i >= 0; --i) {
      for (int k = i + 1; k < N; ++k) b[i] -= lower.at(k, i) * b[k];
      b[i] /= lower.at(i, i);
    }
  }
};

/// A pivot below `relative_pivot` times its diagonal entry counts as zero.
template <class T, int N>
SEXTANT_HD Cholesky<T, N> cholesky(const SymN<T, N>& m, T relative_pivot = T(0)) {
  Cholesky<T, N> result;
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j <= i; ++j) {
      T sum = m.at(i, j);
      for (int k = 0; k < j; ++k) sum -= result.lower.at(i, k) * result.lower.at(j, k);
      if (i == j) {
        if (!(sum > relative_pivot * std::abs(m.at(i, i))) || !std::isfinite(sum)) return result;
        result.lower.at(i, i) = std::sqrt(sum);
      } else {
        result.lower.at(i, j) = sum / result.lower.at(j, j);
      }
    }
  }
  result.ok = true;
  return result;
}

/// M = P L D Lᵀ Pᵀ with symmetric pivoting on the largest remaining diagonal. It serves matrices
/// that are only semi-definite as well: there `rank` < N, and `solve` gives a solution with zeros
/// in the directions that M does not see.
template <class T, int N>
struct Ldlt {
  SymN<T, N> lower;  ///< unit lower triangle, D on its diagonal
  int order[N] = {};
  int rank = 0;

  SEXTANT_HD void solve(T (&b)[N]) const {
    T y[N];
    for (int i = 0; i < N; ++i) y[i] = b[order[i]];
    for (int i = 0; i < N; ++i) {
      for (int k = 0; k < i; ++k) y[i] -= lower.at(i, k) * y[k];
    }
    for (int i = 0; i < N; ++i) y[i] = i < rank ? y[i] / lower.at(i, i) : T(0);
    for (int i = N - 1; i >= 0; --i) {
      if (i >= rank) continue;
      for (int k = i + 1; k < N; ++k) y[i] -= lower.at(k, i) * y[k];
    }
    for (int i = 0; i < N; ++i) b[order[i]] = y[i];
  }
};

/// Pivots below `relative_pivot` times the largest diagonal entry end the factorisation.
template <class T, int N>
SEXTANT_HD Ldlt<T, N> ldlt(const SymN<T, N>& matrix, T relative_pivot) {
  Ldlt<T, N> result;
  SymN<T, N>& m = result.lower;
  m = matrix;
  T largest = T(0);
  for (int i = 0; i < N; ++i) {
    result.order[i] = i;
    const T diagonal = std::abs(m.at(i, i));
    if (diagonal > largest) largest = diagonal;
  }
  for (int k = 0; k < N; ++k) {
    int pivot = k;
    for (int i = k + 1; i < N; ++i) {
      if (m.at(i, i) > m.at(pivot, pivot)) pivot = i;
    }
    if (!(m.at(pivot, pivot) > relative_pivot * largest)) break;
    if (pivot != k) {
      const int swapped = result.order[k];
      result.order[k] = result.order[pivot];
      result.order[pivot] = swapped;
      // Exchange rows and columns k and pivot of the packed triangle.
      for (int j = 0; j < N; ++j) {
        if (j == k || j == pivot) continue;
        const T value = m.at(k, j);
        m.at(k, j) = m.at(pivot, j);
        m.at(pivot, j) = value;
      }
      const T value = m.at(k, k);
      m.at(k, k) = m.at(pivot, pivot);
      m.at(pivot, pivot) = value;
    }
    const T d = m.at(k, k);
    for (int i = k + 1; i < N; ++i) {
      const T l = m.at(i, k) / d;
      for (int j = k + 1; j <= i; ++j) m.at(i, j) -= l * m.at(j, k);
    }
    for (int i = k + 1; i < N; ++i) m.at(i, k) /= d;
    result.rank = k + 1;
  }
  return result;
}

}  // namespace sextant
