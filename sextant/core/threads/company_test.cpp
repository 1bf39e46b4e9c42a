// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/threads/company.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

namespace sextant::detail {
namespace {

using namespace std::chrono_literals;

TEST(Company, LostTimeIsThatWithoutAProcessor) {
  LostTime lost;
  const auto start = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(20ms);
  const auto passed = std::chrono::steady_clock::now() - start;
  const auto slept = lost.take();
  EXPECT_GE(slept, 15ms);
  EXPECT_LE(slept, passed + 1ms);
  // What was taken once is not counted again.
  EXPECT_LT(lost.take(), slept);
}

TEST(Company, ARunningThreadLosesLittle) {
  // Other programs may take the processor at any time, but hardly in every one of many turns.
  auto least = std::chrono::nanoseconds::max();
  for (int turn = 0; turn < 200; ++turn) {
    LostTime lost;
    const auto end = std::chrono::steady_clock::now() + 50us;
    while (std::chrono::steady_clock::now() < end) {
    }
    least = std::min(least, lost.take());
  }
  EXPECT_LT(least, 20us);
}

TEST(Company, IsThereWhenMuchTimeWasLost) {
  Company company;
  EXPECT_FALSE(company.is_here());
  EXPECT_EQ(company.limit(1000us, 20us), 1000us);
  company.note(Company::kNoticed);  // as an interruption by the kernel
  EXPECT_FALSE(company.is_here());
  company.note(4ms);  // a slice of the scheduler's
  EXPECT_TRUE(company.is_here());
  EXPECT_EQ(company.limit(1000us, 20us), 20us);
}

TEST(Company, LeavesAfterAWhile) {
  Company company;
  company.note(4ms);
  std::this_thread::sleep_for(Company::kMemory + 10ms);
  EXPECT_FALSE(company.is_here());
}

}  // namespace
}  // namespace sextant::detail
