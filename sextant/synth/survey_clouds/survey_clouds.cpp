// SPDX-License-Identifier: Apache-2.0
#include "sextant/synth/survey_clouds.h"

#include <cmath>
#include <numbers>

#include "sextant/core/random.h"
#include "sextant/geometry/neighbours.h"

namespace sextant {

namespace {

/// A parallelogram of surface.
struct Patch {
  Vec3d corner, u, v;
};

/// Points drawn evenly from all patches, moved along the normal by the noise.
SurveyCloud draw(const std::vector<Patch>& patches, int count, double noise_m, std::uint64_t seed) {
  std::vector<double> area_up_to;
  double area = 0;
  for (const Patch& patch : patches) area_up_to.push_back(area += norm(cross(patch.u, patch.v)));
  SurveyCloud cloud;
  for (int i = 0; i < count; ++i) {
    const Random random{seed, static_cast<std::uint64_t>(i)};
    const double at = (double(random.bits(0)) + 0.5) * 0x1p-32 * area;
    std::size_t k = 0;
    while (area_up_to[k] <= at) ++k;
    const Patch& patch = patches[k];
    const Vec3d normal = normalized(cross(patch.u, patch.v));
    const Vec3d on_it =
        patch.corner + patch.u * double(random.uniform(1)) + patch.v * double(random.uniform(2));
    cloud.points.push_back(cast<float>(on_it + normal * (noise_m * random.normal(3))));
    cloud.normals.push_back(cast<float>(normal));
  }
  return cloud;
}

/// A wall along x or y with a doorway of 0.9 × 2 m in its middle.
void add_wall(const Vec3d& corner, const Vec3d& along, std::vector<Patch>& patches) {
  constexpr double kHeight_m = 2.5, kDoor_m = 0.9, kLintel_m = 2.0;
  const double length = norm(along);
  const Vec3d side = along * ((length - kDoor_m) / 2 / length);
  const Vec3d door = along * (kDoor_m / length);
  patches.push_back({corner, side, {0, 0, kHeight_m}});
  patches.push_back({corner + side + door, side, {0, 0, kHeight_m}});
  patches.push_back({corner + side + Vec3d{0, 0, kLintel_m}, door, {0, 0, kHeight_m - kLintel_m}});
}

/// The sides and the top of a box that stands at the corner.
void add_box(const Vec3d& corner, const Vec3d& size, std::vector<Patch>& patches) {
  const Vec3d x{size.x, 0, 0}, y{0, size.y, 0}, z{0, 0, size.z};
  patches.push_back({corner, x, z});
  patches.push_back({corner + y, x, z});
  patches.push_back({corner, y, z});
  patches.push_back({corner + x, y, z});
  patches.push_back({corner + z, x, y});
}

}  // namespace

SurveyCloud paraboloid_survey(int count, double noise_m, std::uint64_t seed) {
  SurveyCloud cloud;
  for (int i = 0; i < count; ++i) {
    const Random random{seed, static_cast<std::uint64_t>(i)};
    const double x = 10 * double(random.uniform(0)) - 5;
    const double y = 10 * double(random.uniform(1)) - 5;
    const double z = 1 - 0.02 * x * x - 0.02 * y * y + noise_m * random.normal(2);
    cloud.points.push_back(cast<float>(Vec3d{x, y, z}));
    cloud.normals.push_back(cast<float>(normalized(Vec3d{-0.04 * x, -0.04 * y, -1})));
  }
  return cloud;
}

SurveyCloud stairs_survey(int count, double noise_m, std::uint64_t seed) {
  constexpr int kFlights = 8, kSteps = 10;
  constexpr double kTread_m = 0.3, kRise_m = 0.17, kWidth_m = 1.6, kLanding_m = 1.5;
  std::vector<Patch> patches;
  double height = 0;
  for (int flight = 0; flight < kFlights; ++flight) {
    const bool back = flight % 2 == 1;
    const double side = back ? kWidth_m + 0.2 : 0.0;
    for (int step = 0; step < kSteps; ++step) {
      const double x = kTread_m * (back ? kSteps - step : step);
      patches.push_back({{x, side, height}, {0, kWidth_m, 0}, {0, 0, kRise_m}});
      height += kRise_m;
      patches.push_back(
          {{back ? x - kTread_m : x, side, height}, {kTread_m, 0, 0}, {0, kWidth_m, 0}});
    }
    // Across both flights, at the end that this one reached.
    patches.push_back({{back ? -kLanding_m : kTread_m * kSteps, 0, height},
                       {kLanding_m, 0, 0},
                       {0, 2 * kWidth_m + 0.2, 0}});
  }
  return draw(patches, count, noise_m, seed);
}

SurveyCloud apartment_survey(int count, double noise_m, std::uint64_t seed) {
  constexpr double kRoom_m = 4.0, kHeight_m = 2.5;
  std::vector<Patch> patches{{{0, 0, 0}, {2 * kRoom_m, 0, 0}, {0, 2 * kRoom_m, 0}},
                             {{0, 0, kHeight_m}, {2 * kRoom_m, 0, 0}, {0, 2 * kRoom_m, 0}}};
  for (int i = 0; i <= 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      add_wall({kRoom_m * i, kRoom_m * j, 0}, {0, kRoom_m, 0}, patches);
      add_wall({kRoom_m * j, kRoom_m * i, 0}, {kRoom_m, 0, 0}, patches);
    }
  }
  for (int room = 0; room < 4; ++room) {
    add_box({1.0 + kRoom_m * (room % 2), 1.2 + kRoom_m * (room / 2), 0}, {1.4, 0.8, 0.75}, patches);
  }
  return draw(patches, count, noise_m, seed);
}

SurveyCloud plain_survey(int count, double noise_m, std::uint64_t seed) {
  constexpr double kReach_m = 20;
  SurveyCloud cloud;
  for (int i = 0; i < count; ++i) {
    const Random random{seed, static_cast<std::uint64_t>(i)};
    const double r = 0.5 + (kReach_m - 0.5) * double(random.uniform(0));
    const double turn = 2 * std::numbers::pi * double(random.uniform(1));
    const double x = r * std::cos(turn), y = r * std::sin(turn);
    const double z = 0.5 * std::sin(0.4 * x) * std::cos(0.3 * y) + noise_m * random.normal(2);
    cloud.points.push_back(cast<float>(Vec3d{x, y, z}));
    cloud.normals.push_back(
        cast<float>(normalized(Vec3d{-0.2 * std::cos(0.4 * x) * std::cos(0.3 * y),
                                     0.15 * std::sin(0.4 * x) * std::sin(0.3 * y), 1})));
  }
  return cloud;
}

void scale_to_neighbours(const Context& context, float radius_m, double mean,
                         std::vector<Vec3f>& points) {
  require(mean > 0 && mean < static_cast<double>(points.size()), "mean: ", mean, " neighbours of ",
          points.size(), " points");
  std::vector<std::int32_t> counts(points.size());
  for (int step = 0; step < 20; ++step) {
    const NeighbourGrid grid =
        build_neighbour_grid(context, view_of(points), NeighbourGridOptions::for_radius(radius_m));
    count_neighbours_into(context, grid, radius_m, view_of(counts));
    double found = -static_cast<double>(points.size());  // a point is no neighbour of itself
    for (const std::int32_t count : counts) found += static_cast<double>(count);
    found /= static_cast<double>(points.size());
    if (std::abs(found - mean) <= 0.005 * mean) return;
    // On a surface the number of neighbours falls with the square of the scale.
    const float scale = static_cast<float>(std::sqrt(clamp(found / mean, 0.01, 100.0)));
    for (Vec3f& p : points) p = p * scale;
  }
}

}  // namespace sextant
