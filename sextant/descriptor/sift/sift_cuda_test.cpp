// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "sextant/core/cuda/dispatch.h"
#include "sextant/core/random.h"
#include "sextant/descriptor/sift/cuda.h"
#include "tests/each_device.h"
#include "tests/error_message.h"
#include "tests/instruction_sets.h"
#include "tests/sift_features.h"

// SIFT on CUDA beside the CPU; without a GPU these are skipped.

namespace sextant {
namespace {

using testing::bits_of;
using testing::blobs_for_sift;
using testing::cuda_contexts;
using testing::descriptor_cosine;
using testing::keypoints_of;
using testing::make_image;
using testing::seed_of_test;
using testing::sift_on;

Image<std::uint8_t> noise(int width, int height, std::uint64_t seed) {
  return make_image<std::uint8_t>(width, height, [&](int u, int v) {
    const Random random{seed, static_cast<std::uint64_t>(v) * 10000 + static_cast<unsigned>(u)};
    return static_cast<std::uint8_t>(random.below(256, 0));
  });
}

/// How many keypoints of `found` are those of `expected`: the same place, size and angle, and
/// nearly the same descriptor. Both are in the same order.
int agreeing(const SiftFeatures& found, const SiftFeatures& expected) {
  const auto before = [](const SiftKeypoint& a, const SiftKeypoint& b) {
    return std::tie(a.octave, a.layer, a.v_px) < std::tie(b.octave, b.layer, b.v_px);
  };
  int same = 0;
  for (int i = 0, first = 0; i < expected.count; ++i) {
    const SiftKeypoint& e = keypoints_of(expected)[static_cast<std::size_t>(i)];
    SiftKeypoint above = e;
    above.v_px -= std::ldexp(2.0f, e.octave);
    while (first < found.count &&
           before(keypoints_of(found)[static_cast<std::size_t>(first)], above)) {
      // A row is left behind when all of it is; a pixel of the octave is the row's height.
      ++first;
    }
    for (int j = std::max(first - 64, 0); j < std::min(found.count, first + 4096); ++j) {
      const SiftKeypoint& f = keypoints_of(found)[static_cast<std::size_t>(j)];
      const float turn = 6.2831853f;
      if (f.octave != e.octave || f.layer != e.layer || std::abs(f.u_px - e.u_px) > 1e-3f ||
          std::abs(f.v_px - e.v_px) > 1e-3f ||
          std::abs(f.sigma_px - e.sigma_px) > 1e-4f * e.sigma_px ||
          std::abs(f.response - e.response) > 1e-5f ||
          std::abs(std::remainder(f.angle_rad - e.angle_rad, turn)) > 1e-3f) {
        continue;
      }
      bool near = true;
      for (int k = 0; k < kSiftLength; ++k) {
        if (!expected.bytes.empty()) {
          near = near && std::abs(int{expected.bytes.data()[i * kSiftLength + k]} -
                                  int{found.bytes.data()[j * kSiftLength + k]}) <= 2;
        }
        if (!expected.floats.empty()) {
          near = near && std::abs(expected.floats.data()[i * kSiftLength + k] -
                                  found.floats.data()[j * kSiftLength + k]) <= 2e-3f;
        }
      }
      if (!near) continue;
      ++same;
      break;
    }
  }
  return same;
}

/// Five in a thousand may differ, and two in any image.
void expect_agreement(const SiftFeatures& found, const SiftFeatures& expected) {
  const int allowed = 2 + expected.count * 5 / 1000;
  EXPECT_NEAR(found.count, expected.count, allowed);
  EXPECT_GE(agreeing(found, expected), expected.count - allowed) << "of " << expected.count;
}

TEST(SiftCuda, FindsWhatTheCpuFinds) {
  if (cuda_contexts().empty()) GTEST_SKIP() << "no CUDA device";
  for (const Context& context : cuda_contexts()) {
    const std::vector<std::pair<int, int>> sizes{{1, 1},     {1, 300},   {6, 6},    {11, 12},
                                                 {16, 33},   {64, 32},   {65, 33},  {129, 65},
                                                 {300, 200}, {333, 207}, {640, 480}};
    for (const auto& [width, height] : sizes) {
      SCOPED_TRACE(::testing::Message() << width << " x " << height);
      const Image<std::uint8_t> blobs = blobs_for_sift(width, height);
      for (const SiftOptions& options :
           {SiftOptions{}, fast_sift_options(),
            SiftOptions{.numbers = SiftNumbers::kFloats, .root = true},
            SiftOptions{.octaves = 1, .numbers = SiftNumbers::kNone}}) {
        expect_agreement(sift_on(context, blobs, options), sift_on(Context::cpu(), blobs, options));
      }
      if (width > 400) continue;  // noise has a keypoint to ten pixels
      const Image<std::uint8_t> random = noise(width, height, seed_of_test());
      expect_agreement(sift_on(context, random), sift_on(Context::cpu(), random));
    }
  }
}

TEST(SiftCuda, TakesAllOptions) {
  if (cuda_contexts().empty()) GTEST_SKIP() << "no CUDA device";
  const Image<std::uint8_t> image = blobs_for_sift(211, 173);
  const auto mask = make_image<std::uint8_t>(
      211, 173, [](int u, int v) { return std::uint8_t{u > 90 && v < 100}; });
  for (const Context& context : cuda_contexts()) {
    // One layer needs filters wider than a block has; a contrast of 0 keeps what noise there is.
    for (const SiftOptions& options :
         {SiftOptions{.layers = 1, .sigma_px = 3.2, .image_sigma_px = 0}, SiftOptions{.layers = 8},
          SiftOptions{.doubled = false, .layers = 5, .sigma_px = 0.8}, SiftOptions{.contrast = 0},
          SiftOptions{.edge_ratio = 2}, SiftOptions{.orientation_peak = 0}, SiftOptions{.most = 1},
          SiftOptions{.most = 100}, SiftOptions{.most = 1 << 30}}) {
      expect_agreement(sift_on(context, image, options), sift_on(Context::cpu(), image, options));
      expect_agreement(sift_on(context, image, options, mask),
                       sift_on(Context::cpu(), image, options, mask));
    }
  }
}

TEST(SiftCuda, GivesTheSameBitsEveryTime) {
  if (cuda_contexts().empty()) GTEST_SKIP() << "no CUDA device";
  for (const Context& context : cuda_contexts()) {
    for (const SiftOptions& options : {SiftOptions{}, SiftOptions{.most = 200}}) {
      const Image<std::uint8_t> image = copy(context, noise(301, 199, seed_of_test()));
      const auto first = bits_of(to_host(context, compute_sift(context, image, options)));
      ASSERT_GT(first.size(), 100u * kSiftLength);
      SiftFeatures features;
      Workspace workspace;
      for (int run = 0; run < 5; ++run) {
        compute_sift_into(context, image, {}, options, features, workspace);
        EXPECT_TRUE(testing::same_bytes(bits_of(to_host(context, features)), first)) << run;
      }
    }
  }
}

TEST(SiftCuda, ListsGrowToWhatIsFound) {
  if (cuda_contexts().empty()) GTEST_SKIP() << "no CUDA device";
  for (const Context& context : cuda_contexts()) {
    const Image<std::uint8_t> image = copy(context, blobs_for_sift(300, 200));
    for (const SiftOptions& options : {SiftOptions{}, SiftOptions{.most = 150}}) {
      const auto expected = bits_of(to_host(context, compute_sift(context, image, options)));
      SiftFeatures features;
      Workspace workspace;
      detail::on_device(
          context,
          [&] {
            detail::sift::compute_sift_cuda(context, image, {}, options, 10, features, workspace);
          },
          [] {});
      EXPECT_TRUE(testing::same_bytes(bits_of(to_host(context, features)), expected));
    }
  }
}

TEST(SiftCuda, SecondCallAllocatesNothingAndWaitsOnce) {
  if (cuda_contexts().empty()) GTEST_SKIP() << "no CUDA device";
  for (const Context& context : cuda_contexts()) {
    // Noise has more keypoints than there is room for at first.
    for (const Image<std::uint8_t>& host : {blobs_for_sift(200, 150), noise(400, 300, 1)}) {
      for (const SiftOptions& options : {SiftOptions{}, SiftOptions{.most = 300}}) {
        const Image<std::uint8_t> image = copy(context, host);
        SiftFeatures features;
        Workspace workspace;
        const auto run = [&] {
          compute_sift_into(context, image, {}, options, features, workspace);
        };
        run();
        run();
        const Counters before = context.counters();
        run();
        const Counters after = context.counters();
        EXPECT_EQ(after.allocations, before.allocations);
        EXPECT_EQ(after.uploads, before.uploads);
        EXPECT_EQ(after.downloads, before.downloads + 1);
        EXPECT_LE(after.synchronisations, before.synchronisations + 1);
        EXPECT_EQ(bits_of(to_host(context, features)),
                  bits_of(to_host(context, compute_sift(context, image, options))));
      }
    }
    // The result of a smaller image lies in the same memory, and images without pixels have none.
    SiftFeatures features;
    Workspace workspace;
    for (const auto& [width, height] : {std::pair{200, 150}, {120, 90}, {3, 3}, {0, 0}}) {
      const Image<std::uint8_t> image = copy(context, blobs_for_sift(width, height));
      compute_sift_into(context, image, {}, {}, features, workspace);
      EXPECT_EQ(bits_of(to_host(context, features)),
                bits_of(to_host(context, compute_sift(context, image))));
    }
  }
}

TEST(SiftCuda, KindsOfPixelsGiveTheSame) {
  if (cuda_contexts().empty()) GTEST_SKIP() << "no CUDA device";
  const int width = 150, height = 120;
  const Image<std::uint8_t> grey = blobs_for_sift(width, height);
  const auto floats = make_image<float>(width, height, [&](int u, int v) { return grey(u, v); });
  const auto deep = make_image<std::uint16_t>(width, height, [&](int u, int v) {
    return static_cast<std::uint16_t>(257 * grey(u, v) + (u * v) % 100);
  });
  const auto color = make_image<Rgb8>(width, height, [&](int u, int v) {
    return Rgb8{grey(u, v), grey(v % width, u % height), std::uint8_t{77}};
  });
  const auto deep_color = make_image<Vec3<std::uint16_t>>(width, height, [&](int u, int v) {
    return Vec3<std::uint16_t>{deep(u, v), deep(width - 1 - u, v), deep(u, height - 1 - v)};
  });
  // Part of a larger image.
  const auto larger = make_image<std::uint8_t>(
      width + 30, height, [&](int u, int v) { return u < width ? grey(u, v) : std::uint8_t{99}; });
  ImageView<const std::uint8_t> part = larger.view();
  part.width = width;
  for (const Context& context : cuda_contexts()) {
    const auto reference = bits_of(sift_on(context, grey));
    EXPECT_EQ(bits_of(sift_on(context, floats)), reference);
    Buffer<std::byte> room;
    const PhotoView there = copy_photo(context, part, room);
    EXPECT_EQ(bits_of(to_host(context, compute_sift(context, there))), reference);
    expect_agreement(sift_on(context, deep), sift_on(Context::cpu(), deep));
    expect_agreement(sift_on(context, color), sift_on(Context::cpu(), color));
    expect_agreement(sift_on(context, deep_color), sift_on(Context::cpu(), deep_color));
    for (const float bad : {NAN, INFINITY, -INFINITY, 2e6f}) {
      const auto spoilt =
          make_image<float>(40, 30, [&](int u, int v) { return u * v >= 17 * 29 ? bad : 100.0f; });
      EXPECT_EQ(testing::error_message([&] { sift_on(context, spoilt); }),
                testing::error_message([&] { sift_on(Context::cpu(1), spoilt); }));
    }
  }
}

TEST(SiftCuda, MemoryIsWhatTheHeaderSays) {
  if (cuda_contexts().empty()) GTEST_SKIP() << "no CUDA device";
  for (const Context& context : cuda_contexts()) {
    for (const SiftOptions& options :
         {SiftOptions{}, fast_sift_options(), SiftOptions{.layers = 1}}) {
      const Image<std::uint8_t> image = copy(context, blobs_for_sift(640, 480));
      SiftFeatures features;
      Workspace workspace;
      compute_sift_into(context, image, {}, options, features, workspace);
      const double first_octave = (options.doubled ? 4.0 : 1.0) * 640 * 480;
      EXPECT_LT(static_cast<double>(workspace.bytes()),
                1.05 * (5.4 * (options.layers + 3) + 8) * first_octave + 1e6);
    }
  }
}

}  // namespace
}  // namespace sextant
