// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/voting/saliency.h"

#include <algorithm>

namespace sextant::app {

namespace {

const Buffer<float>* values_of(const Cloud& cloud, std::string_view name) {
  const Attribute* found = find_attribute(cloud.attributes, name);
  return found != nullptr ? &found->get<float>() : nullptr;
}

}  // namespace

Buffer<Vec3f> vote_on(const Context& context, Surface& surface, const VotingOptions& options) {
  VotingResult result = vote(context, surface.points, options);
  const std::vector<Saliency> saliencies = to_host(context, result.saliencies);
  const auto attach = [&](const char* name, float Saliency::*value) {
    std::vector<float> values;
    for (const Saliency& saliency : saliencies) values.push_back(saliency.*value);
    std::erase_if(surface.attributes, [&](const Attribute& a) { return a.name == name; });
    surface.attributes.push_back({name, copy(context, values)});
  };
  attach("stick", &Saliency::stick);
  attach("plate", &Saliency::plate);
  attach("ball", &Saliency::ball);
  attach("confidence", &Saliency::confidence);
  return std::move(result.normals);
}

PointSaliency saliency_of(const Context& context, const Surface& surface, const std::string& file) {
  const auto values = [&](const char* name) -> View<const float> {
    const Buffer<float>* found = values_of(surface, name);
    require(found != nullptr, "--saliency file: ", file, " has no property '", name,
            "'; 'sextant normals --method voting --second-pass' writes it");
    return found->view();
  };
  const PointSaliency saliency{values("stick"), values("plate"), values("ball")};
  const std::vector<float> stick = to_host(context, saliency.stick),
                           plate = to_host(context, saliency.plate),
                           ball = to_host(context, saliency.ball);
  bool any = stick.empty();
  for (std::size_t i = 0; i < stick.size() && !any; ++i) {
    any = stick[i] > plate[i] && stick[i] > ball[i];
  }
  require(any, "--saliency: ", file,
          " has no point whose stick saliency is the largest; those of "
          "'sextant normals --method voting' need --second-pass");
  return saliency;
}

std::vector<Rgb8> saliency_colors(const Cloud& cloud) {
  const auto stick = values_of(cloud, "stick")->host(), plate = values_of(cloud, "plate")->host(),
             ball = values_of(cloud, "ball")->host();
  std::vector<Rgb8> colors;
  for (std::size_t i = 0; i < stick.size(); ++i) {
    const float most = stick[i] + plate[i] + ball[i];
    const auto shade = [&](float part) {
      const float share = part / most;
      return static_cast<std::uint8_t>(share > 0.0f ? 255.0f * std::sqrt(share) + 0.5f : 0.0f);
    };
    colors.push_back({shade(stick[i]), shade(plate[i]), shade(ball[i])});
  }
  return colors;
}

}  // namespace sextant::app
