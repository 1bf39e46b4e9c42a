// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "corpus.h"
#include "sextant/io/file.h"
#include "sextant/io/obj.h"
#include "sextant/io/pcd.h"
#include "sextant/io/ply.h"
#include "sextant/io/vtk.h"

namespace sextant::fuzz {

namespace {

/// A small organised grid with everything that a mesh can have but a texture.
TriangleMesh make_mesh() {
  constexpr int kWidth = 4, kHeight = 3, kSize = kWidth * kHeight;
  const Context cpu = Context::cpu(1);
  TriangleMesh mesh;
  Cloud& cloud = mesh.vertices;
  cloud.points = Buffer<Vec3f>(cpu, kSize);
  cloud.normals = Buffer<Vec3f>(cpu, kSize);
  cloud.colors = Buffer<Rgb8>(cpu, kSize);
  cloud.attributes.push_back({"intensity", Buffer<float>(cpu, kSize)});
  cloud.attributes.push_back({"alpha", copy(cpu, std::vector<std::uint8_t>(kSize, 7))});
  cloud.attributes.push_back({"pair", copy(cpu, std::vector<double>(2 * kSize, 0.1)), 2});
  mesh.texture_coordinates = Buffer<Vec2f>(cpu, kSize);
  for (int i = 0; i < kSize; ++i) {
    const float t = static_cast<float>(i) / kSize;
    cloud.points.data()[i] = i == 5 ? Vec3f{NAN, NAN, NAN} : Vec3f{t, t * t, 1 - t};
    cloud.normals.data()[i] = {0, 0, -1};
    cloud.colors.data()[i] = {static_cast<std::uint8_t>(20 * i), 255, 0};
    cloud.attributes[0].get<float>().data()[i] = 100 * t;
    mesh.texture_coordinates.data()[i] = {t, 1 - t};
  }
  cloud.width = kWidth;
  cloud.height = kHeight;
  cloud.world_from_sensor = {exp_rotation(Vec3d{0.1, 0.2, 0.3}), {1, 2, 3}};
  mesh.triangles = copy(cpu, std::vector<Vec3i>{{0, 1, 4}, {4, 1, 5}, {2, 3, 6}});
  mesh.materials.emplace_back().name = "paint";
  return mesh;
}

/// Adds damaged versions of a file that a writer has just made.
void add_seeds(const std::filesystem::path& path) {
  const FileBytes bytes = read_file(path);
  write_seeds(path.parent_path(), path.filename().string(), bytes.span());
}

void write_ply_seeds(const std::filesystem::path& folder, const TriangleMesh& mesh) {
  for (const auto& choice : kPlyEncodings) {
    const std::filesystem::path path = folder / (std::string(choice.name) + ".ply");
    write_ply(path, mesh, {.encoding = choice.value});
    add_seeds(path);
  }
  write_seeds(folder, "grid.ply",
              "ply\r\nformat ascii 1.0\r\nobj_info num_cols 3\r\nobj_info num_rows 2\r\n"
              "element vertex 2\r\nproperty double x\r\nproperty short y\r\nproperty uchar z\r\n"
              "property list uchar float extra\r\nelement range_grid 6\r\n"
              "property list uchar int vertex_indices\r\nend_header\r\n"
              "0.5 -3 7 2 1 2\r\n1e-3 4 200 0\r\n0\r\n1 1\r\n0\r\n1 0\r\n0\r\n0\r\n");
  write_seeds(folder, "camera.ply",
              "ply\nformat ascii 1.0\ncomment TextureFile a.png\nelement vertex 4\n"
              "property float x\nproperty float y\nproperty float z\nproperty float r\n"
              "property float g\nproperty float b\nproperty uint rgba\nelement camera 1\n"
              "property float view_px\nproperty float view_py\nproperty float view_pz\n"
              "property float x_axisx\nproperty float x_axisy\nproperty float x_axisz\n"
              "property float y_axisx\nproperty float y_axisy\nproperty float y_axisz\n"
              "property float z_axisx\nproperty float z_axisy\nproperty float z_axisz\n"
              "property int viewportx\nproperty int viewporty\nelement tristrips 1\n"
              "property list int int vertex_indices\nend_header\n"
              "0 0 0 0 .5 1 7\n1 0 0 0 .5 1 7\n0 1 0 0 .5 1 7\nnan inf -inf 0 .5 1 7\n"
              "1 2 3 1 0 0 0 1 0 0 0 1 2 2\n6 0 1 2 -1 3 0\n");
}

void write_pcd_seeds(const std::filesystem::path& folder, const Cloud& cloud) {
  for (const auto& choice : kPcdEncodings) {
    const std::filesystem::path path = folder / (std::string(choice.name) + ".pcd");
    write_pcd(path, cloud, {.encoding = choice.value});
    add_seeds(path);
  }
  write_seeds(folder, "counts.pcd",
              "# .PCD v.5 - Point Cloud Data file format\nVERSION .5\nFIELDS x y z _ tag hist rgb\n"
              "SIZE 4 8 2 1 1 4 4\nTYPE F F I U U F F\nCOUNT 1 1 1 2 3 17 1\nWIDTH 1\nHEIGHT 1\n"
              "VIEWPOINT 0 0 0 1 0 0 0\nPOINTS 1\nDATA ascii\n"
              "1 2 3 0 0 4 5 6 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 4.2108e+06\n");
}

void write_obj_seeds(const std::filesystem::path& root, const TriangleMesh& mesh) {
  const std::filesystem::path folder = root / "obj";
  write_obj(folder / "mesh.obj", mesh);
  std::filesystem::create_directories(root / "mtl");
  std::filesystem::rename(folder / "mesh.mtl", root / "mtl" / "mesh.mtl");
  add_seeds(folder / "mesh.obj");
  add_seeds(root / "mtl" / "mesh.mtl");
  write_seeds(folder, "forms.obj",
              "# forms\nmtllib a.mtl\nv 0 0 0 1\nv 1 0 0 1 .5 0\nv 0 1 0\nv 1 1 nan\nvt 0\n"
              "vt 1 0\nvt .5 .5 0\nvn 0 0 1\nf 1 2 3 4\nusemtl a\nf -4 -3 -2\n"
              "f 1/1 2/2 3/3\nusemtl b c\nf 1//1 2//1 \\\n 3//1\nf 1/1/1 2/2/-1 3/3/1 4/1/1\n"
              "g group\ns off\nl 1 2\np 1\n");
  write_seeds(
      folder, "order.obj",
      "\xef\xbb\xbf# C:\\folder\\\nf 1/1/1 2/2/1 3/1/2\nf 1/2/2 3/2/2 2/1/1\nv 443527.31 \\\n"
      "5411873.62 0\nv 443527.32 5411873.62 0\nv 443527.31 5411873.63 0\nvt 0 0\nvt 1 1\n"
      "vn 0 0 1\nvn 1 0 0\n");
  write_seeds(root / "mtl", "options.mtl",
              "newmtl a\nKa 1 1 1\nKd .5\nmap_Kd -s 2 2 2 -o .5 -mm 0 1 -blendu on a file.png\n"
              "newmtl b c\nKd 1 0 0\nKd spectral x.rfl\nmap_Kd dir\\b.jpg\n");
}

void write_vtk_seeds(const std::filesystem::path& folder, const TriangleMesh& mesh) {
  write_vtk(folder / "mesh.vtk", mesh);
  add_seeds(folder / "mesh.vtk");
  const std::string points = "POINTS 4 double\n0 0 0 1 0 0 0 1 0 nan 1 1\n";
  write_seeds(
      folder, "arrays.vtk",
      "# vtk DataFile Version 3.0\ntitle\nASCII\nDATASET POLYDATA\n"
      "FIELD info 2\nt 1 1 int\n5\nnames 1 1 string\nsome name\n" +
          points +
          "VERTICES 1 2\n1 0\nLINES 1 3\n2 0 1\nTRIANGLE_STRIPS 1 5\n4 0 1 2 3\n"
          "CELL_DATA 3\nSCALARS a int\nLOOKUP_TABLE default\n1 2 3\nPOINT_DATA 4\n"
          "SCALARS c unsigned_char 4\nLOOKUP_TABLE default\n1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7\n"
          "VECTORS v float\n1 2 3 4 5 6 7 8 9 1 2 3\nFIELD f 1\nk 2 4 float\n"
          "1 2 3 4 5 6 7 8\n");
  write_seeds(folder, "version5.vtk",
              "# vtk DataFile Version 5.1\ntitle\nASCII\nDATASET POLYDATA\n" + points +
                  "METADATA\nINFORMATION 0\n\nPOLYGONS 2 4\nOFFSETS vtktypeint64\n0 4\n"
                  "CONNECTIVITY vtktypeint64\n0 1 2 3\n");
  std::string binary = "# vtk DataFile Version 4.2\nt\nBINARY\nDATASET POLYDATA\nPOINTS 3 float\n";
  binary += std::string(36, '?') + "\nPOLYGONS 1 4\n";
  binary += std::string("\0\0\0\3\0\0\0\0\0\0\0\1\0\0\0\2", 16) + "\nPOINT_DATA 3\n";
  binary += "SCALARS k short\nLOOKUP_TABLE default\nabcdef\nCOLOR_SCALARS rgb 3\n123456789\n";
  write_seeds(folder, "binary.vtk", binary);
}

void write_xyz_seeds(const std::filesystem::path& folder) {
  write_seeds(folder, "plain.xyz", "# a scan\n3\n1 2 3\n-4.5 5e-3 6\nnan inf 1e39\n");
  write_seeds(folder, "normals.xyz", "1 2 3 0 0 1 255 0 7\n4 5 6 1 0 0 1 2 3\n");
  write_seeds(folder, "names.csv", "// made by hand\nx,y,z,rgba,time,time2\n1,2,3,255,.5,1e20\n");
  write_seeds(folder, "map.xyz", "443527.31;5411873.62;312.4;9\n443527.32;5411873.61;312.5;8\n");
}

void write_bop_model_seeds(const std::filesystem::path& folder) {
  write_seeds(folder, "json.json",
              R"({"5":{"diameter":120.5,"min_x":-3,"min_y":-4,"min_z":-5,"size_x":6,"size_y":8,)"
              R"("size_z":10,"symmetries_discrete":[[1,0,0,2,0,-1,0,4,0,0,-1,6,0,0,0,1]],)"
              R"("symmetries_continuous":[{"axis":[0,0,1],"offset":[1,2,3]}]}})");
  write_seeds(folder, "yaml.yml",
              "1: {diameter: 102.1, min_x: -3, min_y: -4, min_z: -5, size_x: 6, size_y: 8, "
              "size_z: 10}\n");
}

}  // namespace

void write_geometry_corpus(const std::filesystem::path& root) {
  for (const char* name : {"ply", "pcd", "obj", "mtl", "vtk", "xyz", "bop_models"}) {
    std::filesystem::create_directories(root / name);
  }
  const TriangleMesh mesh = make_mesh();
  write_ply_seeds(root / "ply", mesh);
  write_pcd_seeds(root / "pcd", mesh.vertices);
  write_obj_seeds(root, mesh);
  write_vtk_seeds(root / "vtk", mesh);
  write_xyz_seeds(root / "xyz");
  write_bop_model_seeds(root / "bop_models");
}

}  // namespace sextant::fuzz
