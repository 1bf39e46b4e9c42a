// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sextant/core/rigid3.h"
#include "sextant/geometry/camera.h"
#include "sextant/geometry/mesh.h"

// Depth maps of what came as points.

namespace sextant::app {

/// A depth map on the host with the camera that took it, and colours where they are known.
struct DepthFrame {
  Camera camera;
  Image<float> depth_m;
  Image<Rgb8> color;  ///< empty without
};

/// The picture of an organised cloud, and where its camera stood to the points. Depth is z in the
/// camera's axes, and the camera is the one that carries the points to their pixels best. Error for
/// a cloud whose rows are no camera's.
struct CloudFrame {
  DepthFrame frame;
  Rigid3d camera_from_points;
};
CloudFrame frame_of_cloud(const Cloud& cloud, const std::string& name);

/// The picture that a virtual camera at the origin takes of a scene in camera axes. Its pixels are
/// about as far apart as the points. Triangles are drawn; of points alone each pixel gets the
/// nearest, and a pixel between others that agree their mean. What lies more than 63° off the
/// camera's axis is not in the picture.
DepthFrame frame_of_scene(const TriangleMesh& scene);

}  // namespace sextant::app
