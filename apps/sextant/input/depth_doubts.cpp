// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/input/depth_doubts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/sextant/command/command.h"
#include "sextant/surface/depth_unit.h"

namespace sextant::app {

namespace {

/// Principal points of real cameras lie within a few hundredths of the middle.
constexpr double kMostOffMiddle = 0.1;
/// Pixels of sensors are squares, or were 1.09 times as high as wide in analogue video.
constexpr double kMostAspect = 1.2;

constexpr int kNoDisparity = 2047;  ///< of a Kinect, and its largest number
/// So many pixels with one number are no accident, and so few others change nothing.
constexpr double kSomeShare = 0.01;

/// The largest depth of a map, and what lies before it.
struct Farthest {
  float depth_m = 0, next_m = 0;
  std::int64_t pixels = 0, valid = 0;

  explicit Farthest(const Image<float>& map_m) {
    for (const float z_m : map_m.pixels().host()) {
      if (!(z_m > 0 && z_m < INFINITY)) continue;
      ++valid;
      if (z_m > depth_m) {
        next_m = depth_m;
        depth_m = z_m;
        pixels = 0;
      } else if (z_m < depth_m && z_m > next_m) {
        next_m = z_m;
      }
      pixels += z_m == depth_m;
    }
  }
};

/// Every so many rows tell enough.
constexpr int kRowStep = 8;

/// How much neighbours in a row differ on average.
template <class Number>
double roughness(const Image<float>& map_m, const Number& number) {
  double sum = 0, count = 0;
  const ImageView<const float> view = map_m.view();
  for (int v = 0; v < view.height; v += kRowStep) {
    for (int u = 1; u < view.width; ++u) {
      const float a_m = view(u - 1, v), b_m = view(u, v);
      if (!(a_m > 0 && b_m > 0)) continue;
      sum += static_cast<double>(std::abs(number(a_m) - number(b_m)));
      ++count;
    }
  }
  return count > 0 ? sum / count : 0;
}

}  // namespace

void doubt_camera(const std::string& name, const std::string& file, const Camera& camera) {
  const double aspect = camera.fy_px / camera.fx_px;
  if (aspect > kMostAspect || aspect < 1 / kMostAspect) {
    note(
        fmt::format("{}: its focal lengths {:.6g} and {:.6g} are those of pixels that are no "
                    "squares; is one of them wrong?",
                    name, camera.fx_px, camera.fy_px));
  }
  const auto inside = [](double at_px, int size) { return at_px >= -0.5 && at_px < size - 0.5; };
  const bool outside = !inside(camera.cx_px, camera.width) || !inside(camera.cy_px, camera.height);
  const auto off = [](double at_px, int size) {
    return std::abs(at_px - 0.5 * (size - 1)) > kMostOffMiddle * size;
  };
  if (!outside && !(off(camera.cx_px, camera.width) && off(camera.cy_px, camera.height))) return;
  note(fmt::format(
      "{}: its principal point ({:.6g}, {:.6g}) lies {} {}, which has {} x {} pixels; is it "
      "the camera of another resolution?",
      name, camera.cx_px, camera.cy_px, outside ? "outside" : "far from the middle of", file,
      camera.width, camera.height));
}

void doubt_unit(const std::string& file, const DepthMap& map) {
  const DepthUnitDoubt doubt = doubt_depth_unit(Context::cpu(), map.depth_m, map.unit_m);
  if (doubt.factor == 1) return;
  const double other_m = map.unit_m / doubt.factor;
  note(fmt::format(
      "{}: its median depth is {:.3g} m at {:.6g} m a step ({}), but its noise is that of a sensor "
      "at {:.3g} m; if a step is {:.6g} m, pass --unit-m {:.6g}, else --unit-m {:.6g} ends the "
      "doubt",
      file, doubt.median_m, map.unit_m, map.unit_from, doubt.median_m / doubt.factor, other_m,
      other_m, map.unit_m));
}

void doubt_farthest(const std::string& file, bool integers, const DepthMap& map) {
  const Farthest farthest(map.depth_m);
  constexpr float kGap = 0.55f;
  if (static_cast<double>(farthest.pixels) < kSomeShare * static_cast<double>(farthest.valid) ||
      farthest.next_m == 0 || farthest.next_m > kGap * farthest.depth_m) {
    return;
  }
  const bool kinect = integers && std::lround(farthest.depth_m / map.unit_m) == kNoDisparity;
  note(fmt::format(
      "{}: {} pixels have the same depth of {:.6g} m, far behind all others, which end at {:.4g} "
      "m; {}",
      file, farthest.pixels, farthest.depth_m, farthest.next_m,
      kinect ? "is this raw Kinect disparity? 'sextant depth --disparity' makes depth of it"
             : "if nothing came back there, write 0"));
}

void doubt_byte_order(const std::string& file, const DepthMap& map) {
  const auto number = [&](float z_m) { return std::lround(z_m / map.unit_m); };
  const auto exchanged = [&](float z_m) {
    return (number(z_m) & 255) << 8 | (number(z_m) >> 8 & 255);
  };
  const auto pixels = map.depth_m.pixels().host();
  const bool widened = std::none_of(pixels.begin(), pixels.end(),
                                    [&](float z_m) { return z_m > 0 && (number(z_m) & 255) != 0; });
  constexpr double kFarRougher = 16;
  const double rough = roughness(map.depth_m, number);
  if (widened || !(rough > kFarRougher * std::max(1.0, roughness(map.depth_m, exchanged)))) return;
  note(
      fmt::format("{}: its numbers jump by {:.0f} from pixel to pixel; their two bytes seem to be "
                  "exchanged",
                  file, rough));
}

void check_disparity(const std::string& file, const Image<float>& numbers) {
  const auto pixels = numbers.pixels().host();
  const auto share = [&](const auto& counts) {
    return static_cast<double>(std::count_if(pixels.begin(), pixels.end(), counts)) /
           static_cast<double>(std::max<std::size_t>(pixels.size(), 1));
  };
  const double above = share([](float number) { return number > kNoDisparity && number < 65535; });
  require(above <= kSomeShare, file, ": ", std::lround(100 * above),
          " % of its numbers are above 2047, the largest raw disparity of a Kinect; is it a depth "
          "map? Leave out --disparity");
  const double zero = share([](float number) { return std::isnan(number); });
  if (zero <= kSomeShare) return;
  note(
      fmt::format("{}: {:.0f} % of its numbers are 0, which no Kinect gives where nothing came "
                  "back (2047); is it a depth map?",
                  file, 100 * zero));
}

}  // namespace sextant::app
