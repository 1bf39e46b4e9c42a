// SPDX-License-Identifier: Apache-2.0
// Writes the files that the fuzz targets start from into the folder that is its argument.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <vector>

#include "corpus.h"
#include "sextant/io/file.h"

namespace sextant::fuzz {

void write_seeds(const std::filesystem::path& folder, const std::string& name,
                 std::span<const std::byte> valid) {
  std::filesystem::create_directories(folder);
  write_file_atomically(folder / name, valid);
  constexpr std::size_t kDamages = 8;
  for (std::size_t i = 0; i < kDamages; ++i) {
    const std::size_t cut = valid.size() * i / kDamages;
    write_file_atomically(folder / (name + ".cut" + std::to_string(i)), valid.first(cut));
  }
  std::vector<std::byte> flipped(valid.begin(), valid.end());
  for (std::size_t i = 0; i < kDamages && !flipped.empty(); ++i) {
    // Half of them within the first bytes, where formats keep their headers.
    const std::size_t reach =
        i % 2 == 0 ? std::min<std::size_t>(flipped.size(), 64) : flipped.size();
    const std::size_t at = (i * 2654435761u + 7) % reach;
    const std::byte mask{static_cast<unsigned char>(1u << (i % 8))};
    flipped[at] ^= mask;
    write_file_atomically(folder / (name + ".flip" + std::to_string(i)), flipped);
    flipped[at] ^= mask;
  }
}

void write_seeds(const std::filesystem::path& folder, const std::string& name,
                 std::string_view valid) {
  write_seeds(folder, name, std::as_bytes(std::span(valid.data(), valid.size())));
}

}  // namespace sextant::fuzz

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_corpus FOLDER\n");
    return 2;
  }
  try {
    sextant::fuzz::write_image_corpus(argv[1]);
    sextant::fuzz::write_geometry_corpus(argv[1]);
    sextant::fuzz::write_descriptor_corpus(argv[1]);
    sextant::fuzz::write_dataset_corpus(argv[1]);
    sextant::fuzz::write_library_corpus(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_corpus: %s\n", error.what());
    return 1;
  }
  return 0;
}
