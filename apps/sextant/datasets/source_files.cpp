// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/datasets/source_files.h"

#include <algorithm>
#include <cmath>

#include "sextant/io/bop_dataset.h"
#include "sextant/io/file.h"
#include "sextant/io/geometry_file.h"

namespace sextant::app {

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> entries_of(const fs::path& folder, bool folders) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->is_directory() == folders) paths.push_back(it->path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::vector<fs::path> files_in(const fs::path& folder) { return entries_of(folder, false); }
std::vector<fs::path> folders_of(const fs::path& folder) { return entries_of(folder, true); }

bool has_file(const fs::path& folder, const std::string& name) {
  std::error_code ignored;
  return fs::exists(folder / name, ignored);
}

std::optional<int> last_number(const std::string& name) {
  const std::string stem = fs::path(name).stem().string();
  const auto last = std::find_if(stem.rbegin(), stem.rend(), is_digit).base();
  auto first = last;
  while (first != stem.begin() && is_digit(first[-1])) --first;
  if (first == last || last - first > 9) return std::nullopt;
  return std::stoi(std::string(first, last));
}

std::vector<double> read_numbers(const fs::path& path) {
  const FileBytes file = read_file(path);
  std::vector<double> numbers;
  std::string_view text = file.text();
  for (int line_number = 1; !text.empty(); ++line_number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::istringstream line{std::string(text.substr(0, end))};
    text.remove_prefix(std::min(end + 1, text.size()));
    std::string word;
    while (line >> word) {
      if (word[0] == '#') break;
      char* stop = nullptr;
      const double value = std::strtod(word.c_str(), &stop);
      require(*stop == '\0' && std::isfinite(value), path.string(), ": line ", line_number, ": '",
              word.substr(0, 40), "' is not a number");
      numbers.push_back(value);
    }
  }
  return numbers;
}

std::string first_comment(const fs::path& path) {
  const FileBytes file = read_file(path);
  const std::string_view text = file.text();
  if (text.empty() || text[0] != '#') return {};
  return std::string(text.substr(1, text.find('\n') - 1));
}

Rigid3d motion_of(const std::vector<double>& n, double unit_m, const std::string& where) {
  require(n.size() == 12 || n.size() == 16, where, ": a pose has 12 or 16 numbers, found ",
          n.size());
  const Mat3d rotation{{{n[0], n[1], n[2]}, {n[4], n[5], n[6]}, {n[8], n[9], n[10]}}};
  require(is_nearly_rotation(rotation), where, ": is no rotation");
  return renormalized(Rigid3d{rotation, Vec3d{n[3], n[7], n[11]} * unit_m});
}

Rigid3d motion_of(const double* r, const double* t, double unit_m, const std::string& where) {
  const std::vector<double> numbers{r[0], r[1], r[2], t[0], r[3], r[4],
                                    r[5], t[1], r[6], r[7], r[8], t[2]};
  return motion_of(numbers, unit_m, where);
}

Rigid3d motion_of_rows(const nlohmann::json& rows, double unit_m, const std::string& where) {
  std::vector<double> numbers;
  try {
    for (const nlohmann::json& row : rows) {
      for (const nlohmann::json& number : row) numbers.push_back(number.get<double>());
    }
  } catch (const nlohmann::json::exception&) {
    fail(where, ": a pose is a list of rows of numbers");
  }
  return motion_of(numbers, unit_m, where);
}

TriangleMesh read_model(const fs::path& path, double unit_m) {
  return read_geometry(path, {.unit_m = unit_m});
}

void move(TriangleMesh& mesh, const Rigid3d& motion) {
  const Rigid3f m = cast<float>(motion);
  for (Vec3f& p : mesh.vertices.points.host()) p = cast<float>(motion * cast<double>(p));
  for (Vec3f& n : mesh.vertices.normals.host()) n = m.rotation * n;
  for (Vec3f& n : mesh.corner_normals.host()) n = m.rotation * n;
}

Camera vga(double fx_px, double fy_px, double cx_px, double cy_px) {
  return {640, 480, fx_px, fy_px, cx_px, cy_px, {}};
}

}  // namespace sextant::app
