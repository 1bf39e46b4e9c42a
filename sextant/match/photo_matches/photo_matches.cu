// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that CUDA undistorts places as the CPU does.
#include "sextant/core/for_each/anywhere.h"
#include "sextant/match/photo_matches/on_device.h"

namespace sextant::detail {
SEXTANT_FOR_EACH_ON_CUDA(photo_matches::IsMatch)
SEXTANT_FOR_EACH_ON_CUDA(photo_matches::WriteMatch)
SEXTANT_FOR_EACH_ON_CUDA(photo_matches::UndistortedPlace)
}  // namespace sextant::detail
