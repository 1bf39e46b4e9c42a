// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "sextant/core/error.h"

namespace sextant::testing {

/// The message of the Error that `call` throws; fails the test and returns "" when it throws none
/// or something else, or when the message is not a single line.
template <class Call>
std::string error_message(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_FALSE(message.empty());
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  } catch (const std::exception& other) {
    ADD_FAILURE() << "threw something other than sextant::Error: " << other.what();
    return "";
  }
  ADD_FAILURE() << "did not throw";
  return "";
}

/// Whether a message tells what it should: EXPECT_TRUE(mentions(message, "unit_m")).
inline ::testing::AssertionResult mentions(const std::string& message, const std::string& part) {
  if (message.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "\"" << message << "\" does not mention \"" << part << "\"";
}

}  // namespace sextant::testing
