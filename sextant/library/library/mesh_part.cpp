// SPDX-License-Identifier: Apache-2.0
#include "sextant/library/library/mesh_part.h"

#include <nlohmann/json.hpp>

#include "sextant/io/json_file.h"
#include "sextant/io/png.h"

namespace sextant::detail::library {

namespace {

template <class T>
void add_if_any(ArrayWriter& out, const char* name, const Buffer<T>& elements) {
  if (!elements.empty()) out.add(name, elements);
}

std::span<const std::uint8_t> bytes_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

void write_materials(const std::vector<Material>& materials, ArrayWriter& out) {
  nlohmann::json list = nlohmann::json::array();
  for (const Material& m : materials) {
    const Vec3d diffuse = cast<double>(m.diffuse);
    list.push_back({{"name", m.name},
                    {"texture_file", m.texture_file},
                    {"diffuse", {diffuse.x, diffuse.y, diffuse.z}},
                    {"textured", !m.texture.empty()}});
  }
  const std::string text = list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  out.add("materials", bytes_of(std::as_bytes(std::span(text))));
  for (std::size_t i = 0; i < materials.size(); ++i) {
    if (materials[i].texture.empty()) continue;
    const std::string array = "texture" + std::to_string(i);
    out.add(array, bytes_of(encode_png(materials[i].texture.view(), array)));
  }
}

Vec3f diffuse_of(const nlohmann::json& entry, const std::string& name) {
  const nlohmann::json value = entry.value("diffuse", nlohmann::json());
  float numbers[3] = {};
  bool right = value.is_array() && value.size() == 3;
  for (std::size_t i = 0; right && i < 3; ++i) {
    right = value[i].is_number();
    if (right) numbers[i] = value[i].get<float>();
  }
  require(right, name, ": a material without a diffuse colour");
  return {numbers[0], numbers[1], numbers[2]};
}

std::vector<Material> read_materials(const ArrayReader& in) {
  std::vector<Material> materials;
  if (!in.has("materials")) return materials;
  const Buffer<std::uint8_t> text = in.read<std::uint8_t>("materials");
  const nlohmann::json list = parse_json(
      {reinterpret_cast<const char*>(text.data()), static_cast<std::size_t>(text.size())},
      in.name() + ", materials");
  require(list.is_array(), in.name(), ": its materials are no list");
  for (const nlohmann::json& entry : list) {
    const auto text_of = [&](const char* key) {
      const bool there = entry.is_object() && entry.contains(key) && entry[key].is_string();
      require(there, in.name(), ": a material without ", key);
      return entry[key].get<std::string>();
    };
    Material m;
    m.name = text_of("name");
    m.texture_file = text_of("texture_file");
    m.diffuse = diffuse_of(entry, in.name());
    const std::string array = "texture" + std::to_string(materials.size());
    if (in.has(array)) {
      const Buffer<std::uint8_t> png = in.read<std::uint8_t>(array);
      m.texture = read_png(std::as_bytes(png.host()), in.name() + ", " + array);
    }
    materials.push_back(std::move(m));
  }
  return materials;
}

}  // namespace

void write_mesh(const TriangleMesh& mesh, ArrayWriter& out) {
  out.add_number("origin_m", mesh.vertices.origin_m);
  out.add("points", mesh.vertices.points);
  add_if_any(out, "normals", mesh.vertices.normals);
  add_if_any(out, "colors", mesh.vertices.colors);
  add_if_any(out, "triangles", mesh.triangles);
  add_if_any(out, "texture_coordinates", mesh.texture_coordinates);
  add_if_any(out, "texture_triangles", mesh.texture_triangles);
  add_if_any(out, "corner_normals", mesh.corner_normals);
  add_if_any(out, "normal_triangles", mesh.normal_triangles);
  add_if_any(out, "triangle_materials", mesh.triangle_materials);
  if (!mesh.materials.empty()) write_materials(mesh.materials, out);
}

TriangleMesh read_mesh(const ArrayReader& in) {
  TriangleMesh mesh;
  mesh.vertices.origin_m = in.read_number<Vec3d>("origin_m");
  mesh.vertices.points = in.read<Vec3f>("points");
  mesh.vertices.normals = in.read<Vec3f>("normals");
  mesh.vertices.colors = in.read<Rgb8>("colors");
  mesh.triangles = in.read<Vec3i>("triangles");
  mesh.texture_coordinates = in.read<Vec2f>("texture_coordinates");
  mesh.texture_triangles = in.read<Vec3i>("texture_triangles");
  mesh.corner_normals = in.read<Vec3f>("corner_normals");
  mesh.normal_triangles = in.read<Vec3i>("normal_triangles");
  mesh.triangle_materials = in.read<std::int32_t>("triangle_materials");
  mesh.materials = read_materials(in);
  return mesh;
}

}  // namespace sextant::detail::library
