// SPDX-License-Identifier: Apache-2.0
#include "corpus.h"
#include "sextant/io/bop_results.h"
#include "sextant/io/file.h"
#include "sextant/io/moped_model.h"

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
  write_seeds(root / "simple_yaml", "gt.yml",
              "# truth\n0:\n- cam_R_m2c: [1, 0.5, -2e-3,\n    4]\n  obj_id: 1\n- {a: b, 'c': [d]}\n"
              "1: []\n2:\n  deep:\n    deeper: \"word\"\n"sv);
  write_moped_seeds(root / "moped_model");
}

}  // namespace sextant::fuzz
