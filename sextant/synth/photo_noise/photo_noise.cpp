// SPDX-License-Identifier: Apache-2.0
#include "sextant/synth/photo_noise.h"

#include <array>

#include "sextant/core/for_each.h"
#include "sextant/core/random.h"

namespace sextant {

namespace {

constexpr double kGamma = 2.2;

std::array<float, 256> light_of_bytes() {
  std::array<float, 256> light;
  for (int i = 0; i < 256; ++i) light[i] = static_cast<float>(std::pow(i / 255.0, kGamma));
  return light;
}

std::uint8_t to_byte(double light) {
  return static_cast<std::uint8_t>(255 * std::pow(clamp(light, 0.0, 1.0), 1 / kGamma) + 0.5);
}

std::vector<float> gaussian(float sigma) {
  const int radius = static_cast<int>(std::ceil(3 * sigma));
  std::vector<float> weights;
  float sum = 0;
  for (int i = -radius; i <= radius; ++i) {
    const float x = static_cast<float>(i) / sigma;
    weights.push_back(std::exp(-0.5f * x * x));
    sum += weights.back();
  }
  for (float& weight : weights) weight /= sum;
  return weights;
}

/// Folds an index that leaves 0 .. size - 1 back in.
int mirrored(int index, int size) {
  const int period = 2 * size;
  index = ((index % period) + period) % period;
  return index < size ? index : period - 1 - index;
}

/// One direction of the blur; the step is one pixel along it.
void blur(const Context& context, const Image<Vec3f>& from, const std::vector<float>& weights,
          bool along_rows, Image<Vec3f>& to) {
  const int radius = static_cast<int>(weights.size() / 2);
  for_each_chunk(context, from.height(), 1, [&](std::int64_t begin, std::int64_t) {
    const int v = static_cast<int>(begin);
    for (int u = 0; u < from.width(); ++u) {
      Vec3f sum{};
      for (int k = -radius; k <= radius; ++k) {
        const float weight = weights[static_cast<std::size_t>(k + radius)];
        sum += (along_rows ? from(mirrored(u + k, from.width()), v)
                           : from(u, mirrored(v + k, from.height()))) *
               weight;
      }
      to(u, v) = sum;
    }
  });
}

}  // namespace

Image<Rgb8> add_photo_noise(const Context& context, ImageView<const Rgb8> image,
                            const PhotoNoiseOptions& options, std::uint64_t seed) {
  check_options(options);
  require(context.is_cpu(), "add_photo_noise: runs on the host, the context on ",
          to_string(context.device()));
  require_on(context, image, "image");
  const std::array<float, 256> light_of = light_of_bytes();
  Image<Vec3f> light(context, image.width, image.height);
  for (int v = 0; v < image.height; ++v) {
    for (int u = 0; u < image.width; ++u) {
      const Rgb8 color = image(u, v);
      light(u, v) = {light_of[color.x], light_of[color.y], light_of[color.z]};
    }
  }
  if (options.blur_px > 0 && !image.empty()) {
    const std::vector<float> weights = gaussian(options.blur_px);
    Image<Vec3f> half(context, image.width, image.height);
    blur(context, light, weights, true, half);
    blur(context, half, weights, false, light);
  }
  Image<Rgb8> noisy(context, image.width, image.height);
  const double well = options.full_well_electrons;
  const double read_sq = std::pow(static_cast<double>(options.read_noise_electrons), 2);
  for_each(context, image.pixels(), [&](std::int64_t i) {
    const Random random{seed, static_cast<std::uint64_t>(i)};
    const auto exposed = [&](float value, std::uint64_t channel) {
      if (!(well > 0)) return to_byte(value);
      const double electrons = max_of(0.0, value * well);
      const double seen = electrons + std::sqrt(electrons + read_sq) * random.normal(channel);
      return to_byte(seen / well);
    };
    const Vec3f& value = light.pixels().data()[i];
    noisy.pixels().data()[i] = {exposed(value.x, 0), exposed(value.y, 1), exposed(value.z, 2)};
  });
  return noisy;
}

}  // namespace sextant
