// SPDX-License-Identifier: Apache-2.0
// Frames of real sensors in which somebody has labelled the objects.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "sextant/depth/deproject.h"
#include "sextant/io/geometry_file.h"
#include "sextant/io/png.h"
#include "sextant/surface/normals.h"
#include "sextant/surface/segment.h"
#include "tests/devices.h"
#include "tests/shared_data.h"

namespace sextant {
namespace {

/// Points of a real frame and the object that each belongs to: 0 unknown, 1 the table or nothing
/// known, else an object.
struct LabelledFrame {
  int width = 0, height = 0;
  std::vector<Vec3f> points;
  std::vector<int> object;
};

/// The labels count tables from 1, and give each object ten numbers for its faces.
LabelledFrame read_labelled_cloud(const std::filesystem::path& path) {
  const TriangleMesh mesh = read_geometry(path);
  const Cloud& cloud = mesh.vertices;
  LabelledFrame frame{cloud.width, cloud.height, {}, {}};
  frame.points.assign(cloud.points.host().begin(), cloud.points.host().end());
  for (const Attribute& attribute : cloud.attributes) {
    if (attribute.name != "label") continue;
    for (const float value : to_floats(attribute)) {
      const int label = static_cast<int>(value);
      frame.object.push_back(label <= 0 ? 0 : label < 10 ? 1 : label / 10);
    }
  }
  return frame;
}

LabelledFrame read_labelled_depth(const std::filesystem::path& depth,
                                  const std::filesystem::path& labels, const Camera& camera,
                                  double unit_m) {
  const Context host = Context::cpu(1);
  const Image<float> depth_m = read_depth_png(depth, {.unit_m = unit_m});
  const Cloud cloud = deproject(host, depth_m, camera);
  LabelledFrame frame{depth_m.width(), depth_m.height(), {}, {}};
  frame.points.assign(cloud.points.host().begin(), cloud.points.host().end());
  if (!labels.empty()) {
    const Image<Rgb8> image = read_png(labels);
    for (const Rgb8& color : image.pixels().host()) frame.object.push_back(color.x + 1);
  }
  return frame;
}

Segmentation segment_frame(const Context& context, const LabelledFrame& frame) {
  const Image<Vec3f> points(copy(context, frame.points), frame.width, frame.height);
  return segment(context, points, estimate_normals(context, points));
}

/// A region mixes two objects when a fifth of it, and no mere rim of 100 pixels, belongs to a
/// second one, or when it takes a fifth of a second one away.
void expect_no_mixture(const LabelledFrame& frame, const std::vector<std::int32_t>& labels) {
  std::map<int, std::map<int, int>> pixels;
  std::map<int, int> of_object;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (frame.object[i] == 0 || !is_finite(frame.points[i])) continue;
    ++of_object[frame.object[i]];
    if (labels[i] > 0) ++pixels[labels[i]][frame.object[i]];
  }
  for (const auto& [label, counts] : pixels) {
    int all = 0;
    std::pair<int, int> most{0, 0};
    for (const auto& [object, count] : counts) {
      all += count;
      if (count > most.second) most = {object, count};
    }
    for (const auto& [object, count] : counts) {
      if (object == most.first) continue;
      EXPECT_FALSE((count > 100 && 5 * count > all) ||
                   (count > 200 && 5 * count > of_object[object]))
          << "region " << label << " of " << all << " pixels, most of object " << most.first
          << ", has " << count << " of object " << object << " with " << of_object[object];
    }
  }
}

/// The largest flat region covers a good part of what is labelled as the table.
void expect_table(const LabelledFrame& frame, const std::vector<std::int32_t>& labels,
                  const std::vector<SurfaceRegion>& regions, double least_share) {
  std::map<int, int> pixels;
  int table = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (!is_finite(frame.points[i]) || (!frame.object.empty() && frame.object[i] != 1)) continue;
    ++table;
    if (labels[i] > 0) ++pixels[labels[i]];
  }
  int most = 0;
  for (const auto& [label, count] : pixels) {
    const SurfaceRegion& region = regions[static_cast<std::size_t>(label - 1)];
    if (region.kind == SurfaceKind::kPlane) most = std::max(most, count);
  }
  EXPECT_GT(most, least_share * table);
}

TEST(SegmentRealFrames, KinectTablesAreFoundAndNoTwoObjectsAreOne) {
  const auto folder = testing::shared_data("mosd_kinect");
  if (!folder) GTEST_SKIP() << "the captured scenes are not here";
  int frames = 0;
  for (const auto& entry : std::filesystem::directory_iterator(*folder)) {
    if (entry.path().extension() != ".pcd") continue;
    const LabelledFrame frame = read_labelled_cloud(entry.path());
    ASSERT_FALSE(frame.object.empty()) << entry.path();
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(entry.path().string() + " " + testing::describe(context));
      const Segmentation found = segment_frame(context, frame);
      const std::vector<std::int32_t> labels = to_host(context, found.labels.pixels());
      expect_no_mixture(frame, labels);
      expect_table(frame, labels, found.regions, 0.9);
      ++frames;
    }
  }
  EXPECT_GT(frames, 0);
}

const Camera kYcbCamera{640, 480, 1066.778, 1067.487, 312.9869, 241.3109, {}};

TEST(SegmentRealFrames, YcbObjectsStayApart) {
  const auto folder = testing::shared_data("ycbv_frames/frames_gt");
  if (!folder) GTEST_SKIP() << "the captured frames are not here";
  const LabelledFrame frame = read_labelled_depth(*folder / "000001-depth.png",
                                                  *folder / "000001-label.png", kYcbCamera, 1e-4);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Segmentation found = segment_frame(context, frame);
    expect_no_mixture(frame, to_host(context, found.labels.pixels()));
  }
}

TEST(SegmentRealFrames, YcbTablesAreFound) {
  const auto folder = testing::shared_data("ycbv_frames/posecnn_demo");
  if (!folder) GTEST_SKIP() << "the captured frames are not here";
  for (const auto& entry : std::filesystem::directory_iterator(*folder)) {
    if (!entry.path().filename().string().ends_with("-depth.png")) continue;
    const LabelledFrame frame = read_labelled_depth(entry.path(), {}, kYcbCamera, 1e-4);
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(entry.path().string() + " " + testing::describe(context));
      const Segmentation found = segment_frame(context, frame);
      // A quarter of the frame at least is table or floor in all of them.
      expect_table(frame, to_host(context, found.labels.pixels()), found.regions, 0.25);
    }
  }
}

/// Frames without labels in which a table, a board or a wall is seen.
struct TableSet {
  const char* folder;
  const char* ending;
  Camera camera;
  double unit_m;
};
const TableSet kTableSets[] = {
    {"linemod_ape/depth", ".png", {640, 480, 572.4114, 573.57043, 325.2611, 242.04899, {}}, 1e-3},
    {"rgbd_7scenes", ".depth.png", {640, 480, 585, 585, 320, 240, {}}, 1e-3},
    {"icbin_cups", ".png", {640, 480, 571.9737, 571.0073, 319.5, 239.5, {}}, 1e-3},
    {"visp_rbt/depth", ".png", {640, 480, 607.1785, 607.2343, 321.3913, 241.9182, {}}, 1e-3},
    {"densely_packed_bins",
     ".depth.png",
     {640, 480, 615.9578, 615.9578, 308.1099, 246.3335, {}},
     1.0 / 8000},
};

TEST(SegmentRealFrames, AFlatSurfaceIsFoundInEveryFrameOfEverySet) {
  const Context context = Context::cpu();
  int frames = 0;
  for (const TableSet& set : kTableSets) {
    const auto folder = testing::shared_data(set.folder);
    if (!folder) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(*folder)) {
      const std::string path = entry.path().string();
      if (!path.ends_with(set.ending) || path.find("rgb/") != std::string::npos) continue;
      SCOPED_TRACE(path);
      LabelledFrame frame = read_labelled_depth(path, {}, set.camera, set.unit_m);
      for (Vec3f& p : frame.points) {
        if (!(p.z < 20.0f)) p = {NAN, NAN, NAN};  // some write 65535 for none
      }
      const Segmentation found = segment_frame(context, frame);
      // On the smallest, a white board in the infrared of a stereo sensor falls into pieces.
      const auto is_flat = [](const SurfaceRegion& region) {
        return region.kind == SurfaceKind::kPlane && region.points >= 12'000;
      };
      EXPECT_TRUE(std::any_of(found.regions.begin(), found.regions.end(), is_flat));
      ++frames;
    }
  }
  if (frames == 0) GTEST_SKIP() << "the captured frames are not here";
}

}  // namespace
}  // namespace sextant
