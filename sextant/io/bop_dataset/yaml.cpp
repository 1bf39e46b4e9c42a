// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "sextant/io/bop_dataset.h"
#include "sextant/io/file.h"
#include "sextant/io/text/scanner.h"

namespace sextant {

namespace {

using nlohmann::json;
namespace text = detail::text;

constexpr std::int64_t kMaxFileBytes = 256 << 20;
/// Data sets nest four deep; a limit keeps hostile files off the stack.
constexpr int kDeepest = 32;

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && text::is_blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && text::is_blank(s.back())) s.remove_suffix(1);
  return s;
}

/// A line that says something, without its indentation and comment. What stands in brackets over
/// several lines is one.
struct Line {
  std::size_t indent = 0;
  std::string content;
  std::int64_t number = 0;
};

/// Goes through the characters of a line that lie outside quotes.
template <class Visit>
void outside_quotes(std::string_view line, const Visit& visit) {
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (!visit(i, c)) {
      return;
    }
  }
}

std::string_view without_comment(std::string_view line) {
  std::size_t end = line.size();
  outside_quotes(line, [&](std::size_t i, char c) {
    if (c == '#' && (i == 0 || text::is_blank(line[i - 1]))) end = i;
    return end == line.size();
  });
  return line.substr(0, end);
}

int open_brackets(std::string_view line) {
  int open = 0;
  outside_quotes(line, [&](std::size_t, char c) {
    open += (c == '[' || c == '{') - (c == ']' || c == '}');
    return true;
  });
  return open;
}

class Parser {
 public:
  Parser(std::string_view text, std::string name) : name_(std::move(name)) { split(text); }

  json document() {
    if (lines_.empty()) return nullptr;
    const json value = block(lines_[0].indent, 0);
    if (at_ < lines_.size()) fail_at(lines_[at_], "is indented less than what it belongs to");
    return value;
  }

 private:
  template <class... Parts>
  [[noreturn]] void fail_at(const Line& line, const Parts&... parts) const {
    fail(name_, ": line ", line.number, ": ", parts...);
  }

  void split(std::string_view text) {
    std::int64_t number = 0;
    int open = 0;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::string_view raw = without_comment(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      ++number;
      const std::string_view content = trimmed(raw);
      if (content.empty() || content == "---" || content.starts_with("%YAML")) continue;
      if (open > 0) {
        lines_.back().content += ' ';
        lines_.back().content += content;
      } else {
        const std::size_t indent = raw.find_first_not_of(' ');
        lines_.push_back({indent, std::string(content), number});
        if (raw[indent] == '\t') fail_at(lines_.back(), "is indented with a tab; use blanks");
      }
      open += open_brackets(content);
      if (open < 0) fail_at(lines_.back(), "closes a bracket that is not open");
    }
    if (open > 0) fail_at(lines_.back(), "opens a bracket that is never closed");
  }

  /// Where "key: value" is divided; nothing for a plain value.
  static std::optional<std::size_t> colon_of(std::string_view content) {
    std::optional<std::size_t> colon;
    int open = 0;
    outside_quotes(content, [&](std::size_t i, char c) {
      open += (c == '[' || c == '{') - (c == ']' || c == '}');
      const bool last = i + 1 == content.size() || text::is_blank(content[i + 1]);
      if (c == ':' && open == 0 && last) colon = i;
      return !colon;
    });
    return colon;
  }

  static bool is_item(std::string_view content) {
    return content == "-" || content.starts_with("- ");
  }

  /// A tag (!!opencv-matrix) tells programs a type that the value shows as well.
  static std::string_view without_tag(std::string_view value) {
    if (!value.starts_with('!')) return value;
    return trimmed(value.substr(std::min(value.find(' '), value.size())));
  }

  json block(std::size_t indent, int depth) {
    if (depth > kDeepest) fail_at(lines_[at_], "nests deeper than ", kDeepest);
    if (is_item(lines_[at_].content)) return list(indent, depth);
    if (colon_of(lines_[at_].content)) return mapping(indent, depth);
    return flow(lines_[at_++]);
  }

  json list(std::size_t indent, int depth) {
    json items = json::array();
    while (at_ < lines_.size() && lines_[at_].indent == indent && is_item(lines_[at_].content)) {
      Line& line = lines_[at_];
      const std::size_t skipped =
          std::min(line.content.find_first_not_of(' ', 1), line.content.size());
      line.content.erase(0, skipped);
      line.indent += skipped;
      if (line.content.empty()) {
        ++at_;
        items.push_back(deeper(indent, depth));
      } else {
        items.push_back(block(line.indent, depth + 1));
      }
    }
    check_indent(indent);
    return items;
  }

  json mapping(std::size_t indent, int depth) {
    json object = json::object();
    while (at_ < lines_.size() && lines_[at_].indent == indent && !is_item(lines_[at_].content)) {
      const Line line = lines_[at_];
      const std::optional<std::size_t> colon = colon_of(line.content);
      if (!colon) fail_at(line, "expected 'key: value', found '", text::shown(line.content), "'");
      const std::string key = key_of(std::string_view(line.content).substr(0, *colon));
      if (object.contains(key)) fail_at(line, "has the key ", text::shown(key), " a second time");
      const std::string_view rest =
          without_tag(trimmed(std::string_view(line.content).substr(*colon + 1)));
      ++at_;
      if (!rest.empty()) {
        object[key] = flow({line.indent, std::string(rest), line.number});
      } else {
        object[key] = below(indent, depth);
      }
    }
    check_indent(indent);
    return object;
  }

  /// What stands under a key: deeper lines, or a list at the same depth.
  json below(std::size_t indent, int depth) {
    const bool same =
        at_ < lines_.size() && lines_[at_].indent == indent && is_item(lines_[at_].content);
    return same ? list(indent, depth + 1) : deeper(indent, depth);
  }

  json deeper(std::size_t indent, int depth) {
    if (at_ == lines_.size() || lines_[at_].indent <= indent) return nullptr;
    return block(lines_[at_].indent, depth + 1);
  }

  void check_indent(std::size_t indent) const {
    if (at_ < lines_.size() && lines_[at_].indent > indent) {
      fail_at(lines_[at_], "is indented more than what stands above it");
    }
  }

  static std::string key_of(std::string_view key) {
    key = trimmed(key);
    const bool quoted =
        key.size() >= 2 && (key.front() == '"' || key.front() == '\'') && key.back() == key.front();
    return std::string(quoted ? key.substr(1, key.size() - 2) : key);
  }

  json flow(const Line& line) const {
    std::size_t at = 0;
    json value = flow_value(line, at, 0);
    skip_blanks(line, at);
    if (at != line.content.size()) {
      fail_at(line, "has '", text::shown(std::string_view(line.content).substr(at)),
              "' after its value");
    }
    return value;
  }

  static void skip_blanks(const Line& line, std::size_t& at) {
    while (at < line.content.size() && text::is_blank(line.content[at])) ++at;
  }

  json flow_value(const Line& line, std::size_t& at, int depth) const {
    if (depth > kDeepest) fail_at(line, "nests deeper than ", kDeepest);
    skip_blanks(line, at);
    const std::string& s = line.content;
    if (at < s.size() && s[at] == '[') return flow_list(line, at, depth);
    if (at < s.size() && s[at] == '{') return flow_mapping(line, at, depth);
    if (at < s.size() && (s[at] == '"' || s[at] == '\'')) {
      const std::size_t end = s.find(s[at], at + 1);
      if (end == std::string::npos) fail_at(line, "has a quote that is never closed");
      const std::string word = s.substr(at + 1, end - at - 1);
      at = end + 1;
      return word;
    }
    // Outside brackets a comma is part of a word.
    const std::size_t end = depth == 0 ? s.size() : std::min(s.find_first_of(",]}", at), s.size());
    const std::string_view word = trimmed(std::string_view(s).substr(at, end - at));
    at = end;
    return scalar(word);
  }

  json flow_list(const Line& line, std::size_t& at, int depth) const {
    json items = json::array();
    const std::string& s = line.content;
    for (++at;;) {
      skip_blanks(line, at);
      if (at < s.size() && s[at] == ']') break;
      items.push_back(flow_value(line, at, depth + 1));
      skip_blanks(line, at);
      if (at < s.size() && s[at] == ',') {
        ++at;
      } else if (at == s.size() || s[at] != ']') {
        fail_at(line, "expected ',' or ']' in a list");
      }
    }
    ++at;
    return items;
  }

  json flow_mapping(const Line& line, std::size_t& at, int depth) const {
    json object = json::object();
    const std::string& s = line.content;
    for (++at;;) {
      skip_blanks(line, at);
      if (at < s.size() && s[at] == '}') break;
      const std::size_t colon = s.find(':', at);
      if (colon == std::string::npos) fail_at(line, "expected 'key: value' in {}");
      const std::string key = key_of(std::string_view(s).substr(at, colon - at));
      at = colon + 1;
      if (object.contains(key)) fail_at(line, "has the key ", text::shown(key), " a second time");
      object[key] = flow_value(line, at, depth + 1);
      skip_blanks(line, at);
      if (at < s.size() && s[at] == ',') {
        ++at;
      } else if (at == s.size() || s[at] != '}') {
        fail_at(line, "expected ',' or '}' in a mapping");
      }
    }
    ++at;
    return object;
  }

  static json scalar(std::string_view word) {
    if (word.empty() || word == "~" || word == "null") return nullptr;
    if (word == "true" || word == "True") return true;
    if (word == "false" || word == "False") return false;
    const bool number =
        word[0] == '-' || word[0] == '+' || word[0] == '.' || (word[0] >= '0' && word[0] <= '9');
    std::int64_t integer = 0;
    if (number && text::parse_word(word, integer)) return integer;
    double real = 0;
    if (number && text::parse_word(word, real)) return real;
    return std::string(word);
  }

  std::string name_;
  std::vector<Line> lines_;
  std::size_t at_ = 0;
};

}  // namespace

json parse_simple_yaml(std::string_view text, const std::string& name) {
  return Parser(text, name).document();
}

json read_simple_yaml(const std::filesystem::path& path) {
  return parse_simple_yaml(read_file(path, kMaxFileBytes).text(), path.string());
}

}  // namespace sextant
