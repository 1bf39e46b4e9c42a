// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sextant/evaluate/judge_image.h"

namespace sextant::app {

/// What is kept of an image after it was judged: all that tables and curves need.
struct JudgedImage {
  int scene = 0;
  int image = 0;
  double seconds = -1;  ///< that the results say; -1 for none
  std::vector<Report> reports;
  std::vector<TrueInstance> truth;
  ImageJudgement judgement;
};

/// Judged images on disk, one JSON line each, so that an interrupted evaluation goes on where it
/// stopped. A line counts only for the same key, which stands for everything that the judgement
/// depends on.
class JudgedImages {
 public:
  explicit JudgedImages(std::filesystem::path file);

  /// Fills the judgement of an image from the file; false when it has none for this key.
  bool find(std::uint64_t key, JudgedImage& image) const;
  void append(std::uint64_t key, const JudgedImage& image);

 private:
  std::filesystem::path file_;
  std::map<std::uint64_t, std::string> lines_;
};

/// A number for everything that is put in (FNV-1a).
class Fingerprint {
 public:
  void add(const void* bytes, std::size_t size);
  void add(double value) { add(&value, sizeof value); }
  void add(const std::string& text) { add(text.data(), text.size() + 1); }
  void add(const Rigid3d& pose);
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 1469598103934665603u;
};

}  // namespace sextant::app
