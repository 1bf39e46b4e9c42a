// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/for_each/anywhere.h"
#include "sextant/match/descriptors/math.h"

namespace sextant::detail {
SEXTANT_FOR_EACH_ON_CUDA(descriptors::MatchTest)
}
