// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/io/moped_model.h"
#include "sextant/library/learned_object.h"

namespace sextant {

/// An object that photographs can be searched for, of a model of MOPED: its points with their
/// descriptors as `appearance`, and as a cloud with their colours where the model has any, so that
/// it can be drawn. It has nothing that a depth map could be compared with. `unit_m` is one unit of
/// the model in metres; MOPED's are metres. How many photographs saw a point and how well they
/// agreed is not kept.
///
/// Throws Error where the model is none (check_moped_model) or is no object by its size
/// (object_size.h), which a wrong unit makes it.
LearnedObject learn_moped(const MopedModel& model, double unit_m = 1);

/// The model that MOPED reads of an object with `appearance`; throws Error where it has none. The
/// colours are those of the object's mesh, where its points are the same; otherwise black.
MopedModel make_moped_model(const LearnedObject& object);

}  // namespace sextant
