// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <numbers>

#include "apps/sextant/experiments/experiments.h"
#include "apps/sextant/experiments/peer.h"
#include "apps/sextant/experiments/real_curvature.h"
#include "sextant/depth/bilateral.h"
#include "sextant/depth/deproject.h"
#include "sextant/io/geometry_file.h"
#include "sextant/io/png.h"
#include "sextant/surface/curvature.h"
#include "sextant/surface/normals.h"
#include "sextant/surface/segment.h"

namespace sextant::app {

namespace {

namespace fs = std::filesystem;

/// Frames of one sensor that lie in the folder of captured data.
struct RealSet {
  const char* name;
  const char* folder;
  const char* ending;  ///< of the files that are depth maps, or organised clouds
  Camera camera;
  double unit_m;
};
const RealSet kSets[] = {
    {"Kinect, MOSD", "mosd_kinect", ".pcd", {640, 480, 525, 525, 319.5, 239.5, {}}, 0},
    {"Kinect, 7-Scenes", "rgbd_7scenes", ".depth.png", {640, 480, 585, 585, 320, 240, {}}, 1e-3},
    {"Kinect, LINEMOD",
     "linemod_ape/depth",
     ".png",
     {640, 480, 572.4114, 573.57043, 325.2611, 242.04899, {}},
     1e-3},
    {"Xtion, YCB-Video",
     "ycbv_frames/posecnn_demo",
     "-depth.png",
     {640, 480, 1066.778, 1067.487, 312.9869, 241.3109, {}},
     1e-4},
    {"Xtion, YCB-Video with labels",
     "ycbv_frames/frames_gt",
     "-depth.png",
     {640, 480, 1066.778, 1067.487, 312.9869, 241.3109, {}},
     1e-4},
    {"Xtion, IC-BIN", "icbin_cups", ".png", {640, 480, 571.9737, 571.0073, 319.5, 239.5, {}}, 1e-3},
    {"RealSense, packed bins",
     "densely_packed_bins",
     ".depth.png",
     {640, 480, 615.9578, 615.9578, 308.1099, 246.3335, {}},
     1.0 / 8000},
    {"RealSense, ViSP",
     "visp_rbt/depth",
     ".png",
     {640, 480, 607.1785, 607.2343, 321.3913, 241.9182, {}},
     1e-3},
};

struct RealFrame {
  Image<float> depth_m;
  std::vector<std::int32_t> object;  ///< of each pixel, 0 for unknown; empty without labels
};

fs::path data_folder() {
  const char* root = std::getenv("SEXTANT_SHARED_DATA");
  require(root != nullptr && fs::is_directory(root), "real-surfaces: set SEXTANT_SHARED_DATA to ",
          "the folder with the captured frames (mosd_kinect, rgbd_7scenes, linemod_ape, ",
          "ycbv_frames, visp_rbt)");
  return root;
}

std::vector<fs::path> frames_of(const RealSet& set, const fs::path& root) {
  std::vector<fs::path> files;
  if (!fs::is_directory(root / set.folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(root / set.folder)) {
    const bool is_color = entry.path().parent_path().filename() == "rgb";
    if (!is_color && entry.path().string().ends_with(set.ending)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// MOSD counts tables from 1 and gives each object ten numbers, for its faces.
RealFrame read_labelled(const fs::path& path) {
  const TriangleMesh mesh = read_geometry(path);
  const Cloud& cloud = mesh.vertices;
  RealFrame frame;
  frame.depth_m = Image<float>(Context::cpu(1), cloud.width, cloud.height);
  std::transform(cloud.points.host().begin(), cloud.points.host().end(),
                 frame.depth_m.pixels().host().begin(), [](const Vec3f& p) { return p.z; });
  for (const Attribute& attribute : cloud.attributes) {
    if (attribute.name != "label") continue;
    for (const float value : to_floats(attribute)) {
      const int label = static_cast<int>(value);
      frame.object.push_back(label <= 0 ? 0 : label < 10 ? 1 : label / 10);
    }
  }
  return frame;
}

RealFrame read_frame(const RealSet& set, const fs::path& path) {
  if (path.extension() == ".pcd") return read_labelled(path);
  RealFrame frame;
  frame.depth_m = read_depth_png(path, {.unit_m = set.unit_m});
  for (float& z_m : frame.depth_m.pixels().host()) {
    if (!(z_m > 0.1f && z_m < 20.0f)) z_m = NAN;  // some write 65535 for none
  }
  std::string labels = path.string();
  if (!labels.ends_with("-depth.png")) return frame;
  labels.replace(labels.size() - 10, 10, "-label.png");
  if (!fs::exists(labels)) return frame;
  const Image<Rgb8> image = read_png(labels);
  for (const Rgb8& color : image.pixels().host()) frame.object.push_back(color.x + 1);
  return frame;
}

Image<Vec3f> points_of(const Context& context, const Image<float>& depth_m, const Camera& camera) {
  Cloud cloud = deproject(context, copy(context, depth_m), camera);
  return Image<Vec3f>(std::move(cloud.points), depth_m.width(), depth_m.height());
}

/// Means over the pixels of large planes.
struct PlaneErrors {
  double raw_deg = 0, curved_deg = 0, filtered_deg = 0, pixels = 0;
  double peer_deg = 0, peer_pixels = 0, same_deg = 0;  ///< on the frame that the peer saw
  double bend_sq = 0, bent = 0;                        ///< curvatures, squared, and how many
  double seen = 0, on_planes = 0;
  int frames = 0, frames_with_plane = 0, mixtures = 0, labelled_frames = 0;
  std::vector<measure::Row> beside;  ///< curvature beside PCL's, on the frame that it saw
};

double angle_deg(const Vec3f& n, const Vec3f& m) {
  const Vec3d a = cast<double>(n), b = cast<double>(m);
  return std::atan2(norm(cross(a, b)), std::abs(dot(a, b))) * 180 / std::numbers::pi;
}

constexpr int kLeastPlanePixels = 15000;

/// How many regions have at least a fifth, and a hundred pixels, of a second object.
int count_mixtures(const std::vector<std::int32_t>& labels,
                   const std::vector<std::int32_t>& object) {
  std::map<std::int32_t, std::map<std::int32_t, int>> pixels;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] > 0 && object[i] > 0) ++pixels[labels[i]][object[i]];
  }
  int mixtures = 0;
  for (const auto& [label, counts] : pixels) {
    int all = 0, most = 0;
    for (const auto& [id, count] : counts) {
      all += count;
      most = std::max(most, count);
    }
    const int others = all - most;
    mixtures += others > 100 && 5 * others > all;
  }
  return mixtures;
}

/// PCL's normals of the whole frame within the radius that 7 × 7 pixels have at the mean depth.
std::optional<PeerResult> pcl_normals(const Image<Vec3f>& points, const Camera& camera) {
  Cloud cloud;
  cloud.points = copy(Context::cpu(), points.pixels());
  double depth_m = 0, count = 0;
  for (const Vec3f& p : cloud.points.host()) {
    if (!is_finite(p)) continue;
    depth_m += double{p.z};
    count += 1;
  }
  const double radius_m = 3.5 * depth_m / count / camera.fx_px;
  return run_pcl("normals", cloud, {"radius_m=" + std::to_string(radius_m)});
}

void add_frame(const Context& context, const RealSet& set, const RealFrame& frame, bool with_peer,
               PlaneErrors& errors) {
  const Image<Vec3f> points = points_of(context, frame.depth_m, set.camera);
  const Image<Vec3f> normals = estimate_normals(context, points);
  const Image<Vec3f> curved = estimate_normals(context, points, {.method = NormalsMethod::kCurved});
  const Segmentation found = segment(context, points, normals);
  const Image<float> depth_m = bilateral_filter(context, copy(context, frame.depth_m));
  const Image<Vec3f> smooth =
      estimate_normals(context, points_of(context, to_host(context, depth_m), set.camera));
  const Curvature curvature = estimate_curvature(context, points, normals);
  const std::vector<std::int32_t> labels = to_host(context, found.labels.pixels());
  const std::vector<Vec3f> p = to_host(context, points.pixels());
  const std::vector<Vec3f> raw = to_host(context, normals.pixels());
  const std::vector<Vec3f> raw_curved = to_host(context, curved.pixels());
  const std::vector<Vec3f> filtered = to_host(context, smooth.pixels());
  const std::vector<float> k1 = to_host(context, curvature.k1_per_m.pixels());
  const std::vector<float> k2 = to_host(context, curvature.k2_per_m.pixels());
  std::optional<PeerResult> peer;
  if (with_peer) peer = pcl_normals(to_host(context, points), set.camera);
  bool has_plane = false;
  std::vector<char> on_plane(labels.size(), 0);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (!is_finite(p[i])) continue;
    errors.seen += 1;
    if (labels[i] == 0) continue;
    const SurfaceRegion& region = found.regions[static_cast<std::size_t>(labels[i] - 1)];
    if (region.kind != SurfaceKind::kPlane || region.points < kLeastPlanePixels) continue;
    has_plane = true;
    on_plane[i] = 1;
    errors.on_planes += 1;
    if (std::isfinite(k1[i])) {
      errors.bend_sq += double{k1[i]} * double{k1[i]} + double{k2[i]} * double{k2[i]};
      errors.bent += 1;
    }
    if (!is_finite(raw[i]) || !is_finite(filtered[i])) continue;
    errors.raw_deg += angle_deg(raw[i], region.normal);
    errors.curved_deg += angle_deg(raw_curved[i], region.normal);
    errors.filtered_deg += angle_deg(filtered[i], region.normal);
    errors.pixels += 1;
    if (!peer) continue;
    const Vec3f n{peer->value(i, 0), peer->value(i, 1), peer->value(i, 2)};
    if (!is_finite(n)) continue;
    errors.peer_deg += angle_deg(n, region.normal);
    errors.same_deg += angle_deg(raw[i], region.normal);
    errors.peer_pixels += 1;
  }
  if (with_peer) {
    Cloud cloud;
    cloud.points = copy(Context::cpu(), p);
    cloud.width = points.width();
    cloud.height = points.height();
    PrincipalCurvatures ours(0);
    ours.k1_per_m = k1;
    ours.k2_per_m = k2;
    compare_on_planes(cloud, on_plane, ours, std::string(", ") + set.name, errors.beside);
  }
  ++errors.frames;
  errors.frames_with_plane += has_plane;
  if (frame.object.empty()) return;
  ++errors.labelled_frames;
  errors.mixtures += count_mixtures(labels, frame.object);
}

void add_rows(const RealSet& set, const PlaneErrors& e, std::vector<measure::Row>& rows) {
  const std::string of = std::string(", ") + set.name;
  const auto add = [&](const std::string& what, const char* unit, double ours,
                       std::optional<double> peer = {}, std::optional<double> goal = {},
                       std::optional<bool> met = {}) {
    rows.push_back({what + of, unit, peer, ours, goal, met});
  };
  add("frames with a plane of 15 000 pixels", "%", 100.0 * e.frames_with_plane / e.frames, {}, 100,
      e.frames_with_plane == e.frames);
  add("points on such planes", "%", 100 * e.on_planes / e.seen);
  if (e.labelled_frames > 0) {
    add("regions that mix two objects, in " + std::to_string(e.labelled_frames) + " frames", "",
        e.mixtures, {}, 0, e.mixtures == 0);
  }
  add("mean error of normals on planes, raw", "deg", e.raw_deg / e.pixels);
  add("mean error of normals on planes, raw, curved", "deg", e.curved_deg / e.pixels);
  add("mean error of normals on planes, filtered", "deg", e.filtered_deg / e.pixels);
  if (e.peer_pixels > 0) {
    const double peer = e.peer_deg / e.peer_pixels, ours = e.same_deg / e.peer_pixels;
    add("the same in the first frame, raw, PCL within the same radius", "deg", ours, peer, peer,
        ours <= peer);
  }
  add("RMS curvature on planes", "1/m", std::sqrt(e.bend_sq / (2 * e.bent)));
  rows.insert(rows.end(), e.beside.begin(), e.beside.end());
  add("pixels of planes with a curvature", "%", 100 * e.bent / e.on_planes);
}

}  // namespace

/// Frames of real sensors: what is known there are planes, which have one normal and no curvature,
/// and objects that somebody has labelled.
std::vector<measure::Row> real_surfaces(const Context& context) {
  const fs::path root = data_folder();
  std::vector<measure::Row> rows;
  for (const RealSet& set : kSets) {
    PlaneErrors errors;
    bool is_first = true;
    for (const fs::path& path : frames_of(set, root)) {
      add_frame(context, set, read_frame(set, path), is_first, errors);
      is_first = false;
    }
    if (errors.frames > 0) add_rows(set, errors, rows);
  }
  add_can_rows(context, root, rows);
  require(!rows.empty(), "real-surfaces: ", root.string(), " has none of the sets");
  return rows;
}

}  // namespace sextant::app
