// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer/packs.h"

#include <algorithm>
#include <map>

#include "sextant/recognize/recognizer/acceptance.h"
#include "sextant/recognize/recognizer/fill_faces.h"
#include "sextant/recognize/recognizer/poses.h"
#include "sextant/recognize/recognizer/refine_math.h"
#include "sextant/recognize/recognizer/stages.h"

namespace sextant::detail::recognizer {

namespace {

constexpr std::size_t kMostPacks = 200;  // of an object that are verified
constexpr std::size_t kMovedPacks = 40;  // of these, that are moved
constexpr double kRivalOdds = 3;         // logit that a pack may be less likely by and still rival

std::int32_t shape_of(const BoxCounts& count) {
  const std::vector<BoxCounts>& shapes = pack_shapes();
  return static_cast<std::int32_t>(std::find(shapes.begin(), shapes.end(), count) - shapes.begin());
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

  /// Whether one of them is part of the other, or nearly so.
  bool agree(const Explanation& a, const Explanation& b) const {
    if (a.found.object_index != b.found.object_index) return false;
    const Model& model = models[static_cast<std::size_t>(a.found.object_index)];
    const std::vector<Rigid3d> of_a = poses_of(a), of_b = poses_of(b);
    const auto known = std::count_if(of_a.begin(), of_a.end(), [&](const Rigid3d& x) {
      return std::any_of(of_b.begin(), of_b.end(), [&](const Rigid3d& y) {
        return is_same_pose(model, cast<float>(x), cast<float>(y), kClusterShare * model.diameter_m,
                            kClusterAngle_rad);
      });
    });
    return 2 * known > static_cast<std::ptrdiff_t>(std::min(of_a.size(), of_b.size()));
  }
  static std::vector<Rigid3d> poses_of(const Explanation& explanation) {
    if (explanation.members.empty()) return {explanation.found.camera_from_object};
    std::vector<Rigid3d> poses;
    poses.reserve(explanation.members.size());
    for (const auto& member : explanation.members) poses.push_back(member.camera_from_object);
    return poses;
  }

  /// Packs that fill the same place in different ways doubt each other: each is at most as probable
  /// as it is beside its strongest rival.
  void doubt_rivals(std::span<const double> logits, std::span<Explanation> packs) const {
    std::vector<char> mine(static_cast<std::size_t>(scene.camera.width) *
                           static_cast<std::size_t>(scene.camera.height));
    std::vector<double> shares(packs.size(), 1);
    for (std::size_t i = 0; i < packs.size(); ++i) {
      const Explanation& pack = packs[i];
      if (pack.members.empty()) continue;
      for (const std::int32_t pixel : pack.pixels) mine[static_cast<std::size_t>(pixel)] = 1;
      for (std::size_t k = 0; k < packs.size(); ++k) {
        const double share = 1 / (1 + std::exp(logits[k] - logits[i]));
        if (k == i || share >= shares[i]) continue;
        const auto common =
            std::count_if(packs[k].pixels.begin(), packs[k].pixels.end(),
                          [&](std::int32_t at) { return mine[static_cast<std::size_t>(at)] != 0; });
        const auto least = std::min(pack.pixels.size(), packs[k].pixels.size());
        if (2 * static_cast<std::size_t>(common) < least || agree(pack, packs[k])) continue;
        shares[i] = share;
      }
      for (const std::int32_t pixel : pack.pixels) mine[static_cast<std::size_t>(pixel)] = 0;
    }
    for (std::size_t i = 0; i < packs.size(); ++i) {
      packs[i].found.score *= shares[i];
      packs[i].score_among_several *= shares[i];
    }
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
  order.reserve(packs.size());
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
      view.shape_m = model.shape_m;
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
  places.reserve(all.size());
  for (Pack& pack : all) places.push_back(&pack);
  search.verify(places);
  // Of each object the likeliest are moved, and the likeliest then are told.
  search.fit_outlines(likeliest(all, kMovedPacks));
  const std::vector<Pack*> told = likeliest(all, kMostRejected);
  // Pixels tell which packs fill the same place: of what is likely, and of its rivals.
  const auto accepted = static_cast<double>(accept);
  const double least = std::log(accepted / (1 - accepted)) - kPacksAmongSeveral - kRivalOdds;
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
    if (may_be_told(pack.score_among_several, accept)) sure.push_back(&pack);
  }
  search.look_at_members(sure);
  std::move(explained.begin(), explained.end(), std::back_inserter(pool));
}

}  // namespace sextant::detail::recognizer
