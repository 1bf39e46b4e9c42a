// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/error.h"

namespace sextant::fuzz {

/// Calls the reader; an Error is an answer, anything else that it throws is a finding.
template <class Read>
void accept_errors(const Read& read) {
  try {
    read();
  } catch (const Error&) {
  }
}

}  // namespace sextant::fuzz
