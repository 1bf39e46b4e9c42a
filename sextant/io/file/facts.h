// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace sextant::detail::file {

/// What a file says about itself beside its points; readers fill it for those who ask.
struct FileFacts {
  std::string encoding = "ascii";
  std::vector<std::string> comments;  ///< without the signs that mark them
  std::vector<std::string> left_out;  ///< what the file holds and a mesh has no place for
};

}  // namespace sextant::detail::file
