// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include "accept_errors.h"
#include "sextant/io/camera_json.h"

/// Camera files of other programs; fuzz_camera_json looks at what is understood of the keys.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sextant::fuzz::accept_errors([&] {
    const auto list =
        sextant::camera_list_from_text({reinterpret_cast<const char*>(data), size}, "fuzz");
    sextant::camera_for(list, {"12.png", 640, 480});
  });
  return 0;
}
