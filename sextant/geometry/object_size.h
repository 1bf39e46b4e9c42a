// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace sextant {

/// Objects to be found are believed to be of this size; what is not asks for the unit of its file.
inline constexpr double kSmallestObject_m = 0.005;
inline constexpr double kLargestObject_m = 5.0;

/// Throws an Error that names the likely unit and how to pass it (`--unit mm`), unless the diameter
/// of an object, read with `unit_m` metres for one unit of its file, is believable. `name` is that
/// of the file.
void check_object_size(const std::string& name, double diameter_m, double unit_m);

/// The unit in which a size of this many units is believable, "" where there is none: millimetres
/// before metres, centimetres and inches.
std::string likely_unit(double size_in_units);

/// Metres of the unit with this name: m, cm, mm, um, in, ft. Throws an Error that lists the names
/// for any other.
double unit_m_of(const std::string& unit);

}  // namespace sextant
