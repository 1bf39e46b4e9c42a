// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer/model_set.h"

namespace sextant::detail::recognizer {

ModelSet make_model_set(const Context& context, std::span<const Model> models) {
  ModelSet set;
  std::vector<Vec3f> points, normals;
  std::vector<Rigid3f> symmetries;
  std::vector<const PointPairModel*> pairs;
  std::vector<const TriangleMesh*> meshes;
  for (const Model& model : models) {
    const std::span<const Vec3f> p = model.pairs.points.host(), n = model.pairs.normals.host();
    points.insert(points.end(), p.begin(), p.end());
    normals.insert(normals.end(), n.begin(), n.end());
    symmetries.insert(symmetries.end(), model.symmetries.begin(), model.symmetries.end());
    pairs.push_back(&model.pairs);
    meshes.push_back(&model.render_mesh);
  }
  const PackBodies packs = make_pack_bodies(models);
  for (const TriangleMesh& mesh : packs.meshes) meshes.push_back(&mesh);
  set.first_pack = packs.first;
  set.points = copy(context, points);
  set.normals = copy(context, normals);
  set.symmetries = copy(context, symmetries);
  std::int64_t first_sample = 0, first_motion = 0;
  for (const Model& model : models) {
    ModelView view = model.view();
    view.points = set.points.data() + first_sample;
    view.normals = set.normals.data() + first_sample;
    view.symmetries = set.symmetries.data() + first_motion;
    first_sample += view.samples;
    first_motion += view.motions;
    set.host.push_back(view);
  }
  set.host.insert(set.host.end(), packs.views.begin(), packs.views.end());
  set.views = copy(context, set.host);
  set.pairs = PointPairModels(context, pairs);
  set.meshes = RenderScene(context, meshes);
  return set;
}

}  // namespace sextant::detail::recognizer
