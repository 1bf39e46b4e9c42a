// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sextant/depth/bilateral.h"
#include "sextant/depth/color_points.h"
#include "sextant/depth/deproject.h"
#include "sextant/depth/disparity.h"
#include "sextant/render/rasterize.h"
#include "sextant/surface/cloud_curvature.h"
#include "sextant/surface/cloud_normals.h"
#include "sextant/surface/cloud_segment.h"
#include "sextant/surface/normals.h"
#include "sextant/surface/triangulate.h"
#include "sextant/surface/voting.h"
#include "sextant/synth/sensor_noise.h"
#include "tests/meshes.h"
#include "tests/organised_scene.h"
#include "tests/steady_state.h"

// The _into forms of depth, surface, render and synth: inputs, options, outputs and a workspace
// come from the caller.

namespace sextant {
namespace {

constexpr int kWidth = 96, kHeight = 64;
constexpr std::int64_t kPixels = kWidth * kHeight;
const Camera kCamera{kWidth, kHeight, 100, 100, 47.5, 31.5, {}};
const Camera kDistorted{kWidth, kHeight, 100, 100, 47.5, 31.5, {0.1, 0, 0, 0, 0}};

/// A ball that is seen on one device, and room for what is made of it.
struct Frame {
  explicit Frame(const Context& device)
      : context(device),
        points(scene().on(context)),
        normals(estimate_normals(context, points)),
        depth_m(copy(context, depths())),
        disparity(copy(context, std::vector<std::uint16_t>(kPixels, 600)), kWidth, kHeight),
        colors(copy(context, std::vector<Rgb8>(kPixels)), kWidth, kHeight),
        rays(ray_table(context, kDistorted)),
        statistics(copy(
            context, std::vector<SurfaceStatistics>{surface_statistics(context, points, normals)})),
        cells(triangulate(context, points, normals, surface_statistics(context, points, normals))),
        grid(context, kPixels),
        curvature(estimate_curvature(context, points, normals)),
        cloud_curvature(estimate_cloud_curvature(context, points.pixels(), {}, {.radius_m = 0.1f})),
        votes(context, kPixels),
        labels(context, kWidth, kHeight),
        regions(context, region_capacity(kPixels, 50)),
        count(context, 1),
        triangles(context, 2 * (kWidth - 1) * (kHeight - 1)),
        ball(context, testing::sphere(0.3f, 20, 20)),
        cameras(copy(context, std::vector<Camera>{kCamera})),
        instances(
            copy(context, std::vector<Instance>{{0, 0, 7, {Mat3f::identity(), Vec3f{0, 0, 1}}}})) {
    pictures.width = kWidth;
    pictures.height = kHeight;
    pictures.views = 1;
  }

  static testing::OrganisedScene scene() {
    return testing::look_at(testing::SphereSurface{.radius_m = 0.3},
                            {.width = kWidth, .height = kHeight, .focal_px = 100});
  }
  static Image<float> depths() {
    Image<float> depth_m(Context::cpu(), kWidth, kHeight);
    std::size_t i = 0;
    for (const Vec3f& p : scene().points) depth_m.pixels().host()[i++] = p.z;
    return depth_m;
  }

  Context context;
  Image<Vec3f> points, normals;
  Image<float> depth_m;
  Image<std::uint16_t> disparity;
  Image<Rgb8> colors;
  Image<Vec2f> rays;
  Buffer<SurfaceStatistics> statistics;
  Image<std::uint8_t> cells;
  NeighbourGrid grid;
  Curvature curvature;
  CloudCurvature cloud_curvature;
  VotingResult votes;
  Image<std::int32_t> labels;
  Buffer<SurfaceRegion> regions;
  Buffer<std::int32_t> count;
  Buffer<Vec3i> triangles;
  RenderScene ball;
  Buffer<Camera> cameras;
  Buffer<Instance> instances;
  Rendering pictures;
  Image<float> other_depth_m{context, kWidth, kHeight};
  Image<Vec3f> other_points{context, kWidth, kHeight};
  Image<Rgb8> other_colors{context, kWidth, kHeight};
};

using Operation = testing::SteadyOperation<Frame>;

const Operation kDepthOperations[] = {
    {"bilateral filter",
     [](Frame& f, Workspace&) {
       bilateral_filter_into(f.context, f.depth_m, {}, f.other_depth_m);
     }},
    {"Kinect disparity",
     [](Frame& f, Workspace&) {
       depth_from_kinect_disparity_into(f.context, f.disparity, {}, f.other_depth_m);
     }},
    {"stereo disparity",
     [](Frame& f, Workspace&) {
       depth_from_stereo_disparity_into(f.context, f.depth_m, {}, f.other_depth_m);
     }},
    {"sensor noise",
     [](Frame& f, Workspace& workspace) {
       add_sensor_noise_into(f.context, f.depth_m, f.normals, kCamera, {}, 1, f.other_depth_m,
                             workspace);
     }},
    {"deproject",
     [](Frame& f, Workspace&) {
       deproject_into(f.context, f.depth_m, kDistorted, f.other_points.pixels());
     }},
    {"deproject with a ray table",
     [](Frame& f, Workspace&) {
       deproject_into(f.context, f.depth_m, f.rays, f.other_points.pixels());
     }},
    {"registered colours",
     [](Frame& f, Workspace&) {
       color_points_into(f.context, f.points.pixels(), f.colors, f.other_colors.pixels());
     }},
    {"projected colours",
     [](Frame& f, Workspace&) {
       color_points_into(f.context, f.points.pixels(), f.colors, {kCamera, {}},
                         f.other_colors.pixels());
     }},
    {"render",
     [](Frame& f, Workspace& workspace) {
       const RenderOptions all{.normals = true, .colors = true, .object_ids = true};
       render_into(f.context, f.ball, f.cameras, f.instances, all, f.pictures, workspace);
     }},
};

const Operation kImageOperations[] = {
    {"normals",
     [](Frame& f, Workspace&) { estimate_normals_into(f.context, f.points, {}, f.other_points); }},
    {"statistics",
     [](Frame& f, Workspace& workspace) {
       surface_statistics_into(f.context, f.points, f.normals, {}, f.statistics, workspace);
     }},
    {"triangulate",
     [](Frame& f, Workspace&) {
       triangulate_into(f.context, f.points, f.normals, f.statistics, {}, f.cells);
     }},
    {"triangle indices",
     [](Frame& f, Workspace& workspace) {
       triangle_indices_into(f.context, f.cells, f.triangles, f.count, workspace);
     }},
    {"curvature",
     [](Frame& f, Workspace& workspace) {
       Curvature& out = f.curvature;
       estimate_curvature_into(
           f.context, f.points, f.normals, {},
           {out.k1_per_m, out.k2_per_m, out.direction1, out.normals, out.points, out.valid},
           workspace);
     }},
    {"segment",
     [](Frame& f, Workspace& workspace) {
       segment_into(f.context, f.points, f.normals, {}, f.labels, f.regions, f.count, workspace);
     }},
    {"segment images with gaps",
     [](Frame& f, Workspace& workspace) {
       const auto part = [](auto image) {
         image.width = kWidth - 1;
         return image;
       };
       segment_into(f.context, part(f.points.view()), part(f.normals.view()), {.min_points = 64},
                    part(f.labels.view()),
                    f.regions.view().subview(0, region_capacity((kWidth - 1) * kHeight, 64)),
                    f.count, workspace);
     }},
};

/// The grid is built anew in each, as it is for each frame of a sensor.
void build(Frame& f, const NeighbourGridOptions& options) {
  build_neighbour_grid_into(f.context, f.points.pixels(), options, f.grid);
}

void vote_by(Frame& f, const VotingOptions& options, Workspace& workspace) {
  build(f, grid_options(options));
  vote_into(f.context, f.grid, f.points.pixels(), options, f.votes, workspace);
}

void find_normals(Frame& f, const CloudNormalsOptions& options) {
  build(f, grid_options(options));
  estimate_cloud_normals_into(f.context, f.grid, options, f.other_points.pixels());
}

const Operation kCloudOperations[] = {
    {"cloud normals", [](Frame& f, Workspace&) { find_normals(f, {.k = 15}); }},
    {"cloud normals within a radius",
     [](Frame& f, Workspace&) { find_normals(f, {.radius_m = 0.05f}); }},
    {"weighted cloud normals",
     [](Frame& f, Workspace&) {
       find_normals(f, {.method = CloudNormalsMethod::kWeighted, .sigma_m = 0.03f});
     }},
    {"cloud curvature",
     [](Frame& f, Workspace&) {
       const CloudCurvatureOptions options{.radius_m = 0.1f};
       CloudCurvature& out = f.cloud_curvature;
       build(f, grid_options(options));
       estimate_cloud_curvature_into(
           f.context, f.grid, f.normals.pixels(), options,
           {out.k1_per_m, out.k2_per_m, out.direction1, out.normals, out.points, out.valid});
     }},
    {"segment a cloud",
     [](Frame& f, Workspace& workspace) {
       build(f, NeighbourGridOptions::for_radius(0.05f));
       segment_cloud_into(f.context, f.grid, f.points.pixels(), f.normals.pixels(), {},
                          {.radius_m = 0.05f}, f.labels.pixels(), f.regions, f.count, workspace);
     }},
    {"vote", [](Frame& f, Workspace& workspace) { vote_by(f, {.sigma_m = 0.03f}, workspace); }},
    {"vote twice",
     [](Frame& f, Workspace& workspace) {
       vote_by(f, {.sigma_m = 0.03f, .second_pass = true}, workspace);
     }},
    {"vote by brute force",
     [](Frame& f, Workspace& workspace) {
       vote_by(f, {.sigma_m = 0.03f, .search = VoterSearch::kBruteForce}, workspace);
     }},
    {"vote at other places",
     [](Frame& f, Workspace& workspace) {
       const VotingOptions options{.sigma_m = 0.03f};
       build(f, grid_options(options));
       vote_at_into(f.context, f.grid, f.points.pixels(), f.normals.pixels(), options, f.votes,
                    workspace);
     }},
};

std::vector<Operation> all_operations() {
  std::vector<Operation> all;
  for (const auto& some :
       {std::span<const Operation>(kDepthOperations), std::span<const Operation>(kImageOperations),
        std::span<const Operation>(kCloudOperations)}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

TEST(SurfaceSteadyState, ASecondCallNeitherAllocatesNorWaits) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    Frame frame(context);
    testing::expect_steady_calls(frame, all_operations());
  }
}

TEST(SurfaceSteadyState, OneWorkspaceServesAllOperations) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    Frame frame(context);
    testing::expect_steady_sequence(frame, all_operations());
  }
}

}  // namespace
}  // namespace sextant
