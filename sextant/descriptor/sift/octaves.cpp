// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/sift/octaves.h"

#include <algorithm>

namespace sextant::detail::sift {

namespace {

/// So many pixels of each scale are made before the next step, so that they are still near.
constexpr std::int64_t kNearPixels = std::int64_t{1} << 18;

}  // namespace

Octaves::Octaves(const Context& context, const PhotoView& photo, const ScalePlan& plan,
                 Workspace& workspace)
    : context_(context), photo_(photo), plan_(plan) {
  std::int64_t grey_size = 0;
  for (int o = 0; o < plan.octaves; ++o) {
    const std::int64_t stride = stride_for(plan.width_of(o));
    for (int row = 0; row < plan.height_of(o);) {
      const RowRange core = core_from(o, row);
      const RowRange first = rows_for(plan, o, core).scale[0];
      scale_size_ = std::max(scale_size_, first.size() * stride);
      if (o == 0) {
        grey_size = std::max(grey_size, photo_rows(first).size() * stride_for(photo.width));
      }
      most_core_pixels_ = std::max(most_core_pixels_, std::int64_t{core.size()} * plan.width_of(o));
      row = core.end;
      ++slabs_;
    }
  }
  grey_room_ = workspace.take<float>(context, grey_size);
  scales_ = workspace.take<float>(context, scale_size_ * plan.scales());
  for (int o = 1; o <= 2; ++o) {
    const std::int64_t size =
        o < plan.octaves ? stride_for(plan.width_of(o)) * plan.height_of(o) : 0;
    starts_[o % 2] = workspace.take<float>(context, size);
  }
  octave_.number = -1;
  octave_.scales = plan.scales();
}

RowRange Octaves::core_from(int octave, int row) const {
  return {row, std::min(row + core_rows(plan_, octave), plan_.height_of(octave))};
}

/// The rows of the photo that some rows of the first scale are made of.
RowRange Octaves::photo_rows(RowRange first_scale) const {
  if (plan_.doubled) {
    const int radius = plan_.doubling.radius;
    return {std::max(first_scale.first / 2 - radius, 0),
            std::min((first_scale.end + 1) / 2 + radius, photo_.height)};
  }
  return {std::max(first_scale.first - plan_.base.radius, 0),
          std::min(first_scale.end + plan_.base.radius, photo_.height)};
}

bool Octaves::next() {
  const bool same_octave =
      octave_.number >= 0 && octave_.slab.core.end < plan_.height_of(octave_.number);
  if (!same_octave) ++octave_.number;
  const int number = octave_.number;
  if (number >= plan_.octaves) return false;
  octave_.slab =
      rows_for(plan_, number, core_from(number, same_octave ? octave_.slab.core.end : 0));
  const int width = plan_.width_of(number), height = plan_.height_of(number);
  for (int s = 0; s < octave_.scales; ++s) {
    octave_.scale[s] = {scales_.data + s * scale_size_, stride_for(width), width, height,
                        octave_.slab.scale[s].first};
    made_[s] = octave_.slab.scale[s].first;
  }
  seen_ = octave_.slab.core.first;
  if (number == 0) {
    const RowRange photo = photo_rows(octave_.slab.scale[0]);
    grey_ = {grey_room_.data, stride_for(photo_.width), photo_.width, photo_.height, photo.first};
    convert_rows(context_, photo_, photo, grey_);
  } else {
    octave_.scale[0] = {starts_[number % 2].data, stride_for(width), width, height, 0};
    made_[0] = octave_.slab.scale[0].end;
  }
  return true;
}

bool Octaves::make_rows(RowRange& rows) {
  const RowRange core = octave_.slab.core;
  const int last = octave_.scales - 1;
  if (seen_ == core.end) return false;
  const std::int64_t at_once = std::max<std::int64_t>(kNearPixels / octave_.scale[0].width, 32);
  make_scales(static_cast<int>(
      std::min<std::int64_t>(made_[last] + at_once, octave_.slab.scale[last].end)));
  const bool all = made_[last] == octave_.slab.scale[last].end;
  rows = {seen_, all ? core.end : std::clamp(made_[last] - 1, seen_, core.end)};
  seen_ = rows.end;
  if (all) halve();
  return true;
}

/// Up to a row of the last scale: those before it are made farther, as it is blurred from them.
void Octaves::make_scales(int end) {
  const int last = octave_.scales - 1;
  const bool all = end == octave_.slab.scale[last].end;
  int ends[kMostLayers + 3];
  for (int s = last; s >= 0; --s) {
    ends[s] = all ? octave_.slab.scale[s].end : std::min(end, octave_.slab.scale[s].end);
    if (s > 0) end += plan_.step[s - 1].radius;
  }
  for (int s = 0; s <= last; ++s) {
    const RowRange rows{made_[s], ends[s]};
    if (rows.size() <= 0) continue;
    if (s > 0) {
      blur_rows(context_, plan_.step[s - 1], octave_.scale[s - 1], octave_.scale[s], rows);
    } else if (plan_.doubled) {
      double_rows(context_, plan_.doubling, grey_, octave_.scale[0], rows);
    } else {
      blur_rows(context_, plan_.base, grey_, octave_.scale[0], rows);
    }
    made_[s] = rows.end;
  }
}

/// The part of the next octave's first scale that this slab gives.
void Octaves::halve() {
  const int next = octave_.number + 1;
  if (next >= plan_.octaves) return;
  const int width = plan_.width_of(next), height = plan_.height_of(next);
  const Rows to{starts_[next % 2].data, stride_for(width), width, height, 0};
  const RowRange core = octave_.slab.core;
  halve_rows(context_, octave_.scale[plan_.layers], to,
             {(core.first + 1) / 2, std::min((core.end + 1) / 2, height)});
}

}  // namespace sextant::detail::sift
