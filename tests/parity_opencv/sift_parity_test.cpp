// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <numbers>

#include "sextant/io/image_file.h"
#include "sift_features.h"
#include "tests/blob_image.h"
#include "tests/devices.h"
#include "tests/shared_data.h"

namespace sextant {
namespace {

using testing::answers;
using testing::Answers;
using testing::by_opencv;
using testing::by_us;
using testing::Features;
using testing::Homography;

/// Grey as both get it.
Image<std::uint8_t> read_grey(const std::filesystem::path& path) {
  const Image<Rgb8> color = read_image(path);
  Image<std::uint8_t> grey(Context::cpu(), color.width(), color.height());
  for (int v = 0; v < grey.height(); ++v) {
    for (int u = 0; u < grey.width(); ++u) {
      const Rgb8 c = color(u, v);
      grey(u, v) = static_cast<std::uint8_t>(0.299 * c.x + 0.587 * c.y + 0.114 * c.z + 0.5);
    }
  }
  return grey;
}

/// How OpenCV's keypoints are answered by ours.
struct Parity {
  double found = 0;   ///< share that one of ours is within 1 px and 10 % of the scale
  double turned = 0;  ///< share of those with one that also has the same angle within 0.1
  double shift_px = 0;
  double median_cosine = 0;
};
Parity parity(const Features& theirs, const Features& ours) {
  Parity result;
  std::vector<double> cosines;
  double found = 0, shift = 0;
  for (std::size_t i = 0; i < theirs.places.size(); ++i) {
    const Features::Place& p = theirs.places[i];
    bool any = false;
    double best = -1, best_shift = 0;
    for (std::size_t j = 0; j < ours.places.size(); ++j) {
      const Features::Place& q = ours.places[j];
      const double ratio = q.sigma_px / p.sigma_px;
      if (std::hypot(q.u_px - p.u_px, q.v_px - p.v_px) > 1 || ratio > 1.1 || ratio < 1 / 1.1) {
        continue;
      }
      any = true;
      if (std::abs(std::remainder(q.angle_rad - p.angle_rad, 2 * std::numbers::pi)) > 0.1) continue;
      double ab = 0, aa = 0, bb = 0;
      for (int n = 0; n < kSiftLength; ++n) {
        const double a = theirs.descriptors[i * kSiftLength + n];
        const double b = ours.descriptors[j * kSiftLength + n];
        ab += a * b;
        aa += a * a;
        bb += b * b;
      }
      const double cosine = ab / std::sqrt(aa * bb);
      if (cosine > best) {
        best = cosine;
        best_shift = (p.u_px - q.u_px + p.v_px - q.v_px) / 2;
      }
    }
    found += any;
    if (best < 0) continue;
    cosines.push_back(best);
    shift += best_shift;
  }
  const double count = static_cast<double>(cosines.size());
  std::sort(cosines.begin(), cosines.end());
  result.found = found / static_cast<double>(theirs.places.size());
  result.turned = count / found;
  result.shift_px = shift / count;
  result.median_cosine = cosines[cosines.size() / 2];
  return result;
}

void expect_parity(const Image<std::uint8_t>& image, const std::string& name) {
  SCOPED_TRACE(name);
  const Features theirs = by_opencv(image), ours = by_us(image);
  ASSERT_GT(theirs.places.size(), 100u);
  const Parity result = parity(theirs, ours);
  std::printf("%s: OpenCV %zu, ours %zu; found %.4f, angle too %.4f, shift %.3f px, cosine %.5f\n",
              name.c_str(), theirs.places.size(), ours.places.size(), result.found, result.turned,
              result.shift_px, result.median_cosine);
  // Our windows are centred on the keypoint, OpenCV's on the pixel beside it: some of the angles
  // differ, and so do descriptors a little.
  EXPECT_GT(result.found, 0.99);
  EXPECT_GT(result.turned, 0.9);
  EXPECT_GT(result.median_cosine, 0.995);
  EXPECT_NEAR(static_cast<double>(ours.places.size()), static_cast<double>(theirs.places.size()),
              0.03 * static_cast<double>(theirs.places.size()));
  EXPECT_NEAR(result.shift_px, 0.25, 0.01);  // of OpenCV before 4.8
}

/// Both libraries on a pair of pictures; sums of several pairs are compared.
struct Contest {
  Answers theirs, ours;

  void add(const Image<std::uint8_t>& first, const Image<std::uint8_t>& second,
           const Homography& map) {
    const auto play = [&](const auto& detect, Answers& sum) {
      const Answers more =
          answers(detect(first), detect(second), map, second.width(), second.height());
      sum.shown += more.shown;
      sum.places += more.places;
      sum.repeated += more.repeated;
      sum.matched += more.matched;
    };
    play([](const auto& image) { return by_opencv(image); }, theirs);
    play([](const auto& image) { return by_us(image); }, ours);
  }
  void expect_no_worse(const std::string& name) const {
    std::printf("%s: repeatability OpenCV %.4f, ours %.4f; matching score OpenCV %.4f, ours %.4f\n",
                name.c_str(), theirs.repeatability(), ours.repeatability(), theirs.matching_score(),
                ours.matching_score());
    // The places are the same but for one or two in a thousand, near the limits of contrast.
    EXPECT_GE(ours.repeatability(), theirs.repeatability() - 0.001) << name;
    EXPECT_GE(ours.matching_score(), 1.02 * theirs.matching_score()) << name;
  }
};

TEST(SiftParity, SyntheticPictures) {
  for (const auto& [width, height] : {std::pair{320, 240}, {401, 173}}) {
    expect_parity(testing::blob_image(width, height,
                                      testing::scattered_blobs(width, height, width * height / 30,
                                                               testing::seed_of_test())),
                  "blobs");
  }
}

TEST(SiftParity, SyntheticWarps) {
  const int side = 320;
  const auto blobs = testing::scattered_blobs(side, side, side * side / 40, 5);
  const Image<std::uint8_t> first = testing::blob_image(side, side, blobs);
  Contest contest;
  for (const Homography& map :
       {Homography{{0.8, -0.6, 130, 0.6, 0.8, -50, 0, 0, 1}},       // a rotation
        Homography{{1.4, 0.0, -60, 0.0, 1.4, -70, 0, 0, 1}},        // larger
        Homography{{0.45, 0.5, 40, -0.5, 0.45, 200, 0, 0, 1}},      // turned and smaller
        Homography{{1, 0.2, 0, 0, 0.8, 20, 0.0004, 0.0002, 1}}}) {  // a tilted plane
    // Each pixel of the second picture is the mean of 3 × 3 samples of the first plane.
    const cv::Matx33d inverse = cv::Matx33d(map.h.data()).inv();
    Homography back{};
    std::copy(inverse.val, inverse.val + 9, back.h.begin());
    const auto second = testing::make_image<std::uint8_t>(side, side, [&](int u, int v) {
      double sum = 0;
      for (int k = 0; k < 9; ++k) {
        const Vec2d at = back(u + (k % 3 - 1) / 3.0, v + (k / 3 - 1) / 3.0);
        sum += testing::brightness(blobs, at.x, at.y);
      }
      return static_cast<std::uint8_t>(std::clamp(sum / 9 + 0.5, 0.0, 255.0));
    });
    contest.add(first, second, map);
  }
  EXPECT_GT(contest.ours.matching_score(), 0.2);
  contest.expect_no_worse("warps");
}

TEST(SiftParity, OxfordSequences) {
  int sequences = 0;
  for (const std::string name : {"graf", "boat", "leuven", "wall"}) {
    const auto folder = testing::shared_data("oxford_affine");
    if (!folder) GTEST_SKIP() << "no oxford_affine beside the checkout";
    if (!std::filesystem::exists(*folder / name)) continue;
    ++sequences;
    const Image<std::uint8_t> first = read_grey(*folder / name / "img1.png");
    expect_parity(first, name);
    Contest contest;
    for (int k = 2; k <= 6; ++k) {
      const std::string number = std::to_string(k);
      const cv::FileStorage file((*folder / name / ("H1to" + number + "p.xml")).string(),
                                 cv::FileStorage::READ);
      cv::Mat matrix;
      file.getFirstTopLevelNode() >> matrix;
      matrix.convertTo(matrix, CV_64F);
      ASSERT_EQ(matrix.total(), 9u);
      Homography map{};
      std::copy(matrix.ptr<double>(), matrix.ptr<double>() + 9, map.h.begin());
      contest.add(first, read_grey(*folder / name / ("img" + number + ".png")), map);
    }
    contest.expect_no_worse(name);
  }
  EXPECT_GE(sequences, 3);
}

}  // namespace
}  // namespace sextant
