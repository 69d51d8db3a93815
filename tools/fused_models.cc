// SPDX-License-Identifier: Apache-2.0
#include "tools/fused_models.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/base/error.h"
#include "core/base/limits.h"
#include "tools/tool.h"

namespace asr::tool {
namespace {

const std::map<std::string, asr_fusion_rule> kRules{{"sum", ASR_FUSION_SUM},
                                                    {"log-sum", ASR_FUSION_LOG_SUM},
                                                    {"max", ASR_FUSION_MAX},
                                                    {"follow", ASR_FUSION_FOLLOW},
                                                    {"select", ASR_FUSION_SELECT}};

bool is_directory(const std::string &path) {
  std::error_code error;  // ignored: loading the bundle reports the error
  return std::filesystem::is_directory(path, error);
}

}  // namespace

float take_weight(std::string *text) {
  const size_t colon = text->rfind(':');
  if (colon == std::string::npos || colon + 1 == text->size()) return 1;
  char *end = nullptr;
  const double weight = strtod(text->c_str() + colon + 1, &end);
  if (*end != '\0') return 1;
  const std::string bundle = text->substr(0, colon);
  if (is_directory(*text)) {
    if (!is_directory(bundle)) return 1;
    throw UsageError(format("recognize: --fuse %s: is a directory, and so is %s; give %s:1, or %s/:%s", text->c_str(),
                            bundle.c_str(), text->c_str(), bundle.c_str(), text->c_str() + colon + 1));
  }
  if (weight != 0 && !(weight >= kMinModelWeight && weight <= kMaxModelWeight)) {
    throw UsageError(format("recognize: --fuse %s: a weight is 0, or from %g to %g", text->c_str(),
                            static_cast<double>(kMinModelWeight), static_cast<double>(kMaxModelWeight)));
  }
  *text = bundle;
  return static_cast<float>(weight);
}

FusedModels::FusedModels(const RecognizeOptions &options) : models_{""}, weights_{options.fuse_own} {
  if (options.fuse_ms != 0 && options.fuse_rule != "follow" && options.fuse_rule != "select") {
    throw UsageError("recognize: --fuse-ms is a time of --fuse-rule follow and select; give one of them, or leave it out");
  }
  if (options.fuse_own != 0 && options.fuse_own < kMinModelWeight) {
    throw UsageError(format("recognize: --fuse-own %g: a weight is 0, or from %g to %g", static_cast<double>(options.fuse_own),
                            static_cast<double>(kMinModelWeight), static_cast<double>(kMaxModelWeight)));
  }
  for (std::string model : options.fuse) {
    weights_.push_back(take_weight(&model));
    if (model.empty()) throw UsageError("recognize: --fuse names no bundle; give its directory");
    models_.push_back(model);
  }
  if (std::all_of(weights_.begin(), weights_.end(), [](float weight) { return weight == 0; })) {
    throw UsageError("recognize: all weights of --fuse and --fuse-own are 0; leave one above it");
  }
  if (models_.size() > kMaxModels) {
    throw UsageError(
        format("recognize: --fuse names %zu models; %zu and the own one are the most", options.fuse.size(), kMaxModels - 1));
  }
  for (const std::string &model : models_) names_.push_back(model.c_str());
  asr_fusion_default(&fusion_);
  fusion_.rule = kRules.at(options.fuse_rule);
  fusion_.n_models = static_cast<uint32_t>(models_.size());
  fusion_.models = names_.data();
  fusion_.weights = weights_.data();
  fusion_.follow_ms = fusion_.select_ms = options.fuse_ms;
}

void FusedModels::add_to(asr_engine *engine) const {
  for (size_t i = 1; i < models_.size(); ++i) check(asr_engine_add_model(engine, names_[i], names_[i]));
}

}  // namespace asr::tool
