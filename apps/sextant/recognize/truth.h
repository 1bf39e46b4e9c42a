// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/sextant/command/command.h"
#include "sextant/library/learned_object.h"
#include "sextant/recognize/recognizer.h"

namespace sextant::app {

/// An object that stands in a frame.
struct TrueObject {
  std::string name;
  Rigid3d camera_from_object;
  double visible = 1;  ///< share of it
};

/// What ground_truth.json of `sextant synth` says of a table. An Error names the file and the key.
std::vector<TrueObject> read_truth(const std::filesystem::path& file);

/// Says for each detection how far it is from the truth, modulo symmetry, or that no such object is
/// there, and for each known object whether it was missed: as text, and under `truth` in the
/// document. Objects of the truth that are not among those looked for are strangers.
void tell_truth(const std::vector<TrueObject>& truth, const std::vector<LearnedObject>& objects,
                const Recognition& found, Result& result);

}  // namespace sextant::app
