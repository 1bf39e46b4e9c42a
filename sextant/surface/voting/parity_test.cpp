// SPDX-License-Identifier: Apache-2.0
// Against what the authors of the method stored: positions with stick, plate and ball saliency.
#include <gtest/gtest.h>

#include "sextant/io/vtk.h"
#include "tests/devices.h"
#include "tests/shared_data.h"
#include "tests/voting_oracle.h"

namespace sextant {
namespace {

std::vector<float> attribute(const Cloud& cloud, const std::string& name) {
  if (const Attribute* found = find_attribute(cloud.attributes, name)) return to_floats(*found);
  ADD_FAILURE() << "no attribute " << name;
  return std::vector<float>(static_cast<std::size_t>(cloud.size()));
}

TEST(VotingParity, WithTheStoredSaliencies) {
  const auto file = testing::shared_data("tensor_voting/outputSparse.vtk");
  if (!file) GTEST_SKIP() << "no tensor_voting/outputSparse.vtk";
  const TriangleMesh mesh = read_vtk(*file);
  const Cloud& cloud = mesh.vertices;
  const std::vector<Vec3f> points(cloud.points.host().begin(), cloud.points.host().end());
  ASSERT_EQ(points.size(), 2963u);
  const auto stick = attribute(cloud, "stick");
  const auto plate = attribute(cloud, "plate");
  const auto ball = attribute(cloud, "ball");
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const testing::HostVotes v = testing::votes_of(context, points, {.sigma_m = 0.5f});
    const auto share_of_equal = [&](const std::vector<float>& stored, float Saliency::*value) {
      int equal = 0;
      for (std::size_t i = 0; i < points.size(); ++i) {
        // Six digits are stored.
        const float tolerance = 1e-4f * std::abs(stored[i]) + 1e-6f;
        equal += std::abs(v.saliencies[i].*value - stored[i]) <= tolerance;
      }
      return equal / static_cast<double>(points.size());
    };
    EXPECT_GE(share_of_equal(stick, &Saliency::stick), 0.99);
    EXPECT_GE(share_of_equal(plate, &Saliency::plate), 0.99);
    EXPECT_GE(share_of_equal(ball, &Saliency::ball), 0.99);
  }
}

}  // namespace
}  // namespace sextant
