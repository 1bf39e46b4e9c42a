// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/context.h"

#include <gtest/gtest.h>

#include "tests/error_message.h"

namespace sextant {
namespace {

using testing::error_message;

TEST(Context, AsksForWhatIsNotThere) {
  EXPECT_NE(error_message([] { Context::cpu(-1); }).find("threads -1"), std::string::npos);
  EXPECT_NE(error_message([] { Context::cuda(1000); }).find("Context::cuda"), std::string::npos);
  EXPECT_NE(error_message([] { Context::cuda_on_stream(0, nullptr); }).find("stream"),
            std::string::npos);
  EXPECT_GE(Context::cpu().threads(), 1);
  EXPECT_EQ(Context::cpu(7).threads(), 7);
}

TEST(Context, BestIsAmongTheListed) {
  const DeviceReport report = list_devices();
  EXPECT_EQ(report.devices.front().device.kind, DeviceKind::kCpu);
  EXPECT_GT(report.devices.front().memory_bytes, 0);
  const bool has_gpu = report.devices.size() > 1;
  EXPECT_EQ(Context::best().is_cuda(), has_gpu);
  EXPECT_EQ(report.cuda_status == "ready", has_gpu);
}

}  // namespace
}  // namespace sextant
