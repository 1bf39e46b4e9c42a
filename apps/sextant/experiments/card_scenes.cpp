// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/experiments/card_scenes.h"

#include <algorithm>
#include <cmath>

#include "sextant/core/random.h"

namespace sextant::app {

namespace {

constexpr int kWidth_px = 378, kHeight_px = 528;
constexpr int kShapes = 500;
constexpr int kRays = 3;  ///< a side of the square of rays in a pixel

/// One shape over what was drawn before.
void draw_shape(const Random& random, std::uint64_t shape, Image<float>& picture) {
  const std::uint64_t draw = shape * 8;
  const auto uniform = [&](std::uint64_t i) { return double(random.uniform(draw + i)); };
  // Many small ones, few large ones: the same at all scales.
  const double size = 6 / std::pow(0.012 + 0.988 * uniform(0), 0.6);
  const double aspect = 0.25 + 0.75 * uniform(1), angle = 3.1416 * uniform(2);
  const double cx = picture.width() * uniform(3), cy = picture.height() * uniform(4);
  const auto level = static_cast<float>(20 + 215 * uniform(5));
  const bool disc = uniform(6) < 0.4;
  const double c = std::cos(angle), s = std::sin(angle);
  const auto bound = [](double at, int most) { return std::clamp(static_cast<int>(at), 0, most); };
  for (int v = bound(cy - size, picture.height()); v < bound(cy + size + 1, picture.height());
       ++v) {
    for (int u = bound(cx - size, picture.width()); u < bound(cx + size + 1, picture.width());
         ++u) {
      const double x = (c * (u - cx) + s * (v - cy)) / size;
      const double y = (c * (v - cy) - s * (u - cx)) / (size * aspect);
      const bool inside = disc ? x * x + y * y < 0.5 : std::abs(x) < 0.7 && std::abs(y) < 0.7;
      if (inside) picture(u, v) = level;
    }
  }
}

Image<float> half_of(const Image<float>& from) {
  Image<float> to(Context::cpu(), std::max(1, from.width() / 2), std::max(1, from.height() / 2));
  for (int v = 0; v < to.height(); ++v) {
    for (int u = 0; u < to.width(); ++u) {
      const int a = std::min(2 * u + 1, from.width() - 1),
                b = std::min(2 * v + 1, from.height() - 1);
      to(u, v) = (from(2 * u, 2 * v) + from(a, 2 * v) + from(2 * u, b) + from(a, b)) / 4;
    }
  }
  return to;
}

/// The brightness at a place of the card, of the level whose pixels are about as large as a ray's.
float brightness(const DrawnCard& card, double x_m, double y_m, double footprint_m) {
  const double pixel_m = card.width_m / card.levels.front().width();
  const double depth = std::log2(std::max(footprint_m / pixel_m, 1.0));
  const auto level = std::min(static_cast<std::size_t>(depth + 0.5), card.levels.size() - 1);
  const Image<float>& picture = card.levels[level];
  const double scale = picture.width() / card.width_m;
  const double u =
      std::clamp(x_m * scale + 0.5 * (picture.width() - 1), 0.0, picture.width() - 1.0);
  const double v =
      std::clamp(y_m * scale + 0.5 * (picture.height() - 1), 0.0, picture.height() - 1.0);
  const int i = std::min(static_cast<int>(u), std::max(0, picture.width() - 2));
  const int j = std::min(static_cast<int>(v), std::max(0, picture.height() - 2));
  const int k = std::min(i + 1, picture.width() - 1), l = std::min(j + 1, picture.height() - 1);
  const auto a = static_cast<float>(u - i), b = static_cast<float>(v - j);
  return (1 - b) * ((1 - a) * picture(i, j) + a * picture(k, j)) +
         b * ((1 - a) * picture(i, l) + a * picture(k, l));
}

/// Where a ray of the camera meets a card's plane.
struct Hit {
  double depth_m = 0, x_m = 0, y_m = 0;
  bool on = false;
};

Hit meet(const DrawnCard& card, const Rigid3d& card_from_camera, const Vec3d& ray) {
  const Vec3d along = card_from_camera.rotation * ray;
  const Vec3d& from = card_from_camera.translation;
  Hit hit;
  hit.depth_m = -from.z / along.z;
  hit.x_m = from.x + hit.depth_m * along.x;
  hit.y_m = from.y + hit.depth_m * along.y;
  hit.on = hit.depth_m > 0 && std::abs(hit.x_m) < card.width_m / 2 &&
           std::abs(hit.y_m) < card.height_m() / 2;
  return hit;
}

Vec3d ray_at(const Camera& camera, double u, double v) {
  return {(u - camera.cx_px) / camera.fx_px, (v - camera.cy_px) / camera.fy_px, 1};
}

/// The pixels among which a card is seen.
struct Box {
  int left, top, right, bottom;
};
Box box_of(const PlacedCard& placed, const Camera& camera) {
  double low_u = INFINITY, low_v = INFINITY, high_u = -INFINITY, high_v = -INFINITY;
  for (int corner = 0; corner < 4; ++corner) {
    const Vec3d p{(corner % 2 - 0.5) * placed.card->width_m,
                  (corner / 2 - 0.5) * placed.card->height_m(), 0};
    const Vec2d at = project(camera, placed.camera_from_card * p);
    low_u = std::min(low_u, at.x);
    low_v = std::min(low_v, at.y);
    high_u = std::max(high_u, at.x);
    high_v = std::max(high_v, at.y);
  }
  const auto bound = [](double x, int most) {
    return static_cast<int>(std::clamp(x, 0.0, static_cast<double>(most)));
  };
  return {bound(low_u - 1, camera.width), bound(low_v - 1, camera.height),
          bound(high_u + 2, camera.width), bound(high_v + 2, camera.height)};
}

/// Brightness and depth of every ray.
struct Rays {
  int width;
  std::vector<float> depth_m, value;
};

void draw_card_into(const PlacedCard& placed, const Camera& camera, Rays& rays) {
  const Rigid3d card_from_camera = inverse(placed.camera_from_card);
  const Box box = box_of(placed, camera);
  for (int v = kRays * box.top; v < kRays * box.bottom; ++v) {
    for (int u = kRays * box.left; u < kRays * box.right; ++u) {
      const Vec3d ray = ray_at(camera, (u + 0.5) / kRays - 0.5, (v + 0.5) / kRays - 0.5);
      const Hit hit = meet(*placed.card, card_from_camera, ray);
      const auto at = static_cast<std::size_t>(v) * static_cast<std::size_t>(rays.width) +
                      static_cast<std::size_t>(u);
      if (!hit.on || hit.depth_m >= double(rays.depth_m[at])) continue;
      rays.depth_m[at] = static_cast<float>(hit.depth_m);
      rays.value[at] =
          brightness(*placed.card, hit.x_m, hit.y_m, hit.depth_m / (kRays * camera.fx_px));
    }
  }
}

Image<float> blurred(const Image<float>& from, double sigma_px) {
  if (!(sigma_px > 0)) return copy(Context::cpu(), from);
  const int radius = static_cast<int>(std::ceil(3 * sigma_px));
  std::vector<float> weights;
  float sum = 0;
  for (int i = -radius; i <= radius; ++i) {
    weights.push_back(static_cast<float>(std::exp(-0.5 * i * i / (sigma_px * sigma_px))));
    sum += weights.back();
  }
  const auto pass = [&](const Image<float>& image, int du, int dv) {
    Image<float> to(Context::cpu(), image.width(), image.height());
    for (int v = 0; v < image.height(); ++v) {
      for (int u = 0; u < image.width(); ++u) {
        float value = 0;
        for (int i = -radius; i <= radius; ++i) {
          value += weights[static_cast<std::size_t>(i + radius)] *
                   image(std::clamp(u + i * du, 0, image.width() - 1),
                         std::clamp(v + i * dv, 0, image.height() - 1));
        }
        to(u, v) = value / sum;
      }
    }
    return to;
  };
  return pass(pass(from, 1, 0), 0, 1);
}

}  // namespace

Image<Rgb8> DrawnCard::picture() const {
  const Image<float>& from = levels.front();
  Image<Rgb8> to(Context::cpu(), from.width(), from.height());
  for (int v = 0; v < to.height(); ++v) {
    for (int u = 0; u < to.width(); ++u) {
      const auto grey = static_cast<std::uint8_t>(std::lround(from(u, v)));
      to(u, v) = {grey, grey, grey};
    }
  }
  return to;
}

DrawnCard draw_card(std::uint64_t number, double share, std::uint64_t other) {
  const auto drawn = [](std::uint64_t which) {
    Image<float> picture(Context::cpu(), kWidth_px, kHeight_px);
    for (float& p : picture.pixels().host()) p = 128;
    for (std::uint64_t shape = 0; shape < kShapes; ++shape) {
      draw_shape(Random{77, which}, shape, picture);
    }
    return picture;
  };
  DrawnCard card;
  card.levels.push_back(drawn(number));
  if (share > 0) {
    const Image<float> from = drawn(other);
    const int rows = static_cast<int>(share * kHeight_px);
    for (int v = 0; v < rows; ++v) {
      for (int u = 0; u < kWidth_px; ++u) card.levels.front()(u, v) = from(u, v);
    }
  }
  while (card.levels.back().width() > 8) {
    Image<float> half = half_of(card.levels.back());
    card.levels.push_back(std::move(half));
  }
  return card;
}

Image<std::uint8_t> photograph_cards(const std::vector<PlacedCard>& cards, const Camera& camera,
                                     const PhotoFlaws& flaws, std::uint64_t seed) {
  Rays rays{kRays * camera.width, {}, {}};
  const std::size_t count =
      static_cast<std::size_t>(rays.width) * static_cast<std::size_t>(kRays * camera.height);
  rays.depth_m.assign(count, INFINITY);
  rays.value.assign(count, NAN);
  for (const PlacedCard& card : cards) draw_card_into(card, camera, rays);
  const Random random{seed, 1};
  Image<float> mean(Context::cpu(), camera.width, camera.height);
  for (int v = 0; v < camera.height; ++v) {
    for (int u = 0; u < camera.width; ++u) {
      const auto pixel = static_cast<std::uint64_t>(v) * static_cast<std::uint64_t>(camera.width) +
                         static_cast<std::uint64_t>(u);
      const auto table = static_cast<float>(110 + 6 * random.normal(2 * pixel));
      float sum = 0;
      for (int k = 0; k < kRays * kRays; ++k) {
        const auto at =
            static_cast<std::size_t>(kRays * v + k / kRays) * static_cast<std::size_t>(rays.width) +
            static_cast<std::size_t>(kRays * u + k % kRays);
        sum += std::isnan(rays.value[at]) ? table : rays.value[at];
      }
      mean(u, v) = sum / (kRays * kRays);
    }
  }
  mean = blurred(mean, flaws.blur_px);
  Image<std::uint8_t> photo(Context::cpu(), camera.width, camera.height);
  for (int v = 0; v < camera.height; ++v) {
    for (int u = 0; u < camera.width; ++u) {
      const auto pixel = static_cast<std::uint64_t>(v) * static_cast<std::uint64_t>(camera.width) +
                         static_cast<std::uint64_t>(u);
      const double value = double(mean(u, v)) + flaws.noise * random.normal(2 * pixel + 1);
      photo(u, v) = static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0, 255.0)));
    }
  }
  return photo;
}

Camera card_camera(int width) {
  const int height = width * 3 / 4;
  const double focal_px = width / 2.0 / std::tan(0.5235987755982988);
  return {width, height, focal_px, focal_px, 0.5 * (width - 1), 0.5 * (height - 1), {}};
}

}  // namespace sextant::app
