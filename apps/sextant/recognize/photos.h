// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "apps/sextant/input/photo.h"
#include "sextant/io/rig_json.h"

// Photographs that the user names to look for objects in.

namespace sextant::app {

/// Whether the first of the words names a photograph, or a folder with photographs and without
/// depth maps: then all must.
bool names_photos(const std::vector<std::string>& words);

/// Photographs of one moment, one for each camera.
struct PhotoMoment {
  std::string name;  ///< the file of the first camera
  std::vector<std::string> files;
};

struct PhotoList {
  std::string camera;                ///< file of cameras
  std::vector<RigCamera> rig;        ///< empty for a single camera, which may be one for each photo
  std::vector<PhotoMoment> moments;  ///< in the order of the words, those of a folder by name
  bool several = false;              ///< more than one moment, or folders, whatever they hold
};

/// Looks at what is there, before anything is read. With a single camera every word is a moment or
/// a folder of them; with a rig there is a word for each camera, all files or all folders. Error
/// for what can be no photograph.
PhotoList list_photos(const std::vector<std::string>& words, const std::string& camera);

/// What the cameras saw at a moment.
struct SeenPhotos {
  std::vector<Photo> photos;
  std::vector<PosedCamera> cameras;  ///< with their lens distortion
  std::vector<std::string> remarks;  ///< for the user
};

/// Pixels stay as the sensor gave them, since cameras belong to these.
SeenPhotos read_photos(const PhotoList& list, const PhotoMoment& moment);

}  // namespace sextant::app
