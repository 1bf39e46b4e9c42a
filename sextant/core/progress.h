// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "sextant/core/error.h"

namespace sextant {

/// Called now and then by long work with the share that is done; returning false stops the work,
/// which then throws Cancelled. An empty function is never called.
using Progress = std::function<bool(std::int64_t done, std::int64_t total)>;

/// Reports, and throws Cancelled when the caller wants to stop.
inline void report(const Progress& progress, std::int64_t done, std::int64_t total) {
  if (progress && !progress(done, total)) throw Cancelled("stopped on request");
}

}  // namespace sextant
