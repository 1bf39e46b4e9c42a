// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "corpus.h"
#include "sextant/io/bop_results.h"
#include "sextant/io/file.h"
#include "sextant/io/moped_model.h"
#include "sextant/io/rig_json.h"

namespace sextant::fuzz {

using namespace std::string_view_literals;

namespace {

void write_moped_seeds(const std::filesystem::path& folder) {
  MopedModel model;
  model.name = "a & b";
  for (int i = 0; i < 2; ++i) {
    model.points_m.push_back({0.25f, -1, 1e-3f});
    model.views.push_back(3);
    model.errors_px.push_back(0.5f);
    model.colors.push_back({1, 2, 3});
    model.descriptors.insert(model.descriptors.end(), kMopedDescriptorLength,
                             static_cast<std::uint8_t>(45 + i));
  }
  std::filesystem::create_directories(folder);
  write_moped_models(folder / "model.moped.xml", std::span(&model, 1));
  write_seeds(folder, "model.moped.xml", read_file(folder / "model.moped.xml").span());
  write_seeds(folder, "other.moped.xml",
              "<?xml version='1.0'?><!-- c --><Model name='&#65;&lt;'><Openrave><name/></Openrave>"
              "<Points><Point p3d='1;2;3;' desc_type='SURF' desc='1 2'/><Point desc_type='SIFT' "
              "p3d='1 2 3' desc=''><Observation loc='1 2 3 4'/></Point></Points></Model>"sv);
}

void write_camera_seeds(const std::filesystem::path& folder) {
  write_seeds(folder, "opencv.yml",
              "%YAML:1.0\n---\nimage_width: 640\nimage_height: 480\nM1: !!opencv-matrix\n"
              "   rows: 3\n   cols: 3\n   dt: d\n   data: [ 5e2, 0., 3e2, 0.,\n     5e2, 2e2, 0., "
              "0., 1. ]\nD1: !!opencv-matrix\n   rows: 1\n   cols: 4\n   data: [.1, 0, 0, 0]\n"sv);
  write_seeds(
      folder, "opencv.xml",
      "<?xml version=\"1.0\"?><opencv_storage><cameraResolution>640 480</cameraResolution>"
      "<!-- c --><cameraMatrix type_id=\"opencv-matrix\"><rows>3</rows><cols>3</cols><data>"
      "500 0 320 0 500 240 0 0 1</data></cameraMatrix><image_points><_>1 2</_></image_points>"
      "</opencv_storage>"sv);
  write_seeds(folder, "ros.yaml",
              "header: \n  frame_id: \"c\"\nheight: 480\nwidth: 640\nd:\n- 0.1\n- 0\n- 0\n- 0\nk: "
              "[500, 0, 320, 0, 500, 240, 0, 0, 1]\nroi: \n  x_offset: 0\n---\nheight: 480\n"sv);
  write_seeds(folder, "cameras.txt",
              "# Camera list with one line of data per camera:\n1 RADIAL 640 480 500 320 240 .1 0\n"
              "2 FULL_OPENCV 640 480 500 500 320 240 .1 .2 .3 .4 .5 0 0 0\n"sv);
}

}  // namespace

void write_dataset_corpus(const std::filesystem::path& root) {
  write_seeds(
      root / "bop_results", "two.csv",
      bop_results_text({{1, 2, 3, 0.5, {exp_rotation(Vec3d{1, 2, 3}), {0.1, 0.2, 0.8}}, 0.3},
                        {1, 4, 3, 0.25, {}, -1}}));
  write_seeds(root / "bop_scene", "scene.json",
              R"([{"3":{"cam_K":[5,0,2,0,5,1,0,0,1],"depth_scale":0.1}},)"
              R"({"3":[{"obj_id":1,"cam_R_m2c":[1,0,0,0,1,0,0,0,1],"cam_t_m2c":[0,0,500]}]},)"
              R"({"3":[{"visib_fract":0.5,"px_count_all":9,"bbox_obj":[1,2,3,4]}]},)"
              R"([{"scene_id":1,"im_id":3,"obj_id":1,"inst_count":1}]])"sv);
  const Camera camera{640, 480, 500, 500, 320, 240, {0.1, 0, 0, 0, 0}};
  RigCamera left{"left", {camera, {}}}, right{"right", {camera, {}}};
  right.seen.world_from_camera.translation = {0.1, 0, 0};
  write_seeds(root / "rig_json", "two.json", rig_to_json({left, right}).dump());
  write_seeds(
      root / "tag_board", "two.json",
      R"({"dictionary":"tag36h11","width_m":0.2,"height_m":0.1,"tag_m":0.02,"ruler_m":0.05,)"
      R"("free_m":[-0.03,-0.03,0.03,0.03],"tags":[{"id":3,"corners_m":[[-0.08,0.01],)"
      R"([-0.06,0.01],[-0.06,-0.01],[-0.08,-0.01]]}]})"sv);
  write_seeds(root / "simple_yaml", "gt.yml",
              "# truth\n0:\n- cam_R_m2c: [1, 0.5, -2e-3,\n    4]\n  obj_id: 1\n- {a: b, 'c': [d]}\n"
              "1: []\n2:\n  deep:\n    deeper: \"word\"\n"sv);
  write_moped_seeds(root / "moped_model");
  write_camera_seeds(root / "camera_file");
}

}  // namespace sextant::fuzz
