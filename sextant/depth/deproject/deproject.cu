// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/for_each/anywhere.h"
#include "sextant/depth/deproject/math.h"

namespace sextant::detail {
SEXTANT_FOR_EACH_PIXEL_ON_CUDA(deproject::DeprojectPixel<deproject::PinholeRays>)
SEXTANT_FOR_EACH_PIXEL_ON_CUDA(deproject::DeprojectPixel<deproject::DistortedRays>)
SEXTANT_FOR_EACH_PIXEL_ON_CUDA(deproject::DeprojectPixel<deproject::TabledRays>)
SEXTANT_FOR_EACH_PIXEL_ON_CUDA(deproject::TableRay<deproject::PinholeRays>)
SEXTANT_FOR_EACH_PIXEL_ON_CUDA(deproject::TableRay<deproject::DistortedRays>)
}  // namespace sextant::detail
