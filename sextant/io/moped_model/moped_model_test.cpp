// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/moped_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <random>

#include "sextant/io/file.h"
#include "tests/error_message.h"
#include "tests/make_image.h"
#include "tests/same_geometry.h"
#include "tests/shared_data.h"
#include "tests/temporary_folder.h"

namespace sextant {
namespace {

using testing::bytes_of;
using testing::error_message;
using testing::mentions;
using testing::TemporaryFolder;

std::vector<MopedModel> parse(std::string_view text) {
  return read_moped_models(bytes_of(text), "test.moped.xml");
}
std::string message_of(std::string_view text) {
  return error_message([&] { parse(text); });
}

/// 128 numbers: `first`, then `second`, then zeros.
std::string descriptor(const std::string& first, const std::string& second = "0",
                       int length = kMopedDescriptorLength) {
  std::string text = first + " " + second + " ";
  for (int i = 2; i < length; ++i) text += "0.000000 ";
  return text;
}

std::string point(const std::string& place, const std::string& desc,
                  const std::string& kind = "SIFT") {
  return "<Point p3d=\"" + place +
         "\" nviews=\"7\" avg_err=\"0.25\" color=\"1 2 255\" desc_type=\"" + kind + "\" desc=\"" +
         desc + "\">\n</Point>\n";
}

std::string model(const std::string& points, const std::string& name = "tea") {
  return "<Model name=\"" + name + "\" version=\"old\">\n<Points>" + points +
         "</Points>\n</Model>\n";
}

void expect_same(const MopedModel& a, const MopedModel& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.version, b.version);
  EXPECT_EQ(a.points_m, b.points_m);
  EXPECT_EQ(a.views, b.views);
  EXPECT_EQ(a.errors_px, b.errors_px);
  EXPECT_EQ(a.colors, b.colors);
  EXPECT_EQ(a.descriptors, b.descriptors);
}

TEST(MopedModel, ReadsWhatThePaperSays) {
  // 0.6 and 0.8 of the length: 307.2 and 409.6 of 512, and no byte is above 255.
  const auto models = parse(
      "<Model name=\"tea &amp; milk\" version=\"1\">\n<Openrave><name>n</name><xml></xml>"
      "<transf>1 0 0 </transf></Openrave>\n<!-- <Point> --><Points>" +
      point("1 -2.5 1e-3 ", descriptor("0.28", "0.96")) +
      "</Points><Cameras>"
      "<Camera id=\"0\" rot_type=\"quat\" rot=\"1 0 0 0\" tx=\"0 0 0\"/></Cameras></Model>");
  ASSERT_EQ(models.size(), 1u);
  const MopedModel& tea = models[0];
  EXPECT_EQ(tea.name, "tea & milk");
  EXPECT_EQ(tea.version, "1");
  EXPECT_EQ(tea.points_m, (std::vector<Vec3f>{{1.0f, -2.5f, 1e-3f}}));
  EXPECT_EQ(tea.views, std::vector<std::int32_t>{7});
  EXPECT_EQ(tea.errors_px, std::vector<float>{0.25f});
  EXPECT_EQ(tea.colors, (std::vector<Rgb8>{{1, 2, 255}}));
  ASSERT_EQ(tea.descriptors.size(), 128u);
  EXPECT_EQ(tea.descriptors[0], 143);  // 512 · 0.28 = 143.36
  EXPECT_EQ(tea.descriptors[1], 255);  // 512 · 0.96 is more
  EXPECT_EQ(std::count(tea.descriptors.begin(), tea.descriptors.end(), 0), 126);
}

TEST(MopedModel, DescriptorsOfAnyLengthAreTheSame) {
  const auto of = [](const std::string& a, const std::string& b) {
    return parse(model(point("0 0 0", descriptor(a, b))))[0].descriptors;
  };
  const auto unit = of("0.28", "0.96");
  EXPECT_EQ(of("28", "96"), unit);
  EXPECT_EQ(of("2.8e-200", "9.6e-200"), unit);
  EXPECT_EQ(of("2.8e200", "9.6e200"), unit);
}

TEST(MopedModel, SemicolonsSeparateNumbers) {
  std::string desc = descriptor("0.28", "0.96");
  std::replace(desc.begin(), desc.end(), ' ', ';');
  const auto models = parse(model(point("1;2;3;", desc) + point(" 1 ; 2\n3", descriptor("1"))));
  EXPECT_EQ(models[0].points_m, (std::vector<Vec3f>{{1, 2, 3}, {1, 2, 3}}));
  EXPECT_EQ(models[0].descriptors[0], 143);
}

TEST(MopedModel, ObservationsAndOtherKindsAreLeftOut) {
  const std::string observed =
      "<Point p3d=\"0 0 1\" desc_type=\"SIFT\" desc=\"" + descriptor("1") +
      "\"><Observation camera_id=\"0\" desc_type=\"SIFT\" loc=\"1 2 3 4\" desc=\"no\"/></Point>";
  const auto models = parse(model(point("0 0 0", "1 2 3", "SURF") + observed));
  EXPECT_EQ(models[0].left_out, 1);
  EXPECT_EQ(models[0].points_m, (std::vector<Vec3f>{{0, 0, 1}}));
  EXPECT_EQ(models[0].views, std::vector<std::int32_t>{0});
  EXPECT_EQ(models[0].colors, (std::vector<Rgb8>{{0, 0, 0}}));
}

TEST(MopedModel, ReadsSeveralModelsAndTheLaterOneOfAName) {
  const auto models =
      parse("<?xml version=\"1.0\"?>\n<All>" + model(point("1 0 0", descriptor("1")), "a") +
            model(point("2 0 0", descriptor("1")), "b") +
            model(point("3 0 0", descriptor("1")), "a") + "</All>\n");
  ASSERT_EQ(models.size(), 2u);
  EXPECT_EQ(models[0].name, "a");
  EXPECT_EQ(models[0].points_m[0].x, 3);
  EXPECT_EQ(models[1].name, "b");
  EXPECT_EQ(parse(model(point("1 0 0", descriptor("1")), "a") +
                  model(point("2 0 0", descriptor("1")), "b"))
                .size(),
            2u);
}

TEST(MopedModel, SaysWhatIsWrongAndWhere) {
  const std::string good = descriptor("1");
  const auto with = [&](const std::string& points) { return message_of(model(points)); };
  EXPECT_TRUE(mentions(with(point("0 0 0", descriptor("1", "0", 127))), "desc has 127 numbers"));
  EXPECT_TRUE(mentions(with(point("0 0 0", descriptor("1", "0", 129))), "desc has 129 numbers"));
  EXPECT_TRUE(mentions(with(point("0 0", good)), "p3d has 2 numbers"));
  EXPECT_TRUE(mentions(with("\n\n" + point("0 0 nan", good)), "line 4: p3d holds nan"));
  EXPECT_TRUE(mentions(with(point("0 0 1e39", good)), "p3d holds 1e39"));
  EXPECT_TRUE(mentions(with(point("0 0 x", good)), "found 'x'"));
  EXPECT_TRUE(mentions(with(point("0 0 0", descriptor("inf"))), "desc holds inf"));
  EXPECT_TRUE(mentions(with(point("0 0 0", descriptor("-1"))), "negative"));
  EXPECT_TRUE(mentions(with(point("0 0 0", descriptor("0"))), "nothing but zeros"));
  EXPECT_TRUE(mentions(with(""), "'tea' has no point"));
  EXPECT_TRUE(mentions(with(point("0 0 0", "1 2", "SURF")), "only 1 of other kinds"));
  EXPECT_TRUE(mentions(with("<Point p3d=\"0 0 0\"/>"), "no desc_type"));
  EXPECT_TRUE(mentions(with("<Point desc_type=\"SIFT\"/>"), "no p3d"));
  EXPECT_TRUE(mentions(with("<Point p3d=\"0 0 0\" desc_type=\"SIFT\"/>"), "no desc"));
  EXPECT_TRUE(mentions(message_of("<Model>"), "no name"));
  EXPECT_TRUE(mentions(message_of(""), "no <Model>"));
  EXPECT_TRUE(mentions(message_of("<Scene></Scene>"), "no <Model>"));
  EXPECT_TRUE(mentions(message_of("<!DOCTYPE x>"), "not read"));
  EXPECT_TRUE(mentions(message_of("<Model name=tea>"), "between quotes"));
  EXPECT_TRUE(mentions(message_of("<Model name=\"a\"><Points></Model>"), "closes <Points>"));
  EXPECT_TRUE(mentions(message_of("<Model name=\"a\"><Model name=\"b\">"), "lies in another"));
  EXPECT_TRUE(mentions(message_of(std::string(100, '<')), "name of an element"));
}

TEST(MopedModel, ACutFileIsAnError) {
  const std::string whole = model(point("0 0 0", descriptor("1")));
  EXPECT_EQ(parse(whole).size(), 1u);
  for (std::size_t length = 0; length + 2 < whole.size(); length += 3) {
    SCOPED_TRACE(length);
    error_message([&] { parse(std::string_view(whole).substr(0, length)); });
  }
}

MopedModel random_model(int count, std::mt19937& generator) {
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::exponential_distribution<double> heavy(1);
  MopedModel model;
  model.name = "<\"a\" & 'b'>";
  model.version = "made";
  for (int i = 0; i < count; ++i) {
    model.points_m.push_back({uniform(generator), uniform(generator) * 1e-6f, uniform(generator)});
    model.views.push_back(i);
    model.errors_px.push_back(std::abs(uniform(generator)));
    model.colors.push_back({static_cast<std::uint8_t>(i), 0, 255});
    std::array<double, kMopedDescriptorLength> numbers;
    // From even ones to those where few numbers are large.
    const double power = 0.2 + 3.0 * i / count;
    for (double& number : numbers) number = std::pow(heavy(generator), power);
    const double length =
        std::sqrt(std::inner_product(numbers.begin(), numbers.end(), numbers.begin(), 0.0));
    for (const double number : numbers) {
      model.descriptors.push_back(
          static_cast<std::uint8_t>(std::min(std::round(512 * number / length), 255.0)));
    }
  }
  return model;
}

TEST(MopedModel, ReadsBackWhatItWrote) {
  std::mt19937 generator(7);
  std::vector<MopedModel> models;
  models.push_back(random_model(200, generator));
  models.push_back(random_model(1, generator));
  models[1].name = "other";
  const TemporaryFolder folder;
  write_moped_models(folder / "two.moped.xml", models);
  const auto again = read_moped_models(folder / "two.moped.xml");
  ASSERT_EQ(again.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) expect_same(again[i], models[i]);
}

TEST(MopedModel, WritesDescriptorsOfOtherLengthsAtLengthOne) {
  std::mt19937 generator(7);
  std::vector<MopedModel> models;
  models.push_back(random_model(1, generator));
  std::fill(models[0].descriptors.begin(), models[0].descriptors.end(), std::uint8_t{0});
  models[0].descriptors[3] = 3;
  models[0].descriptors[4] = 4;
  const TemporaryFolder folder;
  write_moped_models(folder / "a.moped.xml", models);
  const auto again = read_moped_models(folder / "a.moped.xml");
  EXPECT_EQ(again[0].descriptors[3], 255);  // 512 · 0.6 is more
  EXPECT_EQ(again[0].descriptors[5], 0);
}

TEST(MopedModel, RefusesToWriteWhatNobodyCouldRead) {
  std::mt19937 generator(7);
  const TemporaryFolder folder;
  const auto message = [&](const auto& change) {
    std::vector<MopedModel> models;
    models.push_back(random_model(3, generator));
    change(models);
    const std::string text =
        error_message([&] { write_moped_models(folder / "a.moped.xml", models); });
    EXPECT_FALSE(std::filesystem::exists(folder / "a.moped.xml"));
    return text;
  };
  using Models = std::vector<MopedModel>;
  EXPECT_TRUE(mentions(message([](Models& m) { m.clear(); }), "no model"));
  EXPECT_TRUE(mentions(message([](Models& m) { m.push_back(m[0]); }), "two models"));
  EXPECT_TRUE(mentions(message([](Models& m) { m[0].views.pop_back(); }), "2 views"));
  EXPECT_TRUE(mentions(message([](Models& m) { m[0].points_m[1].y = NAN; }), "point 1"));
  EXPECT_TRUE(mentions(
      message([](Models& m) { std::fill_n(m[0].descriptors.begin() + 256, 128, std::uint8_t{0}); }),
      "point 2 is zero"));
}

TEST(MopedModel, ReadsAndWritesTheModelsOfTheAuthors) {
  const auto data = testing::shared_data("moped_cmu/models");
  if (!data) GTEST_SKIP() << "moped_cmu is not there";
  const TemporaryFolder folder;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(*data)) {
    SCOPED_TRACE(entry.path().filename().string());
    ++files;
    const auto models = read_moped_models(entry.path());
    ASSERT_EQ(models.size(), 1u);
    EXPECT_GE(models[0].points_m.size(), 269u);
    EXPECT_LE(models[0].points_m.size(), 2724u);
    EXPECT_EQ(models[0].left_out, 0);
    write_moped_models(folder / "again.moped.xml", models);
    const auto again = read_moped_models(folder / "again.moped.xml");
    ASSERT_EQ(again.size(), 1u);
    expect_same(again[0], models[0]);
  }
  EXPECT_EQ(files, 14);
}

}  // namespace
}  // namespace sextant
