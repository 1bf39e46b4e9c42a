// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/for_each/anywhere.h"
#include "sextant/geometry/undistort/math.h"

namespace sextant::detail {
SEXTANT_FOR_EACH_ON_CUDA(undistort::UndistortPixel<Rgb8>)
SEXTANT_FOR_EACH_ON_CUDA(undistort::UndistortPixel<float>)
}  // namespace sextant::detail
