// SPDX-License-Identifier: Apache-2.0
// SIFT keypoints with descriptors beside OpenCV's, both with two threads, in turns on the same
// pictures, and how far the two agree. Usage: sift_bench [RESULT.json]
#include <opencv2/features2d.hpp>

#include <numbers>

#include "measure/report.h"
#include "sextant/descriptor/sift.h"
#include "tests/blob_image.h"

namespace sextant::measure {
namespace {

constexpr int kThreads = 2;
constexpr int kTurns = 15;
constexpr double kGoal = 4;  ///< times as fast

/// Blobs of many sizes, some 3000 keypoints in 640 × 480; larger pictures show them in mirrors.
Image<std::uint8_t> picture(int width, int height) {
  constexpr int kWidth = 320, kHeight = 240;
  static const Image<std::uint8_t> tile = testing::blob_image(
      kWidth, kHeight, testing::scattered_blobs(kWidth, kHeight, kWidth * kHeight / 30, 1));
  const auto fold = [](int i, int count) {
    return i / count % 2 ? count - 1 - i % count : i % count;
  };
  return testing::make_image<std::uint8_t>(
      width, height, [&](int u, int v) { return tile(fold(u, kWidth), fold(v, kHeight)); });
}

struct Theirs {
  std::vector<cv::KeyPoint> keypoints;
  cv::Mat descriptors;
};

struct Agreement {
  double found = 0;          ///< share of OpenCV's keypoints with one of ours within 1 px and 10 %
  double median_cosine = 0;  ///< of the descriptors of those with the same angle within 0.1
};
Agreement agreement(const Theirs& theirs, const SiftFeatures& ours) {
  std::vector<double> cosines;
  double found = 0;
  for (std::size_t i = 0; i < theirs.keypoints.size(); ++i) {
    const cv::KeyPoint& p = theirs.keypoints[i];
    bool any = false;
    double best = -1;
    for (std::int32_t j = 0; j < ours.count; ++j) {
      const SiftKeypoint& q = ours.keypoints.data()[j];
      const double ratio = 2.0 * q.sigma_px / p.size;
      const double apart = std::hypot(q.u_px - p.pt.x, q.v_px - p.pt.y);
      if (apart > 1 || ratio > 1.1 || ratio < 1 / 1.1) continue;
      any = true;
      const double turn = q.angle_rad - p.angle * std::numbers::pi / 180;
      if (std::abs(std::remainder(turn, 2 * std::numbers::pi)) > 0.1) continue;
      const float* a = theirs.descriptors.ptr<float>(static_cast<int>(i));
      const std::uint8_t* b = ours.bytes.data() + std::int64_t{j} * kSiftLength;
      double ab = 0, aa = 0, bb = 0;
      for (int k = 0; k < kSiftLength; ++k) {
        ab += double(a[k]) * b[k];
        aa += double(a[k]) * double(a[k]);
        bb += double(b[k]) * b[k];
      }
      best = std::max(best, ab / std::sqrt(aa * bb));
    }
    found += any;
    if (best > 0) cosines.push_back(best);
  }
  return {found / static_cast<double>(theirs.keypoints.size()), spread_of(cosines).median};
}

void compare(int width, int height, std::vector<Row>& rows) {
  const Image<std::uint8_t> image = picture(width, height);
  const cv::Mat pixels(height, width, CV_8U, const_cast<std::uint8_t*>(image.pixels().data()));
  const Context context = Context::cpu(kThreads);
  const auto sift = cv::SIFT::create();
  Theirs theirs;
  SiftFeatures ours, fast;
  Workspace workspace;
  const auto run_ours = [&] { compute_sift_into(context, image, {}, {}, ours, workspace); };
  const auto run_fast = [&] {
    compute_sift_into(context, image, {}, fast_sift_options(), fast, workspace);
  };
  run_ours();
  run_fast();
  std::vector<double> their_ms, our_ms, fast_ms;
  for (int turn = 0; turn < kTurns; ++turn) {
    their_ms.push_back(milliseconds([&] {
      sift->detectAndCompute(pixels, cv::noArray(), theirs.keypoints, theirs.descriptors);
    }));
    our_ms.push_back(milliseconds(run_ours));
    fast_ms.push_back(milliseconds(run_fast));
  }
  const std::string size = std::to_string(width) + "x" + std::to_string(height);
  const Spread their_time = spread_of(their_ms), our_time = spread_of(our_ms);
  const std::string what = "SIFT " + size + ", 2 threads, ";
  rows.push_back({what + "median", "ms", their_time.median, our_time.median,
                  their_time.median / kGoal, our_time.median <= their_time.median / kGoal});
  rows.push_back({what + "p95", "ms", their_time.p95, our_time.p95, {}, {}});
  rows.push_back({what + "fast setting, median", "ms", {}, spread_of(fast_ms).median, {}, {}});
  rows.push_back({"keypoints in " + size,
                  "keypoints",
                  static_cast<double>(theirs.keypoints.size()),
                  double(ours.count),
                  {},
                  {}});
  const Agreement agree = agreement(theirs, ours);
  rows.push_back({"OpenCV's keypoints found within 1 px and 10 % of the scale, " + size,
                  "share",
                  {},
                  agree.found,
                  0.95,
                  agree.found >= 0.95});
  rows.push_back({"median cosine of the descriptors of these, " + size,
                  "cosine",
                  {},
                  agree.median_cosine,
                  0.98,
                  agree.median_cosine >= 0.98});
}

int run(const std::string& file) {
  cv::setNumThreads(kThreads);
  std::vector<Row> rows;
  compare(640, 480, rows);
  compare(1600, 1200, rows);
  publish("sift", list_devices().devices.front().name, rows, file);
  return 0;
}

}  // namespace
}  // namespace sextant::measure

int main(int argc, char** argv) {
  return sextant::measure::run_main(argc, argv, sextant::measure::run);
}
