// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>

#include "sextant/render/rasterize.h"
#include "sextant/synth/catalogue.h"
#include "sextant/synth/visible_share.h"

namespace sextant {

/// A table with objects before a camera.
struct TableSceneOptions {
  int objects = 8;
  ObjectSet set = ObjectSet::kAll;
  float occlusion = -1.0f;  ///< hidden share of the first object; negative: as it comes
  float stacking = 0.25f;   ///< probability that an object is put onto another
  float spread_m = 0.0f;    ///< radius that objects are spread over; 0: by their number
  float distance_m = 0.8f;  ///< of the camera from the middle of the table top
  int width = 640;
  int height = 480;
  float focal_px = 525.0f;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("objects", self.objects, "number of objects on the table", Range{0, 60});
    visit("set", self.set, "which objects to take", kObjectSets);
    visit("occlusion", self.occlusion, "hidden share of the first object, -1 for any",
          Range{-1, 0.9});
    visit("stacking", self.stacking, "probability that an object stands on another", Range{0, 1});
    visit("spread_m", self.spread_m, "radius that objects are spread over, 0 for automatic",
          Range{0, 0.5});
    visit("distance_m", self.distance_m, "distance of the camera", Range{0.3, 5});
    visit("width", self.width, "width of the picture", Range{1, 16384});
    visit("height", self.height, "height of the picture", Range{1, 16384});
    visit("focal_px", self.focal_px, "focal length", Range{1, 1e5});
  }
};

struct SceneObject {
  std::string name;  ///< in the catalogue
  int mesh = 0;      ///< index into TableScene::meshes
  int support = -1;  ///< the object that it stands on, -1 for the table
  Rigid3d world_from_object;
  Rigid3d camera_from_object;
  Visibility visibility;
};

/// World frame: the table top is z = 0, z up, the camera stands towards -y.
struct TableScene {
  Camera camera;
  Rigid3d camera_from_world;
  std::vector<TriangleMesh> meshes;  ///< on the host; the last is the table, in its world pose
  std::vector<SceneObject> objects;
};

namespace detail::table_scene {
struct TableObject;
}

/// Objects of the catalogue with the poses in which they rest, made once for many scenes. Copies
/// share the objects, and several threads may use them at once.
class TableObjects {
 public:
  /// Makes every object of the set: 0.1 s each.
  explicit TableObjects(ObjectSet set);

 private:
  friend TableScene make_table_scene(const Context&, const TableSceneOptions&, std::uint64_t,
                                     const TableObjects&);
  std::shared_ptr<const std::map<std::string, detail::table_scene::TableObject>> objects_;
};

/// A random scene. Objects lie still: each in one of its resting poses with its whole contact on
/// the table or on the flat top of another; none touches its neighbours (their outlines from above
/// are 4 mm apart, or one stands above the other). With `occlusion` at 0 or above, a carton stands
/// before the first object and hides that share of it to 0.02, and no other object hides more of
/// it; that takes at least two objects.
///
/// The same scene on every device and for any number of threads for the same options and seed; it
/// depends on `width`, `height` and `focal_px` only through the occlusion. 0.1 s per different
/// object, more with occlusion. Throws Error when the objects do not fit.
TableScene make_table_scene(const Context& context, const TableSceneOptions& options,
                            std::uint64_t seed);
/// The same scene from objects that were made before, which must be those of the options' set or
/// more.
TableScene make_table_scene(const Context& context, const TableSceneOptions& options,
                            std::uint64_t seed, const TableObjects& objects);

/// The pictures of a scene, with the options' parts and light. Object ids are 0 for the table and i
/// + 1 for objects[i].
Rendering render_table_scene(const Context& context, const TableScene& scene,
                             const RenderOptions& options);

}  // namespace sextant
