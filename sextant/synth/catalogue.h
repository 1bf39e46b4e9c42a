// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sextant/core/options.h"
#include "sextant/geometry/mesh.h"

namespace sextant {

enum class ObjectSet : std::int32_t { kAll, kToys, kPrinted };

inline constexpr Choice<ObjectSet> kObjectSets[] = {
    {"all", ObjectSet::kAll}, {"toys", ObjectSet::kToys}, {"printed", ObjectSet::kPrinted}};

/// An object that `make_object` can make.
struct CatalogueEntry {
  std::string_view name;
  std::string_view description;
  ObjectSet set = ObjectSet::kToys;  ///< kToys or kPrinted
};

/// Every object, the seven toys first; the order never changes.
std::span<const CatalogueEntry> object_catalogue();

/// The mesh of an object on the host: closed, in metres, standing on z = 0. Always the same for a
/// name. Throws Error that lists the names for any other.
TriangleMesh make_object(std::string_view name);

/// The ways in which the object lies still on a table, as rotations to apply to it before it is set
/// down; the first is the one in which it is made. Its centre of mass is above its contact.
std::vector<Mat3d> resting_rotations(std::string_view name);

}  // namespace sextant
