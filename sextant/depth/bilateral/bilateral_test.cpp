// SPDX-License-Identifier: Apache-2.0
#include "sextant/depth/bilateral.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "sextant/core/graph.h"
#include "sextant/core/random.h"
#include "tests/devices.h"
#include "tests/instruction_sets.h"

namespace sextant {

using namespace detail::bilateral;
namespace {

/// The formula, word for word, in double.
Image<double> oracle(const Image<float>& depth, const BilateralOptions& options) {
  Image<double> result(Context::cpu(), depth.width(), depth.height());
  const auto valid = [](float z) { return z > 0 && z < 1e9f; };
  for (int v = 0; v < depth.height(); ++v) {
    for (int u = 0; u < depth.width(); ++u) {
      double weights = 0, sum = 0;
      for (int y = v - options.radius_px; y <= v + options.radius_px; ++y) {
        for (int x = u - options.radius_px; x <= u + options.radius_px; ++x) {
          if (!depth.view().contains(x, y) || !valid(depth(x, y))) continue;
          const double space = (std::pow(x - u, 2) + std::pow(y - v, 2)) /
                               (2 * options.sigma_space_px * options.sigma_space_px);
          const double range = std::pow(double(depth(x, y)) - double(depth(u, v)), 2) /
                               (2 * options.sigma_depth_m * options.sigma_depth_m);
          const double weight = std::exp(-space - range);
          weights += weight;
          sum += weight * depth(x, y);
        }
      }
      result(u, v) = valid(depth(u, v)) ? sum / weights : NAN;
    }
  }
  return result;
}

/// A slope with a step, noise, and every kind of hole.
Image<float> rough_scene(int width, int height, std::uint64_t seed) {
  Image<float> depth(Context::cpu(), width, height);
  const float holes[] = {NAN, 0.0f, -1.0f, INFINITY, -INFINITY, NAN, 1e30f};
  for (int v = 0; v < height; ++v) {
    for (int u = 0; u < width; ++u) {
      const Random random{seed, static_cast<std::uint64_t>(v * width + u)};
      const double z = 1.0 + 0.002 * u + 0.001 * v + (u > width / 2 ? 0.5 : 0.0);
      depth(u, v) = static_cast<float>(z + 0.01 * random.normal(0));
      if (random.uniform(1) < 0.1f) depth(u, v) = holes[random.below(7, 2)];
    }
  }
  return depth;
}

/// The bound that the header states.
double bound(double depth_m, const BilateralOptions& options) {
  return 3e-7 * depth_m + 2e-6 * options.sigma_depth_m;
}

void expect_oracle(const Image<float>& got, const Image<double>& expected,
                   const BilateralOptions& options) {
  for (int v = 0; v < got.height(); ++v) {
    for (int u = 0; u < got.width(); ++u) {
      if (std::isnan(expected(u, v))) {
        ASSERT_TRUE(std::isnan(got(u, v))) << u << ' ' << v;
      } else {
        ASSERT_NEAR(got(u, v), expected(u, v), bound(expected(u, v), options)) << u << ' ' << v;
      }
    }
  }
}

TEST(Bilateral, EqualsTheFormulaInDouble) {
  std::vector<BilateralOptions> cases;
  for (const int radius : {1, 2, 3, 4, 5, 6, 8, 11, 15}) cases.push_back({.radius_px = radius});
  cases.push_back({.sigma_space_px = 0.1});
  cases.push_back({.sigma_space_px = 1000});
  cases.push_back({.sigma_depth_m = 0.001});
  cases.push_back({.sigma_depth_m = 1000});
  cases.push_back({.radius_px = 15, .sigma_space_px = 1000, .sigma_depth_m = 1000});
  // Wider than a tile, and not a multiple of any block.
  const Image<float> scene = rough_scene(101, 45, testing::seed_of_test());
  for (const BilateralOptions& options : cases) {
    SCOPED_TRACE(::testing::Message()
                 << "radius " << options.radius_px << " sigma_space " << options.sigma_space_px
                 << " sigma_depth " << options.sigma_depth_m);
    const Image<double> expected = oracle(scene, options);
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      const Image<float> depth = copy(context, scene);
      expect_oracle(to_host(context, bilateral_filter(context, depth, options)), expected, options);
    }
  }
}

TEST(Bilateral, VanishingSigmaGivesTheDepthBack) {
  // Every neighbour is at least a thousand sigmas away, the pixel itself counts alone.
  const Image<float> scene = rough_scene(70, 40, testing::seed_of_test());
  for (const Context& context : testing::all_contexts()) {
    const Image<float> depth = copy(context, scene);
    const Image<float> result =
        to_host(context, bilateral_filter(context, depth, {.sigma_depth_m = 1e-6}));
    for (int v = 0; v < 40; ++v) {
      for (int u = 0; u < 70; ++u) {
        if (std::isnan(result(u, v))) continue;
        ASSERT_NEAR(result(u, v), scene(u, v), 1e-5f);
      }
    }
  }
}

TEST(Bilateral, EveryInstructionSetGivesTheFormula) {
  const Image<float> scene = rough_scene(100, 50, testing::seed_of_test());
  for (const BilateralOptions& options :
       {BilateralOptions{}, BilateralOptions{.radius_px = 15, .sigma_space_px = 20}}) {
    const Image<double> expected = oracle(scene, options);
    testing::for_each_instruction_set([&](detail::InstructionSet) {
      expect_oracle(bilateral_filter(Context::cpu(2), scene, options), expected, options);
    });
  }
}

TEST(Bilateral, SetsThatFuseGiveTheSameBits) {
  const Image<float> scene = rough_scene(100, 50, testing::seed_of_test());
  const auto filtered = [&](detail::InstructionSet widest) {
    const detail::InstructionSetLimit limit(widest);
    return to_host(Context::cpu(), bilateral_filter(Context::cpu(), scene).pixels());
  };
  if (detail::supported_instruction_set() < detail::InstructionSet::kAvx512) GTEST_SKIP();
  EXPECT_TRUE(testing::same_bytes(filtered(detail::InstructionSet::kAvx512),
                                  filtered(detail::InstructionSet::kAvx2)));
}

TEST(Bilateral, ConstantImageComesBackBitByBit) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    for (const float value : {0.3f, 1.2345678f, 8.0f, 65.535f, 1e6f}) {
      const Image<float> depth(copy(context, std::vector<float>(97 * 41, value)), 97, 41);
      for (const float got : to_host(context, bilateral_filter(context, depth).pixels())) {
        ASSERT_EQ(got, value);
      }
    }
  }
}

TEST(Bilateral, KeepsEdgesAndCalmsNoise) {
  // A step of 0.3 m is ten sigmas: the weight across it is e^-50.
  Image<float> scene(Context::cpu(), 96, 64);
  const Random seed{testing::seed_of_test(), 0};
  for (int v = 0; v < 64; ++v) {
    for (int u = 0; u < 96; ++u) {
      const Random random{seed.seed, static_cast<std::uint64_t>(v * 96 + u)};
      scene(u, v) = static_cast<float>((u < 48 ? 1.0 : 1.3) + 0.003 * random.normal(0));
    }
  }
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Image<float> depth = copy(context, scene);
    const Image<float> result = to_host(context, bilateral_filter(context, depth));
    double before = 0, after = 0;
    for (int v = 0; v < 64; ++v) {
      for (int u = 0; u < 96; ++u) {
        const double truth = u < 48 ? 1.0 : 1.3;
        before += std::pow(scene(u, v) - truth, 2);
        after += std::pow(result(u, v) - truth, 2);
      }
    }
    // A Gaussian of 4.5 px over 11 × 11 averages about 100 values, half of that at the edges:
    // noise shrinks at least sixfold. The neighbours of the step gain as much as the others.
    EXPECT_LT(after, before / 36);
    for (int v = 0; v < 64; ++v) {
      EXPECT_NEAR(result(47, v), 1.0, 0.003);
      EXPECT_NEAR(result(48, v), 1.3, 0.003);
    }
  }
}

TEST(Bilateral, PlaneStaysAPlane) {
  // Away from the border the window is symmetric, and so are the weights: the mean is the centre.
  Image<float> scene(Context::cpu(), 80, 60);
  for (int v = 0; v < 60; ++v) {
    for (int u = 0; u < 80; ++u) scene(u, v) = static_cast<float>(1.0 + 0.002 * u - 0.001 * v);
  }
  const BilateralOptions options;
  for (const Context& context : testing::all_contexts()) {
    const Image<float> depth = copy(context, scene);
    const Image<float> result = to_host(context, bilateral_filter(context, depth, options));
    for (int v = 5; v < 55; ++v) {
      for (int u = 5; u < 75; ++u) ASSERT_NEAR(result(u, v), scene(u, v), bound(1.2, options));
    }
  }
}

TEST(Bilateral, SameBitsForAnyThreadsAndEveryRun) {
  const Image<float> scene = rough_scene(333, 77, testing::seed_of_test());
  const Image<float> reference = bilateral_filter(Context::cpu(1), scene);
  const std::size_t bytes = sizeof(float) * 333 * 77;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Image<float> depth = copy(context, scene);
    const Image<float> first = to_host(context, bilateral_filter(context, depth));
    const Image<float> second = to_host(context, bilateral_filter(context, depth));
    EXPECT_EQ(std::memcmp(first.pixels().data(), second.pixels().data(), bytes), 0);
    if (context.is_cpu()) {
      EXPECT_EQ(std::memcmp(first.pixels().data(), reference.pixels().data(), bytes), 0);
      continue;
    }
    const BilateralOptions options;
    for (int v = 0; v < 77; ++v) {
      for (int u = 0; u < 333; ++u) {
        ASSERT_EQ(std::isnan(first(u, v)), std::isnan(reference(u, v)));
        if (std::isnan(first(u, v))) continue;
        ASSERT_NEAR(first(u, v), reference(u, v), 2 * bound(reference(u, v), options));
      }
    }
  }
}

TEST(Bilateral, IntoTakesPartsOfImagesAndCanBeRecorded) {
  const Image<float> scene = rough_scene(90, 50, testing::seed_of_test());
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Image<float> depth = copy(context, scene);
    Image<float> output =
        copy(context, Image<float>(copy(Context::cpu(), std::vector<float>(4500, 7.0f)), 90, 50));
    const auto part = [&](auto view) {
      view.data += 10 * view.stride + 20;
      view.width = 40;
      view.height = 30;
      return view;
    };
    const std::int64_t before = context.counters().allocations;
    const Graph graph = Graph::capture(context, [&] {
      bilateral_filter_into(context, part(depth.view()), {}, part(output.view()));
    });
    graph.launch();
    EXPECT_EQ(context.counters().allocations, before);
    Image<float> cut(Context::cpu(), 40, 30);
    for (int v = 0; v < 30; ++v) {
      for (int u = 0; u < 40; ++u) cut(u, v) = scene(u + 20, v + 10);
    }
    const Image<double> expected = oracle(cut, {});
    const Image<float> result = to_host(context, output);
    for (int v = 0; v < 50; ++v) {
      for (int u = 0; u < 90; ++u) {
        const bool inside = u >= 20 && u < 60 && v >= 10 && v < 40;
        if (!inside) {
          ASSERT_EQ(result(u, v), 7.0f) << u << ' ' << v;
        } else if (!std::isnan(expected(u - 20, v - 10))) {
          ASSERT_NEAR(result(u, v), expected(u - 20, v - 10), bound(2, {})) << u << ' ' << v;
        }
      }
    }
  }
}

TEST(Bilateral, BadInput) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    EXPECT_TRUE(bilateral_filter(context, Image<float>(context, 0, 0)).empty());
    EXPECT_TRUE(bilateral_filter(context, Image<float>(context, 0, 7)).empty());
    const Image<float> one(copy(context, std::vector<float>{1.5f}), 1, 1);
    EXPECT_EQ(to_host(context, bilateral_filter(context, one).pixels())[0], 1.5f);
    for (const float hole : {NAN, INFINITY, 0.0f, -2.0f}) {
      const Image<float> holes(copy(context, std::vector<float>(600, hole)), 30, 20);
      for (const float got : to_host(context, bilateral_filter(context, holes).pixels())) {
        ASSERT_TRUE(std::isnan(got));
      }
    }
    Image<float> depth(copy(context, std::vector<float>(600, 1.0f)), 30, 20);
    Image<float> small(context, 20, 20);
    EXPECT_THROW(bilateral_filter_into(context, depth, {}, small), Error);
    EXPECT_THROW(bilateral_filter_into(context, depth, {}, depth), Error);
    EXPECT_THROW(bilateral_filter(context, depth, {.radius_px = 0}), Error);
    EXPECT_THROW(bilateral_filter(context, depth, {.radius_px = 16}), Error);
    EXPECT_THROW(bilateral_filter(context, depth, {.sigma_depth_m = 0}), Error);
    EXPECT_THROW(bilateral_filter(context, depth, {.sigma_space_px = NAN}), Error);
  }
}

}  // namespace
}  // namespace sextant
