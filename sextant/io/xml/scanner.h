// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sextant/io/text/scanner.h"

namespace sextant::detail::xml {

/// The text with the five entities of XML and those of characters (&#65; &#x41;) replaced, as
/// UTF-8; others stay as they are.
std::string decoded(std::string_view raw);
/// The text as it stands in an attribute between double quotes.
std::string encoded(std::string_view text);

/// Walks over the elements of the XML that measuring tools write. Declarations, comments and
/// CDATA's marks are passed over; several elements may stand side by side at the top. A document
/// type is an Error: nothing that we read has one. So are an element that is not closed and one
/// that closes another.
class XmlScanner {
 public:
  enum class Event { kOpen, kClose, kEnd };

  /// `name` stands for the file in messages. The text must outlive the scanner.
  XmlScanner(std::string_view text, std::string name);

  /// Goes to where the next element begins or ends; `<a/>` does both, one after the other.
  Event next();

  /// Name of the element that begins or ends here.
  std::string_view element() const { return element_; }
  /// What is written for an attribute of the element that begins here, as it stands there.
  std::optional<std::string_view> attribute(std::string_view name) const;
  /// The text, as it stands there, from the last beginning or end of an element to this one.
  std::string_view content() const { return content_; }
  /// How many elements are open, the one that begins here counted, the one that ends not.
  std::size_t depth() const { return open_.size(); }
  /// Passes over the element that begins here, with all that is in it.
  void skip();

  template <class... Parts>
  [[noreturn]] void fail_here(const Parts&... parts) const {
    text::TextScanner(text_, name_).fail_at(static_cast<std::int64_t>(start_), parts...);
  }

 private:
  void pass_comment(std::string_view end, const char* what);
  void read_open();
  void read_close();
  std::string_view read_name();
  void skip_space();

  std::string_view text_;
  std::string name_;
  std::size_t at_ = 0;
  std::size_t start_ = 0;  ///< of what the scanner stands at
  std::string_view element_;
  std::string_view content_;
  std::vector<std::pair<std::string_view, std::string_view>> attributes_;
  std::vector<std::string_view> open_;
  bool closes_itself_ = false;
};

}  // namespace sextant::detail::xml
