// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/xml/scanner.h"

#include <algorithm>

namespace sextant::detail::xml {

namespace {

/// Files nest five deep; a limit keeps hostile ones from taking memory.
constexpr std::size_t kDeepest = 64;

bool is_space(char c) { return text::is_blank(c) || c == '\n'; }

bool ends_name(char c) { return is_space(c) || c == '>' || c == '/' || c == '=' || c == '<'; }

/// Appends a character as UTF-8; false where there is none of this number.
bool append_character(std::string& out, std::uint32_t code) {
  if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    put(0x80 | (code & 63));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 63));
    put(0x80 | (code & 63));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 63));
    put(0x80 | (code >> 6 & 63));
    put(0x80 | (code & 63));
  }
  return true;
}

/// Appends what an entity, without & and ;, stands for; false where it is not known.
bool append_entity(std::string& out, std::string_view entity) {
  constexpr std::pair<std::string_view, char> kNamed[] = {
      {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
  for (const auto& [name, character] : kNamed) {
    if (entity != name) continue;
    out += character;
    return true;
  }
  if (entity.size() < 2 || entity[0] != '#') return false;
  const bool hexadecimal = entity[1] == 'x';
  const char* first = entity.data() + (hexadecimal ? 2 : 1);
  const char* last = entity.data() + entity.size();
  std::uint32_t code = 0;
  const auto [end, error] = std::from_chars(first, last, code, hexadecimal ? 16 : 10);
  return error == std::errc{} && end == last && append_character(out, code);
}

}  // namespace

std::string decoded(std::string_view raw) {
  std::string out;
  while (!raw.empty()) {
    const std::size_t ampersand = std::min(raw.find('&'), raw.size());
    out += raw.substr(0, ampersand);
    raw.remove_prefix(ampersand);
    if (raw.empty()) break;
    const std::size_t end = raw.find(';');
    if (end != std::string_view::npos && append_entity(out, raw.substr(1, end - 1))) {
      raw.remove_prefix(end + 1);
    } else {
      out += '&';
      raw.remove_prefix(1);
    }
  }
  return out;
}

std::string encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

XmlScanner::XmlScanner(std::string_view text, std::string name)
    : text_(text), name_(std::move(name)) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
}

XmlScanner::Event XmlScanner::next() {
  if (closes_itself_) {
    closes_itself_ = false;
    content_ = {};
    open_.pop_back();
    return Event::kClose;
  }
  const std::size_t content_start = at_;
  for (;;) {
    start_ = std::min(text_.find('<', at_), text_.size());
    content_ = text_.substr(content_start, start_ - content_start);
    at_ = start_;
    if (at_ == text_.size()) break;
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with("<!--")) {
      pass_comment("-->", "a comment");
    } else if (rest.starts_with("<?")) {
      pass_comment("?>", "a declaration");
    } else if (rest.starts_with("<!")) {
      fail_here("holds '", text::shown(rest.substr(0, 12)), "', which is not read");
    } else if (rest.starts_with("</")) {
      read_close();
      return Event::kClose;
    } else {
      read_open();
      return Event::kOpen;
    }
  }
  if (!open_.empty()) {
    fail_here("the file ends inside <", text::shown(open_.back()), ">; perhaps it was cut short");
  }
  return Event::kEnd;
}

std::optional<std::string_view> XmlScanner::attribute(std::string_view name) const {
  for (const auto& [key, value] : attributes_) {
    if (key == name) return value;
  }
  return std::nullopt;
}

void XmlScanner::skip() {
  const std::size_t outside = depth() - 1;
  while (!(next() == Event::kClose && depth() == outside)) {
  }
}

void XmlScanner::pass_comment(std::string_view end, const char* what) {
  const std::size_t found = text_.find(end, at_);
  if (found == std::string_view::npos) fail_here("the file ends inside ", what);
  at_ = found + end.size();
}

void XmlScanner::skip_space() {
  while (at_ < text_.size() && is_space(text_[at_])) ++at_;
}

std::string_view XmlScanner::read_name() {
  const std::size_t first = at_;
  while (at_ < text_.size() && !ends_name(text_[at_])) ++at_;
  if (at_ == first) fail_here("expected the name of an element or attribute");
  return text_.substr(first, at_ - first);
}

void XmlScanner::read_open() {
  ++at_;
  element_ = read_name();
  attributes_.clear();
  for (;;) {
    skip_space();
    if (at_ == text_.size()) fail_here("the file ends inside <", text::shown(element_), ">");
    if (text_[at_] == '>' || text_.substr(at_).starts_with("/>")) break;
    const std::string_view key = read_name();
    skip_space();
    if (at_ == text_.size() || text_[at_] != '=') {
      fail_here("expected '=' after the attribute '", text::shown(key), "' of <",
                text::shown(element_), ">");
    }
    ++at_;
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    const std::size_t end =
        quote == '"' || quote == '\'' ? text_.find(quote, at_ + 1) : std::string_view::npos;
    if (end == std::string_view::npos) {
      fail_here("the attribute '", text::shown(key), "' of <", text::shown(element_),
                "> does not stand between quotes");
    }
    if (attribute(key)) {
      fail_here("<", text::shown(element_), "> has the attribute '", text::shown(key), "' twice");
    }
    attributes_.emplace_back(key, text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
  }
  closes_itself_ = text_[at_] == '/';
  at_ += closes_itself_ ? 2 : 1;
  if (open_.size() == kDeepest) fail_here("elements lie in more than ", kDeepest, " others");
  open_.push_back(element_);
}

void XmlScanner::read_close() {
  at_ += 2;
  element_ = read_name();
  attributes_.clear();
  skip_space();
  if (at_ == text_.size() || text_[at_] != '>') {
    fail_here("expected '>' after '</", text::shown(element_), "'");
  }
  ++at_;
  if (open_.empty()) fail_here("</", text::shown(element_), "> closes nothing");
  if (open_.back() != element_) {
    fail_here("</", text::shown(element_), "> closes <", text::shown(open_.back()), ">");
  }
  open_.pop_back();
}

}  // namespace sextant::detail::xml
