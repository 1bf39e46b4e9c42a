// SPDX-License-Identifier: Apache-2.0
#include "sextant/match/tensors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sextant/core/random.h"
#include "sextant/match/tensors/blocks_math.h"
#include "tests/devices.h"
#include "tests/error_message.h"
#include "tests/instruction_sets.h"
#include "tests/steady_state.h"

namespace sextant {
namespace {

using testing::all_contexts;
using testing::describe;

/// A tensor as a map from bins to areas.
struct Plain {
  std::map<int, float> bins;
  float angle_rad = 0.5f;
};

constexpr int kBins = 10;

TensorSet to_set(const std::vector<Plain>& tensors, int bins = kBins) {
  const Context host = Context::cpu();
  TensorSet set(host, static_cast<std::int64_t>(tensors.size()), bins);
  const std::int64_t all = std::int64_t{bins} * bins * bins;
  set.count.host()[0] = static_cast<std::int32_t>(tensors.size());
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    TensorFrame frame{};
    frame.angle_rad = tensors[t].angle_rad;
    set.frames.host()[t] = frame;
    set.masks.host()[t] = {};
    set.sizes.host()[t] = static_cast<std::int32_t>(tensors[t].bins.size());
    set.first.host()[t] = static_cast<std::int64_t>(t) * all;
    std::int64_t place = set.first.host()[t];
    for (const auto& [bin, area] : tensors[t].bins) {
      set.masks.host()[t].words[bin / 64] |= std::uint64_t{1} << (bin % 64);
      set.indices.host()[place] = static_cast<std::uint16_t>(bin);
      set.values.host()[place++] = area;
    }
  }
  return set;
}

/// Areas are multiples of 2⁻²⁰, as those of real tensors. A seventh of the bins, in a random slab,
/// so that tensors overlap.
Plain random_tensor(std::uint64_t seed, std::uint64_t item) {
  const Random random{seed, item};
  Plain tensor;
  tensor.angle_rad = 0.27f + 0.6f * random.uniform(100000);
  const int begin = static_cast<int>(random.below(150, 100001));
  for (int bin = begin; bin < begin + 300; ++bin) {
    if (random.uniform(bin) < 0.55f) {
      tensor.bins[bin] = std::ldexp(static_cast<float>(1 + random.below(1 << 20, 2000 + bin)), -20);
    }
  }
  return tensor;
}

std::vector<Plain> random_tensors(std::size_t count, std::uint64_t seed) {
  std::vector<Plain> tensors;
  for (std::size_t i = 0; i < count; ++i) tensors.push_back(random_tensor(seed, i));
  return tensors;
}

/// The same surface seen with some noise.
Plain noisy(Plain tensor, std::uint64_t seed) {
  const Random random{seed, 7};
  for (auto& [bin, area] : tensor.bins) {
    const float scale = 0.8f + 0.4f * random.uniform(bin);
    area = std::max(1.0f, std::round(std::ldexp(area * scale, 20))) * 0x1p-20f;
  }
  return tensor;
}

Plain flipped(const Plain& tensor) {
  Plain result{{}, tensor.angle_rad};
  for (const auto& [bin, area] : tensor.bins) result.bins[flipped_bin(bin, kBins)] = area;
  return result;
}

struct Score {
  double overlap = 0.0;
  double correlation = NAN;
  double cosine = NAN;

  double of(TensorScore score) const {
    return score == TensorScore::kCosine ? cosine : correlation;
  }
};

/// By the formulas, in long double.
Score score(const Plain& model, const Plain& scene) {
  long double n = 0, p = 0, q = 0, pp = 0, qq = 0, pq = 0;
  for (const auto& [bin, area] : model.bins) {
    const auto found = scene.bins.find(bin);
    if (found == scene.bins.end()) continue;
    const long double a = area, b = found->second;
    n += 1, p += a, q += b, pp += a * a, qq += b * b, pq += a * b;
  }
  Score result;
  const long double all = static_cast<long double>(model.bins.size() + scene.bins.size()) - n;
  if (all > 0) result.overlap = static_cast<double>(n / all);
  long double all_pp = 0, all_qq = 0;
  for (const auto& [bin, area] : model.bins) all_pp += static_cast<long double>(area) * area;
  for (const auto& [bin, area] : scene.bins) all_qq += static_cast<long double>(area) * area;
  if (all_pp > 0 && all_qq > 0)
    result.cosine = static_cast<double>(pq / std::sqrt(all_pp * all_qq));
  const long double spread = (n * pp - p * p) * (n * qq - q * q);
  if (n >= 3 && spread > 0) {
    result.correlation = static_cast<double>((n * pq - p * q) / std::sqrt(spread));
  }
  return result;
}

std::vector<TensorMatch> brute_force(const std::vector<Plain>& scene,
                                     const std::vector<Plain>& library,
                                     const TensorMatchOptions& options) {
  std::vector<TensorMatch> all;
  for (const Plain& tensor : scene) {
    std::vector<TensorMatch> matches;
    for (std::size_t m = 0; m < library.size(); ++m) {
      // In single precision, as the thresholds are.
      const float angle = library[m].angle_rad;
      if (!(angle >= tensor.angle_rad - options.angle_window_rad &&
            angle <= tensor.angle_rad + options.angle_window_rad)) {
        continue;
      }
      for (int f = 0; f < 2; ++f) {
        const Score found = score(library[m], f == 0 ? tensor : flipped(tensor));
        if (!(static_cast<float>(found.overlap) >= options.least_overlap)) continue;
        const auto own = static_cast<float>(found.of(options.score));
        if (!(own >= options.least_correlation)) continue;
        matches.push_back(
            {static_cast<std::int32_t>(m), f, own, static_cast<float>(found.overlap)});
      }
    }
    std::stable_sort(matches.begin(), matches.end(),
                     [](const auto& a, const auto& b) { return a.correlation > b.correlation; });
    matches.resize(static_cast<std::size_t>(options.k));
    all.insert(all.end(), matches.begin(), matches.end());
  }
  return all;
}

std::vector<TensorMatch> match(const Context& context, const std::vector<Plain>& scene,
                               const std::vector<Plain>& library,
                               const TensorMatchOptions& options) {
  const TensorSet scene_set = copy(context, to_set(scene));
  const TensorSet library_set = copy(context, to_set(library));
  const TensorIndex index = index_tensors(context, library_set);
  return to_host(context, match_tensors(context, scene_set, index, options));
}

void expect_formulas(TensorScore by) {
  const std::vector<Plain> library = random_tensors(900, 1);
  std::vector<Plain> scene = random_tensors(20, 2);
  for (std::size_t i = 0; i < 40; ++i) {
    const Plain seen = noisy(library[i * 20], i);
    scene.push_back(i % 2 == 0 ? seen : flipped(seen));
  }
  for (const int k : {1, 4, 16}) {
    const TensorMatchOptions options{
        .k = k, .score = by, .least_overlap = 0.2f, .least_correlation = -0.1f};
    const std::vector<TensorMatch> expected = brute_force(scene, library, options);
    for (const Context& context : all_contexts()) {
      SCOPED_TRACE(describe(context));
      const std::vector<TensorMatch> found = match(context, scene, library, options);
      ASSERT_EQ(found.size(), expected.size());
      int matches = 0;
      for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_EQ(found[i].model < 0, expected[i].model < 0) << i;
        if (expected[i].model < 0) continue;
        ++matches;
        EXPECT_NEAR(found[i].correlation, expected[i].correlation, 1e-6) << i;
        // Those that are alike to the last bits may change places.
        const Score own =
            score(library[static_cast<std::size_t>(found[i].model)],
                  found[i].flipped ? flipped(scene[i / options.k]) : scene[i / options.k]);
        EXPECT_NEAR(found[i].correlation, own.of(by), 1e-6) << i;
        EXPECT_NEAR(found[i].overlap, own.overlap, 1e-6) << i;
      }
      EXPECT_GT(matches, 40);
    }
  }
}

TEST(MatchTensors, CorrelationEqualsTheFormulas) { expect_formulas(TensorScore::kCorrelation); }
TEST(MatchTensors, CosineEqualsTheFormulas) { expect_formulas(TensorScore::kCosine); }

/// Where only few pairs are good, nearly all are left out by their bounds, and none that counts.
TEST(MatchTensors, BoundsLeaveOutNoneOfTheBest) {
  const std::vector<Plain> library = random_tensors(800, 21);
  std::vector<Plain> scene;
  for (std::size_t i = 0; i < 20; ++i) {
    Plain seen = noisy(library[i * 40], i);
    seen.angle_rad += 0.01f;
    scene.push_back(i % 2 == 0 ? seen : flipped(seen));
  }
  for (const float window : {0.02f, 0.3f, 3.0f}) {
    for (const float least : {0.1f, 0.8f}) {
      const TensorMatchOptions options{
          .k = 3, .angle_window_rad = window, .least_overlap = 0.1f, .least_correlation = least};
      const std::vector<TensorMatch> expected = brute_force(scene, library, options);
      for (const Context& context : all_contexts()) {
        SCOPED_TRACE(describe(context));
        const std::vector<TensorMatch> found = match(context, scene, library, options);
        for (std::size_t i = 0; i < found.size(); ++i) {
          EXPECT_NEAR(found[i].correlation, expected[i].correlation, 1e-6) << i;
        }
      }
    }
  }
}

/// The sum over blocks of bins is no less than the cosine, for tensors of any number of bins.
TEST(MatchTensors, BlocksBoundTheCosine) {
  using namespace detail::tensors;
  const Context context = Context::cpu(1);
  for (const int bins : {1, 2, 5, 9, 10}) {
    const int all = bins * bins * bins;
    std::vector<Plain> tensors(40);
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      const Random random{22, t};
      for (int bin = 0; bin < all; ++bin) {
        // Some have a single bin, where the bound is the cosine itself.
        if (t < 3 ? bin != static_cast<int>(t) % all : random.uniform(bin) > 0.3f) continue;
        tensors[t].bins[bin] =
            std::ldexp(static_cast<float>(1 + random.below(1 << 20, 2000 + bin)), -20);
      }
    }
    const TensorSet set = to_set(tensors, bins);
    const TensorIndex index = index_tensors(context, set);
    for (std::int64_t a = 0; a < 40; ++a) {
      for (std::int64_t b = 0; b < 40; ++b) {
        std::int32_t sum = 0;
        for (int w = 0; w < kBlockWords; ++w) {
          for (int shift = 0; shift < 32; shift += 8) {
            sum += static_cast<std::int32_t>((index.blocks.host()[word_at(a, w)] >> shift & 0xff) *
                                             (index.blocks.host()[word_at(b, w)] >> shift & 0xff));
          }
        }
        const Score own = score(tensors[index.order.host()[a]], tensors[index.order.host()[b]]);
        if (std::isnan(own.cosine)) continue;
        EXPECT_GE(sum, least_sum(static_cast<float>(own.cosine))) << bins << " " << a << " " << b;
        EXPECT_LT(sum, 1 << 15);
      }
    }
  }
}

TEST(MatchTensors, FindsWhatWasSeenAgain) {
  const std::vector<Plain> library = random_tensors(3000, 3);
  std::vector<Plain> scene;
  for (std::size_t i = 0; i < 100; ++i) {
    const Plain seen = noisy(library[i * 30], i);
    scene.push_back(i % 2 == 0 ? seen : flipped(seen));
  }
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(describe(context));
    for (const TensorScore by : {TensorScore::kCosine, TensorScore::kCorrelation}) {
      const std::vector<TensorMatch> found =
          match(context, scene, library, {.k = 2, .score = by, .least_overlap = 0.45f});
      for (std::size_t i = 0; i < scene.size(); ++i) {
        EXPECT_EQ(found[2 * i].model, static_cast<std::int32_t>(30 * i));
        EXPECT_EQ(found[2 * i].flipped, static_cast<std::int32_t>(i % 2));
        EXPECT_EQ(found[2 * i].overlap, 1.0f);
        EXPECT_GT(found[2 * i].correlation, 0.8f);
      }
    }
  }
}

TEST(MatchTensors, BitsAreTheSameOnEveryDevice) {
  const std::vector<Plain> library = random_tensors(2000, 4);
  const std::vector<Plain> scene = random_tensors(50, 5);
  for (const TensorScore by : {TensorScore::kCosine, TensorScore::kCorrelation}) {
    const TensorMatchOptions options{
        .k = 8, .score = by, .least_overlap = 0.1f, .least_correlation = -1.0f};
    const std::vector<TensorMatch> reference = match(Context::cpu(1), scene, library, options);
    EXPECT_GE(reference[0].model, 0);
    for (const Context& context : all_contexts()) {
      SCOPED_TRACE(describe(context));
      const std::vector<TensorMatch> found = match(context, scene, library, options);
      ASSERT_EQ(found.size(), reference.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].model, reference[i].model) << i;
        EXPECT_EQ(found[i].flipped, reference[i].flipped) << i;
        EXPECT_EQ(found[i].correlation, reference[i].correlation) << i;
        EXPECT_EQ(found[i].overlap, reference[i].overlap) << i;
      }
    }
  }
}

TEST(MatchTensors, BitsAreTheSameOnEveryInstructionSet) {
  const std::vector<Plain> library = random_tensors(700, 23);
  const std::vector<Plain> scene = random_tensors(31, 24);
  const auto found = [&] {
    std::vector<float> scores;
    for (const TensorMatch& m : match(Context::cpu(2), scene, library, {.least_correlation = 0})) {
      scores.push_back(m.correlation);
      scores.push_back(static_cast<float>(2 * m.model + m.flipped));
    }
    return scores;
  };
  const std::vector<float> reference = found();
  testing::for_each_instruction_set([&](detail::InstructionSet) { EXPECT_EQ(found(), reference); });
}

TEST(MatchTensors, EqualTensorsGoToTheLowerNumber) {
  const Plain tensor = random_tensor(6, 0);
  const std::vector<Plain> library(700, tensor);
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(describe(context));
    for (const TensorScore by : {TensorScore::kCosine, TensorScore::kCorrelation}) {
      const std::vector<TensorMatch> found =
          match(context, {tensor}, library, {.k = 5, .score = by});
      for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(found[i].model, i);
        EXPECT_EQ(found[i].correlation, 1.0f);
      }
    }
  }
}

TEST(MatchTensors, ThresholdsAndWindowAreClosed) {
  // 2 common bins of 3 and of 6; a third has an angle just outside the window.
  Plain three{{{0, 1.0f}, {1, 2.0f}, {2, 3.0f}}, 0.5f};
  Plain six{{{0, 1.0f}, {1, 2.0f}, {2, 3.5f}, {7, 1.0f}, {8, 1.0f}, {9, 1.0f}}, 0.75f};
  Plain outside{three.bins, 0.7501f};
  const auto found_with = [&](const Context& context, TensorMatchOptions options) {
    options.score = TensorScore::kCorrelation;
    std::vector<std::int32_t> models;
    for (const TensorMatch& m : match(context, {three}, {six, outside}, options)) {
      models.push_back(m.model);
    }
    return models;
  };
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(describe(context));
    using Models = std::vector<std::int32_t>;
    EXPECT_EQ(found_with(context, {.k = 2, .angle_window_rad = 0.25f}), (Models{0, -1}));
    EXPECT_EQ(found_with(context, {.k = 2, .angle_window_rad = 0.26f}), (Models{1, 0}));
    const auto by_cosine = [&](float window, float least_overlap) {
      return match(context, {three}, {six, outside},
                   {.k = 1, .angle_window_rad = window, .least_overlap = least_overlap})[0]
          .model;
    };
    EXPECT_EQ(by_cosine(0.25f, 0.5f), 0);
    EXPECT_EQ(by_cosine(0.25f, 0.51f), -1);
    EXPECT_EQ(by_cosine(0.26f, 0.51f), 1);
    EXPECT_EQ(found_with(context, {.k = 2, .angle_window_rad = 0.25f, .least_overlap = 0.5f}),
              (Models{0, -1}));
    EXPECT_EQ(found_with(context, {.k = 2, .angle_window_rad = 0.25f, .least_overlap = 0.51f}),
              (Models{-1, -1}));
  }
}

TEST(MatchTensors, NothingComesOfNothing) {
  const Plain empty{{}, 0.5f};
  const Plain flat{{{0, 1.0f}, {1, 1.0f}, {2, 1.0f}, {3, 1.0f}}, 0.5f};
  const Plain two{{{0, 1.0f}, {1, 2.0f}}, 0.5f};
  Plain full{{}, 0.5f};  // many large areas, all the same
  for (int bin = 0; bin < 399; ++bin) full.bins[bin] = 127.3125f;
  Plain failed = random_tensor(8, 0);
  failed.angle_rad = NAN;
  const std::vector<Plain> all{empty, flat, two, failed, full};
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(describe(context));
    for (const TensorMatch& m : match(context, all, all,
                                      {.score = TensorScore::kCorrelation,
                                      .least_overlap = 0.0f,
                                      .least_correlation = -1.0f})) {
      EXPECT_EQ(m.model, -1);
    }
    const std::vector<TensorMatch> none = match(context, {empty, failed}, all, {});
    for (const TensorMatch& m : none) EXPECT_EQ(m.model, -1);
    for (const TensorMatch& m : match(context, {flat}, {empty, failed}, {.least_overlap = 0})) {
      EXPECT_EQ(m.model, -1);
    }
    // The cosine needs no spread.
    EXPECT_EQ(match(context, {flat}, {full}, {.least_overlap = 0, .least_correlation = 0})[0].model,
              0);
    EXPECT_TRUE(match(context, {}, all, {}).empty());
    EXPECT_EQ(match(context, {flat}, {}, {.k = 1})[0].model, -1);
  }
}

TEST(MatchTensors, ASecondCallAllocatesNothingAndDoesNotWait) {
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(describe(context));
    const TensorSet scene = copy(context, to_set(random_tensors(30, 9)));
    const TensorSet library = copy(context, to_set(random_tensors(600, 10)));
    const TensorIndex index = index_tensors(context, library);
    Buffer<TensorMatch> matches(context, 30 * 4);
    Workspace workspace;
    for (const TensorMatchOptions& options : {TensorMatchOptions{}, paper_tensor_matching()}) {
      const auto run = [&] {
        match_tensors_into(context, scene, index, options, matches, workspace);
      };
      run();
      testing::expect_steady(context, run);
      EXPECT_EQ(testing::launch_recorded(context, run), 0);
    }
  }
}

TEST(MatchTensors, OtherBinsAreRefused) {
  const Context context = Context::cpu();
  const TensorSet ten = to_set({random_tensor(11, 0)});
  const TensorSet five = to_set({Plain{{{0, 1.0f}}, 0.5f}}, 5);
  const TensorIndex index = index_tensors(context, ten);
  EXPECT_NE(testing::error_message([&] { match_tensors(context, five, index); }).find("5 bins"),
            std::string::npos);
}

}  // namespace
}  // namespace sextant
