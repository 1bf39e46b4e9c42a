// SPDX-License-Identifier: Apache-2.0
#include "sextant/library/resident.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace sextant {

namespace {

constexpr std::int64_t kAppearanceBytes = 128;

/// How many elements each object has in a list, and where they begin and end.
class Segments {
 public:
  template <class Count>
  Segments(const std::vector<ObjectEntry>& entries, const char* what, const Count& count) {
    for (const ObjectEntry& entry : entries) {
      first_.push_back(total());
      const std::int64_t end = total() + count(entry);
      require(end <= INT32_MAX, "library: the objects have more than ", INT32_MAX, " ", what,
              "; use several libraries");
      ends_.push_back(static_cast<std::int32_t>(end));
    }
  }
  Segments() = default;

  std::int64_t total() const { return ends_.empty() ? 0 : ends_.back(); }
  std::int64_t first(std::int64_t object) const { return first_[static_cast<std::size_t>(object)]; }
  Buffer<std::int32_t> on_device(const Context& context) const { return copy(context, ends_); }

 private:
  std::vector<std::int64_t> first_;
  std::vector<std::int32_t> ends_;
};

/// Copies what one object brings to its place among all.
template <class T>
void place(const Context& context, const Buffer<T>& from, std::int64_t first, Buffer<T>& to) {
  if (from.empty()) return;
  copy<T>(context, from.view(), to.view().subview(first, from.size()));
}

template <class T>
std::int64_t bytes_of(const Buffer<T>& buffer) {
  return buffer.size() * static_cast<std::int64_t>(sizeof(T));
}
using ShotKey = std::pair<float, int>;  // radius, length
ShotKey shot_key(const ObjectEntry& entry) { return {entry.shot_radius_m, entry.shot_length}; }

using TensorKey = std::pair<float, int>;  // resolution, bins
TensorKey tensor_key(const ObjectEntry& entry) {
  return {entry.tensor_resolution_m, entry.tensor_bins};
}

/// Fills a resident library object by object.
class Loader {
 public:
  Loader(const Context& context, const ObjectParts& parts) : context_(context), parts_(parts) {}

  void begin(const std::vector<ObjectEntry>& entries) {
    entries_ = entries;
    if (parts_.samples) prepare_samples();
    if (parts_.shot) prepare_shot();
    if (parts_.tensors) prepare_tensors();
    if (parts_.appearance) prepare_appearance();
  }

  void add(std::int64_t number, const LearnedObject& object) {
    const ObjectEntry& entry = entries_[static_cast<std::size_t>(number)];
    resident_.objects.push_back({object.name,
                                 object.bop_id,
                                 object.diameter_m,
                                 entry.leaf_m,
                                 entry.low_m,
                                 entry.high_m,
                                 object.shape_symmetries,
                                 object.appearance_symmetries,
                                 {}});
    if (parts_.views) resident_.objects.back().views = object.views;
    if (parts_.mesh) resident_.meshes.push_back(copy(context_, object.mesh));
    if (parts_.samples) {
      const std::int64_t first = samples_.first(number);
      place(context_, object.samples.points, first, resident_.samples.points);
      place(context_, object.samples.normals, first, resident_.samples.normals);
    }
    if (parts_.shot && !object.shot.points.empty()) {
      add_shot(number, object.shot, shot_key(entry));
    }
    if (parts_.tensors && !object.tensors.views.empty()) {
      add_tensors(number, object.tensors, tensor_key(entry));
    }
    if (parts_.appearance) {
      const std::int64_t first = appearance_.first(number);
      place(context_, object.appearance.points, first, resident_.appearance.points);
      place(context_, object.appearance.descriptors, kAppearanceBytes * first,
            resident_.appearance.descriptors);
    }
  }

  ResidentLibrary finish() {
    context_.synchronize();
    return std::move(resident_);
  }

 private:
  void prepare_samples() {
    samples_ = Segments(entries_, "samples", [](const ObjectEntry& e) { return e.samples; });
    ResidentSamples& samples = resident_.samples;
    samples.ends = samples_.on_device(context_);
    samples.points = Buffer<Vec3f>(context_, samples_.total());
    samples.normals = Buffer<Vec3f>(context_, samples_.total());
  }

  void prepare_shot() {
    for (const ObjectEntry& entry : entries_) {
      if (entry.shot > 0) shot_.try_emplace(shot_key(entry));
    }
    for (auto& [key, group] : shot_) {
      group.segments = Segments(entries_, "SHOT descriptors", [&own = key](const ObjectEntry& e) {
        return shot_key(e) == own ? e.shot : 0;
      });
      group.place = resident_.shot.size();
      const std::int64_t total = group.segments.total();
      ResidentShot shot{key.first, key.second, group.segments.on_device(context_), {}, {}, {}};
      shot.points = Buffer<Vec3f>(context_, total);
      shot.frames = Buffer<Vec3f>(context_, 3 * total);
      shot.values = Buffer<float>(context_, key.second * total);
      resident_.shot.push_back(std::move(shot));
    }
  }

  void add_shot(std::int64_t number, const LearnedShot& from, const ShotKey& key) {
    const Group& group = shot_.at(key);
    const std::int64_t first = group.segments.first(number);
    ResidentShot& to = resident_.shot[group.place];
    place(context_, from.points, first, to.points);
    place(context_, from.frames, 3 * first, to.frames);
    place(context_, from.values, from.length * first, to.values);
  }

  void prepare_tensors() {
    for (const ObjectEntry& entry : entries_) {
      if (entry.tensors > 0) tensors_.try_emplace(tensor_key(entry));
    }
    for (auto& [key, group] : tensors_) {
      group.segments = Segments(entries_, "tensors", [&own = key](const ObjectEntry& e) {
        return tensor_key(e) == own ? e.tensors : 0;
      });
      group.place = resident_.tensors.size();
      std::int64_t elements = 0;
      for (const ObjectEntry& entry : entries_) {
        group.first_elements.push_back(elements);
        if (tensor_key(entry) == key) elements += entry.tensor_elements;
      }
      resident_.tensors.push_back(room_for(key, group.segments, elements));
    }
  }

  ResidentTensors room_for(const TensorKey& key, const Segments& segments, std::int64_t elements) {
    const std::int64_t total = segments.total();
    ResidentTensors tensors;
    tensors.resolution_m = key.first;
    tensors.ends = segments.on_device(context_);
    tensors.objects = Buffer<std::int32_t>(context_, total);
    tensors.views = Buffer<std::int32_t>(context_, total);
    TensorSet& set = tensors.set;
    set.bins = key.second;
    set.count = copy(context_, std::vector<std::int32_t>{static_cast<std::int32_t>(total)});
    set.frames = Buffer<TensorFrame>(context_, total);
    set.masks = Buffer<TensorMask>(context_, total);
    set.sizes = Buffer<std::int32_t>(context_, total);
    set.first = Buffer<std::int64_t>(context_, total);
    set.indices = Buffer<std::uint16_t>(context_, elements);
    set.values = Buffer<float>(context_, elements);
    return tensors;
  }

  void add_tensors(std::int64_t number, const LearnedTensors& from, const TensorKey& key) {
    const Group& group = tensors_.at(key);
    const std::int64_t first = group.segments.first(number);
    const std::int64_t element = group.first_elements[static_cast<std::size_t>(number)];
    ResidentTensors& to = resident_.tensors[group.place];
    for (const TensorFrame& frame : from.set.frames.host()) {
      if (!std::isfinite(frame.angle_rad)) continue;  // could not be made
      if (to.bin_m == 0) to.bin_m = frame.bin_m;
      require(std::abs(frame.bin_m - to.bin_m) <= 1e-5f * to.bin_m, "library: tensors of '",
              entries_[static_cast<std::size_t>(number)].name, "' have bins of ", frame.bin_m,
              " m, those of objects before it ", to.bin_m,
              " m, and cannot be compared with the same scene; learn the object again with the "
              "options of the others");
    }
    const Context cpu = Context::cpu();
    Buffer<std::int64_t> firsts = copy(cpu, from.set.first);
    for (std::int64_t& value : firsts.host()) value += element;
    Buffer<std::int32_t> objects(cpu, from.views.size());
    std::fill(objects.host().begin(), objects.host().end(), static_cast<std::int32_t>(number));
    place(context_, objects, first, to.objects);
    place(context_, from.views, first, to.views);
    place(context_, from.set.frames, first, to.set.frames);
    place(context_, from.set.masks, first, to.set.masks);
    place(context_, from.set.sizes, first, to.set.sizes);
    place(context_, firsts, first, to.set.first);
    place(context_, from.set.indices, element, to.set.indices);
    place(context_, from.set.values, element, to.set.values);
  }

  void prepare_appearance() {
    appearance_ = Segments(entries_, "features", [](const ObjectEntry& e) { return e.appearance; });
    ResidentAppearance& appearance = resident_.appearance;
    appearance.ends = appearance_.on_device(context_);
    appearance.points = Buffer<Vec3f>(context_, appearance_.total());
    appearance.descriptors = Buffer<std::uint8_t>(context_, kAppearanceBytes * appearance_.total());
  }

  /// Where the objects of one radius or resolution stand.
  struct Group {
    Segments segments;
    std::size_t place = 0;                     ///< in the list of the resident library
    std::vector<std::int64_t> first_elements;  ///< of tensors: where the bins of an object begin
  };

  const Context& context_;
  ObjectParts parts_;
  std::vector<ObjectEntry> entries_;
  ResidentLibrary resident_;
  Segments samples_, appearance_;
  std::map<ShotKey, Group> shot_;
  std::map<TensorKey, Group> tensors_;
};

/// What is counted of an object before its elements are placed.
ObjectEntry entry_of(const LearnedObject& object) {
  ObjectEntry entry;
  entry.name = object.name;
  const Bounds box = bounds(Context::cpu(), object.mesh.vertices.points);
  if (!box.empty()) entry.low_m = box.low, entry.high_m = box.high;
  entry.leaf_m = object.samples.leaf_m;
  entry.samples = object.samples.points.size();
  entry.shot = object.shot.points.size();
  entry.shot_length = object.shot.length;
  entry.shot_radius_m = object.shot.radius_m;
  entry.tensors = object.tensors.set.frames.size();
  entry.tensor_elements = object.tensors.set.indices.size();
  entry.tensor_bins = object.tensors.set.bins;
  entry.tensor_resolution_m = object.tensors.resolution_m;
  entry.appearance = object.appearance.points.size();
  return entry;
}

std::int64_t bytes_of_mesh(const TriangleMesh& mesh) {
  std::int64_t bytes = bytes_of(mesh.vertices.points) + bytes_of(mesh.vertices.normals) +
                       bytes_of(mesh.vertices.colors) + bytes_of(mesh.triangles) +
                       bytes_of(mesh.texture_coordinates) + bytes_of(mesh.texture_triangles) +
                       bytes_of(mesh.corner_normals) + bytes_of(mesh.normal_triangles) +
                       bytes_of(mesh.triangle_materials);
  for (const Material& material : mesh.materials) bytes += bytes_of(material.texture.pixels());
  return bytes;
}

}  // namespace

ResidentBytes ResidentLibrary::bytes() const {
  ResidentBytes bytes;
  for (const TriangleMesh& mesh : meshes) bytes.meshes += bytes_of_mesh(mesh);
  bytes.samples = bytes_of(samples.ends) + bytes_of(samples.points) + bytes_of(samples.normals);
  for (const ResidentShot& s : shot) {
    bytes.shot += bytes_of(s.ends) + bytes_of(s.points) + bytes_of(s.frames) + bytes_of(s.values);
  }
  for (const ResidentTensors& t : tensors) {
    bytes.tensors += bytes_of(t.ends) + bytes_of(t.objects) + bytes_of(t.views) +
                     bytes_of(t.set.count) + bytes_of(t.set.frames) + bytes_of(t.set.masks) +
                     bytes_of(t.set.sizes) + bytes_of(t.set.first) + bytes_of(t.set.indices) +
                     bytes_of(t.set.values);
  }
  bytes.appearance =
      bytes_of(appearance.ends) + bytes_of(appearance.points) + bytes_of(appearance.descriptors);
  return bytes;
}

ResidentLibrary load_resident(const Context& context, const Library& library,
                              const ObjectParts& parts, const Progress& progress) {
  Loader loader(context, parts);
  library.load_all(
      context, parts,
      {[&](const std::vector<ObjectEntry>& entries) { loader.begin(entries); },
       [&](std::int64_t number, const LearnedObject& object) { loader.add(number, object); }},
      progress);
  return loader.finish();
}

ResidentLibrary make_resident(const Context& context, std::span<const LearnedObject> objects,
                              const ObjectParts& parts) {
  Loader loader(context, parts);
  std::vector<ObjectEntry> entries;
  for (const LearnedObject& object : objects) entries.push_back(entry_of(object));
  loader.begin(entries);
  for (std::size_t o = 0; o < objects.size(); ++o) {
    loader.add(static_cast<std::int64_t>(o), objects[o]);
  }
  return loader.finish();
}

}  // namespace sextant
