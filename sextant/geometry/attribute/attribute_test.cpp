// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/attribute.h"

#include <gtest/gtest.h>

#include "sextant/geometry/cloud.h"
#include "tests/devices.h"
#include "tests/error_message.h"

namespace sextant {
namespace {

using testing::all_contexts;
using testing::error_message;
using testing::mentions;

TEST(Attribute, KeepsItsTypeAndSaysWhichItIs) {
  const Context cpu = Context::cpu();
  const Attribute label{"label", copy(cpu, std::vector<std::uint32_t>{16777217, 3})};
  EXPECT_STREQ(label.type_name(), "uint32");
  EXPECT_EQ(label.size(), 2);
  EXPECT_EQ(label.get<std::uint32_t>().host()[0], 16777217u);
  EXPECT_TRUE(
      mentions(error_message([&] { label.get<float>(); }), "label: its numbers are uint32"));
  // Only here is it rounded.
  EXPECT_EQ(to_floats(label), (std::vector<float>{16777216.0f, 3.0f}));
}

TEST(Attribute, IsFoundByItsName) {
  std::vector<Attribute> attributes;
  EXPECT_EQ(find_attribute(attributes, "time"), nullptr);
  attributes.push_back({"label", Buffer<float>()});
  attributes.push_back({"time", Buffer<double>()});
  EXPECT_EQ(find_attribute(attributes, "time"), &attributes[1]);
}

TEST(Attribute, GoesToEveryDeviceAndBack) {
  for (const Context& context : all_contexts()) {
    const Attribute time{"time", copy(Context::cpu(), std::vector<double>{0.1, 0.2, 0.3, 0.4}), 2};
    const Attribute there = copy(context, time);
    EXPECT_EQ(there.device(), context.device());
    const Attribute back = to_host(context, there);
    EXPECT_EQ(back.components, 2);
    EXPECT_EQ(back.get<double>().host()[3], 0.4);
  }
}

TEST(Attribute, HasItsComponentsForEveryPoint) {
  const Context cpu = Context::cpu();
  Cloud cloud;
  cloud.points = Buffer<Vec3f>(cpu, 2);
  cloud.attributes.push_back({"pair", Buffer<float>(cpu, 4), 2});
  check_cloud(cloud);
  cloud.attributes[0].components = 3;
  EXPECT_TRUE(mentions(error_message([&] { check_cloud(cloud); }), "attribute pair"));
  cloud.attributes[0].components = 0;
  EXPECT_TRUE(mentions(error_message([&] { check_cloud(cloud); }), "attribute pair"));
}

}  // namespace
}  // namespace sextant
