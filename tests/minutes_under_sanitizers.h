// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

// First line of a test that takes minutes under sanitizers and runs code that shorter tests of its
// suite run there too.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SEXTANT_MINUTES_UNDER_SANITIZERS() GTEST_SKIP() << "takes minutes under sanitizers"
#endif
#endif
#if !defined(SEXTANT_MINUTES_UNDER_SANITIZERS)
#define SEXTANT_MINUTES_UNDER_SANITIZERS() static_cast<void>(0)
#endif
