// SPDX-License-Identifier: Apache-2.0
#include "corpus.h"
#include "sextant/descriptor/descriptor_file.h"
#include "sextant/io/file.h"
#include "sextant/io/npy.h"

namespace sextant::fuzz {

namespace {

/// Adds damaged versions of a file that a writer has just made.
void add_seeds(const std::filesystem::path& path) {
  const FileBytes bytes = read_file(path);
  write_seeds(path.parent_path(), path.filename().string(), bytes.span());
}

template <class T>
void write_array_seeds(const std::filesystem::path& path, const NpyArray<T>& array) {
  std::filesystem::create_directories(path.parent_path());
  write_npy(path, array);
  add_seeds(path);
}

void write_descriptor_seeds(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  DescriptorFile file;
  file.length = 3;
  file.options = R"({"mode": "exact"})";
  file.points = {0, 7};
  file.positions_m.resize(2);
  file.axes.resize(2);
  file.values = {1, 2, 3, 4, 5, 6};
  write_descriptor_file(folder / "dense.sxd", file);
  add_seeds(folder / "dense.sxd");
  file.kind = DescriptorKind::kTensor;
  file.partners = {3, 9};
  file.angles_rad = {0.5f, 0.7f};
  file.sizes = {1, 2};
  file.indices = {2, 0, 1};
  file.values = {1, 2, 3};
  write_descriptor_file(folder / "compressed.sxd", file);
  add_seeds(folder / "compressed.sxd");
}

}  // namespace

void write_descriptor_corpus(const std::filesystem::path& root) {
  write_array_seeds<float>(root / "npy" / "floats.npy", {{2, 3}, {1, 2, 3, 4, 5, 6}});
  write_array_seeds<std::int32_t>(root / "npy" / "integers.npy", {{4}, {1, -2, 3, -4}});
  write_array_seeds<std::uint8_t>(root / "npy" / "bytes.npy", {{}, {9}});
  write_descriptor_seeds(root / "descriptor_file");
}

}  // namespace sextant::fuzz
