// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <tuple>

#include "sextant/descriptor/sift/grey.h"
#include "sextant/descriptor/sift/lanes.h"
#include "sextant/descriptor/sift/octaves.h"
#include "sextant/descriptor/sift/pyramid.h"
#include "sextant/descriptor/sift/slabs.h"
#include "sextant/descriptor/sift/window.h"
#include "tests/devices.h"
#include "tests/instruction_sets.h"
#include "tests/sift_features.h"

// What blocks, warps and lanes do on CUDA, done one after the other on the host: the same functions
// in the same order, with everything around them written as plain loops.

namespace sextant::detail::sift {
namespace {

using testing::blobs_for_sift;
using testing::keypoints_of;
using testing::make_image;
using testing::seed_of_test;

bool cpu_fuses() { return supported_instruction_set() >= InstructionSet::kAvx2; }

/// Numbers that show when somebody reads what nobody wrote.
constexpr float kUnwritten = 1e30f;

/// One tile after the other, with all items of a step before the next.
template <class Block, class Kernel>
void run_blocks(const GreyPlane& from, const Kernel& kernel, const BlockTarget& to) {
  for (int v = 0; v < to.height; v += kBlockRows) {
    for (int u = 0; u < to.width; u += kBlockColumns) {
      std::vector<float> lines(kBlockRows * Block::kStride, kUnwritten);
      const Block block{from, kernel, u, v};
      for (int item = 0; item < Block::kItems; ++item) block.sum_rows(item, lines.data());
      std::vector<std::array<float, kTogether>> sums(kBlockThreads);
      for (int thread = 0; thread < kBlockThreads; ++thread) {
        float own[kTogether];
        block.sum_line(thread % kBlockRows, thread / kBlockRows * kTogether, lines.data(), own);
        std::copy(own, own + kTogether, sums[static_cast<std::size_t>(thread)].begin());
      }
      for (int row = 0; row < kBlockRows; ++row) {
        for (int column = 0; column < kBlockColumns; ++column) {
          const int thread = column / kTogether * kBlockRows + row;
          const float value =
              sums[static_cast<std::size_t>(thread)][static_cast<std::size_t>(column % kTogether)];
          to.write(u + column, v + row, value);
          if (to.half && row % 2 == 0 && column % 2 == 0) {
            to.write_half(u + column, v + row, value);
          }
        }
      }
    }
  }
}

template <int kRadius>
void run_blur(const GreyPlane& from, const Kernel& kernel, const BlockTarget& to) {
  run_blocks<BlurBlock<kRadius>>(from, FixedKernel<kRadius>(kernel), to);
}

/// Blurs as wide as any, two pixels of a filter at a time.
void run_wide(const GreyPlane& from, const Kernel& kernel, const BlockTarget& to) {
  std::vector<float> spare(static_cast<std::size_t>(from.stride * from.height), kUnwritten);
  for (int v = 0; v < from.height; ++v) {
    for (int u = 0; u < from.width; ++u) {
      spare[static_cast<std::size_t>(v * from.stride + u)] = sum_column(from, kernel, u, v);
    }
  }
  const GreyPlane lines{spare.data(), from.stride, from.width, from.height};
  for (int v = 0; v < from.height; ++v) {
    for (int u = 0; u < from.width; ++u) {
      const float value = sum_row(lines, kernel, u, v);
      to.write(u, v, value);
      if (to.half && u % 2 == 0 && v % 2 == 0) to.write_half(u, v, value);
    }
  }
}

BlockTarget target_of(const PyramidOctave& octave, int scale) {
  return {const_cast<float*>(octave.row(scale, 0)),
          octave.stride,
          octave.width_px,
          octave.height_px,
          nullptr,
          0,
          0,
          0};
}
GreyPlane plane_of(const PyramidOctave& octave, int scale) {
  return {octave.row(scale, 0), octave.stride, octave.width_px, octave.height_px};
}

struct HostPyramid {
  ScalePlan plan;
  std::vector<float> memory;
  Pyramid pyramid;
};

HostPyramid make_host_pyramid(const Image<std::uint8_t>& image, const SiftOptions& options) {
  HostPyramid result;
  result.plan = make_scale_plan(image.width(), image.height(), options);
  std::int64_t size = 0;
  const Pyramid layout = make_pyramid(result.plan, size);
  result.memory.assign(static_cast<std::size_t>(size), kUnwritten);
  result.pyramid = place_pyramid(layout, result.memory.data());
  if (result.plan.octaves == 0) return result;
  const std::int64_t stride = stride_for(image.width());
  std::vector<float> grey(static_cast<std::size_t>(stride * image.height()), kUnwritten);
  for (int v = 0; v < image.height(); ++v) {
    for (int u = 0; u < image.width(); ++u) {
      grey[static_cast<std::size_t>(v * stride + u)] = ToGrey{}(image(u, v));
    }
  }
  const GreyPlane photo{grey.data(), stride, image.width(), image.height()};
  const Pyramid& pyramid = result.pyramid;
  if (result.plan.doubled) {
    run_blocks<DoublingBlock<8>>(photo, FixedDoublingKernel<8>(result.plan.doubling),
                                 target_of(pyramid.octave[0], 0));
  } else {
    run_blur<18>(photo, result.plan.base, target_of(pyramid.octave[0], 0));
  }
  for (int o = 0; o < pyramid.octaves; ++o) {
    for (int s = 1; s < pyramid.scales(); ++s) {
      BlockTarget to = target_of(pyramid.octave[o], s);
      if (s == pyramid.layers && o + 1 < pyramid.octaves) {
        const PyramidOctave& next = pyramid.octave[o + 1];
        to.half = const_cast<float*>(next.row(0, 0));
        to.half_stride = next.stride;
        to.half_width = next.width_px;
        to.half_height = next.height_px;
      }
      const Kernel& kernel = result.plan.step[s - 1];
      const GreyPlane from = plane_of(pyramid.octave[o], s - 1);
      if (kernel.radius <= 25) {
        run_blur<25>(from, kernel, to);
      } else {
        run_wide(from, kernel, to);
      }
    }
  }
  return result;
}

TEST(SiftLanes, BlocksMakeTheScalesOfTheCpu) {
  if (!cpu_fuses()) GTEST_SKIP() << "this processor rounds every product";
  for (const auto& [width, height, options] :
       {std::tuple{97, 53, SiftOptions{}},
        {80, 61, SiftOptions{.layers = 1}},
        {64, 32, SiftOptions{.doubled = false, .layers = 2}},
        {65, 33, SiftOptions{.doubled = false}},
        {7, 40, SiftOptions{.layers = 5, .sigma_px = 3.2, .image_sigma_px = 0}}}) {
    SCOPED_TRACE(::testing::Message() << width << " x " << height);
    const Image<std::uint8_t> image = blobs_for_sift(width, height);
    const HostPyramid host = make_host_pyramid(image, options);
    ASSERT_GT(host.plan.octaves, 0);
    const Context context = Context::cpu(2);
    const PhotoView photo(image);
    Workspace workspace;
    Octaves octaves(context, photo, host.plan, workspace);
    while (octaves.next()) {
      for (RowRange rows; octaves.make_rows(rows);) {
      }
      const Octave& octave = octaves.octave();
      const PyramidOctave& blocks = host.pyramid.octave[octave.number];
      ASSERT_EQ(octave.width(), blocks.width());
      ASSERT_EQ(octave.height(), blocks.height());
      for (int s = 0; s < octave.scales; ++s) {
        for (int v = 0; v < octave.height(); ++v) {
          for (int u = 0; u < octave.width(); ++u) {
            ASSERT_EQ(blocks.row(s, v)[u], octave.row(s, v)[u])
                << "octave " << octave.number << " scale " << s << " at " << u << ' ' << v;
          }
        }
      }
    }
  }
}

TEST(SiftLanes, AllWidthsOfBlocksAgree) {
  const Image<std::uint8_t> image = blobs_for_sift(90, 70);
  std::vector<float> grey;
  for (const std::uint8_t value : image.pixels().host()) grey.push_back(ToGrey{}(value));
  const GreyPlane from{grey.data(), 90, 90, 70};
  const Kernel kernel = gaussian_kernel(1.2);
  ASSERT_EQ(kernel.radius, 5);
  const auto blurred = [&](const auto& run) {
    std::vector<float> result(grey.size(), kUnwritten);
    run(from, kernel, BlockTarget{result.data(), 90, 90, 70, nullptr, 0, 0, 0});
    return result;
  };
  const std::vector<float> expected = blurred(run_wide);
  EXPECT_EQ(blurred(run_blur<5>), expected);
  EXPECT_EQ(blurred(run_blur<6>), expected);
  EXPECT_EQ(blurred(run_blur<13>), expected);
  EXPECT_EQ(blurred(run_blur<25>), expected);
  // An image that the filter shows many times over.
  const Kernel wide = gaussian_kernel(20);
  const GreyPlane small{grey.data(), 90, 5, 3};
  std::vector<float> result(grey.size(), kUnwritten);
  run_wide(small, wide, BlockTarget{result.data(), 90, 5, 3, nullptr, 0, 0, 0});
  for (int v = 0; v < 3; ++v) {
    for (int u = 0; u < 5; ++u) {
      EXPECT_GE(result[static_cast<std::size_t>(v * 90 + u)], 0.0f);
      EXPECT_LE(result[static_cast<std::size_t>(v * 90 + u)], 255.01f);
    }
  }
}

/// Bits as the kernels set them, then extrema in the order of the words.
struct LaneExtremum {
  int octave;
  Extremum at;
};
std::vector<LaneExtremum> find_by_words(const HostPyramid& host, const ExtremumLimits& limits,
                                        const ImageView<const std::uint8_t>& mask) {
  const Pyramid& pyramid = host.pyramid;
  std::vector<std::uint32_t> flags(static_cast<std::size_t>(pyramid.words), 0xdeadbeefu);
  for (std::int64_t t = 0; t < pyramid.tiles; ++t) {
    const FlagTile tile = flag_tile(pyramid, t);
    std::vector<float> differences(kFlagPixels * static_cast<std::size_t>(pyramid.layers + 2),
                                   kUnwritten);
    for (int i = 0; i < kFlagPixels; ++i) subtract_scales(pyramid, tile, i, differences.data());
    for (int row = 0; row < kFlagTileRows; ++row) {
      if (tile.v + row >= pyramid.octave[tile.octave].height_px) continue;
      for (int layer = 1; layer <= pyramid.layers; ++layer) {
        std::uint32_t word = 0;
        for (int lane = 0; lane < kWordPixels; ++lane) {
          if (is_flagged(pyramid, tile, layer, lane, row, least_difference(limits),
                         differences.data())) {
            word |= 1u << lane;
          }
        }
        flags[static_cast<std::size_t>(
            word_of(pyramid, {tile.octave, layer, tile.v + row, tile.u}))] = word;
      }
    }
  }
  std::vector<std::uint32_t> found(flags.size(), 0);
  for (std::size_t w = 0; w < flags.size(); ++w) {
    for (int n = 0; n < std::popcount(flags[w]); ++n) {
      WordPlace from = place_of_word(pyramid, static_cast<std::int64_t>(w));
      from.column += nth_bit(flags[w], n);
      const Extremum at =
          refine(pyramid.octave[from.octave], limits, from.layer, from.row, from.column);
      if (at.layer == 0 || !is_wanted(mask, pyramid.doubled, from.octave, at)) continue;
      found[static_cast<std::size_t>(word_of(
          pyramid, {from.octave, at.layer, at.row, at.column}))] |= 1u << (at.column % kWordPixels);
    }
  }
  std::vector<LaneExtremum> extrema;
  for (std::size_t w = 0; w < found.size(); ++w) {
    for (int n = 0; n < std::popcount(found[w]); ++n) {
      WordPlace at = place_of_word(pyramid, static_cast<std::int64_t>(w));
      at.column += nth_bit(found[w], n);
      extrema.push_back(
          {at.octave, extremum_at(pyramid.octave[at.octave], limits, at.layer, at.row, at.column)});
    }
  }
  return extrema;
}

/// The directions of an extremum, as a warp finds them.
std::vector<float> find_by_lanes(const GreyPlane& image, const Extremum& at, float share) {
  std::vector<float> votes(kVoteNumbers * kLanes, kUnwritten);
  for (int lane = 0; lane < kLanes; ++lane) {
    vote_for_angles(image, {at.u, at.v, at.sigma, at.column, at.row}, lane, votes.data());
  }
  float ring[kAngleBins], smooth[kAngleBins], turns[kMostPeaks];
  for (int bin = 0; bin < kAngleBins; ++bin) ring[bin] = vote_of(votes.data(), bin);
  smooth_votes(ring, smooth);
  const int count = find_peaks(smooth, share, turns);
  std::sort(turns, turns + count);
  return {turns, turns + count};
}

std::vector<float> describe_by_lanes(const GreyPlane& image, const Extremum& at, float turns) {
  const DescriptorWindow window(image, at.u, at.v, at.sigma, turns);
  EXPECT_LE(window.rows(), kMostWindowRows);
  std::vector<DescriptorWindow::Span> spans;
  for (int row = 0; row < window.rows(); ++row) spans.push_back(window.span(row));
  std::vector<float> cells(kSiftLength * kLanes, 0.0f);
  for (int lane = 0; lane < kLanes; ++lane) window.add(spans.data(), lane, cells.data());
  float numbers[kSiftLength];
  for (int i = 0; i < kSiftLength; ++i) numbers[i] = sum_of_lanes(cells.data(), i, i / 4);
  normalize_descriptor(false, numbers);
  return {numbers, numbers + kSiftLength};
}

TEST(SiftLanes, FindAndDescribeWhatTheCpuDoes) {
  if (!cpu_fuses()) GTEST_SKIP() << "this processor rounds every product";
  const Image<std::uint8_t> image = blobs_for_sift(190, 141);
  const auto mask = make_image<std::uint8_t>(
      190, 141, [](int u, int v) { return std::uint8_t{u > 20 || v > 70}; });
  for (const bool masked : {false, true}) {
    for (SiftOptions options :
         {SiftOptions{}, fast_sift_options(), SiftOptions{.layers = 1, .contrast = 0}}) {
      options.numbers = SiftNumbers::kFloats;
      const SiftFeatures expected = compute_sift(
          Context::cpu(), image, options, masked ? mask.view() : ImageView<const std::uint8_t>{});
      ASSERT_GT(expected.count, 20);
      const HostPyramid host = make_host_pyramid(image, options);
      const ExtremumLimits limits{options.layers, options.sigma_px,
                                  static_cast<float>(options.contrast),
                                  static_cast<float>(options.edge_ratio)};
      int number = 0;
      for (const LaneExtremum& extremum :
           find_by_words(host, limits, masked ? mask.view() : ImageView<const std::uint8_t>{})) {
        const GreyPlane plane = plane_of(host.pyramid.octave[extremum.octave], extremum.at.layer);
        for (const float turns :
             find_by_lanes(plane, extremum.at, static_cast<float>(options.orientation_peak))) {
          ASSERT_LT(number, expected.count);
          const SiftKeypoint& e = keypoints_of(expected)[static_cast<std::size_t>(number)];
          const SiftKeypoint k = in_photo(options.doubled, extremum.octave, extremum.at, turns);
          ASSERT_EQ(std::tie(k.u_px, k.v_px, k.sigma_px, k.response, k.octave, k.layer),
                    std::tie(e.u_px, e.v_px, e.sigma_px, e.response, e.octave, e.layer))
              << number;
          // Sums of some thousand numbers are wrong by 1e-5 of them at most, and directions of
          // gradients by 5e-6 turns.
          ASSERT_NEAR(k.angle_rad, e.angle_rad, 1e-3) << number;
          const std::vector<float> numbers = describe_by_lanes(plane, extremum.at, turns);
          for (int i = 0; i < kSiftLength; ++i) {
            ASSERT_NEAR(numbers[static_cast<std::size_t>(i)],
                        expected.floats.data()[std::int64_t{number} * kSiftLength + i], 1e-3)
                << number << ' ' << i;
          }
          ++number;
        }
      }
      EXPECT_EQ(number, expected.count);
    }
  }
}

TEST(SiftLanes, WindowsAtTheBorderOfTheImage) {
  const Image<std::uint8_t> image = blobs_for_sift(45, 35);
  const HostPyramid host = make_host_pyramid(image, {});
  const GreyPlane plane = plane_of(host.pyramid.octave[0], 2);
  const Context context = Context::cpu(1);
  const PhotoView photo(image);
  Workspace workspace;
  Octaves octaves(context, photo, host.plan, workspace);
  ASSERT_TRUE(octaves.next());
  for (RowRange rows; octaves.make_rows(rows);) {
  }
  for (const Vec2f& place : {Vec2f{5.4f, 5.3f}, {84.6f, 63.9f}, {44.2f, 5.0f}, {20.5f, 60.1f}}) {
    for (const float sigma : {1.7f, 3.5f, 9.0f}) {
      for (const float turns : {0.0f, 0.25f, 0.3333f, 0.75f, 0.999f}) {
        const Extremum at{2,
                          static_cast<int>(std::lround(place.y)),
                          static_cast<int>(std::lround(place.x)),
                          place.x,
                          place.y,
                          sigma,
                          1};
        float expected[kSiftLength];
        describe_window(octaves.octave(), {at, turns}, false, expected);
        const std::vector<float> numbers = describe_by_lanes(plane, at, turns);
        for (int i = 0; i < kSiftLength; ++i) {
          ASSERT_NEAR(numbers[static_cast<std::size_t>(i)], expected[i], 1e-3)
              << place.x << ' ' << sigma << ' ' << turns << " number " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace sextant::detail::sift
