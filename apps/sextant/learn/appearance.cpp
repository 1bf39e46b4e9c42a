// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/learn/appearance.h"

#include "sextant/io/depth_file.h"
#include "sextant/io/exif.h"
#include "sextant/io/file.h"
#include "sextant/io/image_file.h"
#include "sextant/io/png.h"
#include "sextant/learn/learn_moped.h"

namespace sextant::app {

namespace {

LearnedObject learn_photo(const Context& context, const LearnInput& input, double width_m,
                          const LearnPictureOptions& options) {
  const FileBytes file = read_file(input.path, kMaxImageFileBytes);
  const std::string name = input.path.string();
  require(!is_depth_image(image_info(file, name)),
          "is a depth map; something flat is learned from a picture of it");
  const int orientation = exif_orientation(file);
  Image<Rgb8> picture = read_image(file, name);
  if (orientation != 1) picture = upright(ImageView<const Rgb8>(picture.view()), orientation);
  const Image<std::uint8_t> opaque =
      is_png(file) ? read_png_alpha(file, name) : Image<std::uint8_t>();
  return learn_picture(context, input.name, picture.view(), width_m, options, opaque.view());
}

}  // namespace

LearnedObject learn_appearance(const Context& context, const LearnInput& input,
                               double planar_width_m, const LearnPictureOptions& options) {
  if (input.kind == LearnInput::Kind::kPicture) {
    return learn_photo(context, input, planar_width_m, options);
  }
  LearnedObject object = learn_moped(*input.moped, input.unit_m);
  object.name = input.name;
  return object;
}

}  // namespace sextant::app
