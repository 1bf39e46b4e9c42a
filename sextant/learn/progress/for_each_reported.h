// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "sextant/core/for_each.h"
#include "sextant/learn/learn_progress.h"

namespace sextant::detail::learn {

/// Calls work(i) for all i below `count`, several at once on the context's threads, and reports in
/// between on the caller's thread.
template <class Work>
void for_each_reported(const Context& context, std::int64_t count, std::string_view step,
                       const LearnProgress& progress, const Work& work) {
  const std::int64_t batch = 4 * static_cast<std::int64_t>(context.threads());
  for (std::int64_t first = 0; first < count; first += batch) {
    report(progress, step, first, count);
    for_each_chunk(context, std::min(batch, count - first), 1,
                   [&](std::int64_t begin, std::int64_t) { work(first + begin); });
  }
  report(progress, step, count, count);
}

}  // namespace sextant::detail::learn
