// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/image.h"
#include "sextant/core/options.h"
#include "sextant/core/workspace.h"
#include "sextant/geometry/camera.h"

namespace sextant {

/// The sensors whose noise was measured on planar patches of real frames, and the textbooks' one.
enum class SensorModel {
  kKinect,            ///< structured light, the depth camera's own picture
  kKinectRegistered,  ///< the same after it was carried over to the colour camera
  kRealsense,         ///< stereo, 0.5 to 5 m
  kRealsenseNear,     ///< the kind for 0.2 to 1 m
  kIndependent,       ///< a Kinect whose pixels err by themselves, as papers simulate it
};
inline constexpr Choice<SensorModel> kSensorModels[] = {
    {"kinect", SensorModel::kKinect},
    {"kinect-registered", SensorModel::kKinectRegistered},
    {"realsense", SensorModel::kRealsense},
    {"realsense-near", SensorModel::kRealsenseNear},
    {"independent", SensorModel::kIndependent}};

/// The kernel that white noise is filtered with, so that neighbours err together.
enum class NoiseKernel { kBox, kGaussian };
inline constexpr Choice<NoiseKernel> kNoiseKernels[] = {{"box", NoiseKernel::kBox},
                                                        {"gaussian", NoiseKernel::kGaussian}};

/// What a depth sensor makes of a perfect depth map. Defaults are the raw Kinect's; `sensor_noise`
/// has those of the others. Every effect has its own switch: 0 or false turns it off.
///
/// Noise is added to disparity, 1 / z in 1/m, so `per_m` times z² is an error of depth in metres.
struct SensorNoiseOptions {
  float sigma_per_m = 0.85e-3f;  ///< correlated noise: its deviation is sigma_per_m + relative / z
  float sigma_relative = 0.52e-3f;
  NoiseKernel kernel = NoiseKernel::kBox;
  float kernel_x_px = 8;  ///< side of the box in whole pixels, or deviation of the Gaussian
  float kernel_y_px = 7;
  float warp_per_m = 0.45e-3f;  ///< deviation of the smooth error that calibration leaves
  float warp_px = 15;           ///< deviation of the Gaussian that makes it smooth
  float white_per_m = 0;        ///< deviation of what every pixel errs by itself
  float step_per_m = 2.85e-3f;  ///< step of disparity
  float depth_step_m = 0.001f;  ///< step of depth, rounded to after the disparity
  float min_depth_m = 0.4f;
  float max_depth_m = 8.0f;

  float grazing_start_rad = 1.117f;  ///< angle of ray and normal where returns begin to fail
  float grazing_end_rad = 1.373f;    ///< ... and from where on they fail with grazing_loss
  float grazing_loss = 1;
  float edge_step = 0.03f;     ///< neighbours that differ by this share of z make an edge
  float edge_loss = 0;         ///< probability that a pixel at an edge has no return
  float rim_px = 0;            ///< how far the near side of an edge has no return
  float flying_share = 0.03f;  ///< of near pixels at edges: 3 to 5 pixels float between both sides
  bool shadow = true;          ///< what the second viewpoint does not see has no return
  float baseline_m = 0.075f;   ///< projector or second camera, that far to the right
  float shadow_share = 0.6f;   ///< of a shadow's width that has no return, beside what throws it
  int shadow_min_px = 8;       ///< narrower shadows close

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("sigma_per_m", self.sigma_per_m, "correlated noise of 1/z, far away", Range{0, 1});
    visit("sigma_relative", self.sigma_relative, "correlated noise over depth, near", Range{0, 1});
    visit("kernel", self.kernel, "what makes neighbours err together", kNoiseKernels);
    visit("kernel_x_px", self.kernel_x_px, "box's side or Gaussian's deviation along rows",
          Range{0.5, 20});
    visit("kernel_y_px", self.kernel_y_px, "the same along columns", Range{0.5, 20});
    visit("warp_per_m", self.warp_per_m, "smooth error of 1/z", Range{0, 1});
    visit("warp_px", self.warp_px, "deviation of the Gaussian that smooths it", Range{0.5, 20});
    visit("white_per_m", self.white_per_m, "independent noise of 1/z", Range{0, 1});
    visit("step_per_m", self.step_per_m, "step of 1/z, 0 for none", Range{0, 1});
    visit("depth_step_m", self.depth_step_m, "step of depth, 0 for none", Range{0, 1});
    visit("min_depth_m", self.min_depth_m, "nearer surfaces give no return", Range{0, 1e6});
    visit("max_depth_m", self.max_depth_m, "farther surfaces give no return", Range{0, 1e6});
    visit("grazing_start_rad", self.grazing_start_rad, "angle at which returns begin to fail",
          Range{0, 1.6});
    visit("grazing_end_rad", self.grazing_end_rad, "angle from which they fail most",
          Range{0, 1.6});
    visit("grazing_loss", self.grazing_loss, "probability of no return from that angle on",
          Range{0, 1});
    visit("edge_step", self.edge_step, "share of the depth that makes an edge", Range{1e-6, 1});
    visit("edge_loss", self.edge_loss, "probability of no return at a depth edge", Range{0, 1});
    visit("rim_px", self.rim_px, "width of the rim of near things without return", Range{0, 8});
    visit("flying_share", self.flying_share, "share of edges with flying pixels", Range{0, 1});
    visit("shadow", self.shadow, "no return where the second viewpoint cannot see");
    visit("baseline_m", self.baseline_m, "distance of the second viewpoint", Range{0, 10});
    visit("shadow_share", self.shadow_share, "share of a shadow's width without return",
          Range{0, 1});
    visit("shadow_min_px", self.shadow_min_px, "narrower shadows close", Range{0, 1000});
  }
};

/// The options that reproduce a sensor.
SensorNoiseOptions sensor_noise(SensorModel model);

/// The depth map as the sensor would give it, NaN where there is no return.
///
/// Disparity: 1 / z + (sigma_per_m + sigma_relative / z) c + warp_per_m w + white_per_m n, where c
/// and w are white noise after a filter, scaled to deviation 1, and n is white; rounded to steps,
/// and depth is rounded to steps afterwards.
///
/// No return, decided per pixel: the input is not a positive number or out of range; the surface
/// turns away by the angle a, with probability grazing_loss (cos start - cos a) / (cos start - cos
/// end); a 4-neighbour differs by more than edge_step z or is a hole, with probability edge_loss;
/// something farther lies within about rim_px; a nearer surface stands between it and the second
/// viewpoint, and it lies in the shadow_share of the shadow that is beside that surface. At edges,
/// runs of 3 to 5 pixels across the edge get disparities between both sides instead.
///
/// `normals` are those of the surface, in the camera's frame; an empty image leaves grazing out.
/// Random numbers are functions of (seed, pixel). Same bits for any number of threads and on CUDA.
/// About 0.3 µs a pixel on one CPU thread, half of it without correlated noise.
Image<float> add_sensor_noise(const Context& context, ImageView<const float> depth_m,
                              ImageView<const Vec3f> normals, const Camera& camera,
                              const SensorNoiseOptions& options = {}, std::uint64_t seed = 0);

/// The same into given memory of the same size, other than the input; allocates nothing when it is
/// called again and does not wait.
void add_sensor_noise_into(const Context& context, ImageView<const float> depth_m,
                           ImageView<const Vec3f> normals, const Camera& camera,
                           const SensorNoiseOptions& options, std::uint64_t seed,
                           ImageView<float> noisy_m, Workspace& workspace);

}  // namespace sextant
