// SPDX-License-Identifier: Apache-2.0
#include "sextant/synth/table_scene.h"

#include <algorithm>

#include "sextant/synth/catalogue/dice.h"
#include "sextant/synth/table_scene/resting_body.h"
#include "sextant/synth/table_scene/table_top.h"

namespace sextant {

using namespace detail::table_scene;

namespace {

using detail::catalogue::Dice;

constexpr double kGapM = 0.004;
constexpr const char* kOccluder = "cereal_box";

Rigid3d look_at(const Vec3d& from, const Vec3d& to) {
  const Vec3d forward = normalized(to - from);
  const Vec3d right = normalized(cross(forward, Vec3d{0, 0, 1}));
  const Mat3d rotation{{right, cross(forward, right), forward}};
  return renormalized(Rigid3d{rotation, -(rotation * from)});
}

/// Names without repetition as long as there are others left.
std::vector<std::string> choose_names(const TableSceneOptions& options, Dice& dice) {
  std::vector<std::string> names, left;
  const bool occluded = options.occlusion >= 0;
  while (static_cast<int>(names.size()) < options.objects) {
    if (left.empty()) {
      for (const CatalogueEntry& entry : object_catalogue()) {
        const bool wanted = options.set == ObjectSet::kAll || options.set == entry.set;
        if (wanted && !(occluded && entry.name == kOccluder)) left.emplace_back(entry.name);
      }
    }
    if (occluded && names.size() == 1) {
      names.emplace_back(kOccluder);
      continue;
    }
    const int pick = dice.below(static_cast<int>(left.size()));
    names.push_back(left[static_cast<std::size_t>(pick)]);
    left.erase(left.begin() + pick);
  }
  return names;
}

using ObjectMap = std::map<std::string, TableObject>;

TableObject make_table_object(const std::string& name) {
  TableObject object{make_object(name), {}};
  for (const Mat3d& rotation : resting_rotations(name)) {
    object.poses.push_back(set_down(object.mesh, rotation));
  }
  return object;
}

/// Puts objects onto the table one after the other.
class Builder {
 public:
  /// `ready` are objects that need not be made; null for none.
  Builder(const Context& context, const TableSceneOptions& options, std::uint64_t seed,
          const ObjectMap* ready)
      : context_(context), options_(options), dice_(seed, 0), ready_(ready) {
    const bool occluded = options.occlusion >= 0;
    require(!occluded || options.objects >= 2, "objects: ", options.objects,
            " with occlusion; it takes an object and another before it");
    scene_.camera = {options.width,
                     options.height,
                     options.focal_px,
                     options.focal_px,
                     (options.width - 1) / 2.0,
                     (options.height - 1) / 2.0,
                     {}};
    check_camera(scene_.camera);
    // A lower camera lets an object of a hand's height hide another.
    const double up = occluded ? dice_.uniform(0.40, 0.52) : dice_.uniform(0.50, 0.85);
    const double distance = options.distance_m;
    scene_.camera_from_world =
        look_at({0, -distance * std::cos(up), distance * std::sin(up)}, {0, 0, 0.03});
    spread_m_ = options.spread_m > 0
                    ? options.spread_m
                    : std::min(0.5, 0.03 + 0.06 * std::sqrt(static_cast<double>(options.objects)));
    make_meshes(choose_names(options, dice_), seed);
  }

  TableScene build() {
    for (std::size_t i = 0; i < scene_.objects.size(); ++i) {
      if (options_.occlusion >= 0 && i == 0) {
        place_target();
      } else if (options_.occlusion >= 0 && i == 1) {
        place_occluder();
      } else {
        place_anywhere(i);
      }
    }
    const std::vector<Visibility> seen = visibility();
    for (std::size_t i = 0; i < seen.size(); ++i) scene_.objects[i].visibility = seen[i];
    return std::move(scene_);
  }

 private:
  void make_meshes(const std::vector<std::string>& names, std::uint64_t seed) {
    for (const std::string& name : names) {
      const auto known = std::find_if(scene_.objects.begin(), scene_.objects.end(),
                                      [&](const SceneObject& o) { return o.name == name; });
      SceneObject object;
      object.name = name;
      object.mesh =
          known != scene_.objects.end() ? known->mesh : static_cast<int>(scene_.meshes.size());
      if (known == scene_.objects.end()) {
        TableObject body = table_object(name);
        scene_.meshes.push_back(std::move(body.mesh));
        bodies_.push_back(std::move(body.poses));
      }
      scene_.objects.push_back(object);
    }
    scene_.meshes.push_back(make_table_top(seed));
    std::vector<const TriangleMesh*> meshes;
    for (const TriangleMesh& mesh : scene_.meshes) meshes.push_back(&mesh);
    renderable_ = RenderScene(context_, meshes);
  }

  TableObject table_object(const std::string& name) const {
    if (ready_ == nullptr) return make_table_object(name);
    const auto found = ready_->find(name);
    require(found != ready_->end(), "objects: ", name, " of the options' set is not among them");
    return {copy(Context::cpu(), found->second.mesh), found->second.poses};
  }

  const RestingBody& any_pose(std::size_t object) {
    const auto& poses = bodies_[static_cast<std::size_t>(scene_.objects[object].mesh)];
    return poses[static_cast<std::size_t>(dice_.below(static_cast<int>(poses.size())))];
  }

  void put(std::size_t object, const RestingBody& body, double yaw_rad, const Vec2d& at_m,
           int support) {
    const double low = support < 0 ? 0.0 : placed_[static_cast<std::size_t>(support)].high_m;
    placed_.resize(object);
    placed_.push_back(placed(body, yaw_rad, at_m, low));
    SceneObject& entry = scene_.objects[object];
    entry.support = support;
    entry.world_from_object = world_from_object(body, yaw_rad, at_m, low);
    entry.camera_from_object = renormalized(scene_.camera_from_world * entry.world_from_object);
  }

  bool fits() const {
    const PlacedBody& last = placed_.back();
    return std::all_of(placed_.begin(), placed_.end() - 1,
                       [&](const PlacedBody& other) { return clear_of(last, other, kGapM); });
  }

  /// An object with a flat top under which nothing is missing, or -1.
  int any_support() {
    std::vector<int> supports;
    for (std::size_t i = 0; i < placed_.size(); ++i) {
      if (placed_[i].flat_top) supports.push_back(static_cast<int>(i));
    }
    return supports.empty()
               ? -1
               : supports[static_cast<std::size_t>(dice_.below(static_cast<int>(supports.size())))];
  }

  bool try_onto(std::size_t object, int support) {
    const PlacedBody below = placed_[static_cast<std::size_t>(support)];
    const Vec2d middle = centroid(below.top);
    const Vec2d at{middle.x + dice_.uniform(-0.02, 0.02), middle.y + dice_.uniform(-0.02, 0.02)};
    put(object, any_pose(object), dice_.uniform(0, 2 * M_PI), at, support);
    return contains(below.top, placed_.back().contact) && fits();
  }

  bool try_on_table(std::size_t object, double radius_m) {
    const double r = radius_m * std::sqrt(dice_.uniform(0, 1));
    const double turn = dice_.uniform(0, 2 * M_PI);
    put(object, any_pose(object), dice_.uniform(0, 2 * M_PI),
        {r * std::cos(turn), r * std::sin(turn)}, -1);
    constexpr double kInsideM = kTableSideM / 2 - 0.02;
    const bool on_table = std::all_of(
        placed_.back().footprint.begin(), placed_.back().footprint.end(),
        [](const Vec2d& p) { return std::abs(p.x) < kInsideM && std::abs(p.y) < kInsideM; });
    return on_table && fits();
  }

  void place_anywhere(std::size_t object) {
    constexpr int kTries = 400;
    for (int i = 0; i < kTries; ++i) {
      placed_.resize(object);
      const int support = i < 20 && dice_.chance(options_.stacking) ? any_support() : -1;
      // The circle grows when it is full.
      const double radius_m = spread_m_ * (1 + std::max(0, i - 100) / 300.0);
      const bool fitted = support >= 0 ? try_onto(object, support) : try_on_table(object, radius_m);
      constexpr double kUnnoticed = 0.005;
      if (!fitted) continue;
      if (options_.occlusion < 0 || target_fraction() >= target_seen_ - kUnnoticed) return;
    }
    fail("objects: no room for number ", object + 1, " of ", scene_.objects.size(),
         " within spread_m = ", spread_m_, "; take fewer or a larger spread_m");
  }

  void place_target() {
    put(0, any_pose(0), dice_.uniform(0, 2 * M_PI), {0, 0.03}, -1);
    target_alone_px_ = target_pixels();
  }

  /// The carton stands across the line of sight, as near as it can; from where it hides most it is
  /// moved sideways until it hides as much as is wished.
  void place_occluder() {
    constexpr double kToleranceM = 1e-4, kTolerance = 0.005;
    const double wish = 1 - static_cast<double>(options_.occlusion);
    const RestingBody& carton = bodies_[static_cast<std::size_t>(scene_.objects[1].mesh)][0];
    double best_error = 1;
    for (int attempt = 0; attempt < 12; ++attempt) {
      if (attempt > 0) place_target();
      const double yaw = dice_.uniform(-0.15, 0.15);
      const double side = dice_.chance(0.5) ? 1.0 : -1.0;
      const double y = occluder_y(carton, yaw);
      const auto seen_at = [&](double x) {
        put(1, carton, yaw, {side * x, y}, -1);
        return target_fraction();
      };
      double hiding = 0, free = 0.30;  // with 30 cm aside nothing is hidden
      if (seen_at(hiding) > wish + kTolerance) continue;
      while (free - hiding > kToleranceM) {
        const double x = 0.5 * (hiding + free);
        target_seen_ = seen_at(x);
        const double error = target_seen_ - wish;
        best_error = std::min(best_error, std::abs(error));
        if (std::abs(error) <= kTolerance) return;
        (error < 0 ? hiding : free) = x;
      }
      // A thin object loses many pixels at once.
      constexpr double kCoarseTolerance = 0.015;
      if (std::abs(target_seen_ - wish) <= kCoarseTolerance) return;
    }
    fail("occlusion: ", options_.occlusion, " of ", scene_.objects[0].name,
         " is not to be had with a ", kOccluder, " (missed by ", best_error,
         "); take another seed or less occlusion");
  }

  /// The place just before the target, so that the two do not touch wherever along x it stands.
  double occluder_y(const RestingBody& carton, double yaw) const {
    double back = -INFINITY, front = INFINITY;
    for (const Vec2d& p : moved(carton.footprint, yaw, {})) back = std::max(back, p.y);
    for (const Vec2d& p : placed_[0].footprint) front = std::min(front, p.y);
    return front - 2 * kGapM - back;
  }

  std::vector<Instance> instances(std::size_t count) const {
    std::vector<Instance> all;
    for (std::size_t i = 0; i < count; ++i) {
      all.push_back({scene_.objects[i].mesh, 0, static_cast<std::int32_t>(i),
                     cast<float>(scene_.objects[i].camera_from_object)});
    }
    return all;
  }

  std::vector<Visibility> visibility() const {
    return measure_visibility(context_, renderable_, scene_.camera, instances(placed_.size()));
  }

  /// How much of the first object is seen among those placed so far.
  double target_pixels() const {
    RenderOptions options;
    options.depth = false;
    options.object_ids = true;
    const Rendering picture =
        render(context_, renderable_, scene_.camera, instances(placed_.size()), options);
    const auto ids = to_host(context_, picture.object_ids);
    return static_cast<double>(std::count(ids.begin(), ids.end(), 0));
  }
  double target_fraction() const {
    return target_alone_px_ > 0 ? target_pixels() / target_alone_px_ : 0.0;
  }

  const Context& context_;
  const TableSceneOptions& options_;
  Dice dice_;
  const ObjectMap* ready_;
  double spread_m_ = 0;
  double target_alone_px_ = 0;
  double target_seen_ = 1;  ///< share of the first object that the occluder leaves visible
  TableScene scene_;
  RenderScene renderable_;
  std::vector<std::vector<RestingBody>> bodies_;  ///< per mesh, one per resting pose
  std::vector<PlacedBody> placed_;                ///< of the first objects
};

}  // namespace

TableObjects::TableObjects(ObjectSet set) {
  auto objects = std::make_shared<ObjectMap>();
  for (const CatalogueEntry& entry : object_catalogue()) {
    // Any set may have the carton put before its first object.
    if (set != ObjectSet::kAll && set != entry.set && entry.name != kOccluder) continue;
    const std::string name(entry.name);
    objects->emplace(name, make_table_object(name));
  }
  objects_ = std::move(objects);
}

TableScene make_table_scene(const Context& context, const TableSceneOptions& options,
                            std::uint64_t seed) {
  check_options(options);
  return Builder(context, options, seed, nullptr).build();
}

TableScene make_table_scene(const Context& context, const TableSceneOptions& options,
                            std::uint64_t seed, const TableObjects& objects) {
  check_options(options);
  return Builder(context, options, seed, objects.objects_.get()).build();
}

Rendering render_table_scene(const Context& context, const TableScene& scene,
                             const RenderOptions& options) {
  std::vector<const TriangleMesh*> meshes;
  for (const TriangleMesh& mesh : scene.meshes) meshes.push_back(&mesh);
  const RenderScene renderable(context, meshes);
  std::vector<Instance> instances{
      {static_cast<std::int32_t>(meshes.size()) - 1, 0, 0, cast<float>(scene.camera_from_world)}};
  for (const SceneObject& object : scene.objects) {
    instances.push_back({object.mesh, 0, static_cast<std::int32_t>(instances.size()),
                         cast<float>(object.camera_from_object)});
  }
  return render(context, renderable, scene.camera, instances, options);
}

}  // namespace sextant
