// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer/sources.h"

#include <algorithm>
#include <utility>

#include "sextant/depth/bilateral.h"
#include "sextant/match/library_matches.h"
#include "sextant/recognize/recognizer/scene_math.h"

namespace sextant::detail::recognizer {

namespace {

constexpr std::int32_t kTensors = 1000;  // of the frame, drawn at random
constexpr int kTensorMatches = 8;        // of each, over all objects
constexpr float kMeshResolutions = 3;    // of triangles, a third of a tensor's bin
constexpr float kShotLeafRadii = 0.5f;   // distance of keypoints, in radii of SHOT
constexpr float kShotFilter_m = 0.01f;   // radius of the filter before SHOT
constexpr std::size_t kMostShot = 1000;  // matches of an object, those nearest to each other

void add_poses(const LibraryMatches& found, std::vector<std::vector<Hypothesis>>& poses) {
  for (const LibraryMatch& match : found.matches) {
    poses[static_cast<std::size_t>(match.object)].push_back({match.scene_from_object, 0, 1});
  }
}

struct SmoothPoints {
  std::vector<Vec3f> points, normals;
};

/// The points of a depth map without most of its noise, which an object's descriptors lack, with
/// the scene's normals.
SmoothPoints smooth_points(const Context& context, const SceneFrame& scene,
                           ImageView<const float> depth_m) {
  const float pitch_m = scene.median_depth_m / scene.camera.fx_px;
  const int radius_px = clamp(static_cast<int>(std::lround(kShotFilter_m / pitch_m)), 1, 10);
  const Image<float> filtered_m = bilateral_filter(
      context, depth_m, {.radius_px = radius_px, .sigma_space_px = 0.9 * radius_px});
  SmoothPoints result;
  for (int v = 0; v < filtered_m.height(); ++v) {
    for (int u = 0; u < filtered_m.width(); ++u) {
      const float z = filtered_m(u, v);
      if (!std::isfinite(z) || !is_finite(scene.normals(u, v))) continue;
      result.points.push_back(scene.points(u, v) * (z / scene.depth_m(u, v)));
      result.normals.push_back(scene.normals(u, v));
    }
  }
  return result;
}

/// Of each object the matches whose descriptors are nearest to each other.
void keep_nearest(std::vector<LibraryMatch>& matches, std::size_t objects, std::size_t most) {
  std::stable_sort(matches.begin(), matches.end(),
                   [](const LibraryMatch& a, const LibraryMatch& b) { return a.score < b.score; });
  std::vector<std::size_t> kept(objects, 0);
  std::erase_if(matches, [&](const LibraryMatch& match) {
    return ++kept[static_cast<std::size_t>(match.object)] > most;
  });
}

}  // namespace

DescriptorSources::DescriptorSources(const Context& context, std::span<const LearnedObject> objects,
                                     const PoseSources& sources) {
  for (const LearnedObject& object : objects) {
    const bool has_tensors = sources.tensors && !object.tensors.set.frames.empty();
    const bool has_shot = sources.shot && !object.shot.points.empty();
    require(sources.point_pairs || has_tensors || has_shot, "object ", object.name,
            ": has none of the descriptors that 'sources' names; learn it with them, or take "
            "point-pairs too");
    largest_diameter_m_ = std::max(largest_diameter_m_, static_cast<float>(object.diameter_m));
  }
  ObjectParts parts = ObjectParts::none();
  parts.tensors = sources.tensors;
  parts.shot = sources.shot;
  library_ = make_resident(context, objects, parts);
}

std::vector<std::vector<Hypothesis>> DescriptorSources::propose(
    const Context& context, const SceneFrame& scene, ImageView<const std::uint8_t> mask) const {
  std::vector<std::vector<Hypothesis>> poses(library_.objects.size());
  if (library_.shot.empty() && library_.tensors.empty()) return poses;
  if (!(scene.median_depth_m > 0)) return poses;  // nothing but holes
  // Without the table that an object stands on, because its views were learned without one.
  Image<float> depth_m(context, scene.camera.width, scene.camera.height);
  const ProposingPixels pixels{scene.view(), scene.on_plane.data(), mask, scene.averaged};
  for (int v = 0; v < scene.camera.height; ++v) {
    for (int u = 0; u < scene.camera.width; ++u) {
      const bool described = pixels.has_point(u, v, largest_diameter_m_);
      depth_m(u, v) = described ? scene.depth_m(u, v) : NAN;
    }
  }
  if (!library_.tensors.empty()) {
    add_poses(match_library_tensors(context, library_, depth_m, cast<double>(scene.camera),
                                    {.tensors = kTensors, .mesh_resolutions = kMeshResolutions},
                                    {.k = kTensorMatches}),
              poses);
  }
  if (!library_.shot.empty()) {
    // No test of the second nearest: neighbours on an object resemble each other, and every pose is
    // compared with the frame anyway.
    const SmoothPoints seen = smooth_points(context, scene, depth_m);
    LibraryMatches found =
        match_library_shot(context, library_, view_of(seen.points), view_of(seen.normals),
                           {.match = {.ratio = 1}, .leaf_radii = kShotLeafRadii});
    keep_nearest(found.matches, library_.objects.size(), kMostShot);
    add_poses(found, poses);
  }
  return poses;
}

}  // namespace sextant::detail::recognizer

namespace sextant {

PoseSources pose_sources(std::string_view words) {
  PoseSources sources;
  std::string_view rest = words;
  while (true) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view word = rest.substr(0, comma);
    if (word == "point-pairs") {
      sources.point_pairs = true;
    } else if (word == "tensors") {
      sources.tensors = true;
    } else if (word == "shot") {
      sources.shot = true;
    } else {
      fail("sources: '", word, "' is none of point-pairs, tensors, shot");
    }
    if (comma == rest.size()) return sources;
    rest.remove_prefix(comma + 1);
  }
}

ObjectParts parts_to_recognize(const RecognizeOptions& options) {
  const PoseSources sources = pose_sources(options.sources);
  ObjectParts parts = ObjectParts::none();
  parts.mesh = parts.samples = parts.lookalikes = true;
  parts.tensors = sources.tensors;
  parts.shot = sources.shot;
  return parts;
}

}  // namespace sextant
