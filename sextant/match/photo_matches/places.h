// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sextant/core/vec.h"
#include "sextant/core/view.h"

namespace sextant::detail::photo_matches {

inline constexpr std::int32_t kAlone = -1;

/// For each row of the library the first row of its object with the same coordinates, or kAlone
/// where no other row has them. Points that are not finite are alone.
void find_twins(const Context& context, View<const std::int32_t> ends, View<const Vec3f> points,
                View<std::int32_t> twins);

/// Of which object each row is.
std::vector<std::int32_t> object_of_rows(View<const std::int32_t> ends, std::int64_t rows);

}  // namespace sextant::detail::photo_matches
