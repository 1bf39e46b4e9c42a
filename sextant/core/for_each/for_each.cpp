// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/for_each.h"

#include "sextant/core/threads/pool.h"

namespace sextant::detail {

void run_chunks(const Context& context, std::int64_t chunks, ChunkFunction function) {
  if (chunks > 1 && context.threads() > 1) {
    Pool::of_process().run(context.threads(), chunks, function);
    return;
  }
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) function.call(function.object, chunk);
}

}  // namespace sextant::detail
