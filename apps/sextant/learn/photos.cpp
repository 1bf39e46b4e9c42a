// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/learn/photos.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "apps/sextant/input/file_kind.h"
#include "apps/sextant/input/photo.h"
#include "sextant/core/for_each.h"
#include "sextant/io/camera_json.h"
#include "sextant/io/exif.h"
#include "sextant/io/file.h"
#include "sextant/io/image_file.h"
#include "sextant/io/json_file.h"
#include "sextant/io/rig_json.h"

namespace sextant::app {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPhotoFiles[] = {".png", ".jpg", ".jpeg", ".ppm",
                                            ".pgm", ".tif", ".tiff"};
constexpr std::string_view kMaskStart = "mask_";

/// The photographs of the folder in memory.
struct Album {
  std::vector<std::string> names;  ///< without the folder
  std::vector<Image<Rgb8>> pixels;
  std::vector<Image<std::uint8_t>> masks;  ///< empty where there is none
  std::vector<double> focal_px;            ///< of Exif; 0 where it says nothing
};

/// Where any channel of a mask's picture is not 0.
Image<std::uint8_t> read_mask(const fs::path& path) {
  const Image<Rgb8> picture = read_image(path);
  Image<std::uint8_t> mask(Context::cpu(1), picture.width(), picture.height());
  for (std::size_t i = 0; i < mask.pixels().host().size(); ++i) {
    mask.pixels().host()[i] = picture.pixels().host()[i] == Rgb8{} ? 0 : 1;
  }
  return mask;
}

Album read_album(const Context& context, const fs::path& folder, const LearnPhotosFlags& flags,
                 const LearnProgress& progress) {
  const std::vector<PhotoFile> files = photos_of_folder(folder);
  const auto total = static_cast<std::int64_t>(files.size());
  Album album;
  for (const PhotoFile& file : files) album.names.push_back(file.photo.filename().string());
  album.pixels.resize(files.size());
  album.masks.resize(files.size());
  album.focal_px.resize(files.size());
  const std::int64_t batch = 2 * static_cast<std::int64_t>(context.threads());
  for (std::int64_t first = 0; first < total; first += batch) {
    report(progress, "reading", first, total);
    for_each_chunk(context, std::min(batch, total - first), 1,
                   [&](std::int64_t begin, std::int64_t) {
                     const auto i = static_cast<std::size_t>(first + begin);
                     const FileBytes bytes = read_file(files[i].photo, kMaxImageFileBytes);
                     // The camera belongs to the pixels as the sensor gave them.
                     album.pixels[i] = read_photo(files[i].photo.string(), false).rgb8();
                     const Image<Rgb8>& pixels = album.pixels[i];
                     album.focal_px[i] = exif_focal_px(bytes, pixels.width(), pixels.height());
                     if (flags.masks && !files[i].mask.empty()) {
                       album.masks[i] = read_mask(files[i].mask);
                     }
                   });
  }
  report(progress, "reading", total, total);
  return album;
}

Image<std::uint8_t> grey_of(const Image<Rgb8>& picture) {
  Image<std::uint8_t> grey(Context::cpu(1), picture.width(), picture.height());
  for (std::size_t i = 0; i < grey.pixels().host().size(); ++i) {
    const Rgb8& c = picture.pixels().host()[i];
    grey.pixels().host()[i] = static_cast<std::uint8_t>((299 * c.x + 587 * c.y + 114 * c.z) / 1000);
  }
  return grey;
}

/// The board as it was printed, and the words for its scale.
TagBoard printed_board(const LearnPhotosFlags& flags, PhotoLesson& lesson) {
  const TagBoard board = read_tag_board(flags.board);
  double scale = 1;
  std::string measured = "as its file has it";
  if (flags.tag_size_m > 0) {
    scale = flags.tag_size_m / board.tag_m;
    measured = "measured";
  } else if (flags.ruler_m > 0) {
    require(board.ruler_m > 0, "--ruler-m: has no effect: ", flags.board, " has no rulers");
    scale = flags.ruler_m / board.ruler_m;
    measured = "by the measured ruler";
  }
  require(scale > 0.1 && scale<10, flags.tag_size_m> 0 ? "--tag-size-m" : "--ruler-m",
          ": makes the board ", scale, " times as large as ", flags.board,
          " has it; it is in metres");
  lesson.object.source.remarks.push_back(fmt::format(
      "Scale: a tag of the board is {:.4g} mm wide, {} ({:.4f} of {}).", 1e3 * scale * board.tag_m,
      measured, scale, fs::path(flags.board).filename().string()));
  lesson.document["board"] = {
      {"file", flags.board}, {"tag_m", scale * board.tag_m}, {"scale", scale}};
  return scaled(board, scale);
}

/// The tags of all photographs, in parallel.
std::vector<BoardPhoto> find_all_tags(const Context& context, const Album& album,
                                      const std::optional<CameraList>& cameras,
                                      const LearnProgress& progress) {
  std::vector<BoardPhoto> photos(album.names.size());
  const auto total = static_cast<std::int64_t>(photos.size());
  const std::int64_t batch = 2 * static_cast<std::int64_t>(context.threads());
  for (std::int64_t first = 0; first < total; first += batch) {
    report(progress, "tags", first, total);
    for_each_chunk(
        context, std::min(batch, total - first), 1, [&](std::int64_t begin, std::int64_t) {
          const auto i = static_cast<std::size_t>(first + begin);
          const Image<std::uint8_t> grey = grey_of(album.pixels[i]);
          BoardPhoto& photo = photos[i];
          photo.name = album.names[i];
          photo.width = grey.width();
          photo.height = grey.height();
          photo.focal_guess_px = album.focal_px[i];
          photo.tags = find_tags(grey.view());
          std::vector<double> widths;
          for (const TagSighting& tag : photo.tags) {
            const double width = tag_edge_px(grey.view(), tag);
            if (std::isfinite(width)) widths.push_back(width);
          }
          std::sort(widths.begin(), widths.end());
          if (!widths.empty()) photo.edge_px = widths[widths.size() / 2];
          if (cameras) {
            photo.camera = camera_for(*cameras, {photo.name, photo.width, photo.height}).camera;
          }
        });
  }
  report(progress, "tags", total, total);
  return photos;
}

ObjectPhoto object_photo(const Album& album, std::size_t i, const Camera& camera,
                         const Rigid3d& camera_from_object) {
  return {album.names[i], album.pixels[i].view(), camera, camera_from_object,
          album.masks[i].view()};
}

void say_rejected(const std::string& name, const std::string& why, PhotoLesson& lesson) {
  lesson.object.source.remarks.push_back(fmt::format("Left out: {} {}.", name, why));
  lesson.document["rejected"].push_back({{"photo", name}, {"reason", why}});
}

/// Takes the tags that a photograph shows out of its mask, with the white around them: their
/// corners look alike, and a row of them would make points in the air.
void mask_tags(const std::vector<TagSighting>& tags, const Image<Rgb8>& pixels,
               Image<std::uint8_t>& mask) {
  constexpr double kWithBorder = 1.25;
  if (mask.empty()) {
    mask = Image<std::uint8_t>(Context::cpu(1), pixels.width(), pixels.height());
    std::fill(mask.pixels().host().begin(), mask.pixels().host().end(), std::uint8_t{1});
  }
  if (mask.width() != pixels.width() || mask.height() != pixels.height()) return;  // refused later
  for (const TagSighting& tag : tags) {
    Vec2d corners[4], middle{}, low{INFINITY, INFINITY}, high{-INFINITY, -INFINITY};
    for (const Vec2d& corner : tag.corners_px) middle = middle + corner * 0.25;
    for (std::size_t i = 0; i < 4; ++i) {
      corners[i] = middle + (tag.corners_px[i] - middle) * kWithBorder;
      low = {std::min(low.x, corners[i].x), std::min(low.y, corners[i].y)};
      high = {std::max(high.x, corners[i].x), std::max(high.y, corners[i].y)};
    }
    const int last_u = std::min(mask.width() - 1, static_cast<int>(high.x));
    const int last_v = std::min(mask.height() - 1, static_cast<int>(high.y));
    for (int v = std::max(0, static_cast<int>(low.y)); v <= last_v; ++v) {
      for (int u = std::max(0, static_cast<int>(low.x)); u <= last_u; ++u) {
        bool inside = true;
        for (std::size_t i = 0; i < 4 && inside; ++i) {
          const Vec2d side = corners[(i + 1) % 4] - corners[i];
          inside = side.x * (v - corners[i].y) - side.y * (u - corners[i].x) >= 0;
        }
        if (inside) mask(u, v) = 0;
      }
    }
  }
}

/// Poses from the board. Photographs without one are said and left out.
LearnPhotosInput input_with_board(const Context& context, Album& album, const std::string& camera,
                                  const LearnPhotosFlags& flags, const LearnProgress& progress,
                                  PhotoLesson& lesson, std::vector<std::size_t>& kept) {
  const TagBoard board = printed_board(flags, lesson);
  std::optional<CameraList> cameras;
  if (!camera.empty()) cameras = read_camera_list(camera);
  const std::vector<BoardPhoto> photos = find_all_tags(context, album, cameras, progress);
  const BoardPoses poses = find_board_poses(board, photos, flags.poses);
  LearnPhotosInput input;
  input.places_m = board_corners_m(board);
  std::string first;
  for (std::size_t i = 0; i < poses.views.size(); ++i) {
    const BoardView& view = poses.views[i];
    if (!view.rejected.empty()) {
      say_rejected(album.names[i], view.rejected, lesson);
      if (first.empty()) first = "; " + album.names[i] + " " + view.rejected;
      continue;
    }
    mask_tags(photos[i].tags, album.pixels[i], album.masks[i]);
    const auto number = static_cast<std::int32_t>(input.photos.size());
    for (const BoardCornerSighting& seen : view.corners) {
      input.references.push_back({number, seen.corner, seen.at_px});
    }
    input.photos.push_back(object_photo(album, i, view.camera, view.camera_from_board));
    kept.push_back(i);
  }
  require(static_cast<int>(kept.size()) >= flags.photos.least_views, kept.size(), " of ",
          album.names.size(), " photographs show the board so that it is of use, and ",
          flags.photos.least_views, " are needed", first);
  input.box =
      Bounds{{static_cast<float>(board.free_low_m.x), static_cast<float>(board.free_low_m.y),
              static_cast<float>(flags.least_height_m)},
             {static_cast<float>(board.free_high_m.x), static_cast<float>(board.free_high_m.y),
              static_cast<float>(flags.most_height_m)}};
  lesson.document["board"]["rms_px"] = poses.rms_px;
  if (!cameras) {
    const bool told = album.focal_px[kept[0]] > 0;
    lesson.object.source.remarks.push_back(fmt::format(
        "The camera was found from the board, beginning with a focal length of {:.0f} px{}.",
        poses.focal_guess_px, told ? " (Exif's or a guess)" : " (a guess, there is no Exif)"));
  }
  return input;
}

/// Poses that a rig of cameras says, one for each photograph by its name.
LearnPhotosInput input_with_rig(const Album& album, const std::string& file,
                                std::vector<std::size_t>& kept) {
  const std::vector<RigCamera> rig = read_rig_json(file);
  LearnPhotosInput input;
  for (std::size_t i = 0; i < album.names.size(); ++i) {
    const fs::path name = album.names[i];
    const auto camera = std::find_if(rig.begin(), rig.end(), [&](const RigCamera& candidate) {
      return candidate.name == name.string() || candidate.name == name.stem().string();
    });
    require(camera != rig.end(), file, ": has no camera with the name ", name.stem().string(),
            ", which took ", name.string());
    input.photos.push_back(
        object_photo(album, i, camera->seen.camera, inverse(camera->seen.world_from_camera)));
    kept.push_back(i);
  }
  return input;
}

void say_what_was_learned(const LearnPhotosReport& report, std::size_t photos, bool found_camera,
                          PhotoLesson& lesson) {
  std::vector<std::string>& remarks = lesson.object.source.remarks;
  remarks.push_back(fmt::format(
      "{} of {} photographs, {} points, {} descriptors; reprojection error {:.2f} px in "
      "the middle, {:.2f} px rms over {} sightings.",
      report.used, photos, report.points.size(), report.rows, report.median_px, report.rms_px,
      report.sightings));
  nlohmann::json list = nlohmann::json::array();
  for (const LearnedPhoto& photo : report.photos) {
    if (!photo.rejected.empty()) {
      say_rejected(photo.name, photo.rejected, lesson);
      continue;
    }
    list.push_back({{"photo", photo.name},
                    {"features", photo.features},
                    {"points", photo.points},
                    {"median_px", photo.median_px}});
  }
  lesson.document["used"] = report.used;
  lesson.document["points"] = report.points.size();
  lesson.document["rows"] = report.rows;
  lesson.document["sightings"] = report.sightings;
  lesson.document["median_px"] = report.median_px;
  lesson.document["rms_px"] = report.rms_px;
  lesson.document["adjusted"] = report.adjusted;
  lesson.document["photos"] = std::move(list);
  if (!found_camera) return;
  const Camera& camera = report.photos[0].camera;
  lesson.document["camera"] = camera_to_json({camera, {}});
  lesson.document["focal_deviation_px"] = report.focal_deviation_px;
  remarks.push_back(fmt::format(
      "Focal length {:.1f} px (deviation {:.1f} px), centre {:.1f}, {:.1f}, k1 {:.4f}.",
      camera.fx_px, report.focal_deviation_px, camera.cx_px, camera.cy_px, camera.distortion.k1));
}

void write_outputs(const LearnPhotosReport& report, const Album& album,
                   const std::vector<std::size_t>& kept, const LearnPhotosFlags& flags,
                   PhotoLesson& lesson) {
  if (!flags.save_camera.empty()) {
    write_camera_json(flags.save_camera, {report.photos[0].camera, {}});
    lesson.wrote.push_back(flags.save_camera);
  }
  if (flags.picture.empty()) return;
  const auto best = std::max_element(
      report.photos.begin(), report.photos.end(),
      [](const LearnedPhoto& a, const LearnedPhoto& b) { return a.points < b.points; });
  const auto number = static_cast<std::size_t>(best - report.photos.begin());
  write_image(flags.picture,
              learned_points_picture(report, album.pixels[kept[number]].view(), number).view());
  lesson.wrote.push_back(flags.picture);
}

}  // namespace

std::vector<PhotoFile> photos_of_folder(const fs::path& folder) {
  std::vector<PhotoFile> photos;
  std::vector<fs::path> masks;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const fs::path& path = entry.path();
    if (!entry.is_regular_file() || std::find(std::begin(kPhotoFiles), std::end(kPhotoFiles),
                                              lower_extension(path)) == std::end(kPhotoFiles)) {
      continue;
    }
    if (path.filename().string().rfind(kMaskStart, 0) == 0) {
      masks.push_back(path);
    } else {
      photos.push_back({path, {}});
    }
  }
  require(!error, folder.string(), ": ", error.message());
  require(!photos.empty(), folder.string(), ": holds no photograph (.png, .jpg, .ppm, .tif)");
  std::sort(photos.begin(), photos.end(),
            [](const PhotoFile& a, const PhotoFile& b) { return a.photo < b.photo; });
  for (const fs::path& mask : masks) {
    const std::string stem = mask.stem().string().substr(kMaskStart.size());
    const auto of = std::find_if(photos.begin(), photos.end(), [&](const PhotoFile& file) {
      return file.photo.stem().string() == stem;
    });
    require(of != photos.end(), mask.string(), ": is the mask of no photograph; there is no ", stem,
            ".jpg or its like");
    of->mask = mask;
  }
  return photos;
}

PhotoLesson learn_photo_folder(const Context& context, const std::string& name,
                               const fs::path& folder, const std::string& camera,
                               const LearnPhotosFlags& flags, const LearnProgress& progress) {
  PhotoLesson lesson;
  lesson.document["rejected"] = nlohmann::json::array();
  Album album = read_album(context, folder, flags, progress);
  std::vector<std::size_t> kept;
  const bool board = !flags.board.empty();
  const LearnPhotosInput input =
      board ? input_with_board(context, album, camera, flags, progress, lesson, kept)
            : input_with_rig(album, camera, kept);
  LearnPhotosOptions options = flags.photos;
  options.adjust = options.adjust || board;
  options.adjust_focal = board && camera.empty();
  LearnedFromPhotos learned = learn_photos(context, name, input, options, progress);
  std::vector<std::string> remarks = std::move(lesson.object.source.remarks);
  lesson.object = std::move(learned.object);
  lesson.object.source.remarks = std::move(remarks);
  say_what_was_learned(learned.report, album.names.size(), options.adjust_focal, lesson);
  write_outputs(learned.report, album, kept, flags, lesson);
  return lesson;
}

}  // namespace sextant::app
