// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/moped_model/descriptor.h"

#include <algorithm>
#include <cmath>

namespace sextant::detail::moped_model {

namespace {

constexpr double kScale = 512;
/// How far a number may lie from its byte. Six decimals change a number by 5e-7 and the length by
/// at most sqrt(128) times as much, together 0.0018 of a byte.
constexpr double kReach = 0.497;

/// The bytes times `scale`, each as near to its byte as it must be to become it again.
double filled(const std::uint8_t* bytes, double scale,
              std::span<double, kMopedDescriptorLength> numbers) {
  double sum_sq = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double byte = bytes[i];
    const double high = bytes[i] == 255 ? kScale : byte + kReach;
    numbers[i] = std::clamp(byte * scale, std::max(byte - kReach, 0.0), high);
    sum_sq += numbers[i] * numbers[i];
  }
  return std::sqrt(sum_sq);
}

}  // namespace

bool bytes_of_descriptor(std::span<const double, kMopedDescriptorLength> numbers,
                         std::uint8_t* bytes) {
  // Divided by the largest first: squares of very large or small numbers are none.
  const double largest = *std::max_element(numbers.begin(), numbers.end());
  if (!(largest > 0)) return false;
  double sum_sq = 0;
  for (const double number : numbers) sum_sq += (number / largest) * (number / largest);
  const double length = std::sqrt(sum_sq);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double scaled = std::round(kScale * (numbers[i] / largest / length));
    bytes[i] = static_cast<std::uint8_t>(std::min(scaled, 255.0));
  }
  return true;
}

void descriptor_of_bytes(const std::uint8_t* bytes,
                         std::span<double, kMopedDescriptorLength> numbers) {
  // The length grows with the scale. 52 halvings of the interval leave nothing of it.
  double low = 0, high = 1024;
  const bool reached =
      filled(bytes, low, numbers) <= kScale && filled(bytes, high, numbers) >= kScale;
  for (int step = 0; reached && step < 64; ++step) {
    const double middle = (low + high) / 2;
    (filled(bytes, middle, numbers) < kScale ? low : high) = middle;
  }
  double length = reached ? filled(bytes, high, numbers) : 0;
  if (!reached) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = bytes[i];
      length += numbers[i] * numbers[i];
    }
    length = std::sqrt(length);
  }
  for (double& number : numbers) number /= length;
}

}  // namespace sextant::detail::moped_model
