// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/options.h"
#include "sextant/core/workspace.h"

namespace sextant {

/// Descriptors in rows, one behind the other: SHOT as float, SIFT as bytes.
template <class T>
struct DescriptorRows {
  View<const T> values;
  int length = 0;  ///< numbers in a row

  std::int64_t rows() const { return length > 0 ? values.size / length : 0; }
};

/// The most neighbours that are found for a row.
inline constexpr int kMostNearestDescriptors = 8;
/// The longest rows of bytes (SIFT has 128) and of floats (colour SHOT has 1344).
inline constexpr int kMostDescriptorBytes = 128;
inline constexpr int kMostDescriptorFloats = 4096;

struct NearestDescriptorsOptions {
  int k = 2;  ///< neighbours of each row

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("k", self.k, "nearest neighbours of each descriptor", Range{1, kMostNearestDescriptors});
  }
};

/// The neighbours of query q in segment s are the elements (s queries + q) k and the k - 1 after
/// it, nearest first.
struct NearestDescriptors {
  int k = 0;
  std::int64_t queries = 0;
  Buffer<std::int32_t> indices;  ///< rows of the base; -1 where there is none
  Buffer<float> distances_sq;    ///< squares of Euclidean distances; infinite where there is none
};

/// Finds, for each query, the k rows of the base with the smallest Euclidean distance. The result
/// is exact: distances of bytes are whole numbers, those of floats are sums in double precision
/// that are rounded once, and of equally distant rows the one with the lower index comes first. It
/// is the same on every device, for any number of threads and on every instruction set, to the last
/// bit. A row with a number that is not finite, or whose squares add up to more than 1e36, is
/// nobody's neighbour and has none.
///
/// `segment_ends` splits the base into consecutive parts, one for each object say: part s ends
/// before row segment_ends[s], and each part has its own neighbours; where it is empty, the whole
/// base is one part. It lies on the context's device and ascends; what passes the base is cut off.
/// CUDA takes up to 65535 parts of floats and 8 million queries in a call.
///
/// Cost: every query meets every row. Bytes are multiplied by the processor's instructions for
/// bytes (AVX-512 VNNI, tensor cores). Floats are compared with the accuracy of the hardware's
/// fastest products first, and those that may be among the k nearest are measured again; where so
/// many are nearly as close that this does not decide, all are; on CUDA that also happens where a
/// few rows are hundreds of times longer than most. The CPU gives a thread 192 queries at a time.
NearestDescriptors nearest_descriptors(const Context& context, DescriptorRows<std::uint8_t> queries,
                                       DescriptorRows<std::uint8_t> base,
                                       const NearestDescriptorsOptions& options = {},
                                       View<const std::int32_t> segment_ends = {});
NearestDescriptors nearest_descriptors(const Context& context, DescriptorRows<float> queries,
                                       DescriptorRows<float> base,
                                       const NearestDescriptorsOptions& options = {},
                                       View<const std::int32_t> segment_ends = {});

/// Writes into room for queries × segments × k elements; there is at least one segment. Does not
/// wait. The workspace holds a copy of both descriptors, arranged for the hardware (on the CPU a
/// segment takes whole 64 rows, on CUDA a row of bytes takes 128), and on CUDA as many lists of
/// k + 2 neighbours as the base was split into parts for each result.
void nearest_descriptors_into(const Context& context, DescriptorRows<std::uint8_t> queries,
                              DescriptorRows<std::uint8_t> base,
                              View<const std::int32_t> segment_ends,
                              const NearestDescriptorsOptions& options, View<std::int32_t> indices,
                              View<float> distances_sq, Workspace& workspace);
void nearest_descriptors_into(const Context& context, DescriptorRows<float> queries,
                              DescriptorRows<float> base, View<const std::int32_t> segment_ends,
                              const NearestDescriptorsOptions& options, View<std::int32_t> indices,
                              View<float> distances_sq, Workspace& workspace);

struct DescriptorMatchOptions {
  /// The nearest must be closer than this share of the distance of the second (Lowe's test); 1
  /// asks for nothing.
  float ratio = 0.8f;
  /// The query must be the nearest of all queries to its nearest row, too.
  bool mutual = false;
  float most_distance = 0.0f;  ///< farther ones do not match; 0 for any distance

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("ratio", self.ratio, "largest share of the second neighbour's distance", Range{0, 1});
    visit("mutual", self.mutual, "both must be each other's nearest");
    visit("most_distance", self.most_distance, "farther descriptors do not match; 0 for any",
          Range{0, 1e9});
  }
};

/// For each query and segment the row that it matches, or -1: its nearest neighbour if that passes
/// the tests of the options. The ratio test needs k >= 2; a row that is the only one of its segment
/// passes it. With `mutual`, `back` holds the nearest query of each row of the base
/// (nearest_descriptors the other way round, any k); otherwise it is not read. Does not wait.
Buffer<std::int32_t> match_descriptors(const Context& context, const NearestDescriptors& nearest,
                                       const DescriptorMatchOptions& options = {},
                                       const NearestDescriptors& back = {});

}  // namespace sextant
