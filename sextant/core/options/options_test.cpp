// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/options.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "sextant/core/options_json.h"
#include "tests/error_message.h"

namespace sextant {
namespace {

using nlohmann::json;
using testing::error_message;
using testing::mentions;

enum class Mode { kFast, kExact };
constexpr Choice<Mode> kModes[] = {{"fast", Mode::kFast}, {"exact", Mode::kExact}};

struct BlurOptions {
  int radius_px = 2;
  std::uint64_t seed = 1;
  std::int16_t level = 0;
  float sigma_px = 0.1f;
  double limit_m = std::numeric_limits<double>::infinity();
  bool mirror = true;
  std::string label = "blur";
  Mode mode = Mode::kExact;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("radius_px", self.radius_px, "half the window", Range{1, 50});
    visit("seed", self.seed, "of the random numbers", Range{});
    visit("level", self.level, "any", Range{});
    visit("sigma_px", self.sigma_px, "width of the Gaussian", Range{0.01, 50});
    visit("limit_m", self.limit_m, "how far", Range{0});
    visit("mirror", self.mirror, "what lies beyond the border");
    visit("label", self.label, "shown to people");
    visit("mode", self.mode, "how", kModes);
  }

  friend bool operator==(const BlurOptions&, const BlurOptions&) = default;
};
static_assert(HasFields<BlurOptions>);
static_assert(!HasFields<int>);

std::string refusal(const json& document) {
  BlurOptions options{.radius_px = 7, .label = "kept"};
  const BlurOptions before = options;
  const std::string message = error_message([&] { options_from_json(document, options); });
  EXPECT_TRUE(options == before) << "changed by a refused document: " << document;
  return message;
}

TEST(CheckOptions, AcceptsTheBoundsAndNamesWhatIsOutside) {
  check_options(BlurOptions{});
  check_options(BlurOptions{.radius_px = 1});
  check_options(BlurOptions{.radius_px = 50});
  const std::string message = error_message([] { check_options(BlurOptions{.radius_px = 51}); });
  EXPECT_TRUE(mentions(message, "radius_px: 51 is outside [1, 50]"));
  EXPECT_TRUE(mentions(error_message([] { check_options(BlurOptions{.radius_px = 0}); }), "0"));
  EXPECT_TRUE(
      mentions(error_message([] { check_options(BlurOptions{.sigma_px = NAN}); }), "sigma_px"));
  EXPECT_TRUE(
      mentions(error_message([] { check_options(BlurOptions{.mode = Mode(9)}); }), "mode: 9"));
}

TEST(OptionsJson, WritesEveryFieldUnderItsName) {
  const json expected = json::parse(R"({"radius_px": 2, "seed": 1, "level": 0, "sigma_px": 0.1,
      "limit_m": "inf", "mirror": true, "label": "blur", "mode": "exact"})");
  EXPECT_EQ(options_to_json(BlurOptions{}).dump(), expected.dump());
}

TEST(OptionsJson, ReadsBackWhatItWrote) {
  const BlurOptions options{.radius_px = 50,
                            .seed = std::numeric_limits<std::uint64_t>::max(),
                            .level = std::numeric_limits<std::int16_t>::min(),
                            .sigma_px = 1.0f / 3.0f,
                            .limit_m = 0.1,
                            .mirror = false,
                            .label = "a \"b\"\n\xc3\xa9",
                            .mode = Mode::kFast};
  BlurOptions read;
  options_from_json(json::parse(options_to_json(options).dump()), read);
  EXPECT_TRUE(read == options);
  BlurOptions unlimited{.limit_m = 3};
  options_from_json(options_to_json(BlurOptions{}), unlimited);
  EXPECT_EQ(unlimited.limit_m, std::numeric_limits<double>::infinity());
}

TEST(OptionsJson, LeavesWhatIsNotNamed) {
  BlurOptions options{.radius_px = 7, .label = "kept"};
  options_from_json(json{{"sigma_px", 2}, {"level", -3.0}}, options);
  EXPECT_TRUE(options ==
              (BlurOptions{.radius_px = 7, .level = -3, .sigma_px = 2, .label = "kept"}));
  options_from_json(json::object(), options);
  EXPECT_EQ(options.radius_px, 7);
}

TEST(OptionsJson, RefusesWithTheNameAndWhatIsAllowed) {
  const std::string unknown = refusal({{"sigma_px", 2}, {"radius", 5}});
  EXPECT_TRUE(mentions(unknown, "\"radius\""));
  EXPECT_TRUE(mentions(unknown, "radius_px"));
  EXPECT_TRUE(mentions(unknown, "sigma_px"));
  EXPECT_TRUE(
      mentions(refusal({{"sigma_px", 2}, {"radius_px", 51}}), "radius_px: 51 is outside [1, 50]"));
  EXPECT_TRUE(
      mentions(refusal({{"radius_px", "5"}}), "radius_px: \"5\" is not a whole number in [1, 50]"));
  EXPECT_TRUE(mentions(refusal({{"radius_px", 5.5}}), "radius_px: 5.5"));
  EXPECT_TRUE(mentions(refusal({{"radius_px", nullptr}}), "radius_px: null"));
  EXPECT_TRUE(mentions(refusal({{"radius_px", true}}), "radius_px: true"));
  EXPECT_TRUE(mentions(refusal({{"mirror", 1}}), "mirror: 1 is neither true nor false"));
  EXPECT_TRUE(mentions(refusal({{"label", 1}}), "label: 1 is not a string"));
  EXPECT_TRUE(mentions(refusal({{"mode", "quick"}}), "mode: \"quick\" is none of fast, exact"));
  EXPECT_TRUE(mentions(refusal({{"mode", 0}}), "mode: 0 is none of fast, exact"));
  EXPECT_TRUE(mentions(refusal({{"sigma_px", "wide"}}), "sigma_px: \"wide\" is not a number"));
  EXPECT_TRUE(mentions(refusal({{"sigma_px", "nan"}}), "sigma_px"));
  EXPECT_TRUE(mentions(refusal(json::array({1})), "a list of 1 is not a JSON object"));
}

TEST(OptionsJson, NothingWrapsAround) {
  EXPECT_TRUE(mentions(refusal({{"level", 32768}}), "[-32768, 32767]"));
  EXPECT_TRUE(mentions(refusal({{"level", -32769}}), "level"));
  EXPECT_TRUE(mentions(refusal({{"level", 1e300}}), "level"));
  EXPECT_TRUE(mentions(refusal({{"seed", -1}}), "seed: -1 is not a whole number in [0, 18446744"));
  EXPECT_TRUE(mentions(refusal({{"radius_px", 4294967298}}), "radius_px: 4294967298"));
  EXPECT_TRUE(mentions(refusal({{"sigma_px", 1e300}}), "sigma_px: 1e+300"));
}

TEST(OptionsJson, CutsLongValuesInMessages) {
  EXPECT_LT(refusal({{"radius_px", std::string(100000, 'x')}}).size(), 200u);
  EXPECT_LT(refusal({{std::string(100000, '\xff'), 1}}).size(), 400u);
}

}  // namespace
}  // namespace sextant
