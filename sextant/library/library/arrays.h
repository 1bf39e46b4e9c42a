// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/buffer.h"
#include "sextant/core/image.h"
#include "sextant/core/mat3.h"

// Named arrays in a compressed blob: a part of an object as the file holds it (docs/library.md).

namespace sextant::detail::library {

/// How the numbers of an array lie in a blob.
enum class Packing {
  kAll,     ///< all of them
  kNonZero  ///< a bit for each that says whether any of its bits is set, then those where it is
};

/// An array has at most this many bytes: a file that somebody made up cannot ask for more memory.
inline constexpr std::int64_t kMostArrayBytes = std::int64_t{1} << 31;
/// The most that SQLite takes as one value.
inline constexpr std::int64_t kMostBlobBytes = 1000000000;

/// What an element is made of: `columns` numbers of the type that NumPy calls `type`.
struct ElementKind {
  const char* type;
  int columns;
};
template <class T>
struct ElementKindOf;
template <>
struct ElementKindOf<std::uint8_t> {
  static constexpr ElementKind value{"|u1", 1};
};
template <>
struct ElementKindOf<std::uint16_t> {
  static constexpr ElementKind value{"<u2", 1};
};
template <>
struct ElementKindOf<std::uint32_t> {
  static constexpr ElementKind value{"<u4", 1};
};
template <>
struct ElementKindOf<std::int32_t> {
  static constexpr ElementKind value{"<i4", 1};
};
template <>
struct ElementKindOf<float> {
  static constexpr ElementKind value{"<f4", 1};
};
template <>
struct ElementKindOf<double> {
  static constexpr ElementKind value{"<f8", 1};
};
template <>
struct ElementKindOf<Rgb8> {
  static constexpr ElementKind value{"|u1", 3};
};
template <>
struct ElementKindOf<Vec2f> {
  static constexpr ElementKind value{"<f4", 2};
};
template <>
struct ElementKindOf<Vec3f> {
  static constexpr ElementKind value{"<f4", 3};
};
template <>
struct ElementKindOf<Vec3d> {
  static constexpr ElementKind value{"<f8", 3};
};
template <>
struct ElementKindOf<Vec3i> {
  static constexpr ElementKind value{"<i4", 3};
};
template <>
struct ElementKindOf<Mat3f> {
  static constexpr ElementKind value{"<f4", 9};
};
template <>
struct ElementKindOf<Mat3d> {
  static constexpr ElementKind value{"<f8", 9};
};

/// Collects arrays and makes the blob of them. The same arrays give the same blob.
class ArrayWriter {
 public:
  /// `name` stands for the part in messages.
  explicit ArrayWriter(std::string name) : name_(std::move(name)) {}

  template <class T>
  void add(std::string_view array, std::span<const T> elements, Packing packing = Packing::kAll) {
    static_assert(std::is_trivially_copyable_v<T>);
    add_bytes(array, ElementKindOf<T>::value, std::as_bytes(elements), packing);
  }
  template <class T>
  void add(std::string_view array, const std::vector<T>& elements) {
    add(array, std::span<const T>(elements));
  }
  template <class T>
  void add(std::string_view array, const Buffer<T>& elements, Packing packing = Packing::kAll) {
    add(array, elements.host(), packing);
  }
  template <class T>
  void add_number(std::string_view array, const T& number) {
    add(array, std::span<const T>(&number, 1));
  }

  /// The blob of what was added.
  std::vector<std::byte> finish() const;

 private:
  void add_bytes(std::string_view array, ElementKind kind, std::span<const std::byte> bytes,
                 Packing packing);

  std::string name_;
  std::string header_;             ///< of the arrays so far, in JSON
  std::vector<std::byte> planes_;  ///< of the arrays so far
};

/// The arrays of a blob, which must outlive it. Every disagreement between what is asked for and
/// what is there is an Error.
class ArrayReader {
 public:
  ArrayReader(std::span<const std::byte> blob, std::string name);

  bool has(std::string_view array) const { return find(array) != nullptr; }

  /// The elements of an array; none where there is no such array.
  template <class T>
  Buffer<T> read(std::string_view array) const {
    const Array* found = find(array);
    if (found == nullptr) return {};
    check_kind(*found, ElementKindOf<T>::value);
    Buffer<T> elements(Context::cpu(), found->numbers / ElementKindOf<T>::value.columns);
    unpack(*found, std::as_writable_bytes(elements.host()));
    return elements;
  }
  /// An array that must have this many elements.
  template <class T>
  Buffer<T> read(std::string_view array, std::int64_t elements) const {
    Buffer<T> found = read<T>(array);
    require(found.size() == elements, name_, ": ", array, " has ", found.size(),
            " elements instead of ", elements);
    return found;
  }
  template <class T>
  T read_number(std::string_view array) const {
    return read<T>(array, 1).host()[0];
  }
  const std::string& name() const { return name_; }

 private:
  struct Array {
    std::string name;
    std::string type;
    std::int64_t numbers = 0;
    int columns = 1;
    int number_bytes = 1;
    Packing packing = Packing::kAll;
    std::vector<std::span<const std::byte>> planes;  ///< as stored
  };
  Array parse(const nlohmann::json& entry) const;
  const Array* find(std::string_view array) const;
  void check_kind(const Array& array, ElementKind kind) const;
  void unpack(const Array& array, std::span<std::byte> to) const;
  void unpack_non_zero(const Array& array, std::span<std::byte> to) const;

  std::string name_;
  std::vector<Array> arrays_;
};

}  // namespace sextant::detail::library
