// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/datasets/sources.h"

namespace sextant::app {

const std::vector<Source>& dataset_sources() {
  static const std::vector<Source> sources{
      {"linemod", "LINEMOD: R.txt, T.txt, obj_NN.ply and depth/", is_linemod, convert_linemod},
      {"bins", "densely packed bins: gt/ and models/dove_mesh.obj", is_bins, convert_bins},
      {"cups", "IC-BIN: coffee_cup.ply and pseudo_gt_cups_filtered.csv", is_cups, convert_cups},
      {"ycbv", "YCB-Video: frames_gt/gt_poses.json and points_xyz/", is_ycbv, convert_ycbv},
      {"visp", "ViSP: reference_poses.json and models/dragon.obj", is_visp, convert_visp},
      {"milk", "PCL: milk.pcd, its scene and gt_milk_to_scene.txt", is_milk, convert_milk},
      {"uwa", "UWA: chef.pcd and ref_*.txt", is_laser, convert_laser},
      {"tum", "TUM and RWTH: scans with ref_*.txt", is_range, convert_range},
      {"bunny", "bunny on a turntable: P.txt and model_to_world_derived.txt", is_bunny,
       convert_bunny},
      {"moped", "MOPED: images/, models/*.moped.xml and derived detections", is_moped,
       convert_moped},
      {"mosd", "mOSD: test*.pcd, nothing known in them", is_mosd, convert_mosd},
      {"rooms", "7-Scenes: frame-*.depth.png, nothing known in them", is_rooms, convert_rooms}};
  return sources;
}

}  // namespace sextant::app
