// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace sextant::detail::camera_json {

/// What a camera file says, as a JSON document with the keys that camera_of knows: JSON as it is,
/// YAML, OpenCV's XML, COLMAP's cameras.txt. The content chooses. `name` stands for the file in
/// messages.
nlohmann::json document_of(std::string_view text, const std::string& name);

/// The values of an XML file that OpenCV's FileStorage wrote.
nlohmann::json opencv_xml(std::string_view text, const std::string& name);

/// Calibration programs spell keys in many ways and write much beside the camera: the document with
/// our spellings, without what is known to say nothing about the image. Other keys stay.
nlohmann::json with_our_keys(const nlohmann::json& document, const std::string& name);

/// Whether a text is a cameras.txt of COLMAP, and the camera of one.
bool is_colmap(std::string_view text);
nlohmann::json colmap_camera(std::string_view text, const std::string& name);

}  // namespace sextant::detail::camera_json
