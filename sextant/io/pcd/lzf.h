// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sextant {

/// The LZF format, as PCD files of the kind binary_compressed use it: runs of literal bytes, and
/// copies of 3 to 264 bytes from up to 8192 bytes before. A byte below 32 announces one literal
/// more than its value; otherwise its upper three bits are the copy's length less 2, where 7 means
/// that the next byte is added, and its lower five bits with the byte that follows are the distance
/// less 1.
///
/// Compressing is greedy and takes one pass; incompressible data grow by a 32nd.
std::vector<std::byte> lzf_compress(std::span<const std::byte> data);

/// Three bytes of input give at most this many bytes of output, and fewer give less per byte.
inline constexpr std::int64_t kLzfMostOutputPerByte = 88;

/// Fills `data` with what was compressed. Error when the stream is damaged or holds more or fewer
/// bytes; `name` stands for its origin in the message.
void lzf_decompress(std::span<const std::byte> compressed, std::span<std::byte> data,
                    const std::string& name);

}  // namespace sextant
