// SPDX-License-Identifier: Apache-2.0
#include "corpus.h"

namespace sextant::fuzz {

void write_geometry_corpus(const std::filesystem::path&) {}

}  // namespace sextant::fuzz
