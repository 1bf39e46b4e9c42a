// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/library/learned_object.h"
#include "sextant/library/library/arrays.h"

namespace sextant::detail::library {

void write_tensors(const LearnedTensors& tensors, ArrayWriter& out);
/// Indices, sizes and first elements follow from the masks, and are made here.
LearnedTensors read_tensors(const ArrayReader& in);
/// Throws Error unless the set is packed and its elements are in order and in range.
void check_tensors(const LearnedTensors& tensors, const std::string& name);

}  // namespace sextant::detail::library
