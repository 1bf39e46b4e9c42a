// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/workspace.h"

namespace sextant::detail::gather {

/// The indices, ascending, of the marks that are 1; the others are 0. `indices` has room for all,
/// and its first count[0] elements are filled. Does not wait for the device.
void list_marked(const Context& context, View<const std::int32_t> marks, View<std::int32_t> indices,
                 View<std::int32_t> count, Workspace& workspace);

}  // namespace sextant::detail::gather
