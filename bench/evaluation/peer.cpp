// SPDX-License-Identifier: Apache-2.0
#include "bench/evaluation/peer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <set>
#include <span>
#include <stdexcept>
#include <tuple>

#include "measure/spread_images.h"
#include "sextant/core/random.h"
#include "sextant/evaluate/evaluated_model.h"
#include "sextant/geometry/sample_mesh.h"
#include "sextant/io/bop_dataset.h"
#include "sextant/io/bop_models.h"
#include "sextant/io/bop_results.h"
#include "sextant/io/depth_file.h"
#include "sextant/io/file.h"
#include "sextant/io/ply.h"

namespace sextant::peers {

namespace {

namespace fs = std::filesystem;

struct Arguments {
  fs::path set, out;
  std::size_t first = 0, images = 0;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 == argc) throw std::invalid_argument(word + " wants a value");
      return argv[++i];
    };
    if (word == "--out") {
      arguments.out = value();
    } else if (word == "--first") {
      arguments.first = std::stoul(value());
    } else if (word == "--images") {
      arguments.images = std::stoul(value());
    } else if (word.starts_with("-") || !arguments.set.empty()) {
      throw std::invalid_argument("what is " + word + "?");
    } else {
      arguments.set = word;
    }
  }
  if (arguments.set.empty() || arguments.out.empty()) {
    throw std::invalid_argument("a data set and --out are needed");
  }
  return arguments;
}

std::vector<PeerModel> read_models(const fs::path& set) {
  std::vector<PeerModel> models;
  for (const BopModel& entry : read_bop_models(set / "models" / "models_info.json")) {
    TriangleMesh mesh = read_ply(bop_mesh_file(set / "models", entry.id), {.unit_m = 0.001});
    const bool is_cloud = mesh.triangles.empty() && mesh.vertices.normals.empty();
    // Models that are points get triangles here, to be sampled evenly.
    const EvaluatedModel model =
        make_evaluated_model(entry.id, std::move(mesh), entry.symmetries, entry.diameter_m);
    const MeshSamples samples =
        sample_mesh_apart(Context::cpu(), model.mesh, static_cast<float>(0.01 * model.diameter_m));
    PeerModel& peer = models.emplace_back();
    peer.object_id = entry.id;
    peer.diameter_m = model.diameter_m;
    const Vec3f middle = cast<float>(model.middle_m);
    for (std::int64_t i = 0; i < samples.size(); ++i) {
      const Vec3f &p = samples.points.data()[i], &n = samples.normals.data()[i];
      // Points without normals have triangles on both sides; those that face outwards are meant.
      if (is_cloud && dot(n, p - middle) < 0) continue;
      peer.surface.points.push_back(p);
      peer.surface.normals.push_back(n);
    }
  }
  return models;
}

struct SetImage {
  const BopScene* scene = nullptr;
  const BopImage* image = nullptr;
};

PeerFrame read_frame(const SetImage& entry) {
  const Image<float> depth = read_depth(bop_depth_file(*entry.scene, *entry.image),
                                        {.unit_m = entry.image->camera.depth_unit_m()});
  PeerFrame frame{entry.scene->id, entry.image->id, entry.image->camera.camera, {}};
  frame.camera.width = depth.width();
  frame.camera.height = depth.height();
  frame.points.reserve(static_cast<std::size_t>(depth.pixels().size()));
  for (int v = 0; v < depth.height(); ++v) {
    for (int u = 0; u < depth.width(); ++u) {
      const Vec2d pixel{static_cast<double>(u), static_cast<double>(v)};
      frame.points.push_back(cast<float>(unproject(frame.camera, pixel)) * depth(u, v));
    }
  }
  return frame;
}

using Cell = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
Cell cell_of(const Vec3f& p, double voxel_m) {
  const auto index = [&](float x) {
    return static_cast<std::int64_t>(std::floor(static_cast<double>(x) / voxel_m));
  };
  return {index(p.x), index(p.y), index(p.z)};
}

/// n · x = offset, n turned towards the camera.
struct Plane {
  Vec3f normal;
  float offset = 0;

  float before(const Vec3f& p) const { return dot(normal, p) - offset; }
};

bool plane_through(const Vec3f& a, const Vec3f& b, const Vec3f& c, Plane& plane) {
  const Vec3f n = cross(b - a, c - a);
  const float length = norm(n);
  if (!(length > 1e-8f)) return false;
  plane.normal = n / length;
  plane.offset = dot(plane.normal, a);
  if (plane.offset > 0) plane = {-plane.normal, -plane.offset};
  return true;
}

int recognize(int argc, char** argv, const MakeRecognizer& make) {
  const Arguments arguments = parse(argc, argv);
  std::vector<BopScene> scenes;
  for (const BopSceneFolder& folder : find_bop_scenes(arguments.set)) {
    scenes.push_back(read_bop_scene(folder));
  }
  std::vector<SetImage> images;
  for (const BopScene& scene : scenes) {
    for (const BopImage& image : scene.images) images.push_back({&scene, &image});
  }
  std::fprintf(stderr, "%s: learning the models of %s\n", argv[0], arguments.set.c_str());
  const std::unique_ptr<Recognizer> recognizer = make(read_models(arguments.set));
  std::vector<BopResult> results;
  std::string seconds = "scene_id,im_id,seconds\n";
  const auto chosen = measure::spread_images(images.size(), arguments.first, arguments.images);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const SetImage& entry = images[chosen[i]];
    if (!fs::is_directory(entry.scene->folder / "depth")) continue;
    const PeerFrame frame = read_frame(entry);
    const auto start = std::chrono::steady_clock::now();
    const std::vector<Found> found = recognizer->find(frame);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    for (const Found& report : found) {
      results.push_back({frame.scene, frame.image, report.object_id, report.score,
                         report.camera_from_object, time.count()});
    }
    seconds += std::to_string(frame.scene) + "," + std::to_string(frame.image) + "," +
               std::to_string(time.count()) + "\n";
    write_bop_results(arguments.out, results);
    write_file_atomically(arguments.out.string() + ".seconds", std::as_bytes(std::span(seconds)));
    std::fprintf(stderr, "%s: %zu of %zu, scene %d image %d: %zu reports in %.1f s\n", argv[0],
                 i + 1, chosen.size(), frame.scene, frame.image, found.size(), time.count());
  }
  write_bop_results(arguments.out, results);
  return 0;
}

}  // namespace

std::vector<Vec3f> near_enough(const PeerFrame& frame, double size_m) {
  constexpr double kLeastSpan_px = 40;
  const double farthest_m = size_m * frame.camera.fx_px / kLeastSpan_px;
  std::vector<Vec3f> points;
  for (const Vec3f& p : frame.points) {
    if (is_finite(p) && p.z > 0 && p.z < farthest_m) points.push_back(p);
  }
  return points;
}

std::vector<Vec3f> without_support(const PeerFrame& frame, double size_m) {
  std::vector<Vec3f> points = near_enough(frame, size_m);
  if (points.size() < 100) return points;
  const auto tolerance = static_cast<float>(0.06 * size_m);
  const std::size_t step = std::max<std::size_t>(1, points.size() / 5000);
  const auto on_plane = [&](const Plane& plane) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < points.size(); i += step) {
      count += std::abs(plane.before(points[i])) < tolerance ? 1 : 0;
    }
    return count;
  };
  Plane best;
  std::size_t most = 0;
  for (std::uint64_t trial = 0; trial < 500; ++trial) {
    const Random random{1, trial};
    const auto any = [&](std::uint64_t draw) {
      return points[random.below(static_cast<std::uint32_t>(points.size()), draw)];
    };
    Plane plane;
    if (!plane_through(any(0), any(1), any(2), plane)) continue;
    const std::size_t count = on_plane(plane);
    if (count > most) {
      most = count;
      best = plane;
    }
  }
  std::size_t before = 0, behind = 0;
  std::vector<Vec3f> rest;
  for (const Vec3f& p : points) {
    const float side = best.before(p);
    if (std::abs(side) < tolerance) continue;
    (side > 0 ? before : behind) += 1;
    rest.push_back(p);
  }
  const bool supports = most * step * 5 >= points.size() && before > behind;
  return supports ? rest : points;
}

double rounded_length(double length_m) {
  return std::exp2(std::round(2 * std::log2(length_m)) / 2);
}

std::vector<Vec3f> thinned(const std::vector<Vec3f>& points, double voxel_m) {
  std::set<Cell> taken;
  std::vector<Vec3f> rest;
  for (const Vec3f& p : points) {
    if (is_finite(p) && taken.insert(cell_of(p, voxel_m)).second) rest.push_back(p);
  }
  return rest;
}

OrientedPoints thinned(const OrientedPoints& points, double voxel_m) {
  std::set<Cell> taken;
  OrientedPoints rest;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!is_finite(points.points[i]) || !taken.insert(cell_of(points.points[i], voxel_m)).second) {
      continue;
    }
    rest.points.push_back(points.points[i]);
    rest.normals.push_back(points.normals[i]);
  }
  return rest;
}

int run(int argc, char** argv, const MakeRecognizer& make) {
  try {
    return recognize(argc, argv, make);
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "%s: %s\nusage: %s DATASET --out results.csv [--first I] [--images N]\n",
                 argv[0], error.what(), argv[0]);
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}

}  // namespace sextant::peers
