// SPDX-License-Identifier: Apache-2.0
#include "sextant/synth/sensor_noise.h"

namespace sextant {

namespace {

/// Fitted to Kinect frames whose depth was carried over to the colour camera.
SensorNoiseOptions registered_kinect() {
  SensorNoiseOptions options;
  options.sigma_per_m = 1.0e-3f;
  options.sigma_relative = 0.70e-3f;
  options.warp_per_m = 0.5e-3f;
  options.shadow_share = 0.43f;
  return options;
}

/// Passive stereo with a pattern: large matching windows, eroded rims, whole shadows.
SensorNoiseOptions realsense() {
  SensorNoiseOptions options;
  options.sigma_per_m = 4.0e-3f;
  options.sigma_relative = 0.4e-3f;
  options.kernel = NoiseKernel::kGaussian;
  options.kernel_x_px = 6.5f;
  options.kernel_y_px = 5.5f;
  options.warp_per_m = 0;
  options.white_per_m = 0.3e-3f;
  options.step_per_m = 1.62e-3f;
  options.min_depth_m = 0.2f;
  options.max_depth_m = 10.0f;
  options.grazing_start_rad = 1.0f;
  options.grazing_end_rad = 1.12f;
  options.grazing_loss = 0.018f;
  options.rim_px = 1.65f;
  options.shadow_share = 1;
  options.shadow_min_px = 0;
  return options;
}

SensorNoiseOptions near_realsense() {
  SensorNoiseOptions options = realsense();
  options.sigma_per_m = 1.9e-3f;
  options.sigma_relative = 0;
  options.kernel_x_px = 5.5f;
  options.kernel_y_px = 5.0f;
  options.white_per_m = 0.35e-3f;
  options.step_per_m = 0;
  options.depth_step_m = 0.125e-3f;
  options.max_depth_m = 2.0f;
  options.flying_share = 0.15f;
  return options;
}

/// The noise that papers simulate: white, with a deviation of half a step.
SensorNoiseOptions independent() {
  SensorNoiseOptions options;
  options.sigma_per_m = options.sigma_relative = options.warp_per_m = 0;
  options.white_per_m = 1.425e-3f;
  options.depth_step_m = 0;
  options.grazing_start_rad = 1.22f;
  options.grazing_end_rad = 1.48f;
  options.edge_loss = 0.35f;
  options.flying_share = 0;
  options.shadow_share = 1;
  options.shadow_min_px = 0;
  return options;
}

}  // namespace

SensorNoiseOptions sensor_noise(SensorModel model) {
  switch (model) {
    case SensorModel::kKinect:
      return {};
    case SensorModel::kKinectRegistered:
      return registered_kinect();
    case SensorModel::kRealsense:
      return realsense();
    case SensorModel::kRealsenseNear:
      return near_realsense();
    case SensorModel::kIndependent:
      return independent();
  }
  fail("sensor_noise: ", static_cast<int>(model), " is no model");
}

}  // namespace sextant
