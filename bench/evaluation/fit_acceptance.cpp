// SPDX-License-Identifier: Apache-2.0
// Writes the terms of poses in synthetic frames, right and wrong, for fit_terms: tables with
// objects of which some are known and some are strangers, seen by sensors with the noise of real
// ones.
//
//   fit_acceptance [frames] [terms.csv]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "sextant/core/random.h"
#include "sextant/descriptor/point_samples.h"
#include "sextant/recognize/recognizer.h"
#include "sextant/synth/sensor_noise.h"
#include "sextant/synth/table_scene.h"

using namespace sextant;

namespace {

constexpr double kRight = 0.1;  // of the diameter, mean distance of nearest points

LearnedObject make_learned(const Context& context, std::string_view name) {
  LearnedObject object;
  object.name = name;
  object.mesh = make_object(name);
  ModelSamples samples = sample_model(context, object.mesh);
  object.diameter_m = samples.diameter_m;
  object.samples = {samples.leaf_m, std::move(samples.samples.points),
                    std::move(samples.samples.normals)};
  return object;
}

/// Mean distance of points of one pose to the surface in another, in diameters, both ways: zero for
/// poses that only a symmetry tells apart.
double difference(std::span<const Vec3f> dense, double diameter_m, const Rigid3d& a,
                  const Rigid3d& b) {
  if (norm(a.translation - b.translation) > 2 * diameter_m) return 2;
  const Rigid3f a_from_b = cast<float>(inverse(a) * b);
  double sum = 0;
  int count = 0;
  for (std::size_t i = 0; i < dense.size(); i += 23, ++count) {
    const Vec3f x = a_from_b * dense[i];
    float least = INFINITY;
    for (const Vec3f& p : dense) least = std::min(least, norm_sq(p - x));
    sum += std::sqrt(least);
  }
  return sum / count / diameter_m;
}

}  // namespace

int main(int argc, char** argv) {
  const int frames = argc > 1 ? std::atoi(argv[1]) : 40;
  std::ofstream table;
  if (argc > 2) table.open(argv[2]);
  const Context context = Context::cpu();
  // Known objects; every other of the catalogue is a stranger.
  constexpr std::string_view kKnown[] = {"cube",  "speaker", "tortoise",    "tasmanian_devil",
                                         "apple", "tea_box", "cracker_box", "soup_can"};
  std::vector<LearnedObject> objects;
  std::vector<PointSamples> dense;
  for (const std::string_view name : kKnown) {
    objects.push_back(make_learned(context, name));
    dense.push_back(dense_model_points(context, objects.back().mesh, {.dense_points = 4000}));
  }
  RecognizeOptions options;
  options.accept = 0;
  const Recognizer recognizer(context, objects, options);
  constexpr SensorModel kSensors[] = {SensorModel::kKinect, SensorModel::kKinectRegistered,
                                      SensorModel::kRealsenseNear, SensorModel::kRealsense};
  for (int frame = 0; frame < frames; ++frame) {
    const Random random{20, static_cast<std::uint64_t>(frame)};
    TableSceneOptions scene_options;
    scene_options.objects = 4 + static_cast<int>(random.below(9, 0));
    scene_options.distance_m = 0.6f + 0.6f * random.uniform(1);
    scene_options.stacking = 0.4f;
    TableScene scene;
    try {
      scene = make_table_scene(context, scene_options, random.bits(2));
    } catch (const Error&) {
      continue;  // they do not fit
    }
    RenderOptions render;
    render.normals = true;
    const Rendering exact = render_table_scene(context, scene, render);
    const Image<float> depth =
        add_sensor_noise(context, exact.depth_m_of(0), exact.normals_of(0), scene.camera,
                         sensor_noise(kSensors[frame % 4]), random.bits(3));
    const Recognition result = recognizer.recognize(depth, scene.camera);
    int right = 0, poses = 0;
    const auto add = [&](const Detection& d) {
      const auto o = static_cast<std::size_t>(d.object_index);
      int label = 0;
      for (const SceneObject& object : scene.objects) {
        if (object.name != d.object) continue;
        if (difference(dense[o].points.host(), objects[o].diameter_m, d.camera_from_object,
                       object.camera_from_object) < kRight * 0.4) {
          label = 1;
        }
      }
      right += label;
      ++poses;
      if (!table.is_open()) return;
      const VerificationTerms& t = d.terms;
      table << "synth" << ',' << frame << ',' << d.object << ',' << label << ",0," << d.score << ','
            << t.pixels << ',' << t.supported << ',' << t.violated << ',' << t.occluded << ','
            << t.no_data << ',' << t.outside << ',' << t.normals << ',' << t.departs << ','
            << t.flatness << ',' << t.extent << ',' << t.outline << ',' << t.confirmed << ','
            << t.continues << ',' << t.falls_short << ',' << t.crease << ',' << t.hidden << ','
            << t.unknown << ',' << d.reason << std::endl;
    };
    for (const Detection& d : result.detections) add(d);
    for (const Detection& d : result.rejected) add(d);
    std::fprintf(stderr, "frame %d: %zu objects, %d poses, %d right\n", frame, scene.objects.size(),
                 poses, right);
  }
  return 0;
}
