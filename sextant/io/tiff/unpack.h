// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace sextant::detail::tiff {

/// Fills `to` from the bytes of a strip or tile; what is left over of them is ignored, as writers
/// pad their strips. Error when they give fewer.
void unpack(std::int64_t compression, std::span<const std::byte> from, std::span<std::byte> to,
            const std::string& name);

}  // namespace sextant::detail::tiff
