// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/sextant/describe/description.h"

// The flags of `describe` that have no effect together with others, or with what is read.

namespace sextant::app {

/// Wrong usage where flags exclude each other.
void check_describe_flags(const CLI::App& command, const DescribedSurfaceOptions& surface,
                          const DescribeOptions& options, bool with_picture);

/// Error where the surface lacks what the descriptor needs, or leaves flags without effect.
void check_described_input(const CLI::App& command, const Surface& surface,
                           const DescribedSurfaceOptions& surface_options,
                           const DescribeOptions& options, bool with_triangles);

}  // namespace sextant::app
