// SPDX-License-Identifier: Apache-2.0
#include "sextant/learn/learn_mesh/draw_view.h"

#include <cmath>

namespace sextant::detail::learn {

DrawnView draw_view(const Context& context, const RenderScene& scene, const Camera& camera,
                    const Rigid3d& camera_from_object) {
  Instance instance;
  instance.camera_from_object = cast<float>(camera_from_object);
  const std::span<const Instance> one(&instance, 1);
  // The same triangle has the same depth in both pictures to the last bit, so where they differ
  // something with its inner side to the camera lies in front.
  Rendering outer = render(context, scene, camera, one, {.cull_back_faces = true, .normals = true});
  const Rendering both = render(context, scene, camera, one, {});
  DrawnView view;
  for (std::int64_t i = 0; i < outer.depth_m.size(); ++i) {
    if (std::isnan(both.depth_m.data()[i])) continue;
    if (outer.depth_m.data()[i] == both.depth_m.data()[i]) {
      ++view.outer_pixels;
      continue;
    }
    ++view.inner_pixels;
    outer.depth_m.data()[i] = NAN;
    outer.normals.data()[i] = {NAN, NAN, NAN};
  }
  view.depth_m = Image<float>(std::move(outer.depth_m), camera.width, camera.height);
  view.normals = Image<Vec3f>(std::move(outer.normals), camera.width, camera.height);
  return view;
}

}  // namespace sextant::detail::learn
