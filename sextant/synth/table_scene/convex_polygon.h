// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sextant/core/vec.h"

namespace sextant::detail::table_scene {

/// Corners counter-clockwise, no three in a line. Fewer than three corners are a segment or a
/// point.
using ConvexPolygon = std::vector<Vec2d>;

/// The smallest convex polygon around the points (Andrew's chain, n log n).
ConvexPolygon convex_hull(std::vector<Vec2d> points);

double area(const ConvexPolygon& polygon);
Vec2d centroid(const ConvexPolygon& polygon);

/// Whether the point lies at least `margin` inside every edge.
bool contains(const ConvexPolygon& polygon, const Vec2d& point, double margin = 0);
bool contains(const ConvexPolygon& outer, const ConvexPolygon& inner, double margin = 0);

/// Whether a line along an edge of one separates the two with at least `gap` between them. May be
/// false for polygons whose corners are that far apart, never true for nearer ones.
bool apart(const ConvexPolygon& a, const ConvexPolygon& b, double gap);

/// The polygon turned by an angle and moved.
ConvexPolygon moved(const ConvexPolygon& polygon, double turn_rad, const Vec2d& by);

}  // namespace sextant::detail::table_scene
