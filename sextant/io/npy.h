// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace sextant {

/// Holds the numbers of one array of any dimensions; the last index runs fastest.
template <class T>
struct NpyArray {
  std::vector<std::int64_t> shape;  ///< empty for a single number
  std::vector<T> values;
};

/// Writes a NumPy file (NPY 1.0, little-endian, C order), which numpy.load reads. T is float,
/// std::int32_t or std::uint8_t. Throws Error unless the shape multiplies to the number of values.
template <class T>
void write_npy(const std::filesystem::path& path, std::span<const T> values,
               std::span<const std::int64_t> shape);
template <class T>
void write_npy(const std::filesystem::path& path, const NpyArray<T>& array) {
  write_npy<T>(path, array.values, array.shape);
}

/// Reads the array of a NumPy file (NPY 1.0) that holds this type of number. Another type, Fortran
/// order, big-endian numbers and a file that is longer or shorter than its shape says are refused
/// with the remedy. Memory is set aside only for what the file has room for.
template <class T>
NpyArray<T> read_npy(const std::filesystem::path& path);
/// Reads the same from memory; `name` stands for the file in messages.
template <class T>
NpyArray<T> read_npy(std::span<const std::byte> file, const std::string& name);

}  // namespace sextant
