// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/learn/learn_views/register_views.h"
#include "sextant/learn/learn_views/view_pairs.h"

// Which of the measured pairs of views confirm each other.

namespace sextant::detail::learn_views {

/// Counts for each edge the circles of three views that close, and those that do not.
void count_circles(std::vector<Edge>& edges, const Scales& scales);

/// Poses along the edges that circles confirm, in the largest group of views that they join.
void join_confirmed(const std::vector<Edge>& edges, const Scales& scales,
                    Registration& registration);

/// Edges that the poses found contradict are no part of what these are relaxed over.
void drop_contradicted_edges(const Scales& scales, const Registration& registration,
                             std::vector<Edge>& edges);

}  // namespace sextant::detail::learn_views
