// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "photograph.h"
#include "shapes.h"

// A few things on a mat: the scene of the examples.

namespace tabletop {

using namespace sextant;

struct Thing {
  TriangleMesh mesh;
  Rigid3f world_from_object;
};

/// Two by two squares with lines between them, to be repeated.
inline Image<Rgb8> mat_texture() {
  return shapes::make_texture(256, 256, [](float u, float v) {
    const float x = 2 * u - std::floor(2 * u), y = 2 * v - std::floor(2 * v);
    if (std::min({x, y, 1 - x, 1 - y}) < 0.018f) return Rgb8{150, 160, 168};
    return (u < 0.5f) == (v < 0.5f) ? Rgb8{212, 216, 217} : Rgb8{226, 228, 227};
  });
}

/// A packet: a band and a round label on a plain colour.
inline Image<Rgb8> packet_texture() {
  return shapes::make_texture(512, 512, [](float u, float v) {
    const float r = std::hypot(u - 0.5f, (v - 0.56f) * 1.58f);  // round on the front
    if (r < 0.22f) return Rgb8{240, 190, 62};
    if (r < 0.34f) return Rgb8{246, 244, 236};
    if (v > 0.08f && v < 0.16f) return Rgb8{246, 244, 236};
    if (v > 0.90f || v < 0.04f) return Rgb8{24, 60, 104};
    return Rgb8{36, 92, 150};
  });
}

inline Image<Rgb8> ball_texture() {
  return shapes::make_texture(768, 384, [](float u, float v) {
    constexpr Rgb8 kGores[] = {{214, 62, 58},   {244, 240, 230}, {238, 178, 56},
                               {244, 240, 230}, {48, 120, 178},  {244, 240, 230}};
    if (v < 0.05f || v > 0.95f) return Rgb8{244, 240, 230};
    return kGores[static_cast<int>(u * 6) % 6];
  });
}

inline Image<Rgb8> can_texture() {
  return shapes::make_texture(1024, 1024, [](float u, float v) {
    // The profile has seven steps; the label is the fourth.
    const float height = v * 7 - 3;
    if (height < 0 || height > 1) return Rgb8{190, 192, 194};
    const float wave = 0.5f + 0.16f * std::sin(u * 6.2831853f * 3);
    if (std::abs(height - wave) < 0.09f) return Rgb8{246, 244, 236};
    return height < wave ? Rgb8{172, 38, 46} : Rgb8{206, 60, 52};
  });
}

inline std::vector<Vec2f> can_profile() {
  return {{0, 0.004f},      {0.029f, 0.004f}, {0.033f, 0.0f},   {0.033f, 0.006f},
          {0.033f, 0.104f}, {0.033f, 0.110f}, {0.029f, 0.107f}, {0, 0.107f}};
}

inline std::vector<Vec2f> pawn_profile() {
  std::vector<Vec2f> profile{{0, 0},
                             {0.036f, 0},
                             {0.037f, 0.004f},
                             {0.037f, 0.012f},
                             {0.034f, 0.018f},
                             {0.029f, 0.021f},
                             {0.028f, 0.026f},
                             {0.022f, 0.036f},
                             {0.017f, 0.052f},
                             {0.014f, 0.068f},
                             {0.0135f, 0.076f},
                             {0.019f, 0.079f},
                             {0.0205f, 0.082f},
                             {0.019f, 0.085f}};
  const std::vector<Vec2f> head = shapes::arc({0, 0.100f}, 0.0205f, -0.75, M_PI / 2, 24);
  profile.insert(profile.end(), head.begin(), head.end());
  return profile;
}

inline std::vector<Thing> things() {
  using shapes::placed;
  std::vector<Thing> all;
  all.push_back({shapes::ground(6.0f, 60, mat_texture()), {}});
  all.push_back(
      {shapes::box({0.12f, 0.07f, 0.19f}, packet_texture()), placed(-0.07f, 0.10f, 0.5f)});
  const auto ball = shapes::arc({0, 0}, 0.062f, -M_PI / 2, M_PI / 2, 48);
  all.push_back({shapes::revolve(ball, 96, true, ball_texture()),
                 {exp_rotation(Vec3f{0.5f, -0.45f, 0.3f}), {0.115f, 0.06f, 0.062f}}});
  const auto ring = shapes::arc({0.048f, 0}, 0.019f, -M_PI, M_PI, 48);
  all.push_back({shapes::revolve(ring, 96, true, shapes::plain({232, 122, 44})),
                 placed(-0.135f, -0.085f, 0, 0.019f)});
  all.push_back(
      {shapes::revolve(can_profile(), 96, false, can_texture()), placed(0.02f, -0.035f, 1.9f)});
  all.push_back({shapes::revolve(pawn_profile(), 96, true, shapes::plain({84, 150, 98})),
                 placed(0.15f, -0.10f, 0)});
  return all;
}

/// A large lamp up on the left.
inline photograph::Studio studio(const Rigid3f& camera_from_world) {
  photograph::Studio studio;
  studio.lamp_m = camera_from_world * Vec3f{-0.65f, -0.75f, 1.15f};
  studio.target_m = camera_from_world * Vec3f{0.05f, 0.05f, 0};
  studio.lamp_radius_m = 0.12;
  return studio;
}

}  // namespace tabletop
