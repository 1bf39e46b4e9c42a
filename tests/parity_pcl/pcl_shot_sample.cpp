// SPDX-License-Identifier: Apache-2.0
// pcl_shot_sample SCAN FOLDER: describes a scan with PCL's SHOT and writes what PCL was given and
// what it answered to FOLDER, so that machines without PCL can compare (tests/shot_sample.h).
#include <pcl/pcl_config.h>

#include <cstdio>

#include "tests/parity_pcl/pcl_shot.h"
#include "tests/shot_sample.h"

namespace {

/// Some 240 keypoints of a scan with 40 000 points 0.5 mm apart, of 500 neighbours each.
constexpr float kNormalRadius_m = 0.003f;
constexpr float kRadius_m = 0.008f;
constexpr std::size_t kStep = 167;

}  // namespace

int main(int argc, char** argv) {
  using namespace sextant::testing;
  if (argc != 3) {
    std::fputs("usage: pcl_shot_sample SCAN FOLDER\n", stderr);
    return 2;
  }
  try {
    const ShotCase scene = stored_shot_case(argv[1], kNormalRadius_m, kStep);
    const sextant::ShotOptions options{.radius_m = kRadius_m};
    write_shot_sample(argv[2], {scene, shot_by_pcl(scene, options), options, PCL_VERSION_PRETTY});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "pcl_shot_sample: %s\n", error.what());
    return 1;
  }
  return 0;
}
