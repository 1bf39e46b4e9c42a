// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/for_each/anywhere.h"
#include "sextant/surface/cloud_curvature/math.h"

namespace sextant::detail {
SEXTANT_FOR_EACH_ON_CUDA(cloud_curvature::CloudCurvaturePoint<true>)
SEXTANT_FOR_EACH_ON_CUDA(cloud_curvature::CloudCurvaturePoint<false>)
}  // namespace sextant::detail
