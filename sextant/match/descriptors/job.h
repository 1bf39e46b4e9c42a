// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/match/descriptors.h"

namespace sextant::detail::descriptors {

/// A search whose arguments have been checked. All memory lies on the context's device.
template <class T>
struct Job {
  DescriptorRows<T> queries;
  DescriptorRows<T> base;
  View<const std::int32_t> segment_ends;  ///< of at least one segment
  int k;
  View<std::int32_t> indices;
  View<float> distances_sq;
};

/// Rows begin .. end - 1 of the base are segment s.
struct Segment {
  std::int32_t begin;
  std::int32_t end;
};
SEXTANT_HD inline Segment segment_at(const std::int32_t* ends, std::int64_t s,
                                     std::int64_t base_rows) {
  const auto clipped = [base_rows](std::int32_t row) {
    return row < 0 ? 0 : row < base_rows ? row : static_cast<std::int32_t>(base_rows);
  };
  const std::int32_t begin = s > 0 ? clipped(ends[s - 1]) : 0;
  const std::int32_t end = clipped(ends[s]);
  return {begin, end > begin ? end : begin};
}

void search_cpu(const Context& context, const Job<std::uint8_t>& job, Workspace& workspace);
void search_cpu(const Context& context, const Job<float>& job, Workspace& workspace);
void search_cuda(const Context& context, const Job<std::uint8_t>& job, Workspace& workspace);
void search_cuda(const Context& context, const Job<float>& job, Workspace& workspace);

}  // namespace sextant::detail::descriptors
