// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/xyz/table.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "sextant/io/text/scanner.h"

namespace sextant::detail::xyz {

namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text::is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && text::is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// The sign of a comment is taken off.
std::optional<std::string_view> comment_of(std::string_view line) {
  if (line.starts_with("#")) return trimmed(line.substr(1));
  if (line.starts_with("//")) return trimmed(line.substr(2));
  return std::nullopt;
}

/// What stands between the numbers of a line; a blank where there is nothing else.
char separator_of(std::string_view line) {
  for (const char separator : {';', ','}) {
    if (line.find(separator) != std::string_view::npos) return separator;
  }
  return ' ';
}

/// A separator at the end of the line adds no word.
void split(std::string_view line, char separator, std::vector<std::string_view>& words) {
  words.clear();
  while (!line.empty()) {
    std::size_t end = 0;
    while (end < line.size() &&
           !(separator == ' ' ? text::is_blank(line[end]) : line[end] == separator)) {
      ++end;
    }
    words.push_back(trimmed(line.substr(0, end)));
    line = end < line.size() ? trimmed(line.substr(end + 1)) : std::string_view();
  }
}

std::vector<std::string> small_letters(const std::vector<std::string_view>& words) {
  std::vector<std::string> names;
  for (const std::string_view word : words) {
    std::string name(word);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
      return static_cast<char>(c < 128 ? std::tolower(c) : c);
    });
    names.push_back(std::move(name));
  }
  return names;
}

bool names_points(const std::vector<std::string>& names) {
  const auto has = [&](const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  return has("x") && has("y") && has("z");
}

bool is_number(std::string_view word) {
  double value = 0;
  return text::parse_word(word, value);
}

class TableParser {
 public:
  TableParser(std::string_view text, const std::string& name, file::ReadProgress& progress)
      : text_(text, name), progress_(progress) {}

  Table parse() {
    while (text_.skip_space()) {
      const std::int64_t at = text_.position();
      const std::string_view line = text_.rest_of_line();
      if (const auto comment = comment_of(line)) {
        add_comment(*comment);
      } else {
        add_line(line, at);
      }
      progress_.at(text_.position());
    }
    require(table_.columns > 0, text_.name(), ": has no line with the numbers of a point");
    if (promised_ && *promised_ != static_cast<double>(table_.rows())) {
      fail(text_.name(), ": the first line promises ", *promised_, " points, the file has ",
           table_.rows());
    }
    return std::move(table_);
  }

 private:
  void add_comment(std::string_view comment) {
    if (table_.columns > 0) return;
    table_.comments.emplace_back(comment);
    split(comment, separator_of(comment), words_);
    if (std::vector<std::string> names = small_letters(words_); names_points(names)) {
      maybe_names_ = std::move(names);
    }
  }

  void add_line(std::string_view line, std::int64_t at) {
    if (table_.columns == 0) separator_ = separator_of(line);
    split(line, separator_, words_);
    if (table_.columns == 0 && !begin(at)) return;
    if (words_.size() != table_.columns) {
      text_.fail_at(at, "expected ", table_.columns, " numbers as on the lines before, found ",
                    words_.size());
    }
    for (const std::string_view word : words_) {
      double number = 0;
      if (!text::parse_word(word, number)) {
        text_.fail_at(at, "expected a number, found '", text::shown(word), "'");
      }
      table_.numbers.push_back(number);
    }
  }

  /// Looks at the lines before the numbers; true when this one begins them.
  bool begin(std::int64_t at) {
    if (words_.size() == 1 && is_number(words_[0]) && !promised_) {
      double points = 0;
      text::parse_word(words_[0], points);
      promised_ = points;
      table_.counted = true;
      return false;
    }
    if (std::none_of(words_.begin(), words_.end(), is_number)) {
      std::vector<std::string> names = small_letters(words_);
      if (!names_points(names) || !table_.names.empty()) {
        text_.fail_at(at, "expected the numbers of a point, found '",
                      text::shown(words_.empty() ? std::string_view() : words_[0]), "'");
      }
      table_.names = std::move(names);
      return false;
    }
    if (words_.size() < 3) {
      text_.fail_at(at, "expected x y z, found ", words_.size(), " words");
    }
    table_.columns = words_.size();
    if (table_.names.empty() && maybe_names_.size() == table_.columns) {
      table_.names = std::move(maybe_names_);
    }
    if (!table_.names.empty() && table_.names.size() != table_.columns) {
      text_.fail_at(at, "expected ", table_.names.size(), " numbers as there are names, found ",
                    table_.columns);
    }
    return true;
  }

  text::TextScanner text_;
  file::ReadProgress& progress_;
  Table table_;
  char separator_ = ' ';
  std::optional<double> promised_;        ///< points, by a line with nothing else
  std::vector<std::string> maybe_names_;  ///< of a comment
  std::vector<std::string_view> words_;   ///< of the line
};

}  // namespace

Table parse_table(std::string_view text, const std::string& name, file::ReadProgress& progress) {
  return TableParser(text, name, progress).parse();
}

bool begins_with_points(std::string_view start) {
  text::TextScanner text(start, "");
  std::vector<std::string_view> words;
  while (text.skip_space()) {
    const std::string_view line = text.rest_of_line();
    if (comment_of(line)) continue;
    split(line, separator_of(line), words);
    // The last word may be cut off.
    const bool whole = text.remaining() > 0;
    return words.size() >= (whole ? 3u : 4u) &&
           std::all_of(words.begin(), whole ? words.end() : words.end() - 1, is_number);
  }
  return false;
}

}  // namespace sextant::detail::xyz
