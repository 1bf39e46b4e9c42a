// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/options.h"
#include "sextant/core/workspace.h"
#include "sextant/geometry/camera.h"
#include "sextant/render/scene.h"

namespace sextant {

/// What to draw and how. Colours are the mesh's own unless `ambient` is below 1: then parallel
/// light falls in, colour × (ambient + (1 - ambient) cos), from where `light_right_rad` and
/// `light_up_rad` say, seen from the camera.
struct RenderOptions {
  float near_m = 0.01f;          ///< what is nearer is cut away
  float far_m = 100.0f;          ///< what is farther is not drawn
  bool cull_back_faces = false;  ///< leave out triangles that show the camera their clockwise side
  bool depth = true;
  bool normals = false;
  bool colors = false;
  bool object_ids = false;
  float ambient = 1.0f;
  float light_right_rad = 0.0f;
  float light_up_rad = 0.0f;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("near_m", self.near_m, "what is nearer is cut away", Range{1e-6, 1e6});
    visit("far_m", self.far_m, "what is farther is not drawn", Range{1e-6, 1e30});
    visit("cull_back_faces", self.cull_back_faces, "leave out triangles seen from behind");
    visit("depth", self.depth, "write depth in metres");
    visit("normals", self.normals, "write unit normals in the camera's frame");
    visit("colors", self.colors, "write colours");
    visit("object_ids", self.object_ids, "write the object id of every pixel");
    visit("ambient", self.ambient, "share of the light that has no direction", Range{0, 1});
    visit("light_right_rad", self.light_right_rad, "how far to the right the light stands",
          Range{-3.2, 3.2});
    visit("light_up_rad", self.light_up_rad, "how far above the camera the light stands",
          Range{-1.6, 1.6});
  }
};

/// A mesh of the scene, drawn into one view of a batch.
struct Instance {
  std::int32_t mesh = 0;
  std::int32_t view = 0;
  std::int32_t object_id = 0;  ///< what `Rendering::object_ids` receives
  Rigid3f camera_from_object;
};

/// The pictures of a batch, view after view, each row by row. A buffer that the options did not ask
/// for is empty.
struct Rendering {
  int width = 0;
  int height = 0;
  int views = 0;
  Buffer<float> depth_m;            ///< z in the camera's frame; NaN where nothing is
  Buffer<Vec3f> normals;            ///< unit, towards the camera; NaN where nothing is
  Buffer<Rgb8> colors;              ///< black where nothing is
  Buffer<std::int32_t> object_ids;  ///< -1 where nothing is

  std::int64_t pixels() const { return std::int64_t{width} * height * views; }

  ImageView<const float> depth_m_of(int view) const { return image_of(depth_m, view, "depth_m"); }
  ImageView<const Vec3f> normals_of(int view) const { return image_of(normals, view, "normals"); }
  ImageView<const Rgb8> colors_of(int view) const { return image_of(colors, view, "colors"); }
  ImageView<const std::int32_t> object_ids_of(int view) const {
    return image_of(object_ids, view, "object_ids");
  }

 private:
  template <class T>
  ImageView<const T> image_of(const Buffer<T>& buffer, int view, const char* name) const {
    require(view >= 0 && view < views, "view ", view, " is not in 0..", views - 1);
    require(buffer.size() == pixels(), name, ": was not rendered; set it in the options");
    return {buffer.data() + std::int64_t{view} * width * height, width, height, width,
            buffer.device()};
  }
};

/// Draws triangles as a pinhole camera sees them: depth, normals, colour and object id at every
/// pixel centre, perspective-correct, for triangles of any size and distance.
///
/// - Coverage. Corners are rounded to 1/256 px and tested in integers with the top-left rule.
///   Triangles that share an edge leave no gap and draw no pixel twice; a drawn edge lies within
///   1/256 px of the true one. The near plane cuts triangles, wherever their corners lie.
/// - Depth. It is that of the triangle's own plane at the pixel centre, within 2 ulp, and never
///   outside the triangle's range of z. The nearest surface is seen; where depths are equal, the
///   earlier instance and then the earlier triangle.
/// - Normals. They are interpolated from the mesh's, or the triangle's own where it has none; they
///   lie on the side that is seen, and at most at a right angle to the ray.
/// - Colour. It is that of the texture (bilinear, repeated), else of the vertices, else white, and
/// is
///   multiplied by the material's diffuse colour.
/// - Triangles with a corner that is not finite, before or after the pose, are left out.
///
/// Every device and any number of threads give the same bits: beside integers there are only IEEE
/// +, -, ×, ÷ and square root, without contraction.
/// Cost: 0.1 to 0.2 µs a triangle on one CPU thread; on an H200, 2000 views of 96 × 96 px with 5100
/// triangles each take 0.93 ms for depth alone, 1.5 ms for everything. Beside the results, pixels
/// take 4 bytes (8 on CUDA) when more than depth is asked for.
///
/// One camera serves all views; there are as many views as the largest `Instance::view` asks for,
/// at least one. Throws Error for a distorted camera, for an instance of a mesh that is not there,
/// and for more than 2³² - 2 triangles in all instances together.
Rendering render(const Context& context, const RenderScene& scene, const Camera& camera,
                 std::span<const Instance> instances, const RenderOptions& options = {});

/// Draws the same with a camera per view, all of one image size: crops, or other intrinsics.
Rendering render(const Context& context, const RenderScene& scene, std::span<const Camera> cameras,
                 std::span<const Instance> instances, const RenderOptions& options = {});

/// Draws the same into reused memory, without waiting and without allocation once `out` and the
/// workspace have grown, so that a Graph may hold it. Width, height and number of views are those
/// of `out`, which is fitted to the options. `cameras` (one, or one per view; their image size is
/// not looked at) and `instances` lie on the context's device and are not checked: an instance of a
/// mesh or view that is not there, or under a camera that is distorted or not finite, draws
/// nothing. On CUDA, the number of instances times the triangles of the largest mesh must stay
/// below 2³² - 1.
void render_into(const Context& context, const RenderScene& scene, View<const Camera> cameras,
                 View<const Instance> instances, const RenderOptions& options, Rendering& out,
                 Workspace& workspace);

/// Copies the pictures to host memory, whatever device they lie on. Waits for the device.
Rendering to_host(const Context& context, const Rendering& rendering);

}  // namespace sextant
