// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sextant/io/npy.h"
#include "tests/shot_parity.h"

// A scan and PCL's SHOT of it, in files: made where PCL and captured data are, and compared where
// neither is, such as beside a bundle on a machine with a GPU.

namespace sextant::testing {

struct ShotSample {
  ShotCase scene;
  DescribedRows theirs;
  ShotOptions options;
  std::string pcl_version;
};

namespace detail {

inline std::vector<float> numbers_of(const std::vector<Vec3f>& vectors) {
  std::vector<float> numbers;
  for (const Vec3f& v : vectors) numbers.insert(numbers.end(), {v.x, v.y, v.z});
  return numbers;
}

inline std::vector<Vec3f> vectors_of(const NpyArray<float>& array) {
  std::vector<Vec3f> vectors;
  for (std::size_t i = 0; i + 3 <= array.values.size(); i += 3) {
    vectors.push_back({array.values[i], array.values[i + 1], array.values[i + 2]});
  }
  return vectors;
}

inline void write_rows(const std::filesystem::path& path, const std::vector<float>& numbers,
                       std::int64_t columns) {
  const auto size = static_cast<std::int64_t>(numbers.size());
  write_npy<float>(path, NpyArray<float>{{size / columns, columns}, numbers});
}

}  // namespace detail

inline void write_shot_sample(const std::filesystem::path& folder, const ShotSample& sample) {
  std::filesystem::create_directories(folder);
  detail::write_rows(folder / "points.npy", detail::numbers_of(sample.scene.points), 3);
  detail::write_rows(folder / "normals.npy", detail::numbers_of(sample.scene.normals), 3);
  const auto count = static_cast<std::int64_t>(sample.scene.keypoints.size());
  write_npy<std::int32_t>(folder / "keypoints.npy",
                          NpyArray<std::int32_t>{{count}, sample.scene.keypoints});
  detail::write_rows(folder / "values.npy", sample.theirs.values, sample.theirs.length);
  detail::write_rows(folder / "frames.npy", detail::numbers_of(sample.theirs.frames), 9);
  std::ofstream(folder / "sample.json")
      << nlohmann::json{{"radius_m", sample.options.radius_m}, {"pcl", sample.pcl_version}} << '\n';
}

inline ShotSample read_shot_sample(const std::filesystem::path& folder) {
  const auto info = nlohmann::json::parse(std::ifstream(folder / "sample.json"));
  const NpyArray<float> values = read_npy<float>(folder / "values.npy");
  ShotSample sample;
  sample.scene.points = detail::vectors_of(read_npy<float>(folder / "points.npy"));
  sample.scene.normals = detail::vectors_of(read_npy<float>(folder / "normals.npy"));
  sample.scene.keypoints = read_npy<std::int32_t>(folder / "keypoints.npy").values;
  sample.theirs = {static_cast<int>(values.shape.at(1)), values.values,
                   detail::vectors_of(read_npy<float>(folder / "frames.npy"))};
  sample.options.radius_m = info.at("radius_m").get<float>();
  sample.pcl_version = info.at("pcl").get<std::string>();
  return sample;
}

}  // namespace sextant::testing
