// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/sextant/learn/learn_inputs.h"
#include "sextant/core/context.h"
#include "sextant/learn/learn_picture.h"
#include "sextant/library/learned_object.h"

namespace sextant::app {

/// The object of a model of MOPED or of a picture, which only photographs can be searched for. A
/// picture is turned as its Exif part says, and where it is transparent there is none of the
/// object.
LearnedObject learn_appearance(const Context& context, const LearnInput& input,
                               double planar_width_m, const LearnPictureOptions& options);

}  // namespace sextant::app
