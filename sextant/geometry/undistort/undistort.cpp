// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/undistort.h"

#include "sextant/core/for_each/anywhere.h"
#include "sextant/geometry/undistort/math.h"

namespace sextant {

using namespace detail::undistort;

namespace {

template <class Pixel>
Image<Pixel> undistort_image(const Context& context, ImageView<const Pixel> image,
                             const Camera& camera, const Camera& to) {
  check_camera(camera);
  check_camera(to);
  require_same_size(context, image, camera, "image", "camera");
  require(to.distortion.is_zero(), "to: has distortion; pass without_distortion(camera)");
  Image<Pixel> result(context, to.width, to.height);
  const UndistortPixel<Pixel> pixel{image, result, cast<float>(camera), cast<float>(to)};
  detail::for_each_anywhere(context, pixel.to.pixels(), pixel);
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
