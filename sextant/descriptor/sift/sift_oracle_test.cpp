// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "sextant/core/simd/interleave.h"
#include "sextant/descriptor/sift.h"
#include "sextant/descriptor/sift/math.h"
#include "sextant/descriptor/sift/octaves.h"
#include "sextant/descriptor/sift/window.h"
#include "tests/blob_image.h"
#include "tests/each_device.h"
#include "tests/instruction_sets.h"
#include "tests/sift_features.h"

// The scale space and the descriptors, from their definitions in double precision: sums over all
// pixels and all cells, no tables, no kernels folded or joined.

namespace sextant {
namespace {

using testing::make_image;

constexpr double kPi = std::numbers::pi;

/// Where the mirror stands in which an image goes on beyond its border.
enum class Mirror { kMiddle, kEdge };  // of the outer pixels

struct Plane {
  int width = 0, height = 0;
  std::vector<double> values;

  double operator()(int u, int v) const { return values[static_cast<std::size_t>(v) * width + u]; }
  double mirrored(int u, int v, Mirror mirror) const {
    return (*this)(folded(u, width, mirror), folded(v, height, mirror));
  }

 private:
  static int folded(int i, int count, Mirror mirror) {
    const int more = mirror == Mirror::kEdge ? 1 : 0;
    while (i < 0 || i >= count) i = i < 0 ? -i - more : 2 * (count - 1) - i + more;
    return i;
  }
};

template <class Value>
Plane make_plane(int width, int height, const Value& value) {
  Plane plane{width, height, {}};
  for (int v = 0; v < height; ++v) {
    for (int u = 0; u < width; ++u) plane.values.push_back(value(u, v));
  }
  return plane;
}

Plane blurred(const Plane& from, double sigma, Mirror mirror = Mirror::kMiddle) {
  const int radius = static_cast<int>(std::lround(4 * sigma));
  const auto weight = [&](int du, int dv) {
    return std::exp(-0.5 * (du * du + dv * dv) / (sigma * sigma));
  };
  double weights = 0;
  for (int dv = -radius; dv <= radius; ++dv) {
    for (int du = -radius; du <= radius; ++du) weights += weight(du, dv);
  }
  return make_plane(from.width, from.height, [&](int u, int v) {
    double sum = 0;
    for (int dv = -radius; dv <= radius; ++dv) {
      for (int du = -radius; du <= radius; ++du) {
        sum += weight(du, dv) * from.mirrored(u + du, v + dv, mirror);
      }
    }
    return sum / weights;
  });
}

/// Bilinear interpolation at the quarters of pixels; beyond the border, the border.
Plane doubled(const Plane& from) {
  return make_plane(2 * from.width, 2 * from.height, [&](int u, int v) {
    const double x = u / 2.0 - 0.25, y = v / 2.0 - 0.25;
    const int left = static_cast<int>(std::floor(x)), above = static_cast<int>(std::floor(y));
    double sum = 0;
    for (int dv = 0; dv < 2; ++dv) {
      for (int du = 0; du < 2; ++du) {
        const double share = (1 - std::abs(x - (left + du))) * (1 - std::abs(y - (above + dv)));
        sum += share * from(std::clamp(left + du, 0, from.width - 1),
                            std::clamp(above + dv, 0, from.height - 1));
      }
    }
    return sum;
  });
}

/// All scales of one octave after the other.
std::vector<std::vector<Plane>> scale_space(const Plane& image, const SiftOptions& options) {
  Plane start = options.doubled ? doubled(image) : image;
  const double before = options.image_sigma_px * (options.doubled ? 2 : 1);
  start = blurred(start, std::sqrt(options.sigma_px * options.sigma_px - before * before),
                  options.doubled ? Mirror::kEdge : Mirror::kMiddle);
  std::vector<std::vector<Plane>> octaves;
  while (std::min(start.width, start.height) > 10) {
    std::vector<Plane> scales{start};
    for (int s = 1; s < options.layers + 3; ++s) {
      const double sigma = options.sigma_px * std::exp2(double(s) / options.layers);
      const double last = options.sigma_px * std::exp2((s - 1.0) / options.layers);
      scales.push_back(blurred(scales.back(), std::sqrt(sigma * sigma - last * last)));
    }
    const Plane& twice = scales[static_cast<std::size_t>(options.layers)];
    start = make_plane(twice.width / 2, twice.height / 2,
                       [&](int u, int v) { return twice(2 * u, 2 * v); });
    octaves.push_back(std::move(scales));
  }
  return octaves;
}

/// Small blobs close to each other: keypoints of all sizes and contrasts.
Image<std::uint8_t> oracle_image(int width, int height) {
  return testing::blob_image(width, height,
                             testing::scattered_blobs(width, height, width * height / 25, 3));
}
Plane plane_of(const Image<std::uint8_t>& image) {
  return make_plane(image.width(), image.height(),
                    [&](int u, int v) { return double(image(u, v)); });
}

TEST(SiftOracle, ScalesAreThoseOfTheDefinition) {
  for (const auto& [width, height, options] : {std::tuple{57, 43, SiftOptions{}},
                                               {64, 64, SiftOptions{.doubled = false, .layers = 2}},
                                               {33, 17, SiftOptions{.layers = 1}}}) {
    SCOPED_TRACE(::testing::Message() << width << " x " << height);
    const Image<std::uint8_t> image = oracle_image(width, height);
    const auto expected = scale_space(plane_of(image), options);
    const auto plan = detail::sift::make_scale_plan(width, height, options);
    ASSERT_EQ(static_cast<std::size_t>(plan.octaves), expected.size());
    const Context context = Context::cpu(2);
    const PhotoView photo(image);
    Workspace workspace;
    testing::for_each_instruction_set([&](detail::InstructionSet) {
      detail::sift::Octaves octaves(context, photo, plan, workspace);
      while (octaves.next()) {
        for (detail::sift::RowRange rows; octaves.make_rows(rows);) {
        }
        const detail::sift::Octave& octave = octaves.octave();
        const auto& scales = expected[static_cast<std::size_t>(octave.number)];
        for (std::size_t s = 0; s < scales.size(); ++s) {
          for (int v = 0; v < scales[s].height; ++v) {
            for (int u = 0; u < scales[s].width; ++u) {
              // Each of some 13 blurs rounds 26 products and sums of numbers below 256 by 2^-24 of
              // them, in both directions; most of that cancels out.
              ASSERT_NEAR(octave.scale[s].row(v)[u], scales[s](u, v), 1e-3)
                  << "octave " << octave.number << " scale " << s << " at " << u << ' ' << v;
            }
          }
        }
      }
    });
  }
}

/// The angle and length of the gradient, as differences of the neighbours.
struct Slope {
  double length, angle;
};
Slope slope_at(const Plane& plane, int u, int v) {
  const double right = plane(u + 1, v) - plane(u - 1, v);
  const double down = plane(u, v + 1) - plane(u, v - 1);
  return {std::hypot(right, down), std::atan2(down, right)};
}

/// Every pixel of the octave against every cell and direction.
std::vector<double> descriptor(const Plane& plane, double u, double v, double sigma, double angle) {
  const double cell = 3 * sigma;
  std::vector<double> numbers(kSiftLength);
  for (int y = 1; y < plane.height - 1; ++y) {
    for (int x = 1; x < plane.width - 1; ++x) {
      const double du = (x - u) / cell, dv = (y - v) / cell;
      const double along = std::cos(angle) * du + std::sin(angle) * dv;
      const double across = std::cos(angle) * dv - std::sin(angle) * du;
      if (std::max(std::abs(along), std::abs(across)) >= 2.5) continue;
      const Slope slope = slope_at(plane, x, y);
      const double votes =
          slope.length * std::exp(-(along * along + across * across) / (2 * 2.0 * 2.0));
      for (int i = 0; i < kSiftLength; ++i) {
        const double row = i / 32 - 1.5, column = i / 8 % 4 - 1.5;
        const double turned = std::remainder(slope.angle - angle + i % 8 * kPi / 4, 2 * kPi);
        const auto share = [](double apart) { return std::max(0.0, 1 - std::abs(apart)); };
        numbers[static_cast<std::size_t>(i)] +=
            votes * share(across - row) * share(along - column) * share(turned / (kPi / 4));
      }
    }
  }
  double length_sq = 0, clamped_sq = 0;
  for (const double x : numbers) length_sq += x * x;
  for (double& x : numbers) {
    x = std::min(x, 0.2 * std::sqrt(length_sq));
    clamped_sq += x * x;
  }
  for (double& x : numbers) x /= std::sqrt(clamped_sq);
  return numbers;
}

/// The share of the gradients around a keypoint that point within half a bin of an angle, smoothed.
double votes_for(const Plane& plane, double u, double v, double sigma, double angle) {
  constexpr double kBinomial[] = {6, 4, 1};
  const int radius = static_cast<int>(std::lround(4.5 * sigma));
  const int center_u = static_cast<int>(std::lround(u)),
            center_v = static_cast<int>(std::lround(v));
  double sum = 0;
  for (int y = std::max(center_v - radius, 1);
       y < std::min(center_v + radius + 1, plane.height - 1); ++y) {
    for (int x = std::max(center_u - radius, 1);
         x < std::min(center_u + radius + 1, plane.width - 1); ++x) {
      const Slope slope = slope_at(plane, x, y);
      const double bin = std::round(slope.angle * 18 / kPi);
      const double apart = std::abs(std::remainder(bin - std::round(angle * 18 / kPi), 36.0));
      if (apart > 2) continue;
      sum += kBinomial[static_cast<int>(std::lround(apart))] * slope.length *
             std::exp(-0.5 * (std::pow(x - u, 2) + std::pow(y - v, 2)) / std::pow(1.5 * sigma, 2));
    }
  }
  return sum;
}

TEST(SiftOracle, DescriptorsAreThoseOfTheDefinition) {
  const Image<std::uint8_t> image = oracle_image(90, 70);
  const auto octaves = scale_space(plane_of(image), {});
  const auto check = [&](const SiftFeatures& found) {
    ASSERT_GT(found.count, 30);
    for (int i = 0; i < found.count; ++i) {
      const SiftKeypoint& keypoint = found.keypoints.host()[static_cast<std::size_t>(i)];
      const double pixel = std::exp2(keypoint.octave);
      const double u = (keypoint.u_px + 0.25) / pixel, v = (keypoint.v_px + 0.25) / pixel;
      const double sigma = keypoint.sigma_px / pixel;
      const Plane& plane = octaves[static_cast<std::size_t>(keypoint.octave + 1)]
                                  [static_cast<std::size_t>(keypoint.layer)];
      const std::vector<double> expected = descriptor(plane, u, v, sigma, keypoint.angle_rad);
      for (int k = 0; k < kSiftLength; ++k) {
        // Directions are wrong by 5e-6 turns, which moves 4e-5 of a vote to another bin.
        ASSERT_NEAR(found.floats.data()[i * kSiftLength + k], expected[static_cast<std::size_t>(k)],
                    1e-4)
            << "keypoint " << i << " number " << k;
      }
    }
  };
  const SiftOptions options{.numbers = SiftNumbers::kFloats};
  testing::for_each_instruction_set(
      [&](detail::InstructionSet) { check(compute_sift(Context::cpu(), image, options)); });
  for (const Context& context : testing::cuda_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    check(testing::sift_on(context, image, options));
  }
}

TEST(SiftOracle, WindowsAlongTheRowsOfPixels) {
  // At exact quarter turns one side of the window has no slope. The first place is in the middle,
  // at the others the window reaches beyond the image.
  const Image<std::uint8_t> image = oracle_image(90, 70);
  const auto octaves = scale_space(plane_of(image), {});
  const auto plan = detail::sift::make_scale_plan(90, 70, {});
  const Context context = Context::cpu(1);
  const PhotoView photo(image);
  Workspace workspace;
  detail::sift::Octaves scales(context, photo, plan, workspace);
  ASSERT_TRUE(scales.next());
  for (detail::sift::RowRange rows; scales.make_rows(rows);) {
  }
  for (const Vec2f& place : {Vec2f{88.3f, 71.8f}, {6, 130}, {174, 7}}) {
    for (const float turns : {0.0f, 0.25f, 0.5f, 0.75f, 0.25001f, 0.4999f, 0.125f}) {
      const detail::sift::Extremum at{2,
                                      static_cast<int>(std::lround(place.y)),
                                      static_cast<int>(std::lround(place.x)),
                                      place.x,
                                      place.y,
                                      2.6f,
                                      1};
      float numbers[kSiftLength];
      detail::sift::describe_window(scales.octave(), {at, turns}, false, numbers);
      const std::vector<double> expected =
          descriptor(octaves[0][2], place.x, place.y, 2.6f, 2 * kPi * turns);
      for (std::size_t k = 0; k < expected.size(); ++k) {
        ASSERT_NEAR(numbers[k], expected[k], 1e-4) << "turns " << turns << " number " << k;
      }
    }
  }
}

TEST(SiftOracle, AnglesAreMaximaOfTheVotes) {
  for (const Context& context : testing::each_device()) {
    SCOPED_TRACE(testing::describe(context));
    const Image<std::uint8_t> image = oracle_image(90, 70);
    const auto octaves = scale_space(plane_of(image), {});
    const SiftFeatures found = testing::sift_on(context, image);
    int seen = 0;
    for (const SiftKeypoint& keypoint :
         found.keypoints.host().first(static_cast<std::size_t>(found.count))) {
      const double pixel = std::exp2(keypoint.octave);
      const double u = (keypoint.u_px + 0.25) / pixel, v = (keypoint.v_px + 0.25) / pixel;
      const Plane& plane = octaves[static_cast<std::size_t>(keypoint.octave + 1)]
                                  [static_cast<std::size_t>(keypoint.layer)];
      const auto votes = [&](double angle) {
        return votes_for(plane, u, v, keypoint.sigma_px / pixel, angle);
      };
      double highest = 0;
      for (int bin = 0; bin < 36; ++bin) highest = std::max(highest, votes(bin * kPi / 18));
      const double here = votes(keypoint.angle_rad);
      EXPECT_GE(here, 0.7999 * highest);
      EXPECT_GE(here, votes(keypoint.angle_rad + kPi / 18));
      EXPECT_GE(here, votes(keypoint.angle_rad - kPi / 18));
      ++seen;
    }
    EXPECT_GT(seen, 30);
  }
}

TEST(SiftOracle, GradientsOfAllDirections) {
  for (int step = 0; step < 10000; ++step) {
    const double angle = 2 * kPi * step / 10000;
    const double length = std::exp2(step % 30 - 12.0);
    const auto gradient = detail::sift::gradient_of(static_cast<float>(length * std::cos(angle)),
                                                    static_cast<float>(length * std::sin(angle)));
    EXPECT_NEAR(gradient.length, length, 5e-6 * length);
    EXPECT_NEAR(std::remainder(gradient.turns - step / 10000.0, 1.0), 0, 5e-6);
    EXPECT_GE(gradient.turns, 0);
    EXPECT_LE(gradient.turns, 1);
  }
  EXPECT_LT(detail::sift::gradient_of(0.0f, 0.0f).length, 1e-14f);
}

TEST(SiftOracle, FitsTheExtremumOfAQuadratic) {
  // f = 7 - (x - a)ᵀ H (x - a) / 2 has its extremum at a, whatever the positive definite H.
  const double a[] = {0.3, -0.2, 0.45};
  const double h[3][3] = {{2, 0.4, -0.3}, {0.4, 1.5, 0.2}, {-0.3, 0.2, 1}};
  detail::sift::ScaleBlock block;
  for (int s = -1; s <= 1; ++s) {
    for (int v = -1; v <= 1; ++v) {
      for (int u = -1; u <= 1; ++u) {
        const double x[] = {u - a[0], v - a[1], s - a[2]};
        double f = 7;
        for (int i = 0; i < 3; ++i) {
          for (int j = 0; j < 3; ++j) f -= 0.5 * x[i] * h[i][j] * x[j];
        }
        block.d[s + 1][v + 1][u + 1] = static_cast<float>(f);
      }
    }
  }
  const auto fit = detail::sift::fit_extremum(block);
  ASSERT_TRUE(fit.exists);
  EXPECT_NEAR(fit.du, a[0], 1e-5);
  EXPECT_NEAR(fit.dv, a[1], 1e-5);
  EXPECT_NEAR(fit.ds, a[2], 1e-5);
  EXPECT_NEAR(fit.value, 7, 1e-5);
  // Curvatures 2 and 1.5 with 0.4 between: trace² / determinant is 4.31, as for a ratio of 1.74.
  EXPECT_TRUE(detail::sift::is_blob(block, 1.8f));
  EXPECT_FALSE(detail::sift::is_blob(block, 1.7f));
  EXPECT_FALSE(detail::sift::fit_extremum({}).exists);
}

struct Interleave {
  template <class Set>
  void operator()(Set, const float* even, const float* odd, float* to, float* back) const {
    using Pack = detail::FloatLanes<Set::kFloats, Set>;
    for (int i = 0; i < 32; i += Pack::kCount) {
      store_interleaved(Pack::load(even + i), Pack::load(odd + i), to + 2 * i);
    }
    for (int i = 0; i < 32; i += Pack::kCount) {
      detail::load_every_other<Pack>(to + 2 * i).store(back + i);
    }
  }
};

TEST(SiftOracle, PacksInterleave) {
  testing::for_each_instruction_set([&](detail::InstructionSet) {
    float even[32], odd[32], both[64], back[32];
    for (int i = 0; i < 32; ++i) {
      even[i] = static_cast<float>(i);
      odd[i] = static_cast<float>(100 + i);
    }
    detail::run_widest(Interleave{}, even, odd, both, back);
    for (int i = 0; i < 32; ++i) {
      EXPECT_EQ(both[2 * i], even[i]);
      EXPECT_EQ(both[2 * i + 1], odd[i]);
      EXPECT_EQ(back[i], even[i]);
    }
  });
}

}  // namespace
}  // namespace sextant
