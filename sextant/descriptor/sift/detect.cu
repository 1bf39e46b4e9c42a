// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that CUDA finds the places of the CPU.
#include "sextant/core/cuda/warp.cuh"
#include "sextant/core/cuda_check.h"
#include "sextant/core/scan.h"
#include "sextant/descriptor/sift/steps.cuh"

namespace sextant::detail::sift {

namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
constexpr int kChunkWords = kThreads;  ///< a thread takes one of them
static_assert(kWordPixels == kWarp);

/// A block looks at a tile: a warp at a row of 32 pixels, which are the word that it writes. The
/// words of what is found are emptied on the way.
__global__ void __launch_bounds__(kThreads)
    flag_kernel(const Pyramid pyramid, float least, std::uint32_t* flags, std::uint32_t* found) {
  extern __shared__ float differences[];
  const FlagTile tile = flag_tile(pyramid, blockIdx.x);
  for (int i = static_cast<int>(threadIdx.x); i < kFlagPixels; i += kThreads) {
    subtract_scales(pyramid, tile, i, differences);
  }
  __syncthreads();
  const int height = pyramid.octave[tile.octave].height_px;
  for (int row = static_cast<int>(threadIdx.x) / kWarp; row < kFlagTileRows; row += kWarps) {
    if (tile.v + row >= height) return;  // the same for all lanes of the warp
    for (int layer = 1; layer <= pyramid.layers; ++layer) {
      const bool flagged = is_flagged(pyramid, tile, layer, lane_index(), row, least, differences);
      const std::uint32_t word = __ballot_sync(kAllLanes, flagged);
      if (lane_index() == 0) {
        const std::int64_t place = word_of(pyramid, {tile.octave, layer, tile.v + row, tile.u});
        flags[place] = word;
        found[place] = 0;
      }
    }
  }
}

/// The bits of a chunk of words, for a block of threads that share them out evenly.
struct Chunk {
  std::uint32_t words[kChunkWords];
  int first[kChunkWords];  ///< bits before each word
  int sums[kWarps];
};

/// Reads the words of a chunk; returns how many bits are set, to all threads.
__device__ int read_chunk(const std::uint32_t* words, std::int64_t count, Chunk& chunk) {
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t place = std::int64_t{blockIdx.x} * kChunkWords + thread;
  const std::uint32_t word = place < count ? words[place] : 0u;
  const int bits = __popc(word);
  int sum = bits;  // with those of the lanes before
  for (int step = 1; step < kWarp; step *= 2) {
    const int before = __shfl_up_sync(kAllLanes, sum, step);
    if (lane_index() >= step) sum += before;
  }
  if (lane_index() == kWarp - 1) chunk.sums[thread / kWarp] = sum;
  chunk.words[thread] = word;
  __syncthreads();
  int before = 0, total = 0;
  for (int w = 0; w < kWarps; ++w) {
    if (w == thread / kWarp) before = total;
    total += chunk.sums[w];
  }
  chunk.first[thread] = before + sum - bits;
  __syncthreads();
  return total;
}

/// The pixel of the bit number `bit` of the chunk.
__device__ WordPlace pixel_of_bit(const Pyramid& pyramid, const Chunk& chunk, int bit) {
  const int word = owner_of(chunk.first, kChunkWords, bit);
  WordPlace place = place_of_word(pyramid, std::int64_t{blockIdx.x} * kChunkWords + word);
  place.column += nth_bit(chunk.words[word], bit - chunk.first[word]);
  return place;
}

__global__ void __launch_bounds__(kThreads)
    refine_kernel(const SiftJob job, const std::uint32_t* flags, std::uint32_t* found) {
  __shared__ Chunk chunk;
  const Pyramid& pyramid = job.pyramid;
  const int total = read_chunk(flags, pyramid.words, chunk);
  for (int bit = static_cast<int>(threadIdx.x); bit < total; bit += kThreads) {
    const WordPlace from = pixel_of_bit(pyramid, chunk, bit);
    const Extremum at =
        refine(pyramid.octave[from.octave], job.limits, from.layer, from.row, from.column);
    if (at.layer == 0 || !is_wanted(job.mask, pyramid.doubled, from.octave, at)) continue;
    const std::int64_t word = word_of(pyramid, {from.octave, at.layer, at.row, at.column});
    atomicOr(found + word, 1u << (at.column % kWordPixels));
  }
}

__global__ void __launch_bounds__(kThreads)
    count_kernel(const std::uint32_t* found, std::int64_t words, std::int32_t* counts) {
  __shared__ Chunk chunk;
  const int total = read_chunk(found, words, chunk);
  if (threadIdx.x == 0) counts[blockIdx.x] = total;
}

__global__ void __launch_bounds__(kThreads)
    extremum_kernel(const SiftJob job, const std::uint32_t* found, const std::int32_t* first,
                    PlacedExtremum* extrema, std::int64_t capacity) {
  __shared__ Chunk chunk;
  const int total = read_chunk(found, job.pyramid.words, chunk);
  for (int bit = static_cast<int>(threadIdx.x); bit < total; bit += kThreads) {
    const std::int64_t place = std::int64_t{first[blockIdx.x]} + bit;
    if (place >= capacity) return;
    const WordPlace at = pixel_of_bit(job.pyramid, chunk, bit);
    extrema[place] = {
        extremum_at(job.pyramid.octave[at.octave], job.limits, at.layer, at.row, at.column),
        at.octave};
  }
}

unsigned blocks_of(std::int64_t blocks, const SiftJob& job) {
  require(blocks <= INT32_MAX, "photo: ", job.photo.width, " x ", job.photo.height,
          " px are too many");
  return static_cast<unsigned>(blocks);
}
unsigned chunks_of(const SiftJob& job) {
  return blocks_of((job.pyramid.words + kChunkWords - 1) / kChunkWords, job);
}

}  // namespace

FoundWords find_words_cuda(const Context& context, const SiftJob& job, Workspace& workspace) {
  const cudaStream_t stream = cuda_stream(context);
  const Pyramid& pyramid = job.pyramid;
  const View<std::uint32_t> flags = workspace.take<std::uint32_t>(context, pyramid.words);
  const unsigned chunks = chunks_of(job);
  const FoundWords found{workspace.take<std::uint32_t>(context, pyramid.words),
                         workspace.take<std::int32_t>(context, std::int64_t{chunks} + 1)};
  const std::size_t bytes =
      sizeof(float) * kFlagPixels * static_cast<std::size_t>(pyramid.layers + 2);
  static_assert(sizeof(float) * kFlagPixels * (kMostLayers + 2) <= 48 * 1024,
                "a kernel may use so much without asking");
  flag_kernel<<<blocks_of(pyramid.tiles, job), kThreads, bytes, stream>>>(
      pyramid, least_difference(job.limits), flags.data, found.words.data);
  check_launch("flag_kernel");
  refine_kernel<<<chunks, kThreads, 0, stream>>>(job, flags.data, found.words.data);
  check_launch("refine_kernel");
  const View<std::int32_t> counts = workspace.take<std::int32_t>(context, chunks);
  count_kernel<<<chunks, kThreads, 0, stream>>>(found.words.data, pyramid.words, counts.data);
  check_launch("count_kernel");
  exclusive_scan<std::int32_t>(context, counts, found.first, workspace);
  return found;
}

void list_extrema_cuda(const Context& context, const SiftJob& job, const FoundWords& found,
                       const View<PlacedExtremum>& extrema) {
  extremum_kernel<<<chunks_of(job), kThreads, 0, cuda_stream(context)>>>(
      job, found.words.data, found.first.data, extrema.data, extrema.size);
  check_launch("extremum_kernel");
}

}  // namespace sextant::detail::sift
