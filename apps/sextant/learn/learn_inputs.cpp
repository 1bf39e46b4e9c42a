// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/learn/learn_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>

#include "apps/sextant/command/progress_bar.h"
#include "apps/sextant/input/file_kind.h"
#include "sextant/core/error.h"
#include "sextant/geometry/diameter.h"
#include "sextant/geometry/object_size.h"
#include "sextant/io/bop_models.h"
#include "sextant/io/geometry_file.h"
#include "sextant/library/library.h"

namespace sextant::app {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kObjectFiles[] = {".ply", ".obj", ".pcd", ".vtk", ".xyz"};

/// The files of a folder, by name.
std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  require(!error, folder.string(), ": ", error.message());
  std::sort(files.begin(), files.end());
  return files;
}

bool starts_with(const fs::path& path, std::string_view start) {
  return path.filename().string().rfind(start, 0) == 0;
}

bool has_views(const std::vector<fs::path>& files) {
  return std::any_of(files.begin(), files.end(),
                     [](const fs::path& file) { return starts_with(file, "depth_"); });
}

LearnInput mesh_input(const fs::path& path) {
  LearnInput input;
  input.path = path;
  input.name = path.stem().string();
  return input;
}

/// The objects of a models_info.json, by their numbers.
void add_bop_models(const fs::path& info, std::vector<LearnInput>& inputs) {
  for (const BopModel& model : read_bop_models(info)) {
    LearnInput input;
    input.path = bop_mesh_file(info.parent_path(), model.id);
    input.name = input.path.stem().string();
    const std::string where = info.string() + ": object " + std::to_string(model.id);
    require(model.id > 0, where, ": objects are numbered from 1");
    require(fs::is_regular_file(input.path), where, ": ", input.path.string(), " is missing");
    input.bop_id = model.id;
    input.unit_m = 0.001;
    input.given_symmetries = model.symmetries;
    inputs.push_back(std::move(input));
  }
}

bool is_moped_file(const fs::path& path) {
  constexpr std::string_view kEnd = ".moped.xml";
  std::string name = path.filename().string();
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name.ends_with(kEnd);
}

/// The models of a file, which have names of their own.
void add_moped(const fs::path& path, std::vector<LearnInput>& inputs) {
  for (MopedModel& model : read_moped_models(path)) {
    LearnInput input;
    input.kind = LearnInput::Kind::kMoped;
    input.path = path;
    fs::path stem = path.stem();
    if (stem.extension() == ".moped") stem = stem.stem();
    input.name = model.name.empty() ? stem.string() : model.name;
    input.moped = std::make_shared<MopedModel>(std::move(model));
    inputs.push_back(std::move(input));
  }
}

void add_picture(const fs::path& path, std::vector<LearnInput>& inputs) {
  LearnInput input = mesh_input(path);
  input.kind = LearnInput::Kind::kPicture;
  inputs.push_back(std::move(input));
}

void add_folder(const fs::path& folder, const LearnUnits& units, std::vector<LearnInput>& inputs) {
  const std::vector<fs::path> files = files_of(folder);
  if (units.photos) {
    require(!has_views(files), folder.string(),
            ": holds RGB-D views, whose poses need no board; leave --board out");
    LearnInput input;
    input.kind = LearnInput::Kind::kPhotos;
    input.path = folder;
    input.name = fs::weakly_canonical(folder).filename().string();
    inputs.push_back(input);
    return;
  }
  if (fs::is_regular_file(folder / "models_info.json")) {
    add_bop_models(folder / "models_info.json", inputs);
    return;
  }
  if (has_views(files)) {
    LearnInput input;
    input.kind = LearnInput::Kind::kViews;
    input.path = folder;
    input.name = fs::weakly_canonical(folder).filename().string();
    inputs.push_back(input);
    return;
  }
  const std::size_t before = inputs.size();
  for (const fs::path& file : files) {
    const std::string extension = lower_extension(file);
    if (is_moped_file(file)) {
      add_moped(file, inputs);
    } else if (std::find(std::begin(kObjectFiles), std::end(kObjectFiles), extension) !=
               std::end(kObjectFiles)) {
      inputs.push_back(mesh_input(file));
    }
  }
  require(
      inputs.size() > before, folder.string(),
      ": holds no object: no .ply, .obj, .pcd, .vtk, .xyz or .moped.xml file, no "
      "models_info.json, and no depth_*.png of RGB-D views; photographs of an object need --board "
      "FILE, or the poses of their cameras by --camera RIG");
}

/// The largest side of the box around a file's points, in its own units.
struct Size {
  double side = 0, diagonal = 0;
};

Size size_of(const LearnInput& input) {
  Bounds box;
  if (input.moped) {
    box = bounds(Context::cpu(), view_of(input.moped->points_m));
  } else {
    const GeometryInfo info = geometry_info(input.path);
    require(info.points > info.invalid_points, input.path.string(),
            ": holds no point with a place");
    box = info.bounds;
  }
  const Vec3d extent = cast<double>(box.high) - cast<double>(box.low);
  return {std::max({extent.x, extent.y, extent.z}), norm(extent)};
}

/// Metres or millimetres, whichever makes an object of the size; the ranges do not meet.
void guess_unit(const Size& size, LearnInput& input) {
  const auto taken = [&](const char* unit, double metres) {
    input.unit_m = metres;
    input.remarks.push_back(fmt::format(
        "The unit was taken to be {}, as the largest side is {:.4g}.", unit, size.side));
  };
  if (size.side >= 0.01 && size.side <= 3) return taken("m", 1);
  if (size.side >= 10 && size.side <= 5000) return taken("mm", 0.001);
  fail(input.path.string(), ": measures ", size.side,
       ", which is believable neither in metres nor in millimetres; say --unit");
}

void find_unit(const LearnUnits& units, LearnInput& input) {
  if (input.kind != LearnInput::Kind::kMesh && input.kind != LearnInput::Kind::kMoped) return;
  const Size size = size_of(input);
  require(input.bop_id == 0 || (units.unit.empty() && units.diameter_m == 0), input.path.string(),
          ": the models of a BOP data set are in millimetres; leave --unit and --diameter-m out");
  if (units.diameter_m > 0) {
    const Context cpu = Context::cpu();
    const Buffer<Vec3f> points = input.moped ? copy(cpu, input.moped->points_m)
                                             : std::move(read_geometry(input.path).vertices.points);
    const double diameter = sextant::diameter_m(cpu, points);
    require(diameter > 0, input.path.string(), ": all of its points lie in one place");
    input.unit_m = units.diameter_m / diameter;
    input.remarks.push_back(
        fmt::format("The unit was taken to be {:.6g} m, for a diameter of {} m.", input.unit_m,
                    units.diameter_m));
    return;
  }
  if (units.unit == "auto") return guess_unit(size, input);
  if (input.bop_id == 0) input.unit_m = units.unit.empty() ? 1.0 : unit_m_of(units.unit);
  // The diameter lies between the largest side and the diagonal: what is wrong for both is wrong.
  const double side_m = size.side * input.unit_m, diagonal_m = size.diagonal * input.unit_m;
  if (side_m > kLargestObject_m) check_object_size(input.path.string(), side_m, input.unit_m);
  if (diagonal_m < kSmallestObject_m) {
    check_object_size(input.path.string(), diagonal_m, input.unit_m);
  }
}

}  // namespace

double length_m_of(const std::string& text) {
  const std::size_t unit = text.find_first_not_of("0123456789.+-eE ");
  const std::string number = text.substr(0, unit);
  double length = 0;
  const std::size_t digits = number.find_last_not_of(' ') + 1;  // 0 where there are none
  const char* last = number.data() + digits;
  const auto [end, error] = std::from_chars(number.data(), last, length);
  require(error == std::errc{} && end == last, "'", text, "' is no length such as 63mm");
  require(unit != std::string::npos, "'", text, "' has no unit; 63mm, 6.3cm and 0.063m have one");
  return length * unit_m_of(text.substr(unit));
}

std::vector<LearnInput> find_learn_inputs(const std::vector<std::string>& words,
                                          const std::string& name, const LearnUnits& units) {
  std::vector<LearnInput> inputs;
  for (const std::string& word : words) {
    const fs::path path = word;
    if (fs::is_directory(path)) {
      add_folder(path, units, inputs);
      continue;
    }
    require(!units.photos, word, ": is no folder; name the folder of the photographs of an object");
    const FileKind kind = kind_of_content(path);
    if (kind == FileKind::kMoped) {
      add_moped(path, inputs);
      continue;
    }
    if (kind == FileKind::kImage && units.planar_width_m > 0) {
      add_picture(path, inputs);
      continue;
    }
    require(kind == FileKind::kGeometry, word, ": is ", describe(kind),
            ", and an object is learned from a cloud or mesh, or from a folder",
            kind == FileKind::kImage
                ? "; where it shows something flat, --planar-width 63mm says how wide that is"
                : "");
    inputs.push_back(mesh_input(path));
  }
  if (!name.empty()) {
    require(inputs.size() == 1, "--name: '", name, "' names one object, and ", inputs.size(),
            " are to be learned");
    inputs[0].name = name;
  }
  std::map<std::string, fs::path> taken;
  for (const LearnInput& input : inputs) {
    try {
      check_object_name(input.name);
    } catch (const Error& error) {
      if (!name.empty()) throw;
      fail(input.path.string(), ": the object would be named after it, but ", error.what(),
           "; --name gives it another name");
    }
    const auto [other, is_new] = taken.emplace(input.name, input.path);
    require(is_new, input.path.string(), ": has the name '", input.name, "' as ",
            other->second.string(), " has; learn one of them by itself, with --name");
  }
  ProgressBar bar("reading", {"files", 1});
  const Progress progress = bar.callback();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    report(progress, static_cast<std::int64_t>(i), static_cast<std::int64_t>(inputs.size()));
    find_unit(units, inputs[i]);
  }
  return inputs;
}

}  // namespace sextant::app
