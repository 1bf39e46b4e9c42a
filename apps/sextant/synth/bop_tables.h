// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "apps/sextant/command/command.h"
#include "apps/sextant/synth/table_picture.h"

namespace sextant::app {

/// Tables as a BOP data set: every frame another table, seen from a distance of its own.
struct BopTablesOptions {
  TableSceneOptions table;  ///< the distance is the mean one: frames differ by up to a quarter
  std::optional<SensorNoiseOptions> sensor;  ///< none for exact depth
  PhotoNoiseOptions photo;
  std::uint64_t seed = 0;
  int frames = 20;
  /// So many kinds of objects, drawn by the seed, stand on the tables without being in the models
  /// or the truth; playing cards, which are too thin for depth, always do.
  int strangers = 0;
  /// Which kinds may be looked for; all others stand on the tables as strangers do.
  ObjectSet known = ObjectSet::kAll;
  /// Leaves of every depth map one thing alone, drawn by the seed, as where a detector's mask cut
  /// it out; up to so many pixels of its rim are gone too.
  std::optional<int> cut_out_px;
};

/// Writes models with the symmetries of their shapes, images, truth, visible shares, targets and
/// notes into the folder, and says what was written. The same files for any number of threads.
Result write_bop_tables(const Context& context, const BopTablesOptions& options,
                        const std::filesystem::path& folder);

}  // namespace sextant::app
