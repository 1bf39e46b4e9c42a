// SPDX-License-Identifier: Apache-2.0
#include "sextant/synth/table_scene/table_top.h"

#include "sextant/synth/catalogue/canvas.h"
#include "sextant/synth/catalogue/prism.h"

namespace sextant::detail::table_scene {

TriangleMesh make_table_top(std::uint64_t seed) {
  constexpr int kTexturePx = 1024;
  constexpr double kThicknessM = 0.03, kWallShare = 0.02;
  catalogue::Dice dice(seed, 4);
  catalogue::Canvas canvas(kTexturePx, kTexturePx, {176, 134, 92});
  const auto shade = [&](double level) {
    return Rgb8{static_cast<std::uint8_t>(176 + level), static_cast<std::uint8_t>(134 + level),
                static_cast<std::uint8_t>(92 + 0.8 * level)};
  };
  const double plank = kTexturePx / 16.0;
  for (double left = 0; left < kTexturePx; left += plank) {
    const double tone = dice.uniform(-12, 12);
    canvas.rectangle(left, 0, left + plank, kTexturePx, shade(tone));
    for (int i = 0; i < 60; ++i) {  // grain
      const double x = left + dice.uniform(0, plank - 1), y = dice.uniform(0, kTexturePx);
      canvas.rectangle(x, y, x + dice.uniform(0.5, 1.6), y + dice.uniform(20, 160),
                       shade(tone + dice.uniform(-26, 10)));
    }
    canvas.rectangle(left, 0, left + 1, kTexturePx, shade(-60));
  }
  const double h = kTableSideM / 2;
  TriangleMesh table = catalogue::make_prism({{-h, -h}, {h, -h}, {h, h}, {-h, h}}, kThicknessM,
                                             false, {kWallShare}, canvas.finish(4, dice));
  for (Vec3f& p : table.vertices.points.host())
    p.z = p.z > 0 ? 0.0f : -static_cast<float>(kThicknessM);
  return table;
}

}  // namespace sextant::detail::table_scene
