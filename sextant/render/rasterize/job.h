// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/render/rasterize.h"

// This is what rasterize.cpp hands to the loops of one device.

namespace sextant::detail::rasterize {

/// One call of the rasteriser, as kernels see it.
struct RasterJob {
  SceneView scene;
  const Camera* cameras = nullptr;
  std::int64_t camera_count = 0;  ///< 1, or `views`
  const Instance* instances = nullptr;
  std::int64_t instance_count = 0;
  const std::uint32_t* first_primitives = nullptr;  ///< instance_count + 1
  int width = 0;
  int height = 0;
  int views = 0;
  double near_m = 0;
  float far_m = 0;
  bool cull_back_faces = false;
  float ambient = 1;
  Vec3f towards_light;
  float* depth_m = nullptr;  ///< null for what is not asked for
  Vec3f* normals = nullptr;
  Rgb8* colors = nullptr;
  std::int32_t* object_ids = nullptr;

  SEXTANT_HD std::int64_t pixels_per_view() const { return std::int64_t{width} * height; }
  /// Whether pixels need more than their depth: the triangle they show.
  SEXTANT_HD bool needs_primitives() const {
    return normals != nullptr || colors != nullptr || object_ids != nullptr;
  }
};

/// A primitive is a triangle of an instance; no pixel shows this one.
inline constexpr std::uint32_t kNoPrimitive = UINT32_MAX;
inline constexpr std::int64_t kMaxPrimitives = UINT32_MAX - 1;

inline void check_primitives(std::int64_t count) {
  require(count <= kMaxPrimitives, "instances: ", count, " triangles in one batch, at most ",
          kMaxPrimitives, " fit; split the batch");
}

/// `primitive_bound` is at least the number of triangles of all instances.
void rasterize_cpu(const Context& context, RasterJob job, Workspace& workspace);
void rasterize_cuda(const Context& context, RasterJob job, std::int64_t primitive_bound,
                    Workspace& workspace);

}  // namespace sextant::detail::rasterize
