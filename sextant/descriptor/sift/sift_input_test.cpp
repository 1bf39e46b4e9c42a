// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "sextant/descriptor/sift.h"
#include "sextant/descriptor/sift/slabs.h"
#include "tests/each_device.h"
#include "tests/error_message.h"
#include "tests/instruction_sets.h"
#include "tests/sift_features.h"
#include "tests/steady_state.h"

// What SIFT takes, and that threads, instruction sets and slabs change nothing about the result.

namespace sextant {
namespace {

using testing::bits_of;
using testing::blobs_for_sift;
using testing::descriptor_cosine;
using testing::error_message;
using testing::keypoints_of;
using testing::make_image;
using testing::mentions;
using testing::seed_of_test;

TEST(SiftInput, SameBitsForAnyThreadsAndEveryRun) {
  const Image<std::uint8_t> image = blobs_for_sift(333, 207);
  const auto reference = bits_of(compute_sift(Context::cpu(1), image));
  ASSERT_GT(reference.size(), 100u * kSiftLength);
  for (const int threads : {1, 2, 7}) {
    EXPECT_TRUE(testing::same_bytes(bits_of(compute_sift(Context::cpu(threads), image)), reference))
        << threads << " threads";
  }
}

TEST(SiftInput, SetsThatFuseGiveTheSameBits) {
  if (detail::supported_instruction_set() < detail::InstructionSet::kAvx512) GTEST_SKIP();
  const Image<std::uint8_t> image = blobs_for_sift(200, 150);
  const auto found = [&](detail::InstructionSet widest) {
    const detail::InstructionSetLimit limit(widest);
    return bits_of(compute_sift(Context::cpu(), image, {.numbers = SiftNumbers::kFloats}));
  };
  EXPECT_TRUE(testing::same_bytes(found(detail::InstructionSet::kAvx512),
                                  found(detail::InstructionSet::kAvx2)));
}

TEST(SiftInput, EveryInstructionSetFindsTheSame) {
  const Image<std::uint8_t> image = blobs_for_sift(300, 200);
  const SiftFeatures reference = compute_sift(Context::cpu(), image);
  testing::for_each_instruction_set([&](detail::InstructionSet) {
    const SiftFeatures found = compute_sift(Context::cpu(), image);
    int same = 0;
    for (int i = 0, j = 0; i < found.count && j < reference.count; ++i, ++j) {
      const auto differ = [&](int k) {
        return std::abs(keypoints_of(found)[i].u_px - keypoints_of(reference)[k].u_px) > 1e-3f ||
               std::abs(keypoints_of(found)[i].v_px - keypoints_of(reference)[k].v_px) > 1e-3f ||
               std::abs(keypoints_of(found)[i].angle_rad - keypoints_of(reference)[k].angle_rad) >
                   1e-3f;
      };
      while (j + 1 < reference.count && differ(j)) ++j;
      if (differ(j)) break;
      same += descriptor_cosine(found.bytes.data() + i * kSiftLength,
                                reference.bytes.data() + j * kSiftLength) > 0.9999;
    }
    EXPECT_GE(same, reference.count * 99 / 100);
  });
}

TEST(SiftInput, SlabsChangeNothing) {
  // So narrow that the slabs are as low as they get: 64 rows, many to an octave.
  const Image<std::uint8_t> image = blobs_for_sift(90, 411);
  for (const SiftOptions& options :
       {SiftOptions{}, SiftOptions{.most = 150}, SiftOptions{.doubled = false, .layers = 5}}) {
    const SiftFeatures whole = compute_sift(Context::cpu(), image, options);
    ASSERT_GT(whole.count, 100);
    SiftFeatures features;
    Workspace workspace;
    detail::sift::compute_sift_in_slabs(Context::cpu(), image, {}, options, 1, features, workspace);
    EXPECT_TRUE(testing::same_bytes(bits_of(features), bits_of(whole)));
  }
}

TEST(SiftInput, KindsOfPixelsGiveTheSame) {
  const int width = 150, height = 120;
  const Image<std::uint8_t> grey = blobs_for_sift(width, height);
  const auto reference = bits_of(compute_sift(Context::cpu(), grey));
  ASSERT_FALSE(reference.empty());
  const auto as_float = make_image<float>(width, height, [&](int u, int v) { return grey(u, v); });
  EXPECT_EQ(bits_of(compute_sift(Context::cpu(), as_float)), reference);
  // Part of a larger image.
  const auto larger = make_image<std::uint8_t>(
      width + 30, height, [&](int u, int v) { return u < width ? grey(u, v) : std::uint8_t{99}; });
  ImageView<const std::uint8_t> part = larger.view();
  part.width = width;
  EXPECT_EQ(bits_of(compute_sift(Context::cpu(), part)), reference);
  // These are rounded on the way, by 3e-5 at most.
  const auto expect_near = [&](const SiftFeatures& found) {
    const SiftFeatures expected = compute_sift(Context::cpu(), grey);
    ASSERT_EQ(found.count, expected.count);
    for (int i = 0; i < found.count; ++i) {
      EXPECT_NEAR(keypoints_of(found)[i].u_px, keypoints_of(expected)[i].u_px, 1e-3);
      EXPECT_NEAR(keypoints_of(found)[i].sigma_px, keypoints_of(expected)[i].sigma_px, 1e-2);
      EXPECT_GT(descriptor_cosine(found.bytes.data() + i * kSiftLength,
                                  expected.bytes.data() + i * kSiftLength),
                0.9999);
    }
  };
  expect_near(
      compute_sift(Context::cpu(), make_image<std::uint16_t>(width, height, [&](int u, int v) {
                     return static_cast<std::uint16_t>(257 * grey(u, v));
                   })));
  expect_near(compute_sift(Context::cpu(), make_image<Rgb8>(width, height, [&](int u, int v) {
                             return Rgb8{grey(u, v), grey(u, v), grey(u, v)};
                           })));
  expect_near(compute_sift(Context::cpu(),
                           make_image<Vec3<std::uint16_t>>(width, height, [&](int u, int v) {
                             const auto x = static_cast<std::uint16_t>(257 * grey(u, v));
                             return Vec3<std::uint16_t>{x, x, x};
                           })));
}

TEST(SiftInput, LumaIsWeightedAsTelevisionDoes) {
  for (const Context& context : testing::each_device()) {
    SCOPED_TRACE(testing::describe(context));
    // Green and blue differ so that the luma is the same everywhere: 0.587 · 114 = 0.114 · 587.
    const auto flat = make_image<Rgb8>(64, 64, [](int u, int v) {
      const bool inside = std::hypot(u - 32, v - 32) < 8;
      return inside ? Rgb8{100, 134, 20}
                    : Rgb8{100, 100, 195};  // 34 · 0.587 = 175 · 0.114 within 0.01
    });
    EXPECT_EQ(testing::sift_on(context, flat).count, 0);
    const auto red = make_image<Rgb8>(64, 64, [](int u, int v) {
      return std::hypot(u - 32, v - 32) < 8 ? Rgb8{200, 100, 100} : Rgb8{100, 100, 100};
    });
    EXPECT_GT(testing::sift_on(context, red).count, 0);
  }
}

TEST(SiftInput, ImagesWithNothingToFind) {
  for (const Context& context : testing::each_device()) {
    SCOPED_TRACE(testing::describe(context));
    for (const auto& [width, height] :
         {std::pair{0, 0}, {0, 7}, {1, 1}, {1, 500}, {5, 5}, {6, 6}, {64, 48}}) {
      SCOPED_TRACE(::testing::Message() << width << " x " << height);
      const auto flat =
          make_image<std::uint8_t>(width, height, [](int, int) { return std::uint8_t{255}; });
      for (const SiftOptions& options : {SiftOptions{}, fast_sift_options()}) {
        EXPECT_EQ(testing::sift_on(context, flat, options).count, 0);
      }
    }
    // A ramp has gradients and no extremum.
    const auto ramp =
        make_image<float>(100, 60, [](int u, int) { return 2.0f * static_cast<float>(u); });
    EXPECT_EQ(testing::sift_on(context, ramp).count, 0);
  }
}

TEST(SiftInput, SmallImagesOfNoiseAreNoTrouble) {
  for (const Context& context : testing::each_device()) {
    SCOPED_TRACE(testing::describe(context));
    // Sizes around those where an octave begins and where mirrors show the image several times
    // over.
    for (int side = 1; side < 40; ++side) {
      for (const int other : {1, side, 2 * side + 1}) {
        const auto noise = make_image<std::uint8_t>(side, other, [&](int u, int v) {
          const Random random{seed_of_test(), static_cast<std::uint64_t>(v * 100 + u)};
          return static_cast<std::uint8_t>(random.below(256, 0));
        });
        for (const SiftOptions& options :
             {SiftOptions{}, SiftOptions{.layers = 1, .sigma_px = 3.2}}) {
          const SiftFeatures found = testing::sift_on(context, noise, options);
          for (const SiftKeypoint& k : keypoints_of(found)) {
            EXPECT_TRUE(noise.view().contains(static_cast<int>(k.u_px), static_cast<int>(k.v_px)));
          }
        }
      }
    }
  }
}

TEST(SiftInput, RefusesWhatItCannotTake) {
  const Image<std::uint8_t> image = blobs_for_sift(40, 30);
  const auto message = [&](const SiftOptions& options) {
    return error_message([&] { compute_sift(Context::cpu(), image, options); });
  };
  EXPECT_TRUE(mentions(message({.layers = 0}), "layers: 0"));
  EXPECT_TRUE(mentions(message({.sigma_px = NAN}), "sigma_px"));
  EXPECT_TRUE(mentions(message({.contrast = -1}), "contrast: -1"));
  EXPECT_TRUE(mentions(message({.most = -1}), "most: -1"));
  const Image<std::uint8_t> small(Context::cpu(), 30, 30);
  EXPECT_TRUE(mentions(error_message([&] { compute_sift(Context::cpu(), image, {}, small); }),
                       "mask: is 30 x 30"));
  for (const float bad : {NAN, INFINITY, -INFINITY, 2e6f}) {
    const auto floats =
        make_image<float>(40, 30, [&](int u, int v) { return u == 17 && v == 29 ? bad : 100.0f; });
    EXPECT_TRUE(
        mentions(error_message([&] { compute_sift(Context::cpu(2), floats); }), "pixel (17, 29)"));
  }
  ImageView<const std::uint8_t> view = image.view();
  view.stride = 39;
  EXPECT_TRUE(mentions(error_message([&] { compute_sift(Context::cpu(), view); }), "stride 39"));
  view = image.view();
  view.width = -1;
  EXPECT_TRUE(mentions(error_message([&] { compute_sift(Context::cpu(), view); }), "-1 x 30"));
  for (const Context& context : testing::cuda_contexts()) {
    EXPECT_TRUE(
        mentions(error_message([&] { compute_sift(context, image); }), "photo: lies on cpu"));
  }
}

TEST(SiftInput, SecondCallAllocatesNothing) {
  const Image<std::uint8_t> image = blobs_for_sift(200, 150);
  const Context context = Context::cpu(2);
  SiftFeatures features;
  Workspace workspace;
  const auto run = [&] {
    compute_sift_into(context, image, {}, {.most = 300}, features, workspace);
  };
  run();
  testing::expect_steady(context, run);
  EXPECT_EQ(bits_of(features), bits_of(compute_sift(context, image, {.most = 300})));
  // The result of a smaller image lies in the same memory.
  const Image<std::uint8_t> smaller = blobs_for_sift(120, 90);
  compute_sift_into(context, smaller, {}, {}, features, workspace);
  EXPECT_EQ(bits_of(features).size(), bits_of(compute_sift(context, smaller)).size());
}

TEST(SiftInput, MemoryIsWhatTheHeaderSays) {
  const Context context = Context::cpu(2);
  const auto image = make_image<std::uint8_t>(
      600, 400, [](int u, int v) { return static_cast<std::uint8_t>((u / 9 + v / 9) % 2 * 200); });
  SiftFeatures features;
  Workspace workspace;
  compute_sift_into(context, image, {}, {}, features, workspace);
  const double first_octave = 4.0 * 600 * 400;
  EXPECT_LT(static_cast<double>(workspace.bytes()),
            1.1 * (6 * 4 + 1.3 + 2) * first_octave + 400.0 * features.count);
}

}  // namespace
}  // namespace sextant
