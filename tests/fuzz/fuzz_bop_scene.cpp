// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "accept_errors.h"
#include "sextant/io/bop_dataset.h"
#include "sextant/io/json_file.h"

/// A list whose elements are the documents of a scene, and its targets.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sextant::fuzz::accept_errors([&] {
    const nlohmann::json documents =
        sextant::parse_json({reinterpret_cast<const char*>(data), size}, "fuzz");
    if (!documents.is_array() || documents.size() != 4) return;
    sextant::fuzz::accept_errors([&] {
      sextant::bop_scene_from_json({&documents[0], &documents[1], &documents[2]});
    });
    sextant::bop_targets_from_json(documents[3], "fuzz");
  });
  return 0;
}
