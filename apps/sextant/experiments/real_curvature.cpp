// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/experiments/real_curvature.h"

#include <cmath>

#include "sextant/depth/deproject.h"
#include "sextant/io/png.h"

namespace sextant::app {

namespace {

constexpr float kPclRadius_m = 0.02f;
constexpr int kEvery = 3;  // of the pixels, to save PCL's time

/// A part of an image on the side of a can: where it turns away from the sensor by less than 45°,
/// or from outline to outline, in rows where nothing stands before it.
struct Can {
  const char* name;
  const char* file;
  double radius_m;
  int u, v, width, height;
};
const Can kCans[] = {
    {"can of 51 mm", "ycbv_frames/posecnn_demo/000002-depth.png", 0.051, 328, 205, 60, 45},
    {"can of 33.9 mm", "ycbv_frames/posecnn_demo/000001-depth.png", 0.0339, 415, 295, 30, 45},
    {"can of 51 mm, whole side", "ycbv_frames/posecnn_demo/000002-depth.png", 0.051, 304, 205, 108,
     45},
    {"can of 33.9 mm, whole side", "ycbv_frames/posecnn_demo/000001-depth.png", 0.0339, 396, 290,
     66, 55},
    {"second can of 33.9 mm, whole side", "ycbv_frames/posecnn_demo/000002-depth.png", 0.0339, 385,
     270, 48, 75}};

/// Mean k1 over the part, and the share of its pixels that have one.
struct Side {
  double k1 = 0, share = 0;
};
Side side_of(const PrincipalCurvatures& found, const Can& can, int image_width, int every) {
  double sum = 0, count = 0, pixels = 0;
  for (int v = can.v; v < can.v + can.height; ++v) {
    for (int u = can.u; u < can.u + can.width; ++u) {
      const int pixel = v * image_width + u;
      if (pixel % every != 0) continue;
      pixels += 1;
      if (!found.has(static_cast<std::size_t>(pixel))) continue;
      sum += double{found.k1_per_m[static_cast<std::size_t>(pixel)]};
      count += 1;
    }
  }
  return {sum / count, count / pixels};
}

}  // namespace

void compare_on_planes(const Cloud& organised, const std::vector<char>& on_plane,
                       const PrincipalCurvatures& ours, const std::string& of,
                       std::vector<measure::Row>& rows) {
  const std::optional<PrincipalCurvatures> raw = pcl_covariance(organised, kPclRadius_m, kEvery);
  if (!raw) return;
  const PrincipalCurvatures pcl = calibrated(*raw, kPclRadius_m);
  double own = 0, theirs = 0, count = 0;
  for (std::size_t i = 0; i < on_plane.size(); ++i) {
    if (!on_plane[i] || !ours.has(i) || !pcl.has(i)) continue;
    const auto square = [&](const PrincipalCurvatures& k) {
      return double{k.k1_per_m[i]} * double{k.k1_per_m[i]} +
             double{k.k2_per_m[i]} * double{k.k2_per_m[i]};
    };
    own += square(ours);
    theirs += square(pcl);
    count += 2;
  }
  const double peer = std::sqrt(theirs / count), mine = std::sqrt(own / count);
  rows.push_back(
      {"the same in the first frame, PCL at 20 mm" + of, "1/m", peer, mine, peer, mine <= peer});
}

void add_can_rows(const Context& context, const std::filesystem::path& root,
                  std::vector<measure::Row>& rows) {
  const Camera camera{640, 480, 1066.778, 1067.487, 312.9869, 241.3109, {}};
  for (const Can& can : kCans) {
    const std::filesystem::path file = root / can.file;
    if (!std::filesystem::exists(file)) continue;
    Image<float> depth_m = read_depth_png(file, {.unit_m = 1e-4});
    for (float& z_m : depth_m.pixels().host()) {
      if (!(z_m > 0.1f)) z_m = NAN;
    }
    const Cloud cloud = deproject(Context::cpu(), depth_m, camera);
    const int width = depth_m.width();
    const Image<Vec3f> points(copy(context, cloud.points), width, depth_m.height());
    const Side ours = side_of(quadric_curvature(context, points, {}), can, width, 1);
    const double truth = 1 / can.radius_m;
    measure::Row row{std::string("k1 of a ") + can.name, "1/m", {}, ours.k1, truth, {}};
    row.met = std::abs(ours.k1 - truth) < 0.07 * truth;
    if (const auto pcl = pcl_covariance(cloud, kPclRadius_m, kEvery)) {
      row.peer = side_of(calibrated(*pcl, kPclRadius_m), can, width, kEvery).k1;
    }
    rows.push_back(row);
    rows.push_back({std::string("pixels with a curvature on a ") + can.name,
                    "%",
                    {},
                    100 * ours.share,
                    {},
                    {}});
  }
}

}  // namespace sextant::app
