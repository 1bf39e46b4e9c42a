// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/eval/judged_image.h"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

namespace sextant::app {

namespace {

using nlohmann::json;

/// JSON has no NaN and no infinity.
json number(double value) { return std::isfinite(value) ? json(value) : json(); }
double number_of(const json& value, double otherwise) {
  return value.is_number() ? value.get<double>() : otherwise;
}

json to_json(const ImageJudgement& judgement) {
  json reports = json::array(), instances = json::array(), errors = json::array();
  for (const JudgedReport& r : judgement.reports) {
    reports.push_back({static_cast<int>(r.verdict), r.instance, number(r.difference.translation_m),
                       number(r.difference.rotation_rad)});
  }
  for (const JudgedInstance& i : judgement.instances) instances.push_back({i.wanted, i.report});
  for (const BopErrors& e : judgement.errors) {
    json entry{e.report, e.instance, number(e.mssd), number(e.mspd_px)};
    for (const double vsd : e.vsd) entry.push_back(vsd);
    errors.push_back(std::move(entry));
  }
  return {{"reports", reports}, {"instances", instances}, {"errors", errors}};
}

ImageJudgement judgement_of(const json& document) {
  ImageJudgement judgement;
  for (const json& r : document.at("reports")) {
    judgement.reports.push_back(
        {static_cast<Verdict>(r.at(0).get<int>()),
         r.at(1).get<int>(),
         {.rotation_rad = number_of(r.at(3), NAN), .translation_m = number_of(r.at(2), NAN)}});
  }
  for (const json& i : document.at("instances")) {
    judgement.instances.push_back({i.at(0).get<bool>(), i.at(1).get<int>()});
  }
  for (const json& e : document.at("errors")) {
    BopErrors errors{e.at(0).get<int>(), e.at(1).get<int>(), number_of(e.at(2), INFINITY),
                     number_of(e.at(3), INFINITY)};
    for (int k = 0; k < kVsdTolerances; ++k) {
      errors.vsd[k] = e.at(static_cast<std::size_t>(4 + k)).get<double>();
    }
    judgement.errors.push_back(errors);
  }
  return judgement;
}

}  // namespace

void Fingerprint::add(const void* bytes, std::size_t size) {
  const auto* byte = static_cast<const unsigned char*>(bytes);
  for (std::size_t i = 0; i < size; ++i) hash_ = (hash_ ^ byte[i]) * 1099511628211u;
}

void Fingerprint::add(const Rigid3d& pose) {
  for (const Vec3d& row : pose.rotation.row) {
    add(row.x);
    add(row.y);
    add(row.z);
  }
  add(pose.translation.x);
  add(pose.translation.y);
  add(pose.translation.z);
}

JudgedImages::JudgedImages(std::filesystem::path file) : file_(std::move(file)) {
  std::ifstream in(file_);
  std::string line;
  while (std::getline(in, line)) {
    // A line that was cut off by an interruption is judged again.
    const json document = json::parse(line, nullptr, false);
    if (!document.is_object() || !document.contains("key")) continue;
    lines_[document.at("key").get<std::uint64_t>()] = line;
  }
}

bool JudgedImages::find(std::uint64_t key, JudgedImage& image) const {
  const auto found = lines_.find(key);
  if (found == lines_.end()) return false;
  try {
    image.judgement = judgement_of(json::parse(found->second).at("judgement"));
  } catch (const json::exception&) {
    return false;
  }
  return image.judgement.reports.size() == image.reports.size() &&
         image.judgement.instances.size() == image.truth.size();
}

void JudgedImages::append(std::uint64_t key, const JudgedImage& image) {
  std::ofstream out(file_, std::ios::app);
  const json document{{"key", key},
                      {"scene", image.scene},
                      {"image", image.image},
                      {"judgement", to_json(image.judgement)}};
  out << document.dump() << '\n' << std::flush;
  require(static_cast<bool>(out), file_.string(), ": cannot be written");
}

}  // namespace sextant::app
