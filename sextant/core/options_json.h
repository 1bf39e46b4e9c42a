// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>

#include "sextant/core/options.h"

namespace sextant {

/// A value as an error message shows it: on one line and not too long.
inline std::string shown(const nlohmann::json& value) {
  if (value.is_array()) return "a list of " + std::to_string(value.size());
  if (value.is_object()) return "an object with " + std::to_string(value.size()) + " keys";
  constexpr std::size_t kMostCharacters = 60;
  std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (text.size() > kMostCharacters) text = text.substr(0, kMostCharacters - 3) + "...";
  return text;
}

namespace detail {

/// JSON has no infinity and no NaN: options that have them write these words.
inline nlohmann::json json_of_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

/// The shortest decimal that reads back as the same float: 0.1, not 0.10000000149011612.
inline nlohmann::json json_of_number(float value) {
  if (!std::isfinite(value)) return json_of_number(static_cast<double>(value));
  char text[32];
  const char* end = std::to_chars(text, text + sizeof(text), value).ptr;
  double shortest = 0;
  std::from_chars(text, end, shortest);
  return shortest;
}

template <std::integral T>
nlohmann::json json_of_number(T value) {
  return value;
}

struct JsonWriter {
  nlohmann::json& document;

  template <class T>
  void operator()(std::string_view name, const T& field, std::string_view, Range) const {
    document[std::string(name)] = json_of_number(field);
  }
  template <class T>
  void operator()(std::string_view name, const T& field, std::string_view) const {
    document[std::string(name)] = field;
  }
  template <class Enum, std::size_t N>
  void operator()(std::string_view name, const Enum& field, std::string_view,
                  const Choice<Enum> (&choices)[N]) const {
    document[std::string(name)] = std::string(name_of(field, choices));
  }
};

/// Sets the fields that the document names.
struct JsonReader {
  const nlohmann::json& document;

  template <class T>
  void operator()(std::string_view name, T& field, std::string_view, Range range) const {
    const auto found = document.find(std::string(name));
    if (found == document.end()) return;
    if constexpr (std::is_floating_point_v<T>) {
      field = real_of<T>(name, *found, range);
    } else {
      field = integer_of<T>(name, *found, range);
    }
  }

  template <class T>
  void operator()(std::string_view name, T& field, std::string_view) const {
    const auto found = document.find(std::string(name));
    if (found == document.end()) return;
    if constexpr (std::is_same_v<T, bool>) {
      require(found->is_boolean(), name, ": ", shown(*found), " is neither true nor false");
    } else {
      static_assert(std::is_same_v<T, std::string>);
      require(found->is_string(), name, ": ", shown(*found), " is not a string");
    }
    field = found->template get<T>();
  }

  template <class Enum, std::size_t N>
  void operator()(std::string_view name, Enum& field, std::string_view,
                  const Choice<Enum> (&choices)[N]) const {
    const auto found = document.find(std::string(name));
    if (found == document.end()) return;
    std::string names;
    for (const Choice<Enum>& choice : choices) {
      if (found->is_string() && found->template get_ref<const std::string&>() == choice.name) {
        field = choice.value;
        return;
      }
      names += (names.empty() ? "" : ", ") + std::string(choice.name);
    }
    fail(name, ": ", shown(*found), " is none of ", names);
  }

 private:
  template <std::floating_point T>
  static T real_of(std::string_view name, const nlohmann::json& value, Range range) {
    for (const T special : {T(INFINITY), T(-INFINITY), T(NAN)}) {
      if (value.is_string() && value == json_of_number(special)) return special;
    }
    const double number = value.is_number() ? value.get<double>() : NAN;
    require(std::abs(number) <= static_cast<double>(std::numeric_limits<T>::max()), name, ": ",
            shown(value), " is not a number in [", range.low, ", ", range.high, "]");
    return static_cast<T>(number);
  }

  /// Accepts 5 and 5.0, not 5.5; nothing wraps around.
  template <std::integral T>
  static T integer_of(std::string_view name, const nlohmann::json& value, Range range) {
    const auto refuse = [&]() {
      using Limits = std::numeric_limits<T>;
      const bool low_is_type = range.low < static_cast<double>(Limits::min());
      const bool high_is_type = range.high > static_cast<double>(Limits::max());
      const std::string low = low_is_type ? std::to_string(Limits::min()) : digits(range.low);
      const std::string high = high_is_type ? std::to_string(Limits::max()) : digits(range.high);
      fail(name, ": ", shown(value), " is not a whole number in [", low, ", ", high, "]");
    };
    if (value.is_number_unsigned()) {
      const auto number = value.get<std::uint64_t>();
      if (!std::in_range<T>(number)) refuse();
      return static_cast<T>(number);
    }
    if (value.is_number_integer()) {
      const auto number = value.get<std::int64_t>();
      if (!std::in_range<T>(number)) refuse();
      return static_cast<T>(number);
    }
    // Up to 2^53 every whole number is a double of its own.
    constexpr double kLargestExact = 9007199254740992.0;
    const double number = value.is_number() ? value.get<double>() : NAN;
    if (!(std::abs(number) <= kLargestExact) || number != std::floor(number)) refuse();
    const auto whole = static_cast<std::int64_t>(number);
    if (!std::in_range<T>(whole)) refuse();
    return static_cast<T>(whole);
  }

  static std::string digits(double bound) {
    std::ostringstream text;
    text << std::setprecision(15) << bound;
    return text.str();
  }
};

}  // namespace detail

/// {"radius_px": 2, "sigma_px": 1.5}: every field under its name, enums as their names. Reading it
/// back gives the same options.
template <HasFields Options>
nlohmann::json options_to_json(const Options& options) {
  nlohmann::json document = nlohmann::json::object();
  Options::fields(options, detail::JsonWriter{document});
  return document;
}

/// Sets the fields that the document names and leaves the others. An unknown name, a wrong type or
/// a value outside the field's range is an Error, and then nothing has changed.
template <HasFields Options>
void options_from_json(const nlohmann::json& document, Options& options) {
  require(document.is_object(), "options: ", shown(document), " is not a JSON object");
  std::string names;
  const nlohmann::json known = options_to_json(options);
  for (const auto& item : known.items()) names += (names.empty() ? "" : ", ") + item.key();
  for (const auto& item : document.items()) {
    if (known.contains(item.key())) continue;
    fail(shown(item.key()), ": there is no such option; there are ", names);
  }
  Options changed = options;
  Options::fields(changed, detail::JsonReader{document});
  check_options(changed);
  options = std::move(changed);
}

}  // namespace sextant
