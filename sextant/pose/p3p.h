// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/rigid3.h"

namespace sextant {

/// Poses from which a camera sees three points in three directions.
struct P3pSolutions {
  int count = 0;
  Rigid3d camera_from_object[4];
};

/// Finds all poses that put three points onto three rays, in front of the camera: at most four.
/// Rays are directions of any length, such as unproject gives.
///
/// The law of cosines gives three quadratic equations for the distances (Grunert, 1841). Two
/// combinations of them have no constant; a member of their pencil is a pair of planes (Persson and
/// Nordberg, ECCV 2018), each of which leaves a quadratic equation. So one real root of a cubic is
/// needed where a quartic is solved elsewhere. Newton's steps on the three equations end it. About
/// 2000 flop.
///
/// Points on a line, coinciding points or rays, and numbers that are not finite give none. Where
/// two solutions meet (the camera on the danger cylinder), the distances have half of the digits.
P3pSolutions solve_p3p(const Vec3d (&points_m)[3], const Vec3d (&rays)[3]);

}  // namespace sextant
