// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "sextant/core/error.h"

namespace sextant {

/// The closed interval that an option must lie in.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

/// One name of an enumerated option.
template <class Enum>
struct Choice {
  std::string_view name;
  Enum value;
};

/// An options struct describes each of its fields once, and command line, JSON, Python and range
/// checks follow from it:
///
///   struct BlurOptions {
///     int radius_px = 2;
///     float sigma_px = 1.5f;
///     template <class Self, class Visitor>
///     static void fields(Self& self, Visitor&& visit) {
///       visit("radius_px", self.radius_px, "half the window", Range{1, 50});
///       visit("sigma_px", self.sigma_px, "width of the Gaussian", Range{0.1, 50});
///     }
///   };
///
/// A visitor is called as visit(name, field, help, Range) for numbers, visit(name, field, help) for
/// bool and std::string, and visit(name, field, help, choices) for enums, where choices is a
/// reference to a static array of Choice<Enum>.
template <class Options>
concept HasFields = requires(Options& options) {
  Options::fields(options, [](std::string_view, auto&, std::string_view, auto&&...) {});
};

/// Returns the name of an enum's value, or "?".
template <class Enum, std::size_t N>
std::string_view name_of(Enum value, const Choice<Enum> (&choices)[N]) {
  for (const Choice<Enum>& choice : choices) {
    if (choice.value == value) return choice.name;
  }
  return "?";
}

namespace detail {

/// Writes the fewest digits that tell the number from its neighbours: 0.1, but also 1.0000001.
template <class T>
std::string shortest(T number) {
  char text[64];
  const std::to_chars_result result = std::to_chars(text, text + sizeof(text), number);
  return std::string(text, result.ptr);
}

struct RangeChecker {
  template <class T>
  void operator()(std::string_view name, const T& field, std::string_view, Range range) const {
    static_assert(std::is_arithmetic_v<T>);
    const double value = static_cast<double>(field);
    if (value >= range.low && value <= range.high) return;
    fail(name, ": ", shortest(field), " is outside [", shortest(range.low), ", ",
         shortest(range.high), "]");
  }
  template <class T>
  void operator()(std::string_view, const T&, std::string_view) const {}
  template <class Enum, std::size_t N>
  void operator()(std::string_view name, const Enum& field, std::string_view,
                  const Choice<Enum> (&choices)[N]) const {
    require(name_of(field, choices) != "?", name, ": ", static_cast<long>(field),
            " is none of its values");
  }
};

}  // namespace detail

/// Throws Error naming the first field outside its range (NaN is outside every range).
template <HasFields Options>
void check_options(const Options& options) {
  Options::fields(options, detail::RangeChecker{});
}

}  // namespace sextant
