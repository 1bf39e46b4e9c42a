// SPDX-License-Identifier: Apache-2.0
// Whole frames of Recognizer, from a depth map in host memory to detections, for 7 and for 100
// objects: milliseconds of each step, and beside them what was found of the objects on the table,
// on the CPU and, where there is one, on the GPU. Usage: recognizer_device_bench [RESULT.json]
#include <map>

#include "measure/report.h"
#include "sextant/descriptor/point_samples.h"
#include "sextant/recognize/recognizer.h"
#include "sextant/synth/sensor_noise.h"
#include "sextant/synth/table_scene.h"

namespace sextant::measure {
namespace {

constexpr std::string_view kNames[] = {"cube",  "speaker",     "tortoise", "tasmanian_devil",
                                       "apple", "cracker_box", "soup_can"};
constexpr int kScenes = 4;

struct Frame {
  TableScene scene;
  Image<float> depth_m;
};

/// Tables with objects as a Kinect sees them.
std::vector<Frame> make_frames() {
  const Context cpu = Context::cpu();
  const TableObjects objects(ObjectSet::kAll);
  std::vector<Frame> frames;
  for (std::uint64_t seed = 1; seed <= kScenes; ++seed) {
    Frame frame;
    frame.scene = make_table_scene(cpu, {.objects = 7, .distance_m = 0.8f}, seed, objects);
    RenderOptions render;
    render.normals = true;
    const Rendering exact = render_table_scene(cpu, frame.scene, render);
    frame.depth_m = add_sensor_noise(cpu, exact.depth_m_of(0), exact.normals_of(0),
                                     frame.scene.camera, sensor_noise(SensorModel::kKinect), seed);
    frames.push_back(std::move(frame));
  }
  return frames;
}

/// The first seven as they are, then the same at other sizes, from 0.7 to 1.4 times.
std::vector<LearnedObject> make_objects(int count) {
  std::vector<LearnedObject> objects;
  for (int i = 0; i < count; ++i) {
    const std::string_view name = kNames[static_cast<std::size_t>(i) % std::size(kNames)];
    const int round = i / static_cast<int>(std::size(kNames));
    LearnedObject object;
    object.name = name;
    if (round > 0) object.name.append("#").append(std::to_string(round));
    object.mesh = make_object(name);
    const float scale = round == 0 ? 1.0f : 0.7f + 0.05f * static_cast<float>(round);
    for (Vec3f& p : object.mesh.vertices.points.host()) p = p * scale;
    objects.push_back(std::move(object));
  }
  return objects;
}

struct Found {
  int truths = 0, right = 0, other = 0;
  std::vector<double> errors_mm;
};

/// Right is what has its origin within 10 mm of that of an object of the name.
void judge(const Frame& frame, const Recognition& recognition, Found& found) {
  for (const SceneObject& truth : frame.scene.objects) {
    found.truths += std::find(std::begin(kNames), std::end(kNames), truth.name) != std::end(kNames);
  }
  for (const Detection& detection : recognition.detections) {
    double nearest_m = 0.01;
    for (const SceneObject& truth : frame.scene.objects) {
      if (truth.name != detection.object) continue;
      nearest_m = std::min(nearest_m, norm(detection.camera_from_object.translation -
                                           truth.camera_from_object.translation));
    }
    if (nearest_m < 0.01) {
      ++found.right;
      found.errors_mm.push_back(1000 * nearest_m);
    } else {
      ++found.other;
    }
  }
}

void measure_on(const Context& context, const std::vector<Frame>& frames,
                const std::vector<LearnedObject>& objects, std::vector<Row>& rows) {
  const bool gpu = context.is_cuda();
  const Recognizer recognizer(context, objects);
  const auto recognize = [&](const Frame& frame) {
    return recognizer.recognize(frame.depth_m, frame.scene.camera);
  };
  if (gpu) {
    for (const Frame& frame : frames) recognize(frame);  // memory grows to what is needed
  }
  const Counters before = context.counters();
  std::vector<double> whole;
  std::map<std::string, std::vector<double>> steps;
  std::vector<std::string> order;
  Found found;
  const int rounds = gpu ? 15 : 1;
  for (int round = 0; round < rounds; ++round) {
    for (const Frame& frame : frames) {
      Recognition recognition;
      whole.push_back(milliseconds([&] { recognition = recognize(frame); }));
      for (const StepTime& time : recognition.times) {
        if (steps.find(time.step) == steps.end()) order.push_back(time.step);
        steps[time.step].push_back(time.ms);
      }
      if (round == 0) judge(frame, recognition, found);
    }
  }
  require(!gpu || context.counters().allocations == before.allocations,
          "recognizer_device_bench: frames allocate");
  std::string where = std::to_string(objects.size());
  where.append(" objects (");
  where.append(gpu ? to_string(context.device()) : std::to_string(context.threads()));
  where.append(gpu ? ")" : " threads)");
  const double goal_ms = objects.size() == std::size(kNames) ? 8 : 15;
  Row row{"a frame, " + where, "ms", {}, spread_of(whole).median, {}, {}};
  if (gpu) {
    row.goal = goal_ms;
    row.met = row.ours <= goal_ms;
  }
  rows.push_back(row);
  for (const std::string& step : order) {
    std::string label = "  ";
    label.append(step).append(", ").append(where);
    rows.push_back({label, "ms", {}, spread_of(steps[step]).median, {}, {}});
  }
  rows.push_back({"  right of " + std::to_string(found.truths) + " instances, " + where,
                  "",
                  {},
                  static_cast<double>(found.right),
                  {},
                  {}});
  rows.push_back({"  others, " + where, "", {}, static_cast<double>(found.other), {}, {}});
  rows.push_back({"  median error of right ones, " + where,
                  "mm",
                  {},
                  spread_of(found.errors_mm).median,
                  {},
                  {}});
}

int run(const std::string& file) {
  const std::vector<Frame> frames = make_frames();
  std::vector<Row> rows;
  for (const int count : {7, 100}) {
    const std::vector<LearnedObject> objects = make_objects(count);
    if (const Context best = Context::best(); best.is_cuda()) {
      measure_on(best, frames, objects, rows);
    }
    if (count == 7) measure_on(Context::cpu(), frames, objects, rows);
  }
  publish("recognizer_device", list_devices().devices.back().name, rows, file);
  return 0;
}

}  // namespace
}  // namespace sextant::measure

int main(int argc, char** argv) {
  return sextant::measure::run_main(argc, argv, sextant::measure::run);
}
