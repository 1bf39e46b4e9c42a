// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer/packs.h"

#include <algorithm>
#include <map>

#include "sextant/recognize/recognizer/acceptance.h"
#include "sextant/recognize/recognizer/faces.h"
#include "sextant/recognize/recognizer/poses.h"
#include "sextant/recognize/recognizer/refine_math.h"
#include "sextant/recognize/recognizer/stages.h"

namespace sextant::detail::recognizer {

namespace {

constexpr int kMostInARow = 8;
constexpr int kMostBoxes = 30;
constexpr double kLeastFacing = 0.35;    // cosine to the ray of faces that are measured
constexpr std::size_t kMostPacks = 200;  // of an object that are verified
constexpr std::size_t kMovedPacks = 40;  // of these, that are moved
constexpr double kRivalOdds = 3;         // logit that a pack may be less likely by and still rival

/// Boxes of one kind side by side, or one box alone.
struct Pack {
  std::int32_t object = 0;
  Rigid3d camera_from_pack;  ///< the whole's middle and axes, which are the box's
  BoxCounts count{1, 1, 1};
  double evidence = 0;  ///< see VerificationTerms::rows
  Compared compared;
  double logit = 0;

  int boxes() const { return count[0] * count[1] * count[2]; }
  bool is_alone() const { return boxes() == 1; }
};

/// All counts of one layer of several boxes, however it lies.
const std::vector<BoxCounts>& pack_shapes() {
  static const std::vector<BoxCounts> shapes = [] {
    std::vector<BoxCounts> all;
    for (int z = 1; z <= kMostInARow; ++z) {
      for (int y = 1; y <= kMostInARow; ++y) {
        for (int x = 1; x <= kMostInARow; ++x) {
          const int boxes = x * y * z;
          if (std::min({x, y, z}) == 1 && boxes > 1 && boxes <= kMostBoxes)
            all.push_back({x, y, z});
        }
      }
    }
    return all;
  }();
  return shapes;
}

std::int32_t shape_of(const BoxCounts& count) {
  const std::vector<BoxCounts>& shapes = pack_shapes();
  return static_cast<std::int32_t>(std::find(shapes.begin(), shapes.end(), count) - shapes.begin());
}

Vec3d axis_of(const Rigid3d& pose, int axis) {
  const Mat3d& r = pose.rotation;
  switch (axis) {
    case 0:
      return {r.row[0].x, r.row[1].x, r.row[2].x};
    case 1:
      return {r.row[0].y, r.row[1].y, r.row[2].y};
    default:
      return {r.row[0].z, r.row[1].z, r.row[2].z};
  }
}

double size_of(const Cuboid& box, int axis) { return box.size_m[static_cast<std::size_t>(axis)]; }

/// camera_from_object of each box of a pack.
std::vector<Rigid3d> members_of(const Pack& pack, const Cuboid& box) {
  const Rigid3d box_from_object = inverse(box.object_from_box);
  const auto place = [&](int i, std::size_t axis) {
    return (i - 0.5 * (pack.count[axis] - 1)) * box.size_m[axis];
  };
  std::vector<Rigid3d> all;
  for (int z = 0; z < pack.count[2]; ++z) {
    for (int y = 0; y < pack.count[1]; ++y) {
      for (int x = 0; x < pack.count[0]; ++x) {
        Rigid3d pack_from_box;
        pack_from_box.translation = {place(x, 0), place(y, 1), place(z, 2)};
        all.push_back(pack.camera_from_pack * pack_from_box * box_from_object);
      }
    }
  }
  return all;
}

/// How boxes may stand along one side of a face: how many, where their middle is, and how much it
/// speaks for them that whole boxes end where the surface does.
struct Row {
  int count = 1;
  double middle_m = 0;
  double evidence = -1;
};

std::vector<Row> rows_between(const FaceEnd& low, const FaceEnd& high, double size_m) {
  constexpr double kMisfit = 0.12, kLeastMisfit_m = 0.006;  // that whole boxes may be off
  constexpr double kGrain_m =
      0.010;  // of what an end may be: a box is a chance of this in its size
  constexpr double kChance = 2, kHidden = 0.7;
  constexpr double kLeastSeen = 0.8;  // of a box whose other end is not seen
  const double length_m = low.at_m + high.at_m;
  std::vector<Row> rows;
  if (low.is_seen && high.is_seen) {
    const int count = static_cast<int>(std::lround(length_m / size_m));
    const double misfit_m = std::abs(length_m - count * size_m);
    if (count >= 1 && count <= kMostInARow &&
        misfit_m < std::max(kMisfit * size_m, kLeastMisfit_m)) {
      const int hidden = (low.is_hidden ? 1 : 0) + (high.is_hidden ? 1 : 0);
      rows.push_back({count, 0.5 * (high.at_m - low.at_m),
                      std::log(size_m / kGrain_m) - kChance - kHidden * hidden});
      return rows;
    }
  }
  if (length_m < kLeastSeen * size_m) return rows;
  if (low.is_seen) rows.push_back({1, 0.5 * size_m - low.at_m});
  if (high.is_seen) rows.push_back({1, high.at_m - 0.5 * size_m});
  return rows;
}

bool is_same(const Pack& a, const Pack& b, double distance_m) {
  if (a.count != b.count) return false;
  if (norm(a.camera_from_pack.translation - b.camera_from_pack.translation) > distance_m) {
    return false;
  }
  for (int axis = 0; axis < 3; ++axis) {
    if (std::abs(dot(axis_of(a.camera_from_pack, axis), axis_of(b.camera_from_pack, axis))) <
        std::cos(static_cast<double>(kTwinAngle_rad))) {
      return false;
    }
  }
  return true;
}

/// The pack with the box's last axis along the face's normal and the two others along its sides.
Pack pack_on(const Face& face, const Cuboid& box, const std::array<int, 3>& axes, const Row& a,
             const Row& b) {
  const auto [first, second, up] = axes;
  Vec3d columns[3];
  columns[first] = face.along[0];
  columns[second] = face.along[1];
  // Right-handed, whichever way the normal's axis points.
  const bool even = (first + 1) % 3 == second;
  columns[up] = cross(face.along[0], face.along[1]) * (even ? 1.0 : -1.0);
  Pack pack;
  pack.object = face.object;
  pack.camera_from_pack.rotation = transpose(Mat3d{{columns[0], columns[1], columns[2]}});
  pack.camera_from_pack.translation = face.middle + face.along[0] * a.middle_m +
                                      face.along[1] * b.middle_m -
                                      face.normal * (0.5 * size_of(box, up));
  pack.count[static_cast<std::size_t>(first)] = a.count;
  pack.count[static_cast<std::size_t>(second)] = b.count;
  pack.evidence = a.evidence + b.evidence;
  return pack;
}

/// Every pack that fills the measured surface that a face lies on, however its boxes lie.
void fill_face(const Face& face, const FaceEnds& ends, const Model& model,
               std::vector<Pack>& packs) {
  const auto twin_m = static_cast<double>(kTwinShare * model.diameter_m);
  std::array<int, 3> axes{0, 1, 2};
  do {
    for (const Row& a : rows_between(ends.of[0][0], ends.of[0][1], size_of(*model.box, axes[0]))) {
      for (const Row& b :
           rows_between(ends.of[1][0], ends.of[1][1], size_of(*model.box, axes[1]))) {
        if (a.count * b.count > kMostBoxes) continue;
        Pack pack = pack_on(face, *model.box, axes, a, b);
        const auto known = [&](const Pack& other) { return is_same(pack, other, twin_m); };
        if (std::none_of(packs.begin(), packs.end(), known)) packs.push_back(std::move(pack));
      }
    }
  } while (std::next_permutation(axes.begin(), axes.end()));
}

/// The faces that a box in a pose shows.
void add_faces(const Model& model, const ObjectPose& at, std::vector<Face>& faces) {
  const Cuboid& box = *model.box;
  const Rigid3d pose = at.camera_from_object * box.object_from_box;
  for (int axis = 0; axis < 3; ++axis) {
    const Vec3d outward = axis_of(pose, axis);
    Face face;
    face.normal = dot(outward, pose.translation) < 0 ? outward : -outward;
    face.middle = pose.translation + face.normal * (0.5 * size_of(box, axis));
    if (!(-dot(face.normal, face.middle) > kLeastFacing * norm(face.middle))) continue;
    for (int side = 0; side < 2; ++side) {
      const int along = (axis + 1 + side) % 3;
      face.along[side] = axis_of(pose, along);
      face.length_m[side] = size_of(box, along);
    }
    face.most_m = kMostInARow * *std::max_element(box.size_m.begin(), box.size_m.end());
    face.diameter_m = model.diameter_m;
    face.object = at.object_index;
    faces.push_back(face);
  }
}

/// Packs of one frame on their way to being told.
struct PackSearch {
  std::span<const Model> models;
  std::span<const std::int32_t> first;
  const SceneFrame& scene;
  BodyVerifier& verifier;

  const Model& model_of(const Pack& pack) const {
    return models[static_cast<std::size_t>(pack.object)];
  }
  std::int32_t body_of(const Pack& pack) const {
    if (pack.is_alone()) return pack.object;
    return first[static_cast<std::size_t>(pack.object)] + shape_of(pack.count);
  }
  Rigid3d camera_from_body(const Pack& pack) const {
    if (!pack.is_alone()) return pack.camera_from_pack;
    return pack.camera_from_pack * inverse(model_of(pack).box->object_from_box);
  }
  void move_body(Pack& pack, const Rigid3d& camera_from_body) const {
    pack.camera_from_pack = camera_from_body;
    if (pack.is_alone())
      pack.camera_from_pack = camera_from_body * model_of(pack).box->object_from_box;
  }

  /// The packs about the poses, those of an object with the strongest evidence first.
  std::vector<Pack> find(std::span<const ObjectPose> poses) const {
    std::vector<Face> faces;
    for (const ObjectPose& pose : poses) {
      const Model& model = models[static_cast<std::size_t>(pose.object_index)];
      if (model.box) add_faces(model, pose, faces);
    }
    const std::vector<FaceEnds> ends =
        measure_faces(verifier.context(), verifier.frame(), faces, verifier.workspace());
    std::vector<std::vector<Pack>> of_object(models.size());
    for (std::size_t i = 0; i < faces.size(); ++i) {
      if (faces[i].is_lost) continue;
      const auto object = static_cast<std::size_t>(faces[i].object);
      fill_face(faces[i], ends[i], models[object], of_object[object]);
    }
    std::vector<Pack> all;
    for (std::vector<Pack>& packs : of_object) {
      std::stable_sort(packs.begin(), packs.end(),
                       [](const Pack& a, const Pack& b) { return a.evidence > b.evidence; });
      if (packs.size() > kMostPacks) packs.resize(kMostPacks);
      std::move(packs.begin(), packs.end(), std::back_inserter(all));
    }
    return all;
  }

  void verify(std::span<Pack* const> packs, const CompareWants& wants = {}) const {
    std::vector<BodyPose> poses;
    poses.reserve(packs.size());
    for (const Pack* pack : packs) poses.push_back({body_of(*pack), camera_from_body(*pack)});
    std::vector<Compared> compared = verifier.verify(poses, wants);
    for (std::size_t i = 0; i < packs.size(); ++i) {
      Pack& pack = *packs[i];
      pack.compared = std::move(compared[i]);
      if (!pack.is_alone()) {
        pack.compared.terms.boxes = static_cast<float>(pack.boxes());
        pack.compared.terms.rows = static_cast<float>(pack.evidence);
      }
      pack.logit = acceptance_logit(pack.compared.terms, verifier.view(body_of(pack)).level);
    }
  }

  /// Moves packs so that their outlines meet the edges of the measured surface, as far as their
  /// odds grow.
  void fit_outlines(std::span<Pack* const> packs) const {
    std::vector<Pack> moving;
    for (const Pack* pack : packs) moving.push_back(*pack);
    for (const double least_logit : kLeastLogit) {
      std::vector<Pack*> moved;
      for (Pack& pack : moving) {
        if (!(shape_logit(pack.compared.terms) > least_logit)) continue;
        move_body(pack, outline_step(verifier.view(body_of(pack)), camera_from_body(pack),
                                     pack.compared.equations));
        moved.push_back(&pack);
      }
      verify(moved);
      for (std::size_t i = 0; i < moving.size(); ++i) {
        if (moving[i].logit > packs[i]->logit) *packs[i] = moving[i];
      }
    }
  }

  /// What is told of a pack as a whole, by the pose of a box in its middle.
  Explanation explain(Pack& pack) const {
    const Model& model = model_of(pack);
    const ModelView& body = verifier.view(body_of(pack));
    VerifiedPose whole = verified_pose(scene.noise, body, pack.object, camera_from_body(pack),
                                       pack.compared.terms, pack.compared.equations);
    if (pack.is_alone()) {
      Explanation result = explanation(model, whole);
      result.pixels = std::move(pack.compared.pixels);
      return result;
    }
    const std::vector<Rigid3d> poses = members_of(pack, *model.box);
    std::vector<Explanation::Member> members;
    for (const Rigid3d& pose : poses) {
      const Vec3d off = pose * cast<double>(model.centre) - pack.camera_from_pack.translation;
      members.push_back({pose, covariance_at(whole.covariance, off), {}, {}});
    }
    const Explanation::Member& middle = members[members.size() / 2];
    whole.camera_from_object = middle.camera_from_object;
    whole.covariance = middle.covariance;
    Explanation result = explanation(model, whole);
    result.pixels = std::move(pack.compared.pixels);
    result.members = std::move(members);
    return result;
  }

  bool is_mostly_same(const Explanation& a, const Explanation& b) const {
    if (a.found.object_index != b.found.object_index) return false;
    const Model& model = models[static_cast<std::size_t>(a.found.object_index)];
    const auto known = std::count_if(a.members.begin(), a.members.end(), [&](const auto& x) {
      return std::any_of(b.members.begin(), b.members.end(), [&](const auto& y) {
        return is_same_pose(model, cast<float>(x.camera_from_object),
                            cast<float>(y.camera_from_object), kClusterShare * model.diameter_m,
                            kClusterAngle_rad);
      });
    });
    return 2 * known > std::ssize(a.members);
  }

  /// Packs that fill the same place in different ways share the probability.
  void doubt_rivals(std::span<const double> logits, std::span<Explanation> packs) const {
    std::vector<char> mine(static_cast<std::size_t>(scene.camera.width) *
                           static_cast<std::size_t>(scene.camera.height));
    std::vector<double> shares(packs.size(), 1);
    for (std::size_t i = 0; i < packs.size(); ++i) {
      const Explanation& pack = packs[i];
      for (const std::int32_t pixel : pack.pixels) mine[static_cast<std::size_t>(pixel)] = 1;
      for (std::size_t k = 0; k < packs.size(); ++k) {
        const double share = 1 / (1 + std::exp(logits[k] - logits[i]));
        if (k == i || packs[i].members.empty() || share >= shares[i]) continue;
        const auto common =
            std::count_if(packs[k].pixels.begin(), packs[k].pixels.end(),
                          [&](std::int32_t at) { return mine[static_cast<std::size_t>(at)] != 0; });
        const auto least = std::min(pack.pixels.size(), packs[k].pixels.size());
        if (2 * static_cast<std::size_t>(common) < least || is_mostly_same(pack, packs[k]))
          continue;
        shares[i] = share;
      }
      for (const std::int32_t pixel : pack.pixels) mine[static_cast<std::size_t>(pixel)] = 0;
    }
    for (std::size_t i = 0; i < packs.size(); ++i) packs[i].found.score *= shares[i];
  }

  /// Compares the boxes of a pack one by one: what of each is seen.
  void look_at_members(std::span<Explanation* const> packs) const {
    std::vector<BodyPose> poses;
    for (const Explanation* pack : packs) {
      for (const Explanation::Member& member : pack->members) {
        poses.push_back({pack->found.object_index, member.camera_from_object});
      }
    }
    std::vector<Compared> compared = verifier.verify(poses, {.pixels = true});
    std::size_t next = 0;
    for (Explanation* pack : packs) {
      for (Explanation::Member& member : pack->members) {
        member.terms = compared[next].terms;
        member.pixels = std::move(compared[next++].pixels);
      }
    }
  }
};

/// The packs with the highest odds, `most` of each object.
std::vector<Pack*> likeliest(std::vector<Pack>& packs, std::size_t most) {
  std::vector<Pack*> order;
  for (Pack& pack : packs) order.push_back(&pack);
  std::stable_sort(order.begin(), order.end(),
                   [](const Pack* a, const Pack* b) { return a->logit > b->logit; });
  std::map<std::int32_t, std::size_t> of_object;
  std::erase_if(order, [&](const Pack* pack) { return ++of_object[pack->object] > most; });
  return order;
}

}  // namespace

PackBodies make_pack_bodies(std::span<const Model> models) {
  PackBodies bodies;
  for (const Model& model : models) {
    if (!model.box) {
      bodies.first.push_back(-1);
      continue;
    }
    bodies.first.push_back(static_cast<std::int32_t>(models.size() + bodies.views.size()));
    const std::array<double, 3>& size_m = model.box->size_m;
    for (const BoxCounts& count : pack_shapes()) {
      const std::array<double, 3> whole_m{count[0] * size_m[0], count[1] * size_m[1],
                                          count[2] * size_m[2]};
      ModelView view;
      view.diameter_m = static_cast<float>(std::hypot(whole_m[0], whole_m[1], whole_m[2]));
      // Rows of whole boxes are told from others by less than a box's smallest side.
      const double smallest_m = *std::min_element(size_m.begin(), size_m.end());
      view.part_diameter_m = std::min(model.diameter_m, static_cast<float>(2 * smallest_m));
      view.leaf_m = model.leaf_m;
      view.radius_m = 0.5f * view.diameter_m;
      view.level = model.pack_level;
      bodies.views.push_back(view);
      bodies.meshes.push_back(box_mesh(whole_m));
    }
  }
  return bodies;
}

void add_packs(std::span<const Model> models, std::span<const std::int32_t> first,
               std::span<const ObjectPose> poses, const SceneFrame& scene, float accept,
               BodyVerifier& verifier, std::vector<Explanation>& pool) {
  const PackSearch search{models, first, scene, verifier};
  std::vector<Pack> all = search.find(poses);
  if (all.empty()) return;
  std::vector<Pack*> places;
  for (Pack& pack : all) places.push_back(&pack);
  search.verify(places);
  // Of each object the likeliest are moved, and the likeliest then are told.
  search.fit_outlines(likeliest(all, kMovedPacks));
  const std::vector<Pack*> told = likeliest(all, kMostRejected);
  // Pixels tell which packs fill the same place: of what is likely, and of its rivals.
  const double least = least_told_logit(accept) - kRivalOdds;
  const auto unlikely = std::find_if(told.begin(), told.end(),
                                     [&](const Pack* pack) { return !(pack->logit >= least); });
  const auto likely = static_cast<std::size_t>(unlikely - told.begin());
  search.verify(std::span(told).first(likely), {.pixels = true});
  std::vector<double> logits;
  std::vector<Explanation> explained;
  for (Pack* pack : told) {
    logits.push_back(pack->logit);
    explained.push_back(search.explain(*pack));
  }
  search.doubt_rivals(logits, std::span(explained).first(likely));
  std::vector<Explanation*> sure;
  for (Explanation& pack : explained) {
    if (may_be_told(pack.found.score, accept)) sure.push_back(&pack);
  }
  search.look_at_members(sure);
  std::move(explained.begin(), explained.end(), std::back_inserter(pool));
}

}  // namespace sextant::detail::recognizer
