// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/mesh_health/plan.h"

namespace sextant::detail::mesh_health {

namespace {

/// "1 vertex", "12 vertices".
std::string counted(std::int64_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string triangles(std::int64_t count) { return counted(count, "triangle", "triangles"); }
std::string vertices(std::int64_t count) { return counted(count, "vertex", "vertices"); }
const char* was(std::int64_t count) { return count == 1 ? " was " : " were "; }

void remark_on_vertices(const MeshHealth& h, std::vector<std::string>& remarks) {
  if (h.holes_among_vertices > 0) {
    remarks.emplace_back(vertices(h.holes_among_vertices) +
                         " with coordinates that are no numbers" + was(h.holes_among_vertices) +
                         "left out.");
  }
  if (h.broken_triangles > 0) {
    remarks.emplace_back(triangles(h.broken_triangles) + " with such corners" +
                         was(h.broken_triangles) + "left out.");
  }
  if (h.welded_vertices > 0) {
    remarks.emplace_back(vertices(h.welded_vertices) + was(h.welded_vertices) +
                         "joined with others in the same place.");
  }
  if (h.unused_vertices > 0) {
    remarks.emplace_back(vertices(h.unused_vertices) + " of no triangle" + was(h.unused_vertices) +
                         "left out.");
  }
}

void remark_on_triangles(const MeshHealth& h, std::vector<std::string>& remarks) {
  if (h.flat_triangles > 0) {
    remarks.emplace_back(triangles(h.flat_triangles) + " without area" + was(h.flat_triangles) +
                         "left out.");
  }
  if (h.repeated_triangles > 0) {
    remarks.emplace_back(triangles(h.repeated_triangles) + " repeating others" +
                         was(h.repeated_triangles) + "left out.");
  }
  if (h.two_sided_triangles > 0) {
    remarks.emplace_back(triangles(h.two_sided_triangles) + " showing the back of others" +
                         was(h.two_sided_triangles) + "left out.");
  }
  if (h.turned_triangles > 0) {
    remarks.emplace_back(triangles(h.turned_triangles) + " wound against their neighbours" +
                         was(h.turned_triangles) + "turned.");
  }
}

void remark_on_parts(const MeshHealth& h, std::vector<std::string>& remarks) {
  if (h.turned_parts > 0 && h.parts == 1) {
    remarks.emplace_back("The surface was inside out and was turned.");
  } else if (h.turned_parts > 0) {
    remarks.emplace_back(std::to_string(h.turned_parts) + " of " + std::to_string(h.parts) +
                         " parts" + was(h.turned_parts) + "inside out and" + was(h.turned_parts) +
                         "turned.");
  } else if (h.parts > 1) {
    remarks.emplace_back("The surface has " + std::to_string(h.parts) + " parts.");
  }
  if (h.one_sided_parts > 0) {
    remarks.emplace_back(counted(h.one_sided_parts, "part has", "parts have") +
                         " no outside, like a Möbius strip, and" + was(h.one_sided_parts) +
                         "left as found.");
  }
  if (h.crowded_edges > 0) {
    remarks.emplace_back(counted(h.crowded_edges, "edge belongs", "edges belong") +
                         " to more than two triangles.");
  }
  if (h.open_edges > 0) {
    remarks.emplace_back("The surface has " + counted(h.holes, "hole", "holes") + " with " +
                         counted(h.open_edges, "open edge", "open edges") + ".");
  }
}

}  // namespace

std::vector<std::string> remarks_on(const MeshHealth& h, bool has_size) {
  std::vector<std::string> remarks;
  if (h.vertices == h.holes_among_vertices) {
    remarks.emplace_back("There are no points.");
    return remarks;
  }
  remark_on_vertices(h, remarks);
  remark_on_triangles(h, remarks);
  remark_on_parts(h, remarks);
  const std::int64_t left = h.triangles - h.broken_triangles - h.flat_triangles -
                            h.repeated_triangles - h.two_sided_triangles;
  if (h.triangles == 0) {
    remarks.emplace_back("There are no triangles, only points.");
  } else if (left == 0) {
    remarks.emplace_back("No triangle is left, only points.");
  }
  if (!has_size) remarks.emplace_back("All points lie in one place.");
  if (h.turned_normals > 0) {
    remarks.emplace_back(counted(h.turned_normals, "normal", "normals") + " pointed inwards and" +
                         was(h.turned_normals) + "turned.");
  }
  if (h.new_normals > 0) {
    remarks.emplace_back(counted(h.new_normals, "normal that was no direction was",
                                 "normals that were no directions were") +
                         " made anew from the triangles.");
  }
  return remarks;
}

}  // namespace sextant::detail::mesh_health
