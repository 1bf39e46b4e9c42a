// SPDX-License-Identifier: Apache-2.0
#include "sextant/synth/kinect_noise.h"

#include "sextant/core/for_each/anywhere.h"
#include "sextant/synth/kinect_noise/math.h"

namespace sextant {

using namespace detail::kinect_noise;

void add_kinect_noise_into(const Context& context, ImageView<const float> depth_m,
                           ImageView<const Vec3f> normals, const Camera& camera,
                           const KinectNoiseOptions& options, std::uint64_t seed,
                           ImageView<float> noisy_m) {
  check_options(options);
  check_camera(camera);
  require(options.grazing_start_rad <= options.grazing_end_rad,
          "grazing_start_rad: ", options.grazing_start_rad,
          " is above grazing_end_rad = ", options.grazing_end_rad);
  require_same_size(context, depth_m, camera, "depth_m", "camera");
  require_same_size(context, noisy_m, camera, "noisy_m", "camera");
  if (!normals.empty()) require_same_size(context, normals, camera, "normals", "camera");
  require(depth_m.data != noisy_m.data, "noisy_m: is depth_m; neighbours are still read from it");
  KinectNoisePixel pixel{depth_m, normals, noisy_m, cast<float>(camera), options};
  pixel.cos_start = static_cast<float>(std::cos(static_cast<double>(options.grazing_start_rad)));
  pixel.cos_end = static_cast<float>(std::cos(static_cast<double>(options.grazing_end_rad)));
  pixel.seed = seed;
  detail::for_each_anywhere(context, noisy_m.pixels(), pixel);
}

Image<float> add_kinect_noise(const Context& context, ImageView<const float> depth_m,
                              ImageView<const Vec3f> normals, const Camera& camera,
                              const KinectNoiseOptions& options, std::uint64_t seed) {
  Image<float> noisy_m(context, depth_m.width, depth_m.height);
  add_kinect_noise_into(context, depth_m, normals, camera, options, seed, noisy_m);
  return noisy_m;
}

}  // namespace sextant
