// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/for_each.h"
#include "sextant/surface/cloud_curvature/math.h"

namespace sextant::detail::cloud_curvature {

void estimate_cloud_curvature_cuda(const Context& context, const CloudCurvatureJob& job) {
  // Neighbouring threads have neighbouring points of a cell and read the same candidates.
  if (job.rules.ours()) {
    for_each(context, job.grid.size, CloudCurvaturePoint<true>{job});
  } else {
    for_each(context, job.grid.size, CloudCurvaturePoint<false>{job});
  }
}

}  // namespace sextant::detail::cloud_curvature
