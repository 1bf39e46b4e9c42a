// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/bop_results.h"

#include <array>
#include <cmath>

#include "sextant/io/bop_dataset.h"
#include "sextant/io/file.h"
#include "sextant/io/text/scanner.h"

namespace sextant {

namespace {

namespace text = detail::text;

constexpr std::string_view kHeader = "scene_id,im_id,obj_id,score,R,t,time";

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && text::is_blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && text::is_blank(s.back())) s.remove_suffix(1);
  return s;
}

/// One line, with what its messages begin with.
class Row {
 public:
  Row(std::string_view line, const std::string& name, std::int64_t number)
      : rest_(line), name_(name), number_(number) {}

  template <class... Parts>
  void expect(bool condition, const Parts&... parts) const {
    if (!condition) fail(name_, ": line ", number_, ": ", parts...);
  }

  int id(const char* what) {
    const std::string_view word = field(what);
    int value = 0;
    expect(text::parse_word(word, value) && value >= 0, what,
           " must be a whole number of at least 0, found '", text::shown(word), "'");
    return value;
  }

  double number(const char* what) {
    const std::string_view word = field(what);
    double value = 0;
    expect(text::parse_word(word, value) && std::isfinite(value), what,
           " must be a finite number, found '", text::shown(word), "'");
    return value;
  }

  template <std::size_t N>
  std::array<double, N> numbers(const char* what) {
    std::string_view words = field(what);
    std::array<double, N> values{};
    std::size_t count = 0;
    while (!words.empty()) {
      const std::size_t end = std::min(words.find_first_of(" \t"), words.size());
      const std::string_view word = words.substr(0, end);
      words = trimmed(words.substr(end));
      double value = 0;
      expect(text::parse_word(word, value) && std::isfinite(value), what,
             " must have finite numbers, found '", text::shown(word), "'");
      if (count < N) values[count] = value;
      ++count;
    }
    expect(count == N, what, " must have ", N, " numbers divided by blanks but has ", count);
    return values;
  }

  void finish() const { expect(done_, "has more than the 7 fields ", kHeader); }

 private:
  std::string_view field(const char* what) {
    expect(!done_, "ends before ", what, "; a line is ", kHeader);
    const std::size_t comma = rest_.find(',');
    const std::string_view word = trimmed(rest_.substr(0, comma));
    done_ = comma == std::string_view::npos;
    rest_ = done_ ? std::string_view() : rest_.substr(comma + 1);
    return word;
  }

  std::string_view rest_;
  const std::string& name_;
  std::int64_t number_;
  bool done_ = false;
};

BopResult result_of(Row row) {
  BopResult result;
  result.scene_id = row.id("scene_id");
  result.image_id = row.id("im_id");
  result.object_id = row.id("obj_id");
  result.score = row.number("score");
  const std::array<double, 9> r = row.numbers<9>("R");
  const std::array<double, 3> t = row.numbers<3>("t");
  result.seconds = row.number("time");
  row.finish();
  const Mat3<double> rotation{{{r[0], r[1], r[2]}, {r[3], r[4], r[5]}, {r[6], r[7], r[8]}}};
  row.expect(is_nearly_rotation(rotation), "R is no rotation matrix");
  result.camera_from_object = renormalized(Rigid3d{rotation, Vec3d{t[0], t[1], t[2]} * 0.001});
  return result;
}

void append(std::string& line, double value) {
  char digits[40];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  line.append(digits, end);
}

/// A comma, then the numbers with blanks between them.
void append(std::string& line, std::initializer_list<double> values) {
  char divider = ',';
  for (const double value : values) {
    line += divider;
    append(line, value);
    divider = ' ';
  }
}

}  // namespace

std::vector<BopResult> parse_bop_results(std::string_view text, const std::string& name) {
  std::vector<BopResult> results;
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || (number == 1 && line == kHeader)) continue;
    results.push_back(result_of(Row(line, name, number)));
  }
  return results;
}

std::vector<BopResult> read_bop_results(const std::filesystem::path& path) {
  return parse_bop_results(read_file(path).text(), path.string());
}

std::string bop_results_text(const std::vector<BopResult>& results) {
  std::string out(kHeader);
  out += '\n';
  for (const BopResult& result : results) {
    out += std::to_string(result.scene_id) + ',' + std::to_string(result.image_id) + ',' +
           std::to_string(result.object_id) + ',';
    append(out, result.score);
    const Vec3d* r = result.camera_from_object.rotation.row;
    append(out, {r[0].x, r[0].y, r[0].z, r[1].x, r[1].y, r[1].z, r[2].x, r[2].y, r[2].z});
    const Vec3d t_mm = result.camera_from_object.translation * 1000.0;
    append(out, {t_mm.x, t_mm.y, t_mm.z});
    out += ',';
    append(out, result.seconds);
    out += '\n';
  }
  return out;
}

void write_bop_results(const std::filesystem::path& path, const std::vector<BopResult>& results) {
  write_file_atomically(path, [&](FileWriter& writer) { writer.write(bop_results_text(results)); });
}

}  // namespace sextant
