// SPDX-License-Identifier: Apache-2.0
#include "sextant/learn/learn_moped.h"

#include <algorithm>
#include <cmath>

#include "sextant/core/context.h"
#include "sextant/geometry/diameter.h"
#include "sextant/geometry/object_size.h"

namespace sextant {

LearnedObject learn_moped(const MopedModel& model, double unit_m) {
  check_moped_model(model);
  const Context cpu = Context::cpu();
  LearnedObject object;
  object.name = model.name;
  object.source.kind = "moped";
  object.source.unit_m = unit_m;
  object.source.options = "{}";
  Buffer<Vec3f> points(cpu, static_cast<std::int64_t>(model.points_m.size()));
  std::transform(model.points_m.begin(), model.points_m.end(), points.data(),
                 [&](const Vec3f& p) { return cast<float>(cast<double>(p) * unit_m); });
  object.diameter_m = diameter_m(cpu, points);
  check_object_size("model '" + model.name + "'", object.diameter_m, unit_m);
  object.mesh.vertices.points = copy(cpu, points);
  const bool colored = std::any_of(model.colors.begin(), model.colors.end(),
                                   [](const Rgb8& color) { return !(color == Rgb8{}); });
  if (colored) object.mesh.vertices.colors = copy(cpu, model.colors);
  object.appearance.points = std::move(points);
  object.appearance.descriptors = copy(cpu, model.descriptors);
  if (model.left_out > 0) {
    object.source.remarks.push_back(std::to_string(model.left_out) +
                                    " points with descriptors other than SIFT were left out.");
  }
  return object;
}

MopedModel make_moped_model(const LearnedObject& object) {
  const auto points = object.appearance.points.host();
  require(!points.empty(), "object '", object.name,
          "': knows no features of photographs, which a MOPED model consists of");
  const auto descriptors = object.appearance.descriptors.host();
  const auto vertices = object.mesh.vertices.points.host();
  const auto colors = object.mesh.vertices.colors.host();
  MopedModel model;
  model.name = object.name;
  model.version = "Sextant";
  model.points_m.assign(points.begin(), points.end());
  model.descriptors.assign(descriptors.begin(), descriptors.end());
  model.views.resize(points.size());
  model.errors_px.resize(points.size());
  if (colors.size() == points.size() &&
      std::equal(points.begin(), points.end(), vertices.begin(), vertices.end())) {
    model.colors.assign(colors.begin(), colors.end());
  } else {
    model.colors.resize(points.size());
  }
  check_moped_model(model);
  return model;
}

}  // namespace sextant
