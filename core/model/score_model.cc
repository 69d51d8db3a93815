// SPDX-License-Identifier: Apache-2.0
#include "core/model/score_model.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/error.h"
#include "core/base/json_writer.h"
#include "core/base/limits.h"

namespace asr {
namespace {

using Parsed = nlohmann::json;

constexpr std::array<const char *, 4> kTopologyNames = {"none", "ctc", "ctc-compact", "hmm"};

[[noreturn]] void bad_field(const std::string &source, const char *name) {
  fail(ASR_BAD_FILE, "%s: scores.%s is missing, or has a wrong type or value; import the model again", source.c_str(), name);
}

uint32_t count_of(const Parsed &json, const char *name, const std::string &source, bool optional) {
  const auto found = json.find(name);
  if (found == json.end() && optional) return kNoToken;
  if (found == json.end() || !found->is_number_unsigned() || found->get<uint64_t>() >= kNoToken) bad_field(source, name);
  return static_cast<uint32_t>(found->get<uint64_t>());
}

double number_of(const Parsed &json, const char *name, const std::string &source) {
  const auto found = json.find(name);
  if (found == json.end()) return 0;
  if (!found->is_number()) bad_field(source, name);
  return found->get<double>();
}

}  // namespace

void ScoreModel::validate(const std::string &source) const {
  const auto check = [&](bool good, const char *field) {
    if (!good) bad_field(source, field);
  };
  check(n_states >= 1 && n_states <= kMaxPdfs, "states");
  const bool is_ctc = topology == TokenTopology::kCtc || topology == TokenTopology::kCtcCompact;
  check(has_blank() ? is_ctc && blank < n_states : !is_ctc, "blank");
  check(delimiter == kNoToken || (delimiter < n_states && delimiter != blank && topology != TokenTopology::kNone), "delimiter");
  check(state_of_column.size() <= kMaxPdfs, "columns");
  for (const uint32_t state : state_of_column) check(state == kNoToken || state < n_states, "columns");
  check(log_priors.empty() || log_priors.size() == n_states, "log_priors");
  for (const float prior : log_priors) check(std::isfinite(prior) && prior <= 0, "log_priors");
  check(piece_scores.empty() || piece_scores.size() == n_states, "piece_scores");
  for (const float score : piece_scores) check(std::isfinite(score), "piece_scores");
  check(prior_scale >= 0 && prior_scale <= kMaxPriorScale && (prior_scale == 0 || !log_priors.empty()), "prior_scale");
  check(std::abs(blank_penalty) <= kMaxBlankPenalty && (blank_penalty == 0 || has_blank()), "blank_penalty");
}

void write_score_model(const ScoreModel &model, JsonWriter *json) {
  json->begin_object();
  json->key("states"), json->value(model.n_states);
  json->key("topology"), json->value(kTopologyNames[static_cast<size_t>(model.topology)]);
  if (model.has_blank()) json->key("blank"), json->value(model.blank);
  if (model.delimiter != kNoToken) json->key("delimiter"), json->value(model.delimiter);
  if (!model.state_of_column.empty()) {
    json->key("columns"), json->begin_array();
    for (const uint32_t state : model.state_of_column) json->value(state == kNoToken ? -1.0 : static_cast<double>(state));
    json->end_array();
  }
  const auto write = [&](const char *name, const std::vector<float> &values) {
    if (values.empty()) return;
    json->key(name), json->begin_array();
    for (const float value : values) json->value(value);
    json->end_array();
  };
  write("log_priors", model.log_priors);
  write("piece_scores", model.piece_scores);
  if (model.prior_scale != 0) json->key("prior_scale"), json->value(model.prior_scale);
  if (model.blank_penalty != 0) json->key("blank_penalty"), json->value(model.blank_penalty);
  json->end_object();
}

ScoreModel score_model_from_json(const Parsed &json, const std::string &source) {
  if (!json.is_object()) fail(ASR_BAD_FILE, "%s: \"scores\" is not an object; import the model again", source.c_str());
  ScoreModel model;
  model.n_states = count_of(json, "states", source, false);
  const auto topology = json.find("topology");
  const auto known = topology == json.end() || !topology->is_string()
                         ? kTopologyNames.end()
                         : std::find(kTopologyNames.begin(), kTopologyNames.end(), topology->get<std::string>());
  if (known == kTopologyNames.end()) bad_field(source, "topology");
  model.topology = static_cast<TokenTopology>(known - kTopologyNames.begin());
  model.blank = count_of(json, "blank", source, true);
  model.delimiter = count_of(json, "delimiter", source, true);
  if (json.contains("columns")) {
    if (!json["columns"].is_array() || json["columns"].empty()) bad_field(source, "columns");
    for (const Parsed &column : json["columns"]) {
      if (!column.is_number() || !(column.get<double>() >= -1 && column.get<double>() < kMaxPdfs)) bad_field(source, "columns");
      model.state_of_column.push_back(column.get<double>() < 0 ? kNoToken : static_cast<uint32_t>(column.get<double>()));
    }
  }
  const auto read = [&](const char *name, std::vector<float> *values) {
    if (!json.contains(name)) return;
    if (!json[name].is_array()) bad_field(source, name);
    for (const Parsed &value : json[name]) {
      if (!value.is_number()) bad_field(source, name);
      values->push_back(value.get<float>());
    }
  };
  read("log_priors", &model.log_priors);
  read("piece_scores", &model.piece_scores);
  model.prior_scale = number_of(json, "prior_scale", source);
  model.blank_penalty = number_of(json, "blank_penalty", source);
  model.validate(source);
  return model;
}

}  // namespace asr
