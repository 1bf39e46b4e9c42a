// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/sextant/eval/judged_image.h"
#include "sextant/evaluate/refined_truth.h"
#include "sextant/io/bop_dataset.h"

namespace sextant::app {

/// An image of the set, before its pixels are read.
struct SetImage {
  const BopScene* scene = nullptr;
  const BopImage* image = nullptr;
  std::filesystem::path depth_file;  ///< empty for a photograph
  std::filesystem::path color_file;
  JudgedImage judged;
  std::vector<RefinedTruth> refined;  ///< one per instance where the truth was refined, else empty
  std::uint64_t key = 0;
};

/// The images of the scenes, which must outlive them: from `first` on at most `most`, spread evenly
/// (measure/spread_images.h); all for 0. Error for a scene without truth.
std::vector<SetImage> images_of(const std::vector<BopScene>& scenes, int first, int most);

/// Puts each result of a file with its image. Results for images that are not in the data set are
/// an Error: they are of another one. Those for images that are not judged are left out.
void add_reports(const std::string& file, double min_score, const std::vector<BopScene>& scenes,
                 std::vector<SetImage>& images);

/// The picture's camera with its size, and the depth map; empty for a photograph.
Image<float> read_pixels(const SetImage& image, Camera& camera);

}  // namespace sextant::app
