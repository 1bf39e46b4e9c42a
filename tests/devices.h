// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "sextant/core/context.h"

namespace sextant::testing {

/// The CPU with 1, 2 and 7 threads and every CUDA device present: what a test body runs on.
inline std::vector<Context> all_contexts() {
  std::vector<Context> contexts{Context::cpu(1), Context::cpu(2), Context::cpu(7)};
  for (const DeviceInfo& info : list_devices().devices) {
    if (info.device.kind == DeviceKind::kCuda) {
      contexts.push_back(Context::cuda(info.device.ordinal));
    }
  }
  return contexts;
}

/// "cpu with 7 threads", for SCOPED_TRACE.
inline std::string describe(const Context& context) {
  return context.is_cpu() ? "cpu with " + std::to_string(context.threads()) + " threads"
                          : to_string(context.device());
}

/// A seed that belongs to the running test and is printed when the test fails (FNV-1a of its name).
inline std::uint64_t seed_of_test() {
  const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
  std::uint64_t hash = 1469598103934665603u;
  for (const char* name : {info->test_suite_name(), info->name()}) {
    for (const char c : std::string_view(name)) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    }
  }
  ::testing::Test::RecordProperty("seed", std::to_string(hash));
  return hash;
}

}  // namespace sextant::testing
