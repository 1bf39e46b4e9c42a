// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/rigid3.h"

namespace sextant {

/// A pose that a program reports for an image: one line of a BOP results file.
struct BopResult {
  int scene_id = 0;
  int image_id = 0;
  int object_id = 0;
  double score = 0;
  Rigid3d camera_from_object;  ///< in metres; the file has millimetres
  double seconds = -1;         ///< for the whole image; -1 where it was not measured
};

/// Reads `scene_id,im_id,obj_id,score,R,t,time`: R nine numbers row by row and t three, divided by
/// blanks. The first line may be the header; empty lines are passed over. An Error names the file
/// and line. A matrix that is no rotation is refused, one that is up to rounding is mended.
std::vector<BopResult> read_bop_results(const std::filesystem::path& path);
std::vector<BopResult> parse_bop_results(std::string_view text, const std::string& name);

/// Writes the header and one line for each result, with as many digits as bring the numbers back;
/// t is in millimetres.
void write_bop_results(const std::filesystem::path& path, const std::vector<BopResult>& results);
std::string bop_results_text(const std::vector<BopResult>& results);

}  // namespace sextant
