// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "sextant/match/point_pairs.h"
#include "sextant/recognize/recognizer/model.h"
#include "sextant/render/scene.h"

namespace sextant::detail::recognizer {

/// All objects on one device, for stages that treat them together.
struct ModelSet {
  std::vector<ModelView> host;  ///< with pointers to the device
  Buffer<ModelView> views;      ///< the same on the device
  PointPairModels pairs;
  RenderScene meshes;

  Buffer<Vec3f> points, normals;
  Buffer<Rigid3f> symmetries;

  std::int64_t size() const { return static_cast<std::int64_t>(host.size()); }
};

ModelSet make_model_set(const Context& context, std::span<const Model> models);

}  // namespace sextant::detail::recognizer
