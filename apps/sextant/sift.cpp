// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/sift.h"

#include <fmt/format.h>

#include "apps/sextant/command/command.h"
#include "apps/sextant/command/files.h"
#include "apps/sextant/command/options_cli.h"
#include "apps/sextant/command/step_times.h"
#include "apps/sextant/input/photo.h"
#include "apps/sextant/picture/keypoint_picture.h"
#include "apps/sextant/subcommands.h"
#include "sextant/core/options_json.h"
#include "sextant/io/image_file.h"
#include "sextant/io/npy.h"

namespace sextant::app {

namespace {

struct SiftCommand {
  CommonOptions common;
  std::string photo;
  std::string mask;
  SiftOptions options;
  bool fast = false;
  bool upright = true;
  std::string output;
  std::string picture;
};

/// Where any channel of the mask's picture is not 0.
Image<std::uint8_t> read_mask(const std::string& path) {
  const Image<Rgb8> picture = read_image(path);
  Image<std::uint8_t> mask(Context::cpu(), picture.width(), picture.height());
  for (std::size_t i = 0; i < mask.pixels().host().size(); ++i) {
    mask.pixels().host()[i] = picture.pixels().host()[i] == Rgb8{} ? 0 : 1;
  }
  return mask;
}

constexpr int kColumns = 7;

/// The columns of the file of keypoints.
std::vector<float> table_of(std::span<const SiftKeypoint> keypoints) {
  std::vector<float> table;
  for (const SiftKeypoint& k : keypoints) {
    table.insert(table.end(), {k.u_px, k.v_px, k.sigma_px, k.angle_rad, k.response,
                               static_cast<float>(k.octave), static_cast<float>(k.layer)});
  }
  return table;
}

/// Keypoints, and beside them their descriptors.
std::vector<std::string> write_arrays(const std::string& file, const SiftFeatures& features) {
  const std::int64_t count = features.count;
  const auto keypoints = features.keypoints.host().first(static_cast<std::size_t>(count));
  using Shape = std::vector<std::int64_t>;
  write_npy<float>(file, table_of(keypoints), Shape{count, kColumns});
  std::vector<std::string> files{file};
  const std::string descriptors = beside(file, "descriptors").string();
  const auto numbers = static_cast<std::size_t>(count) * kSiftLength;
  const Shape shape{count, kSiftLength};
  if (features.bytes.size() > 0) {
    write_npy<std::uint8_t>(descriptors, features.bytes.host().first(numbers), shape);
    files.push_back(descriptors);
  } else if (features.floats.size() > 0) {
    write_npy<float>(descriptors, features.floats.host().first(numbers), shape);
    files.push_back(descriptors);
  }
  return files;
}

/// Features on the host, wherever they are found.
SiftFeatures find(const Context& context, const PhotoView& photo, const Image<std::uint8_t>& mask,
                  const SiftOptions& options) {
  if (context.is_cpu()) return compute_sift(context, photo, options, mask);
  Buffer<std::byte> room;
  const PhotoView there = copy_photo(context, photo, room);
  return to_host(context, compute_sift(context, there, options, copy(context, mask)));
}

nlohmann::json facts_of(const SiftCommand& command, const SiftOptions& options, const Photo& photo,
                        const SiftFeatures& features) {
  nlohmann::json document = {{"input", command.photo},
                             {"width", photo.view().width},
                             {"height", photo.view().height},
                             {"orientation", photo.orientation},
                             {"upright", command.upright || photo.orientation == 1},
                             {"keypoints", features.count},
                             {"options", options_to_json(options)}};
  nlohmann::json octaves = nlohmann::json::object();
  for (std::int32_t i = 0; i < features.count; ++i) {
    auto& count = octaves[std::to_string(features.keypoints.host()[i].octave)];
    count = count.is_null() ? 1 : count.get<int>() + 1;
  }
  document["octaves"] = octaves;
  return document;
}

void run(const CLI::App& flags, const SiftCommand& command) {
  const SiftOptions options = command.fast
                                  ? preset_with_flags(flags, fast_sift_options(), command.options)
                                  : command.options;
  // A GPU would have to be woken for a single photograph.
  CommonOptions common = command.common;
  if (common.device == "best") common.device = "cpu";
  const Context context = context_for(common);
  StepTimes times;
  Photo photo =
      times.time("read", context, [&] { return read_photo(command.photo, command.upright); });
  Image<std::uint8_t> mask;
  if (!command.mask.empty()) mask = read_mask(command.mask);
  const SiftFeatures features =
      times.time("sift", context, [&] { return find(context, photo.view(), mask, options); });
  Result result;
  result.document = facts_of(command, options, photo, features);
  std::vector<std::string> files;
  times.time("write", context, [&] {
    if (!command.output.empty()) files = write_arrays(command.output, features);
    if (command.picture.empty()) return;
    Image<Rgb8> picture = photo.rgb8();
    draw_keypoints(features.keypoints.host().first(static_cast<std::size_t>(features.count)),
                   picture);
    write_image(command.picture, picture);
    files.push_back(command.picture);
  });
  result.document["device"] = to_string(context.device());
  result.document["times_ms"] = times.to_json();
  const PhotoView view = photo.view();
  result.text = fmt::format("{}: {} x {} pixels{}, {} keypoints\n  {}\n", command.photo, view.width,
                            view.height,
                            photo.orientation == 1 ? ""
                            : command.upright      ? ", turned upright"
                                                   : ", not turned upright",
                            features.count, times.text());
  result.wrote("outputs", files);
  print_result(command.common, result);
}

}  // namespace

void add_sift(CLI::App& app) {
  auto state = std::make_shared<SiftCommand>();
  CLI::App* command = add_command(
      app, "sift", "SIFT keypoints and descriptors of a photograph",
      "sextant sift photo.jpg --out keypoints.npy --picture found.png\n"
      "  sextant sift photo.png --fast --most 500 --numbers floats --root --out keypoints.npy",
      state->common);
  command->add_option("photo", state->photo, "PNG (8 or 16 bits), JPEG, PGM, PPM or TIFF")
      ->required();
  command->add_option("-o,--out,--output", state->output,
                      "NumPy array, a row a keypoint: u, v, sigma in pixels, angle in radians, "
                      "response, octave, layer; descriptors in FILE_descriptors beside it");
  command->add_option("--picture", state->picture, "the photograph with circles of two sigmas");
  command->add_option("--mask", state->mask,
                      "picture of the same size; keypoints are kept where it is not black");
  command->add_flag("--fast", state->fast,
                    "do not double the image and look at two scales in each octave; other flags "
                    "still count");
  command->add_flag("--upright,!--no-upright", state->upright,
                    "turn a photograph as its Exif part says; without, coordinates are those of "
                    "the sensor, as a camera file has them (on)");
  add_flags(*command, state->options);
  command->callback([state, command]() {
    require_an_output({state->output, state->picture}, "--out or --picture");
    std::vector<OutputFile> outputs{{"--out", state->output, kArrayFiles},
                                    {"--picture", state->picture, kPictureFiles}};
    if (!state->output.empty()) {
      outputs.push_back({"--out", beside(state->output, "descriptors").string(), kArrayFiles});
    }
    if (state->options.numbers == SiftNumbers::kNone) {
      refuse_flags(*command, {"--root"}, "--numbers none has no descriptors");
    }
    check_files({{"the photograph", state->photo}, {"--mask", state->mask}}, outputs);
    run(*command, *state);
  });
}

}  // namespace sextant::app
