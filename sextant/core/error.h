// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace sextant {

/// The one exception of the library. The message is a single line that names the argument or file,
/// the value met, and what to do about it.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Thrown when a progress callback asked to stop; what was finished before is kept.
class Cancelled : public Error {
 public:
  using Error::Error;
};

/// Builds the message from its parts and throws: `fail("radius_px: ", radius, " is not odd")`.
template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  std::ostringstream message;
  (message << ... << parts);
  throw Error(message.str());
}

/// Throws the message unless the condition holds. The parts are evaluated either way, and in no
/// given order: after a system call write `if (…) fail(…)`, so that errno is read in time.
template <class... Parts>
void require(bool condition, const Parts&... parts) {
  if (!condition) fail(parts...);
}

}  // namespace sextant
