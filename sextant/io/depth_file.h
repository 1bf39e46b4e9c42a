// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "sextant/io/image_info.h"

namespace sextant {

// Depth maps as sensors and data sets write them: one channel of 16-bit integers (PNG, PGM, TIFF)
// or of floats (TIFF). A number that is 0, negative or not finite means that nothing came back, and
// so does the largest integer, 65535: what lies beyond the range of a file has no depth there.

/// What the numbers of a depth file are.
struct DepthFileOptions {
  /// Metres per step: the caller's word, which is taken as it is. 0 takes camera_unit_m or, where
  /// that is 0 too, what is usual (ROS REP 118): 0.001 for integers and 1 for floats.
  double unit_m = 0;
  /// What a camera file says (CameraFile::depth_unit_m); 0 where it says nothing.
  double camera_unit_m = 0;
  bool largest_is_hole = true;  ///< of integers; false for what is no depth, such as disparity
};

/// A unit that nobody vouches for is believed when the median depth lies between these. A wrong
/// unit moves it by a factor of ten or a thousand.
inline constexpr double kNearestMedian_m = 0.05;
inline constexpr double kFarthestMedian_m = 50;

/// A depth map in metres on the host, told apart from pictures and read by its content; NaN where
/// nothing came back. Error when unit_m is 0 and the median lies outside the limits above: it names
/// the file, the median and the unit that was taken.
Image<float> read_depth(const std::filesystem::path& path, const DepthFileOptions& options = {});
Image<float> read_depth(std::span<const std::byte> file, const std::string& name,
                        const DepthFileOptions& options = {});

/// Metres per step that read_depth takes for such a file.
double depth_unit_m(const ImageInfo& info, const DepthFileOptions& options);

/// Whether an image can be a depth map: one channel of 16-bit integers or of floats.
bool is_depth_image(const ImageInfo& info);

/// The median of the positive finite depths on the host (the upper one of an even number); NaN
/// without any.
float median_depth_m(ImageView<const float> depth_m);
/// Whether this median lies within the limits above; a map without any has nothing to doubt. Costs
/// a look at each pixel.
bool believable_depth(ImageView<const float> depth_m);

/// PNG or PGM with steps of unit_m (0: 0.001), or TIFF with floats in metres, by the extension.
/// What is no depth becomes 0; one beyond 65535 steps is an Error, as is a unit for a TIFF.
void write_depth(const std::filesystem::path& path, ImageView<const float> depth_m,
                 double unit_m = 0);

}  // namespace sextant
