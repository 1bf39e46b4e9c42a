// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/io/file.h"
#include "sextant/io/file/facts.h"
#include "sextant/io/vtk.h"

namespace sextant::detail::vtk {

/// Does the same as read_vtk on an open source.
TriangleMesh read_vtk(FileReader& source, const ReadOptions& options,
                      file::FileFacts* facts = nullptr);

}  // namespace sextant::detail::vtk
