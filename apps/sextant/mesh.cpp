// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "apps/sextant/command/command.h"
#include "apps/sextant/command/files.h"
#include "apps/sextant/command/options_cli.h"
#include "apps/sextant/input/sensor_cloud.h"
#include "apps/sextant/input/surface_input.h"
#include "apps/sextant/subcommands.h"
#include "sextant/geometry/mesh.h"
#include "sextant/io/image_file.h"
#include "sextant/surface/surface_operations.h"

namespace sextant::app {

namespace {

struct MeshCommand {
  CommonOptions common;
  SurfaceInput input;
  NormalsOptions normals;
  StatisticsOptions statistics;
  TriangulateOptions triangulate;
  std::string output;
  std::string picture;
};

/// Which points some triangle uses.
std::vector<char> used_points(const Buffer<Vec3i>& triangles, std::int64_t points) {
  std::vector<char> used(static_cast<std::size_t>(points), 0);
  for (const Vec3i& t : triangles.host()) {
    for (const std::int32_t i : {t.x, t.y, t.z}) used[static_cast<std::size_t>(i)] = 1;
  }
  return used;
}

template <class T>
Buffer<T> kept(const Buffer<T>& from, const std::vector<char>& used, std::int64_t components = 1) {
  std::vector<T> to;
  for (std::size_t i = 0; i < used.size() && !from.empty(); ++i) {
    const T* first = from.data() + static_cast<std::int64_t>(i) * components;
    if (used[i]) to.insert(to.end(), first, first + components);
  }
  return copy(Context::cpu(), to);
}

Attribute kept(const Attribute& from, const std::vector<char>& used) {
  return {from.name,
          std::visit([&](const auto& numbers)
                         -> AttributeValues { return kept(numbers, used, from.components); },
                     from.values),
          from.components};
}

/// The mesh without the points that no triangle uses, of which a depth map has many.
TriangleMesh compact(const Cloud& cloud, const Buffer<Vec3i>& triangles,
                     const std::vector<char>& used) {
  TriangleMesh mesh;
  mesh.vertices.points = kept(cloud.points, used);
  mesh.vertices.normals = kept(cloud.normals, used);
  mesh.vertices.colors = kept(cloud.colors, used);
  for (const Attribute& attribute : cloud.attributes) {
    mesh.vertices.attributes.push_back(kept(attribute, used));
  }
  mesh.vertices.world_from_sensor = cloud.world_from_sensor;
  mesh.vertices.origin_m = cloud.origin_m;
  std::vector<std::int32_t> new_index(used.size(), 0);
  std::int32_t next = 0;
  for (std::size_t i = 0; i < used.size(); ++i) {
    new_index[i] = next;
    next += used[i];
  }
  mesh.triangles = Buffer<Vec3i>(Context::cpu(), triangles.size());
  std::transform(triangles.host().begin(), triangles.host().end(), mesh.triangles.host().begin(),
                 [&](const Vec3i& t) {
                   const auto at = [&](std::int32_t i) {
                     return new_index[static_cast<std::size_t>(i)];
                   };
                   return Vec3i{at(t.x), at(t.y), at(t.z)};
                 });
  return mesh;
}

/// The meshed pixels as a lamp beside the camera shows them; the others black.
Image<Rgb8> picture_of(const Cloud& cloud, const Vec3f& camera_m, const std::vector<char>& used) {
  Image<Rgb8> picture(Context::cpu(), cloud.width, cloud.height);
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) {
      picture.pixels().host()[i] = {};
      continue;
    }
    const float facing =
        -dot(cloud.normals.host()[i], normalized(cloud.points.host()[i] - camera_m));
    const auto level = static_cast<std::uint8_t>(std::clamp(40.0f + 215.0f * facing, 0.0f, 255.0f));
    picture.pixels().host()[i] = {level, level, level};
  }
  return picture;
}

/// What was measured and what an edge had to satisfy.
nlohmann::json to_json(const SurfaceStatistics& s, const EdgeLimits& limits) {
  return {{"median_link_m", s.median_link_m},
          {"resolution_m", s.resolution_m},
          {"distance_deviation_m", s.distance_deviation_m},
          {"measured_max_edge_m", s.max_edge_m},
          {"max_edge_m", limits.max_edge_m},
          {"max_edge_steps", limits.max_edge_steps},
          {"mean_angle_rad", s.mean_angle_rad},
          {"angle_deviation_rad", s.angle_deviation_rad},
          {"measured_max_angle_rad", s.max_angle_rad},
          {"max_angle_rad", limits.max_angle_rad},
          {"view_angle_rad", limits.view_angle_rad}};
}

void run(const MeshCommand& command) {
  const Context context = context_for(command.common);
  StepTimes times;
  Surface surface = read_surface_input(context, command.input, times);
  require_organised(surface, command.input.file);
  require(has_camera_rows(context, surface), command.input.file,
          ": its rows are not those of a camera, so there is no surface between its pixels");
  times.time("normals", context,
             [&] { estimate_normals(context, surface, {.organised = command.normals}); });
  const SurfaceStatistics statistics = times.time("triangulate", context, [&] {
    return triangulate(context, surface, command.triangulate, command.statistics);
  });
  const Buffer<Vec3i> triangles = to_host_buffer(
      context, times.time("indices", context, [&] { return triangles_of(context, surface); }));
  const Cloud on_host = to_host(context, surface);
  const std::vector<char> used = used_points(triangles, on_host.size());
  const auto vertices = std::count(used.begin(), used.end(), 1);
  Result result;
  result.document = {
      {"input", command.input.file},
      {"device", to_string(context.device())},
      {"points", on_host.size()},
      {"rows", rows_to_json(surface)},
      {"vertices", vertices},
      {"triangles", triangles.size()},
      {"statistics", to_json(statistics, edge_limits(statistics, command.triangulate))},
      {"times_ms", times.to_json()}};
  result.text = fmt::format("{}: {} triangles over {} of {} points, {:.2f} mm apart ({})\n",
                            command.input.file, triangles.size(), vertices, on_host.size(),
                            1000 * statistics.resolution_m, times.text());
  if (!command.picture.empty()) {
    write_image(command.picture, picture_of(on_host, viewpoint_or_sensor(surface, {}), used));
    result.wrote("picture", command.picture);
  }
  if (!command.output.empty()) {
    write_geometry_noting(command.output, compact(on_host, triangles, used));
    result.wrote("output", command.output);
  }
  print_result(command.common, result);
}

}  // namespace

void add_mesh(CLI::App& app) {
  auto state = std::make_shared<MeshCommand>();
  CLI::App* command =
      add_command(app, "mesh", "The surface between the pixels of a depth map or organised cloud",
                  "sextant mesh depth.png --camera camera.json -o surface.ply --picture shaded.png",
                  state->common);
  add_surface_input(*command, state->input);
  command->add_option("-o,--output", state->output, "mesh with normals (PLY, OBJ, VTK)");
  command->add_option("--picture", state->picture, "image of the meshed pixels, shaded");
  add_flags(*command, state->normals);
  add_flags(*command, state->statistics);
  add_flags(*command, state->triangulate);
  command->callback([state, command]() {
    require_an_output({state->output, state->picture}, "--output or --picture");
    check_files(input_files(state->input), {{"--output", state->output, kMeshFiles},
                                            {"--picture", state->picture, kPictureFiles}});
    if (state->triangulate.edge_length == EdgeLength::kFrame) {
      refuse_flags(*command, {"--edge-steps-per-m"}, "it belongs to --edge-length local");
    }
    run(*state);
  });
}

}  // namespace sextant::app
