// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <vector>

#include "sextant/learn/learn_photos.h"

namespace sextant::detail::learn_photos {

using Descriptor = std::array<std::uint8_t, 128>;

/// What is kept of a point's descriptors: those near the one with most neighbours are one row,
/// their mean; then the same of the rest, until there are most_rows or none is left.
std::vector<Descriptor> make_rows(std::span<const std::uint8_t* const> descriptors,
                                  const LearnPhotosOptions& options);

}  // namespace sextant::detail::learn_photos
