// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/object_size.h"

#include <cmath>

#include "sextant/core/error.h"
#include "sextant/core/options.h"

namespace sextant {

namespace {

struct Unit {
  const char* name;
  double metres;
};

/// In the order of how often files are in them.
constexpr Unit kUnits[] = {{"mm", 0.001},  {"m", 1},       {"cm", 0.01},
                           {"in", 0.0254}, {"ft", 0.3048}, {"um", 1e-6}};

bool is_believable(double size_m) {
  return size_m >= kSmallestObject_m && size_m <= kLargestObject_m;
}

std::string rounded(double number) {
  std::ostringstream text;
  text.precision(3);
  text << number;
  return text.str();
}

}  // namespace

double unit_m_of(const std::string& unit) {
  std::string names;
  for (const Unit& u : kUnits) {
    if (unit == u.name) return u.metres;
    names += (names.empty() ? "" : ", ") + std::string(u.name);
  }
  fail("unit: ", unit, " is not known; the names are ", names);
}

std::string likely_unit(double size_in_units) {
  for (const Unit& u : kUnits) {
    if (is_believable(size_in_units * u.metres)) return u.name;
  }
  return "";
}

void check_object_size(const std::string& name, double diameter_m, double unit_m) {
  require(unit_m > 0 && std::isfinite(unit_m), "unit_m: ", unit_m, " is no positive length");
  require(!std::isnan(diameter_m), name, ": has no points");
  require(diameter_m > 0, name, ": all its points lie in one place");
  if (is_believable(diameter_m)) return;
  const std::string unit = likely_unit(diameter_m / unit_m);
  const std::string size = name + ": the object would be " + rounded(diameter_m) +
                           " m large, which is not between 5 mm and 5 m; ";
  require(!unit.empty(), size, "scale it, or pass its unit with --unit");
  fail(size, "pass --unit ", unit, " if the file is in ", unit, " (",
       rounded(diameter_m / unit_m * unit_m_of(unit)), " m)");
}

}  // namespace sextant
