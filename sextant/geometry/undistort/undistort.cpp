// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/undistort.h"

#include "sextant/core/build_config.h"
#include "sextant/core/for_each.h"
#include "sextant/geometry/undistort/math.h"

namespace sextant {

using namespace detail::undistort;

namespace {

template <class Pixel>
Image<Pixel> undistort_image(const Context& context, ImageView<const Pixel> image,
                             const Camera& camera, const Camera& to) {
  require_on(context, image, "image");
  check_camera(camera);
  check_camera(to);
  require(image.width == camera.width && image.height == camera.height, "image: ", image.width,
          " x ", image.height, " px, but the camera has ", camera.width, " x ", camera.height);
  require(to.distortion.is_zero(), "to: has distortion; pass without_distortion(camera)");
  Image<Pixel> result(context, to.width, to.height);
  const UndistortPixel<Pixel> pixel{image, result, cast<float>(camera), cast<float>(to)};
  if constexpr (kBuiltWithCuda) {
    if (context.is_cuda()) {
      undistort_cuda(context, pixel);
      return result;
    }
  }
  for_each(context, pixel.to.pixels(), pixel);
  return result;
}

}  // namespace

Camera without_distortion(const Camera& camera) {
  Camera ideal = camera;
  ideal.distortion = {};
  return ideal;
}

Image<Rgb8> undistort(const Context& context, ImageView<const Rgb8> image, const Camera& camera,
                      const Camera& to) {
  return undistort_image(context, image, camera, to);
}

Image<float> undistort(const Context& context, ImageView<const float> depth_m, const Camera& camera,
                       const Camera& to) {
  return undistort_image(context, depth_m, camera, to);
}

}  // namespace sextant
