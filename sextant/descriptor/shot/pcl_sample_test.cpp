// SPDX-License-Identifier: Apache-2.0
// PCL's SHOT of a captured scan beside ours on every device, on machines without PCL too.
#include "tests/shared_data.h"
#include "tests/shot_sample.h"

namespace sextant {
namespace {

/// Beside the programs of a build tree or a bundle, or in the build tree that made it.
std::filesystem::path sample_folder() {
  const std::filesystem::path here = testing::folder_of_tests() / ".." / "share" / "pcl_shot";
  if (std::filesystem::exists(here)) return here;
  return std::filesystem::path(testing::source_dir()) / "build" / "share" / "pcl_shot";
}

TEST(ShotSample, EqualsWhatPclGaveForACapturedScan) {
  const std::filesystem::path folder = sample_folder();
  if (!std::filesystem::exists(folder / "sample.json")) {
    if (testing::is_required("SEXTANT_REQUIRE_DATA")) ADD_FAILURE() << folder << " is not there";
    GTEST_SKIP() << "no sample of PCL's SHOT: scripts/make_pcl_sample makes one where PCL and "
                    "captured data are";
  }
  const testing::ShotSample sample = testing::read_shot_sample(folder);
  SCOPED_TRACE("PCL " + sample.pcl_version);
  EXPECT_GT(sample.scene.keypoints.size(), 200u);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    testing::expect_equal_shot(context, sample.scene, sample.theirs, sample.options);
  }
}

}  // namespace
}  // namespace sextant
