// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "sextant/core/error.h"

namespace sextant {

/// Called by learning with the name of the step that goes on, such as "views", and how much of it
/// is done; returning false stops the work, which then throws Cancelled. An empty function is never
/// called.
using LearnProgress =
    std::function<bool(std::string_view step, std::int64_t done, std::int64_t total)>;

/// Reports, and throws Cancelled when the caller wants to stop.
inline void report(const LearnProgress& progress, std::string_view step, std::int64_t done,
                   std::int64_t total) {
  if (progress && !progress(step, done, total)) throw Cancelled("stopped on request");
}

}  // namespace sextant
