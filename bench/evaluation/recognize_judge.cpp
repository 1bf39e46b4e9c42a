// SPDX-License-Identifier: Apache-2.0
// Judges recognition on frames with known poses: where right poses are lost, and what is reported.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "sextant/descriptor/point_samples.h"
#include "sextant/geometry/diameter.h"
#include "sextant/io/depth_file.h"
#include "sextant/io/geometry_file.h"
#include "sextant/recognize/recognizer.h"
#include "sextant/surface/cloud_normals.h"

using namespace sextant;
using nlohmann::json;

namespace {

Rigid3d pose_of(const json& j) {
  Rigid3d pose;
  for (int r = 0; r < 3; ++r) {
    pose.rotation.row[r] = {j[4 * r], j[4 * r + 1], j[4 * r + 2]};
  }
  pose.translation = {j[3], j[7], j[11]};
  return renormalized(pose);
}

struct Known {
  LearnedObject object;
  std::vector<Rigid3d> motions;
  bool nearest = false;  ///< judged by nearest points, where its symmetries are not told
};

Known make_known(const Context& context, const std::string& name, const json& j,
                 const std::string& root) {
  ReadOptions read;
  read.unit_m = j.value("unit", 1.0);
  Known known;
  known.object.name = name;
  TriangleMesh mesh = read_geometry(root + j["path"].get<std::string>(), read);
  if (j.contains("diameter")) {
    const double scale =
        j["diameter"].get<double>() / diameter_m(Context::cpu(), mesh.vertices.points);
    for (Vec3f& p : mesh.vertices.points.host()) p = p * static_cast<float>(scale);
  }
  if (j.contains("pre")) {
    const Rigid3f pre = cast<float>(pose_of(j["pre"]));
    for (Vec3f& p : mesh.vertices.points.host()) p = pre * p;
    if (!mesh.vertices.normals.empty()) {
      for (Vec3f& n : mesh.vertices.normals.host()) n = pre.rotation * n;
    }
  }
  if (mesh.triangles.empty() && mesh.vertices.normals.empty()) {
    Vec3d mean{};
    for (const Vec3f& p : mesh.vertices.points.host()) mean += cast<double>(p);
    const Vec3f middle = cast<float>(mean / static_cast<double>(mesh.vertices.size()));
    mesh.vertices.normals = estimate_cloud_normals(context, mesh.vertices.points, {});
    for (std::int64_t i = 0; i < mesh.vertices.size(); ++i) {
      Vec3f& n = mesh.vertices.normals.data()[i];
      if (dot(n, mesh.vertices.points.data()[i] - middle) < 0) n = -n;
    }
  }
  ModelSamples samples = sample_model(context, mesh);
  known.object.diameter_m = samples.diameter_m;
  known.object.samples.leaf_m = samples.leaf_m;
  known.object.samples.points = std::move(samples.samples.points);
  known.object.samples.normals = std::move(samples.samples.normals);
  const Bounds box = bounds(context, mesh.vertices.points);
  const Vec3f extent = box.high - box.low;
  const Vec3d middle = cast<double>((box.low + box.high) * 0.5f);
  known.motions.push_back({});
  if (j.contains("discrete")) {
    for (const json& motion : j["discrete"]) {
      known.object.shape_symmetries.discrete.push_back(pose_of(motion));
      known.motions.push_back(pose_of(motion));
    }
  }
  if (j.contains("axis")) {
    int axis = 2;
    const float xy = std::abs(extent.x - extent.y), yz = std::abs(extent.y - extent.z),
                xz = std::abs(extent.x - extent.z);
    if (yz < xy && yz < xz) axis = 0;
    if (xz < xy && xz < yz) axis = 1;
    known.object.shape_symmetries.continuous.push_back(
        {{axis == 0 ? 1.0 : 0.0, axis == 1 ? 1.0 : 0.0, axis == 2 ? 1.0 : 0.0}, middle});
    std::printf("%s: extents %.3f %.3f %.3f, axis %d\n", name.c_str(), extent.x, extent.y, extent.z,
                axis);
  }
  known.nearest = j.contains("axis") || j.contains("discrete_box") || j.contains("cube");
  known.object.mesh = std::move(mesh);
  return known;
}

/// Mean distance of the object's points in two poses, in diameters.
double difference(const Known& known, const Rigid3d& a, const Rigid3d& b) {
  const std::span<const Vec3f> points = known.object.samples.points.host();
  if (norm(a.translation - b.translation) > 3 * known.object.diameter_m) return 9;
  if (known.nearest) {
    std::vector<Vec3f> other;
    for (const Vec3f& p : points) other.push_back(cast<float>(b * cast<double>(p)));
    double sum = 0;
    int count = 0;
    for (std::size_t i = 0; i < points.size(); i += 4) {
      const Vec3f x = cast<float>(a * cast<double>(points[i]));
      float least = INFINITY;
      for (const Vec3f& q : other) least = std::min(least, norm_sq(x - q));
      sum += std::sqrt(least);
      ++count;
    }
    // Samples lie a leaf apart, so nearest ones of the same pose in other places are 0.03 D off.
    return sum / count / known.object.diameter_m * 2;
  }
  double least = 9;
  for (const Rigid3d& motion : known.motions) {
    const Rigid3d moved = b * motion;
    double sum = 0;
    for (const Vec3f& p : points) sum += norm(a * cast<double>(p) - moved * cast<double>(p));
    least = std::min(least, sum / static_cast<double>(points.size()) / known.object.diameter_m);
  }
  return least;
}

/// A cloud as a depth map of a camera that stands where it was seen from.
Image<float> virtual_depth(const std::vector<Vec3f>& points, const Camera& camera) {
  Image<float> depth(Context::cpu(), camera.width, camera.height);
  for (float& z : depth.pixels().host()) z = NAN;
  for (const Vec3f& p : points) {
    if (!is_finite(p) || !(p.z > 0)) continue;
    const Vec2d pixel = project(camera, cast<double>(p));
    const int u = static_cast<int>(std::lround(pixel.x)),
              v = static_cast<int>(std::lround(pixel.y));
    if (u < 0 || v < 0 || u >= camera.width || v >= camera.height) continue;
    float& z = depth(u, v);
    if (!(z <= p.z)) z = p.z;
  }
  return depth;
}

struct Tally {
  int frames = 0, instances = 0, voted = 0, refined = 0, pooled = 0, right = 0, wrong = 0,
      spurious = 0;
  double seconds = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: recognize_judge MANIFEST [set|all] [even|odd|both] [terms.csv]\n");
    return 2;
  }
  const json manifest = json::parse(std::ifstream(argv[1]));
  const std::string only = argc > 2 ? argv[2] : "all";
  const std::string half = argc > 3 ? argv[3] : "both";
  std::ofstream table;
  if (argc > 4) table.open(argv[4]);
  const Context context = Context::cpu();
  std::map<std::string, Known> known;
  std::map<std::string, std::unique_ptr<Recognizer>> recognizers;
  std::map<std::string, std::vector<std::string>> libraries;
  std::map<std::string, Tally> tallies;
  std::map<std::string, int> numbers;
  std::map<std::string, double> steps;
  for (const json& frame : manifest["frames"]) {
    const std::string set = frame["set"];
    const int number = numbers[set]++;
    if (only != "all" && only.find(set) == std::string::npos) continue;
    if ((half == "even" && number % 2) || (half == "odd" && number % 2 == 0)) continue;
    if (!recognizers.contains(set)) {
      std::vector<LearnedObject> objects;
      for (const json& name : frame["library"]) {
        const std::string n = name;
        known[n] = make_known(context, n, manifest["objects"][n], manifest["root"]);
        objects.push_back(make_known(context, n, manifest["objects"][n], manifest["root"]).object);
        libraries[set].push_back(n);
      }
      recognizers[set] = std::make_unique<Recognizer>(context, objects);
    }
    Image<float> depth;
    Camera camera;
    Rigid3d camera_from_file;
    if (frame.contains("depth")) {
      const json& c = frame["camera"];
      camera = {c[4], c[5], c[0], c[1], c[2], c[3], {}};
      DepthFileOptions read;
      read.unit_m = frame["unit"];
      depth = read_depth(frame["depth"].get<std::string>(), read);
    } else {
      ReadOptions read;
      read.unit_m = frame["unit"];
      const TriangleMesh cloud = read_geometry(frame["cloud"].get<std::string>(), read);
      std::vector<Vec3f> points(cloud.vertices.points.host().begin(),
                                cloud.vertices.points.host().end());
      if (frame.contains("organised")) {
        const json& c = frame["organised"];
        camera = {c[4], c[5], c[0], c[1], c[2], c[3], {}};
        depth = Image<float>(context, camera.width, camera.height);
        for (std::size_t i = 0; i < points.size(); ++i)
          depth.pixels().data()[i] = points[i].z > 0 ? points[i].z : NAN;
      } else {
        if (frame.contains("turn")) camera_from_file = pose_of(frame["turn"]);
        for (Vec3f& p : points) p = cast<float>(camera_from_file * cast<double>(p));
        Bounds box = bounds(context, view_of(points));
        if (box.low.z < 0.3f) {  // no camera stands at the origin: one at three extents away
          const float away = 1.0f - box.low.z;
          for (Vec3f& p : points) p.z += away;
          camera_from_file = Rigid3d{Mat3d::identity(), {0, 0, away}} * camera_from_file;
          box = bounds(context, view_of(points));
        }
        const double focal = 0.5 * (box.low.z + box.high.z) / 0.0013;
        double low_x = 9, high_x = -9, low_y = 9, high_y = -9;
        for (const Vec3f& p : points) {
          if (!is_finite(p)) continue;
          low_x = std::min(low_x, double(p.x / p.z));
          high_x = std::max(high_x, double(p.x / p.z));
          low_y = std::min(low_y, double(p.y / p.z));
          high_y = std::max(high_y, double(p.y / p.z));
        }
        camera = {static_cast<int>((high_x - low_x) * focal) + 3,
                  static_cast<int>((high_y - low_y) * focal) + 3,
                  focal,
                  focal,
                  1 - low_x * focal,
                  1 - low_y * focal,
                  {}};
        depth = virtual_depth(points, camera);
      }
    }
    RecognitionTrace trace;
    const std::clock_t begin = std::clock();
    const Recognition result = recognizers[set]->recognize(depth, camera, {}, &trace);
    const double ms = 1000.0 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    for (const StepTime& step : result.times) {
      steps[step.step] += step.ms;
    }
    struct Truth {
      std::string object;
      Rigid3d pose;
      bool voted = false, refined = false, pooled = false, found = false;
      double best = 0;
    };
    std::vector<Truth> truths;
    for (const json& t : frame["truth"]) {
      const std::string name = t["object"];
      if (known.contains(name)) truths.push_back({name, camera_from_file * pose_of(t["pose"])});
    }
    const auto limit = [&](const std::string& name) {
      return name == "dragon" ? 0.15 : name == "ape" ? 0.12 : 0.1;
    };
    const auto right = [&](std::int32_t index, const Rigid3d& pose, const Truth& truth) {
      const std::string& name = libraries[set][static_cast<std::size_t>(index)];
      return name == truth.object && difference(known[name], pose, truth.pose) < limit(name);
    };
    for (Truth& truth : truths) {
      for (const TracedPose& p : trace.voted)
        truth.voted |= right(p.object_index, p.camera_from_object, truth);
      for (const TracedPose& p : trace.refined)
        truth.refined |= right(p.object_index, p.camera_from_object, truth);
    }
    Tally& tally = tallies[set];
    int wrong = 0, spurious = 0;
    std::string line;
    const auto judge = [&](const Detection& d, bool accepted) {
      Truth* match = nullptr;
      bool same_place = false;
      for (Truth& truth : truths) {
        if (right(d.object_index, d.camera_from_object, truth)) {
          match = &truth;
          truth.pooled = true;
          if (d.score > truth.best) truth.best = d.score;
          if (accepted && !truth.found) break;
        }
        same_place |= truth.object == d.object &&
                      norm(truth.pose.translation - d.camera_from_object.translation) <
                          0.7 * known[d.object].object.diameter_m;
      }
      if (accepted) {
        if (match)
          match->found = true;
        else if (same_place)
          ++wrong;
        else
          ++spurious;
        char text[120];
        std::snprintf(text, sizeof text, " %s%s:%.2f",
                      match        ? "+"
                      : same_place ? "~"
                                   : "!",
                      d.object.c_str(), d.score);
        line += text;
      }
      if (table.is_open()) {
        const VerificationTerms& t = d.terms;
        table << set << ',' << frame["name"].get<std::string>() << ',' << d.object << ','
              << (match ? 1 : 0) << ',' << accepted << ',' << d.score << ',' << t.pixels << ','
              << t.supported << ',' << t.violated << ',' << t.occluded << ',' << t.no_data << ','
              << t.outside << ',' << t.normals << ',' << t.departs << ',' << t.flatness << ','
              << t.extent << ',' << t.outline << ',' << t.confirmed << ',' << t.continues << ','
              << t.falls_short << ',' << t.crease << ',' << t.hidden << ',' << t.unknown << ','
              << d.reason << '\n';
      }
    };
    for (const Detection& d : result.detections) judge(d, true);
    for (const Detection& d : result.rejected) judge(d, false);
    int voted = 0, refined = 0, pooled = 0, found = 0;
    for (const Truth& t : truths) {
      voted += t.voted;
      refined += t.refined;
      pooled += t.pooled;
      found += t.found;
    }
    std::printf(
        "%-8s %-8s %2zu instances: voted %2d refined %2d pooled %2d found %2d wrong %d false %d  "
        "%.1f s |%s\n",
        set.c_str(), frame["name"].get<std::string>().c_str(), truths.size(), voted, refined,
        pooled, found, wrong, spurious, ms / 1000, line.c_str());
    for (const StepTime& step : result.times) std::printf(" %s %.0f", step.step.c_str(), step.ms);
    std::printf("  votes: %zu\n", trace.voted.size());
    std::fflush(stdout);
    ++tally.frames;
    tally.instances += static_cast<int>(truths.size());
    tally.voted += voted;
    tally.refined += refined;
    tally.pooled += pooled;
    tally.right += found;
    tally.wrong += wrong;
    tally.spurious += spurious;
    tally.seconds += ms / 1000;
  }
  std::printf("\n%-8s frames instances voted refined pooled right wrong false s/frame\n", "set");
  for (const auto& [set, t] : tallies) {
    std::printf("%-8s %6d %9d %5d %7d %6d %5d %5d %5d %7.2f\n", set.c_str(), t.frames, t.instances,
                t.voted, t.refined, t.pooled, t.right, t.wrong, t.spurious, t.seconds / t.frames);
  }
  for (const auto& [step, ms] : steps) std::printf("%s %.0f ms\n", step.c_str(), ms);
  return 0;
}
