// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include "sextant/core/device.h"
#include "tests/end_to_end/command_line.h"
#include "tests/shared_data.h"

// Known here alone, so that no other object depends on where the checkout lies.
const char* sextant::testing::source_dir() { return SEXTANT_SOURCE_DIR; }

std::filesystem::path sextant::testing::folder_of_tests() {
  std::error_code unknown;
  return std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path();
}

#if defined(SEXTANT_CLI)
const char* sextant::testing::program() {
  // A bundle has both programs in one folder, far from where they were built.
  static const std::string path =
      std::filesystem::exists(SEXTANT_CLI) ? SEXTANT_CLI : (folder_of_tests() / "sextant").string();
  return path.c_str();
}
#endif

namespace {

/// Says which seed a test that failed has drawn its data from (see seed_of_test).
class PrintsSeeds : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo& test) override {
    if (!test.result()->Failed()) return;
    for (int i = 0; i < test.result()->test_property_count(); ++i) {
      const testing::TestProperty& property = test.result()->GetTestProperty(i);
      if (std::string_view(property.key()) != "seed") continue;
      std::printf("seed of %s.%s: %s\n", test.test_suite_name(), test.name(), property.value());
    }
  }
};

/// Whether a GPU that is required is there; says so where not.
bool has_what_is_required() {
  if (!sextant::testing::is_required("SEXTANT_REQUIRE_CUDA")) return true;
  const sextant::DeviceReport report = sextant::list_devices();
  for (const auto& info : report.devices) {
    if (info.device.kind == sextant::DeviceKind::kCuda) return true;
  }
  std::printf("SEXTANT_REQUIRE_CUDA is 1, but there is no CUDA device: %s\n",
              report.cuda_status.c_str());
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(new PrintsSeeds);
  for (const auto& info : sextant::list_devices().devices) {
    std::printf("device %s: %s\n", to_string(info.device).c_str(), info.name.c_str());
  }
  if (!GTEST_FLAG_GET(list_tests) && !has_what_is_required()) return 1;
  return RUN_ALL_TESTS();
}
