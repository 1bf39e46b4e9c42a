// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "sextant/match/point_pairs.h"
#include "sextant/recognize/recognizer/packs.h"
#include "sextant/render/scene.h"

namespace sextant::detail::recognizer {

/// All objects and their packs on one device, for stages that treat them together.
struct ModelSet {
  std::vector<ModelView> host;  ///< the objects, then their packs, with pointers to the device
  Buffer<ModelView> views;      ///< the same on the device
  std::vector<std::int32_t> first_pack;  ///< see PackBodies
  PointPairModels pairs;
  RenderScene meshes;

  Buffer<Vec3f> points, normals;
  Buffer<Rigid3f> symmetries;

  /// How many objects there are.
  std::int64_t size() const { return static_cast<std::int64_t>(first_pack.size()); }
  View<const ModelView> objects() const { return views.view().subview(0, size()); }
  Bodies bodies() const { return {host, views.data(), &meshes}; }
};

ModelSet make_model_set(const Context& context, std::span<const Model> models);

}  // namespace sextant::detail::recognizer
