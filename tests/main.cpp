// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>

#include "sextant/core/device.h"
#include "tests/end_to_end/command_line.h"
#include "tests/shared_data.h"

// Known here alone, so that no other object depends on where the checkout lies.
const char* sextant::testing::source_dir() { return SEXTANT_SOURCE_DIR; }
#if defined(SEXTANT_CLI)
const char* sextant::testing::program() { return SEXTANT_CLI; }
#endif

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (const auto& info : sextant::list_devices().devices) {
    std::printf("device %s: %s\n", to_string(info.device).c_str(), info.name.c_str());
  }
  return RUN_ALL_TESTS();
}
