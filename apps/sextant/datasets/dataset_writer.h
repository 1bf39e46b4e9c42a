// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "apps/sextant/datasets/set_notes.h"
#include "sextant/core/progress.h"
#include "sextant/geometry/camera.h"
#include "sextant/geometry/mesh.h"
#include "sextant/io/bop_dataset.h"

namespace sextant::app {

/// A picture with what is known of it, before it lies in a data set. Depth comes from a file, which
/// is taken as it is, or is an image, which is written in tenths of millimetres; a photograph has
/// neither. Likewise colour, which may be missing.
struct SetFrame {
  int scene = 1;
  int id = 0;
  Camera camera;
  double depth_scale_mm = 1;
  std::filesystem::path depth_file;
  Image<float> depth_m;
  std::filesystem::path color_file;
  Image<Rgb8> color;
  std::vector<BopInstance> truth;
};

/// Writes a data set in the layout of BOP: images at once, everything else in `finish`.
class DatasetWriter {
 public:
  /// With `symlinks` files of images are linked instead of copied.
  DatasetWriter(std::filesystem::path folder, std::string name, bool symlinks);

  SetNotes& notes() { return notes_; }
  bool has_object(int id) const { return objects_.count(id) > 0; }
  /// A model in metres on the host.
  void add_object(int id, const std::string& name, TriangleMesh mesh,
                  const Symmetries& symmetries = {});
  /// The same for an object that no image holds, scaled to the mean diameter of the others when the
  /// set is finished.
  void add_distractor(const std::string& name, TriangleMesh mesh);
  void add_frame(SetFrame frame);

  int frames() const { return frames_; }
  int instances() const;
  const std::filesystem::path& folder() const { return folder_; }

  /// Measures what is visible of each instance and writes models, truth, targets and notes.
  void finish(const Context& context, const Progress& progress);

 private:
  struct Object {
    std::string name;
    TriangleMesh mesh;
    Symmetries symmetries;
  };
  struct Picture {
    Camera camera;
    std::filesystem::path depth_file;  ///< empty for a photograph
  };

  std::filesystem::path place(const SetFrame& frame, const char* kind,
                              const std::string& extension) const;
  void bring(const std::filesystem::path& from, const std::filesystem::path& to) const;
  void scale_distractors();
  void write_models() const;
  void measure(const Context& context, const Progress& progress);
  void write_targets() const;

  std::filesystem::path folder_;
  bool symlinks_;
  SetNotes notes_;
  std::map<int, Object> objects_;
  std::map<int, BopScene> scenes_;
  std::map<std::pair<int, int>, Picture> pictures_;
  int frames_ = 0;
};

}  // namespace sextant::app
