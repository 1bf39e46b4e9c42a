// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "sextant/library/library.h"

namespace sextant {

/// What is known of an object beside its numbers on the device.
struct ResidentObject {
  std::string name;
  int bop_id = 0;
  double diameter_m = 0;
  float leaf_m = 0;  ///< how far its samples lie apart
  Vec3f low_m;       ///< corners of the box around it
  Vec3f high_m;
  Symmetries shape_symmetries;
  Symmetries appearance_symmetries;
  std::vector<LearnedView> views;
};

// In the structs below, object i has the elements ends[i - 1] .. ends[i] - 1, or 0 .. ends[0] - 1.

struct ResidentSamples {
  Buffer<std::int32_t> ends;
  Buffer<Vec3f> points;
  Buffer<Vec3f> normals;
};

/// SHOT of one length and radius. An object that was learned with another has none here.
struct ResidentShot {
  float radius_m = 0;
  int length = 0;
  Buffer<std::int32_t> ends;  ///< the segments of nearest_descriptors
  Buffer<Vec3f> points;
  Buffer<Vec3f> frames;  ///< 3 a point
  Buffer<float> values;
};

/// Tensors with the same bins along an axis and of surfaces of the same resolution.
struct ResidentTensors {
  float resolution_m = 0;
  float bin_m = 0;  ///< edge of a bin
  Buffer<std::int32_t> ends;
  TensorSet set;                 ///< packed
  Buffer<std::int32_t> objects;  ///< of which object each tensor is
  Buffer<std::int32_t> views;    ///< from which of its views
};

struct ResidentAppearance {
  Buffer<std::int32_t> ends;
  Buffer<Vec3f> points;
  Buffer<std::uint8_t> descriptors;  ///< 128 bytes a point
};

/// What a resident library takes of the device's memory.
struct ResidentBytes {
  std::int64_t meshes = 0;
  std::int64_t samples = 0;
  std::int64_t shot = 0;
  std::int64_t tensors = 0;
  std::int64_t appearance = 0;

  std::int64_t total() const { return meshes + samples + shot + tensors + appearance; }
};

/// All objects of a library on one device, read once: what matching and recognition work on.
/// Parts that were not asked for are empty.
struct ResidentLibrary {
  std::vector<ResidentObject> objects;
  std::vector<TriangleMesh> meshes;  ///< one for each object, or none
  ResidentSamples samples;
  /// One for each pair of length and radius that objects were learned with, small radii first: a
  /// descriptor of a scene is compared with those of its own radius.
  std::vector<ResidentShot> shot;
  /// One for each pair of bins and resolution, small resolutions first.
  std::vector<ResidentTensors> tensors;
  ResidentAppearance appearance;

  ResidentBytes bytes() const;
};

/// Everything but the meshes, which only pictures and verification need.
inline ObjectParts parts_to_match() { return {.mesh = false}; }

/// Reads the library as it is at one moment. Throws Error when a part is damaged, when tensors of
/// one resolution have bins of different sizes, or when a part has more than 2³¹ - 1 elements over
/// all objects. Takes the memory that `bytes` reports and, on the host, that of a few objects;
/// waits for the device.
ResidentLibrary load_resident(const Context& context, const Library& library,
                              const ObjectParts& parts = parts_to_match(),
                              const Progress& progress = {});

/// The same of objects in host memory, which may go away afterwards.
ResidentLibrary make_resident(const Context& context, std::span<const LearnedObject> objects,
                              const ObjectParts& parts = parts_to_match());

}  // namespace sextant
