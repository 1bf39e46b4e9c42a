// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sextant/geometry/symmetries.h"
#include "sextant/io/moped_model.h"

namespace sextant::app {

/// How a user says the size of what files hold.
struct LearnUnits {
  std::string unit;           ///< m, mm, ...; auto; empty: metres
  double diameter_m = 0;      ///< what the diameter is to become; 0: as the unit says
  double planar_width_m = 0;  ///< of what a picture shows; 0: pictures are no input
  bool photos = false;        ///< folders hold photographs of an object, whose poses can be known
};

/// One object to learn.
struct LearnInput {
  enum class Kind { kMesh, kViews, kMoped, kPicture, kPhotos };
  Kind kind = Kind::kMesh;
  std::filesystem::path path;
  std::string name;
  int bop_id = 0;
  double unit_m = 1;
  std::vector<std::string> remarks;
  std::optional<Symmetries> given_symmetries;  ///< of a models_info.json
  std::shared_ptr<const MopedModel> moped;     ///< what a file of MOPED holds

  /// Whether only photographs can be searched for it.
  bool is_appearance() const {
    return kind == Kind::kMoped || kind == Kind::kPicture || kind == Kind::kPhotos;
  }
};

/// Metres of a length that is written with its unit: 63mm, 6.3 cm. Throws Error for one without.
double length_m_of(const std::string& text);

/// What files and folders name, in their order: a file of geometry, each such file of a folder, the
/// models of a MOPED file, a picture of something flat, the objects of a BOP models folder, a
/// folder of RGB-D views, a folder of photographs. Files are looked through to the end, so that
/// sizes that are not believable, equal names and what is no geometry are Errors before any work.
/// `name` is that of a single object; empty for their own.
std::vector<LearnInput> find_learn_inputs(const std::vector<std::string>& words,
                                          const std::string& name, const LearnUnits& units);

}  // namespace sextant::app
