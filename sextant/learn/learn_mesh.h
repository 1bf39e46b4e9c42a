// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sextant/core/options.h"
#include "sextant/learn/learn_progress.h"
#include "sextant/library/learned_object.h"
#include "sextant/synth/sensor_noise.h"

namespace sextant {

/// The camera that objects are learned for unless another is given: a Kinect's.
inline Camera learning_camera() { return {640, 480, 525, 525, 319.5, 239.5, {}}; }

struct LearnMeshOptions {
  int views = 40;           ///< directions around the object
  float nearest_m = 0.0f;   ///< working distance, from the camera to the object's centre; 0: by
                            ///< the object's size
  float farthest_m = 0.0f;  ///< the largest working distance; 0: the nearest alone
  bool noise = true;        ///< every second view has the sensor's noise, the others are exact
  SensorModel sensor = SensorModel::kKinect;
  int tensors_per_view = 100;
  float tensor_resolution_m = 0.0f;  ///< 0: 1.6 mm times a power of two, by the pixels' distance
  float shot_radius_m = 0.0f;        ///< 0: 24 mm, doubled for objects beyond 0.4 m and so on
  float sample_share = 0.05f;        ///< distance of point-pair samples, of the diameter
  bool symmetries = true;            ///< look for them; else the object has none
  std::uint64_t seed = 0;            ///< of noise and of what is drawn

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("views", self.views, "directions from which a mesh is seen", Range{1, 1000});
    visit("nearest_m", self.nearest_m,
          "working distance of the camera; 0: 0.8, or more for objects that would not fit",
          Range{0, 100});
    visit("farthest_m", self.farthest_m, "largest working distance; 0: the nearest alone",
          Range{0, 100});
    visit("noise", self.noise, "every second view has the sensor's noise");
    visit("sensor", self.sensor, "whose noise", kSensorModels);
    visit("tensors_per_view", self.tensors_per_view, "drawn in each view", Range{0, 4096});
    visit("tensor_resolution_m", self.tensor_resolution_m,
          "half the edge of a tensor's bin; 0: 0.0016 times a power of two, by the distance",
          Range{0, 1});
    visit("shot_radius_m", self.shot_radius_m,
          "of a SHOT descriptor; 0: 0.024, doubled for objects beyond 0.4 m and so on",
          Range{0, 10});
    visit("sample_share", self.sample_share,
          "distance of point-pair samples, as a share of the diameter", Range{0.005, 0.5});
    visit("symmetries", self.symmetries, "look for the object's symmetries");
    visit("seed", self.seed, "of noise and of what is drawn", Range{0, 18446744073709551615.0});
  }
};

/// Learns an object from its mesh or from points of its surface, in metres and on the host.
///
/// The mesh is looked at and mended, and `source.remarks` says what was found; points without
/// triangles get normals, turned outwards, and triangles between them. Then come its diameter, its
/// symmetries, pictures from directions around it for the given camera, and of what the pictures
/// show: tensors, brought into the object's frame, SHOT, and samples for pairs of points. Only the
/// outer side of triangles is surface; where a camera looks through a hole at an inner side, it
/// sees nothing, and what no view sees is not learned. Views that a symmetry repeats are left out.
///
/// Runs on the host's threads, whatever the context's device, so that the result is the same bit
/// for bit wherever an object is learned, for any number of threads. A mesh of 100 000 triangles
/// takes 10 to 20 s on two busy cores (docs/learn.md). Throws Error when the mesh holds nothing
/// that can be seen, or is no object by its size (object_size.h), which a wrong unit makes it.
LearnedObject learn_mesh(const Context& context, const std::string& name, const TriangleMesh& mesh,
                         const LearnMeshOptions& options = {}, const LearnProgress& progress = {},
                         const Camera& camera = learning_camera());

}  // namespace sextant
