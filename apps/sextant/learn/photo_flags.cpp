// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/learn/photo_flags.h"

#include "apps/sextant/command/options_cli.h"
#include "apps/sextant/input/file_kind.h"
#include "sextant/io/json_file.h"
#include "sextant/io/rig_json.h"

namespace sextant::app {

bool learns_photos(const LearnPhotosFlags& photos, const std::string& camera) {
  if (!photos.board.empty()) return true;
  return lower_extension(camera) == ".json" && holds_rig(read_json_file(camera));
}

void check_photo_flags(const CLI::App& flags, const LearnPhotosFlags& photos, bool learns_photos,
                       bool camera_given) {
  if (!learns_photos) {
    std::vector<std::string> own = flags_of<LearnPhotosOptions>("photos");
    for (const char* flag : {"--board", "--picture", "--no-photo-masks"}) own.emplace_back(flag);
    refuse_flags_for_input(flags, own,
                           "no input is a folder of photographs with --board or a rig's --camera");
  }
  constexpr const char* kAdjusted = "the tags of the board give the poses";
  if (!photos.board.empty()) {
    refuse_flags_for_input(flags, {"--photos-adjust", "--photos-pose-m", "--photos-pose-rad"},
                           kAdjusted);
  } else if (!photos.photos.adjust) {
    refuse_flags_for_input(flags, {"--photos-pose-m", "--photos-pose-rad"},
                           "poses are kept without --photos-adjust");
  }
  if (photos.least_height_m >= photos.most_height_m) {
    throw CLI::ValidationError("--least-height-m", "leaves nothing below --most-height-m");
  }
  if (photos.board.empty()) {
    std::vector<std::string> own = flags_of<BoardPosesOptions>("board");
    own.insert(own.end(), {"--tag-size-m", "--ruler-m", "--least-height-m", "--most-height-m",
                           "--save-camera"});
    refuse_flags_for_input(flags, own, "photographs with known poses need no board");
  } else if (camera_given) {
    refuse_flags_for_input(flags, {"--save-camera", "--board-most-focal-share"},
                           "--camera says which camera it was");
  }
}

void add_photo_flags(CLI::App& command, LearnPhotosFlags& flags) {
  command.add_option("--board", flags.board,
                     "photographs: board.json of the board on which the object stands");
  command
      .add_option("--tag-size-m", flags.tag_size_m,
                  "photographs: measured side of a printed tag's black square; else as the board's "
                  "file has it")
      ->check(within<double>({1e-3, 10}));
  command
      .add_option("--ruler-m", flags.ruler_m,
                  "photographs: measured length of the board's printed rulers, instead")
      ->check(within<double>({1e-3, 10}))
      ->excludes("--tag-size-m");
  command
      .add_option("--least-height-m", flags.least_height_m,
                  "photographs: what is nearer to the board does not belong to the object")
      ->check(within<double>({0, 10}))
      ->capture_default_str();
  command
      .add_option("--most-height-m", flags.most_height_m,
                  "photographs: what is higher above the board does not, either")
      ->check(within<double>({1e-3, 10}))
      ->capture_default_str();
  command.add_flag("!--no-photo-masks", flags.masks,
                   "photographs: do not use the masks mask_NAME.png");
  command.add_option("--save-camera", flags.save_camera,
                     "photographs: writes the camera that was found (.json), for recognition");
  command.add_option(
      "--picture", flags.picture,
      "photographs: draws the points that were learned and their errors (.png, .jpg)");
  add_flags(command, flags.photos, "photos", {"adjust_focal"});
  add_flags(command, flags.poses, "board");
}

}  // namespace sextant::app
