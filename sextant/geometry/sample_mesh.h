// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/options.h"
#include "sextant/geometry/mesh.h"

namespace sextant {

/// Which normals samples of a mesh have.
enum class SampleNormals : std::int32_t {
  kTriangle,  ///< those of the triangles, which follow from the order of their corners
  kMesh       ///< interpolated from the mesh's own, those of the triangles where it has none
};

inline constexpr Choice<SampleNormals> kSampleNormals[] = {{"triangle", SampleNormals::kTriangle},
                                                           {"mesh", SampleNormals::kMesh}};

struct SampleMeshOptions {
  SampleNormals normals = SampleNormals::kTriangle;
  std::uint64_t seed = 1;  ///< another one gives other samples of the same kind

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("normals", self.normals, "of the triangles, or interpolated from the mesh's own",
          kSampleNormals);
    visit("seed", self.seed, "another one gives other samples", Range{0, 1.8e19});
  }
};

/// Points on the triangles of a mesh, in host memory.
struct MeshSamples {
  Buffer<Vec3f> points;
  Buffer<Vec3f> normals;           ///< of unit length
  Buffer<Rgb8> colors;             ///< of texture or vertices; empty where the mesh has none
  Buffer<std::int32_t> triangles;  ///< on which each sample lies

  std::int64_t size() const { return points.size(); }
};

/// Samples spread over the surface by area: of `count` equal shares of the area, taken triangle by
/// triangle, each has one sample at a random place. Triangles without area or with a corner that is
/// not finite have none; a mesh without others has no samples at all. The same for any number of
/// threads. Colours are those that the rasteriser shows. Runs on the host, on a mesh there; a
/// million samples take some tenths of a second.
MeshSamples sample_mesh(const Context& context, const TriangleMesh& mesh, std::int64_t count,
                        const SampleMeshOptions& options = {});

/// Samples that lie at least `spacing_m` apart and leave hardly room for one more (a Poisson disc
/// pattern): about 0.6 for each square of that size. Samples whose normals differ by more than a
/// right angle do not see each other, so that thin walls have samples on both sides. Throws Error
/// where the spacing asks for more than 20 million samples. Some 10 µs a sample.
MeshSamples sample_mesh_apart(const Context& context, const TriangleMesh& mesh, float spacing_m,
                              const SampleMeshOptions& options = {});

}  // namespace sextant
