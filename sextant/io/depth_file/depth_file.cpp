// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/depth_file.h"

#include <algorithm>
#include <cmath>

#include "sextant/io/depth_file/steps.h"
#include "sextant/io/file.h"
#include "sextant/io/image_file.h"
#include "sextant/io/png.h"
#include "sextant/io/pnm.h"
#include "sextant/io/tiff.h"

namespace sextant {

namespace {

constexpr double kMillimetre_m = 0.001;
constexpr double kLargestInteger = 65535;

/// 0, what is below and what is not finite become NaN.
template <class T>
Image<float> metres(const Image<T>& numbers, double unit_m) {
  Image<float> depth_m(Context::cpu(1), numbers.width(), numbers.height());
  std::transform(numbers.pixels().host().begin(), numbers.pixels().host().end(),
                 depth_m.pixels().host().begin(), [&](T number) {
                   const double z_m = static_cast<double>(number) * unit_m;
                   return std::isfinite(z_m) && z_m > 0 ? static_cast<float>(z_m) : NAN;
                 });
  return depth_m;
}

void leave_out_largest(double unit_m, Image<float>& depth_m) {
  const auto largest_m = static_cast<float>(kLargestInteger * unit_m);
  for (float& z_m : depth_m.pixels().host()) {
    if (z_m == largest_m) z_m = NAN;
  }
}

void require_depth_image(const ImageInfo& info, const std::string& name) {
  require(is_depth_image(info), name, ": is a picture (", to_string(info.format), ", ",
          info.channels, " x ", info.bit_depth,
          " bit), not a depth map, which is grey with 16-bit integers (PNG, PGM, TIFF) or floats "
          "(TIFF)");
}

void require_believable(const Image<float>& depth_m, double unit_m, const std::string& name) {
  if (believable_depth(depth_m)) return;
  fail(name, ": its median depth is ", median_depth_m(depth_m), " m at ", unit_m,
       " m a step, which is not between ", kNearestMedian_m, " and ", kFarthestMedian_m,
       " m; say what a step is: --unit-m 0.001 for millimetres, --unit-m 1 for metres (convert: "
       "--depth-unit-m); a unit that is given is taken as it is");
}

}  // namespace

bool is_depth_image(const ImageInfo& info) {
  return info.channels == 1 && (info.bit_depth == 16 || info.floating);
}

double depth_unit_m(const ImageInfo& info, const DepthFileOptions& options) {
  if (options.unit_m != 0) return options.unit_m;
  if (options.camera_unit_m != 0) return options.camera_unit_m;
  return info.floating ? 1.0 : kMillimetre_m;
}

float median_depth_m(ImageView<const float> depth_m) {
  std::vector<float> valid;
  valid.reserve(static_cast<std::size_t>(depth_m.pixels()));
  for (int v = 0; v < depth_m.height; ++v) {
    std::copy_if(depth_m.row(v), depth_m.row(v) + depth_m.width, std::back_inserter(valid),
                 [](float z_m) { return std::isfinite(z_m) && z_m > 0; });
  }
  if (valid.empty()) return NAN;
  const auto middle = valid.begin() + static_cast<std::ptrdiff_t>(valid.size() / 2);
  std::nth_element(valid.begin(), middle, valid.end());
  return *middle;
}

bool believable_depth(ImageView<const float> depth_m) {
  std::int64_t valid = 0, near = 0, far = 0;
  for (int v = 0; v < depth_m.height; ++v) {
    for (const float* z_m = depth_m.row(v); z_m != depth_m.row(v) + depth_m.width; ++z_m) {
      const bool counts = *z_m > 0 && *z_m < INFINITY;
      valid += counts;
      near += counts && *z_m < kNearestMedian_m;
      far += counts && *z_m > kFarthestMedian_m;
    }
  }
  // The upper median has valid / 2 depths below it.
  return valid == 0 || (near <= valid / 2 && far < valid - valid / 2);
}

Image<float> read_depth(std::span<const std::byte> file, const std::string& name,
                        const DepthFileOptions& options) {
  const ImageInfo info = image_info(file, name);
  require_depth_image(info, name);
  const double unit_m = depth_unit_m(info, options);
  require(unit_m >= 1e-9 && unit_m <= 1e3, name, ": its unit of ", unit_m,
          " m is not between 1e-09 and 1000");
  Image<float> depth_m =
      info.format == ImageFormat::kPng    ? read_depth_png(file, name, {.unit_m = unit_m})
      : info.format == ImageFormat::kTiff ? metres(read_grey_tiff(file, name), unit_m)
                                          : metres(read_grey16_pgm(file, name), unit_m);
  if (!info.floating && options.largest_is_hole) leave_out_largest(unit_m, depth_m);
  if (options.unit_m == 0) require_believable(depth_m, unit_m, name);
  return depth_m;
}

Image<float> read_depth(const std::filesystem::path& path, const DepthFileOptions& options) {
  return read_depth(read_file(path, kMaxImageFileBytes), path.string(), options);
}

void write_depth(const std::filesystem::path& path, ImageView<const float> depth_m, double unit_m) {
  const std::string name = path.string();
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const double step_m = unit_m == 0 ? kMillimetre_m : unit_m;
  if (extension == ".png") return write_depth_png(path, depth_m, {.unit_m = step_m});
  if (extension == ".pgm") {
    const Image<std::uint16_t> steps = detail::depth_file::depth_steps(depth_m, step_m, name);
    return write_file_atomically(path, encode_pgm(steps, name));
  }
  require(extension == ".tif" || extension == ".tiff", name,
          ": a depth map is written as .png, .pgm, .tif or .tiff");
  require(unit_m == 0, name, ": a TIFF holds depths as floats in metres and takes no unit");
  check_writable(name, depth_m);
  Image<float> holes_are_zero(Context::cpu(1), depth_m.width, depth_m.height);
  for (int v = 0; v < depth_m.height; ++v) {
    std::transform(depth_m.row(v), depth_m.row(v) + depth_m.width, holes_are_zero.view().row(v),
                   [](float z_m) { return std::isfinite(z_m) && z_m > 0 ? z_m : 0.0f; });
  }
  write_file_atomically(path, encode_tiff(holes_are_zero.view(), name));
}

}  // namespace sextant
