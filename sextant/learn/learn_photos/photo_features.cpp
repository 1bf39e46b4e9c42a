// SPDX-License-Identifier: Apache-2.0
#include "sextant/learn/learn_photos/photo_features.h"

#include <algorithm>

#include "sextant/descriptor/sift.h"

namespace sextant::detail::learn_photos {

namespace {

Vec2d ideal_place(const Camera& camera, const Vec2d& at_px) {
  const Vec3d ray = unproject(camera, at_px);
  return {camera.fx_px * ray.x + camera.cx_px, camera.fy_px * ray.y + camera.cy_px};
}

}  // namespace

bool meets(const Bounds& box, const Vec3d& from_m, const Vec3d& along) {
  double enter = 0, leave = INFINITY;
  const double from[3] = {from_m.x, from_m.y, from_m.z}, by[3] = {along.x, along.y, along.z};
  const double low[3] = {box.low.x, box.low.y, box.low.z};
  const double high[3] = {box.high.x, box.high.y, box.high.z};
  for (int i = 0; i < 3; ++i) {
    if (by[i] == 0) {
      if (from[i] < low[i] || from[i] > high[i]) return false;
      continue;
    }
    const double a = (low[i] - from[i]) / by[i], b = (high[i] - from[i]) / by[i];
    enter = max_of(enter, min_of(a, b));
    leave = min_of(leave, max_of(a, b));
  }
  return enter <= leave;
}

bool contains(const Bounds& box, const Vec3d& p) {
  return p.x >= box.low.x && p.y >= box.low.y && p.z >= box.low.z && p.x <= box.high.x &&
         p.y <= box.high.y && p.z <= box.high.z;
}

void undistort_places(const Camera& camera, Features& features) {
  for (std::size_t i = 0; i < features.at_px.size(); ++i) {
    features.ideal_px[i] = ideal_place(camera, features.at_px[i]);
  }
}

Features find_features(const Context& context, const ObjectPhoto& photo,
                       const std::optional<Bounds>& box, const LearnPhotosOptions& options) {
  // What shows the object is chosen before the strongest are, as a board or a room around it may
  // have stronger ones.
  const SiftFeatures found = compute_sift(context, PhotoView(photo.pixels), {}, photo.mask);
  const Rigid3d object_from_camera = inverse(photo.camera_from_object);
  struct Candidate {
    std::int32_t index;
    Vec2d ideal_px;
  };
  std::vector<Candidate> candidates;
  for (std::int32_t i = 0; i < found.count; ++i) {
    const SiftKeypoint& at = found.keypoints.data()[i];
    const Vec2d place{at.u_px, at.v_px};
    const Vec2d ideal = ideal_place(photo.camera, place);
    if (!std::isfinite(ideal.x) || !std::isfinite(ideal.y)) continue;
    const Vec3d ray = object_from_camera.rotation * unproject(photo.camera, place);
    if (box && !meets(*box, object_from_camera.translation, ray)) continue;
    candidates.push_back({i, ideal});
  }
  const auto most = static_cast<std::size_t>(options.most_features);
  if (most > 0 && candidates.size() > most) {
    std::stable_sort(candidates.begin(), candidates.end(),
                     [&](const Candidate& a, const Candidate& b) {
                       return found.keypoints.data()[a.index].response >
                              found.keypoints.data()[b.index].response;
                     });
    candidates.resize(most);
    std::sort(candidates.begin(), candidates.end(),
              [](const Candidate& a, const Candidate& b) { return a.index < b.index; });
  }
  Features features;
  for (const Candidate& candidate : candidates) {
    const SiftKeypoint& at = found.keypoints.data()[candidate.index];
    features.at_px.push_back({at.u_px, at.v_px});
    features.ideal_px.push_back(candidate.ideal_px);
    features.sigma_px.push_back(at.sigma_px);
    const std::uint8_t* bytes = found.bytes.data() + std::int64_t{kSiftLength} * candidate.index;
    features.descriptors.insert(features.descriptors.end(), bytes, bytes + kSiftLength);
  }
  return features;
}

}  // namespace sextant::detail::learn_photos
