// SPDX-License-Identifier: Apache-2.0
#include "api/config.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "api/fill.h"
#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr::api {
namespace {

constexpr double kPreRoll_s = 0.3;

// 0 stands for the bundle's.
std::optional<float> positive_or_unset(float value, const char *name) {
  if (value == 0) return std::nullopt;
  check_range(value, std::numeric_limits<float>::min(), kMaxBeam, name);
  return value;
}

std::optional<CmnKind> cmn_kind(int cmn) {
  switch (cmn) {
    case ASR_CMN_MODEL:
      return std::nullopt;
    case ASR_CMN_LIVE:
      return CmnKind::kLive;
    case ASR_CMN_BATCH:
      return CmnKind::kBatch;
    case ASR_CMN_NONE:
      return CmnKind::kNone;
    case ASR_CMN_MEASURE:
      return CmnKind::kMeasure;
    default:
      fail(ASR_INVALID_ARGUMENT, "asr_stream_config.cmn is %d; its values are those of asr_cmn", cmn);
  }
}

SampleType sample_type(int input) {
  switch (input) {
    case ASR_INPUT_FLOAT:
      return SampleType::kFloat;
    case ASR_INPUT_ULAW:
      return SampleType::kUlaw;
    case ASR_INPUT_ALAW:
      return SampleType::kAlaw;
    default:
      return SampleType::kInt16;
  }
}

SampleFormat sample_format(const asr_stream_config &c) {
  if (c.sample_rate_hz != 0)
    check_range(c.sample_rate_hz, kMinSampleRateHz, kMaxSampleRateHz, "asr_stream_config.sample_rate_hz");
  check_range(c.n_channels, 1u, kMaxChannels, "asr_stream_config.n_channels");
  check_range(c.channel, -1, static_cast<int32_t>(c.n_channels) - 1, "asr_stream_config.channel");
  SampleFormat format;
  format.type = sample_type(number(c.input));
  format.rate_hz = c.sample_rate_hz;
  format.n_channels = c.n_channels;
  format.channel = c.channel;
  return format;
}

// The times of the preset, but for those that are set.
std::optional<EndpointTimes> endpoint_times(const asr_stream_config &c) {
  check_range<int>(number(c.endpoint), ASR_ENDPOINT_OFF, ASR_ENDPOINT_CAPTIONS, "asr_stream_config.endpoint");
  check_range(c.reserved, 0u, 0u, "asr_stream_config.reserved");
  std::optional<EndpointTimes> times = preset_times(c.endpoint);
  if (!times) return times;
  const auto set = [](uint32_t ms, const char *name, double *seconds) {
    if (ms == 0) return;
    check_range(ms, kMinEndpointMs, kMaxEndpointMs, name);
    *seconds = ms / 1000.0;
  };
  set(c.silence_at_end_ms, "asr_stream_config.silence_at_end_ms", &times->at_end_s);
  set(c.silence_after_words_ms, "asr_stream_config.silence_after_words_ms", &times->after_words_s);
  set(c.silence_without_words_ms, "asr_stream_config.silence_without_words_ms", &times->without_words_s);
  set(c.longest_utterance_ms, "asr_stream_config.longest_utterance_ms", &times->longest_s);
  return times;
}

std::optional<double> pre_roll_s(const asr_stream_config &c, bool is_audio) {
  check_range<int>(number(c.vad), ASR_VAD_DEFAULT, ASR_VAD_ON, "asr_stream_config.vad");
  if (c.pre_roll_ms != 0) check_range(c.pre_roll_ms, kMinPreRollMs, kMaxPreRollMs, "asr_stream_config.pre_roll_ms");
  if (c.vad == ASR_VAD_ON && c.endpoint == ASR_ENDPOINT_OFF) {
    fail(ASR_INVALID_ARGUMENT, "asr_stream_config.vad is ASR_VAD_ON; it needs an endpoint, such as ASR_ENDPOINT_COMMAND");
  }
  if (c.vad == ASR_VAD_ON && !is_audio) {
    fail(ASR_INVALID_ARGUMENT, "asr_stream_config.vad is ASR_VAD_ON; it needs audio, asr_stream_config.input tells of rows");
  }
  if (c.vad == ASR_VAD_OFF || c.endpoint == ASR_ENDPOINT_OFF || !is_audio) return std::nullopt;
  return c.pre_roll_ms != 0 ? c.pre_roll_ms / 1000.0 : kPreRoll_s;
}

bool adapts(const asr_stream_config &c) {
  check_range<int>(number(c.adaptation), ASR_ADAPTATION_ON_CALL, ASR_ADAPTATION_OFF, "asr_stream_config.adaptation");
  check_range(c.reserved2, 0u, 0u, "asr_stream_config.reserved2");
  if (c.speaker != nullptr && c.input == ASR_INPUT_LOGLIKES) {
    fail(ASR_INVALID_ARGUMENT, "asr_stream_config.speaker is set; it needs audio or features, not log-likelihoods");
  }
  if (c.adaptation != ASR_ADAPTATION_BETWEEN_UTTERANCES) return false;
  if (c.speaker == nullptr || c.endpoint == ASR_ENDPOINT_OFF) {
    fail(ASR_INVALID_ARGUMENT,
         "asr_stream_config.adaptation is ASR_ADAPTATION_BETWEEN_UTTERANCES; it needs a speaker and an endpoint, such as "
         "ASR_ENDPOINT_DICTATION");
  }
  return true;
}

FusionRule fusion_rule(int rule) {
  switch (rule) {
    case ASR_FUSION_SUM:
      return FusionRule::kSum;
    case ASR_FUSION_LOG_SUM:
      return FusionRule::kLogSum;
    case ASR_FUSION_MAX:
      return FusionRule::kMax;
    case ASR_FUSION_FOLLOW:
      return FusionRule::kFollow;
    case ASR_FUSION_SELECT:
      return FusionRule::kSelect;
    default:
      fail(ASR_INVALID_ARGUMENT, "asr_fusion.rule is %d; its values are those of asr_fusion_rule", rule);
  }
}

float model_weight(float weight, uint32_t model) {
  if (weight != 0) check_range(weight, kMinModelWeight, kMaxModelWeight, format("asr_fusion.weights[%u]", model).c_str());
  return weight;
}

void read_models(const asr_fusion &c, FusionRequest *request) {
  check_range(c.n_models, 1u, static_cast<uint32_t>(kMaxModels), "asr_fusion.n_models");
  if (c.models == nullptr) fail(ASR_INVALID_ARGUMENT, "asr_fusion.models is NULL; it names %u models", c.n_models);
  float sum = 0;
  for (uint32_t i = 0; i < c.n_models; ++i) {
    if (c.models[i] == nullptr) fail(ASR_INVALID_ARGUMENT, "asr_fusion.models[%u] is NULL; \"\" is the engine's own model", i);
    request->models.emplace_back(c.models[i]);
    request->settings.weights.push_back(c.weights == nullptr ? 1 : model_weight(c.weights[i], i));
    sum += request->settings.weights.back();
  }
  if (sum == 0) fail(ASR_INVALID_ARGUMENT, "asr_fusion.weights are all 0, which leaves out every model");
}

FusionRequest fusion_request(const asr_stream_config &config) {
  const asr_fusion c = resized(config.fusion, asr_fusion_default, "asr_fusion");
  if (config.speaker != nullptr) {
    fail(ASR_UNSUPPORTED, "asr_stream_config.fusion and speaker are both set; a speaker's transform is of one model alone");
  }
  if (config.input == ASR_INPUT_LOGLIKES) {
    fail(ASR_INVALID_ARGUMENT, "asr_stream_config.fusion is set; it needs audio or features, not log-likelihoods");
  }
  FusionRequest request;
  request.settings.rule = fusion_rule(number(c.rule));
  const auto set = [](uint32_t ms, const char *name, double *seconds) {
    if (ms == 0) return;
    check_range(ms, kMinFusionMs, kMaxFusionMs, name);
    *seconds = ms / 1000.0;
  };
  set(c.follow_ms, "asr_fusion.follow_ms", &request.follow_s);
  set(c.select_ms, "asr_fusion.select_ms", &request.select_s);
  read_models(c, &request);
  return request;
}

// Returns what the stream gives. Rows are those of one utterance, which nothing searches.
Output output(const asr_stream_config &c) {
  check_range<int>(number(c.output), ASR_OUTPUT_WORDS, ASR_OUTPUT_LOGLIKES, "asr_stream_config.output");
  if (c.output == ASR_OUTPUT_WORDS) return Output::kWords;
  const char *const name = c.output == ASR_OUTPUT_FEATURES ? "ASR_OUTPUT_FEATURES" : "ASR_OUTPUT_LOGLIKES";
  const auto refuse = [&](bool is_set, const char *what) {
    if (is_set) fail(ASR_INVALID_ARGUMENT, "asr_stream_config.output is %s, but %s", name, what);
  };
  refuse(c.input == ASR_INPUT_LOGLIKES, "input is ASR_INPUT_LOGLIKES; feed audio or features");
  refuse(c.endpoint != ASR_ENDPOINT_OFF, "endpoint is set, which needs words; leave it ASR_ENDPOINT_OFF");
  refuse(c.lattice_beam > 0, "lattice_beam is set, which needs a search; leave it 0");
  refuse(c.partial_interval_ms > 0, "partial_interval_ms is set; rows come at once anyway, leave it 0");
  refuse(number(c.cmn) == ASR_CMN_MEASURE, "cmn is ASR_CMN_MEASURE, which gives no rows; take another");
  refuse(c.fusion != nullptr && c.output == ASR_OUTPUT_FEATURES, "fusion is set; rows of features are of one model");
  const bool looks_back = c.fusion != nullptr && (c.fusion->rule == ASR_FUSION_FOLLOW || c.fusion->rule == ASR_FUSION_SELECT);
  refuse(looks_back, "asr_fusion.rule leaves out the graph's silence; take ASR_FUSION_SUM, LOG_SUM or MAX");
  return c.output == ASR_OUTPUT_FEATURES ? Output::kFeatures : Output::kLoglikes;
}

}  // namespace

EngineOptions read_config(const asr_engine_config *config) {
  const asr_engine_config c = resized(config, asr_engine_config_default, "asr_engine_config");
  check_range(c.max_lanes, 1u, kMaxLanes, "asr_engine_config.max_lanes");
  check_range(c.window_frames, kMinWindowFrames, kMaxWindowFrames, "asr_engine_config.window_frames");
  check_range(c.n_threads, 0u, kMaxThreads, "asr_engine_config.n_threads");
  check_range(c.reserved, 0u, 0u, "asr_engine_config.reserved");
  EngineOptions options;
  if (c.device != nullptr) options.device = c.device;
  if (c.fallback != nullptr) options.fallback = c.fallback;
  if (!options.fallback.empty() && options.fallback != "cpu") {
    fail(ASR_INVALID_ARGUMENT, "asr_engine_config.fallback is \"%s\"; it may be \"cpu\", or NULL for none", c.fallback);
  }
  if (c.search_device != nullptr) options.search_device = c.search_device;
  options.max_lanes = c.max_lanes;
  options.window_frames = c.window_frames;
  options.n_threads = c.n_threads;
  if (c.model_bits != 0 && c.model_bits != 16 && c.model_bits != 32) {
    fail(ASR_INVALID_ARGUMENT, "asr_engine_config.model_bits is %u; it may be 16 or 32, or 0 for 32", c.model_bits);
  }
  check_range(c.n_best_gaussians, 0u, kMaxBestGaussians, "asr_engine_config.n_best_gaussians");
  if (c.model_bits != 0) options.model_bits = c.model_bits;
  options.n_best_gaussians = c.n_best_gaussians;
  check_range(c.cluster_share, 0.0f, 1.0f, "asr_engine_config.cluster_share");
  check_range(c.max_callback_threads, 0u, kMaxCallbackThreads, "asr_engine_config.max_callback_threads");
  if (c.max_callback_threads > 0) options.max_callback_threads = c.max_callback_threads;
  if (c.cluster_share > 0) options.cluster_share = c.cluster_share;
  if (c.device_timeout_ms != 0) options.device_timeout_ms = c.device_timeout_ms;
  return options;
}

StreamConfig read_config(const asr_stream_config *config) {
  const asr_stream_config c = resized(config, asr_stream_config_default, "asr_stream_config");
  check_range<int>(number(c.input), ASR_INPUT_INT16, ASR_INPUT_ALAW, "asr_stream_config.input");
  check_range(c.vtln_warp, kMinWarp, kMaxWarp, "asr_stream_config.vtln_warp");
  StreamConfig result;
  result.callback = c.callback;
  result.user_data = c.user_data;
  StreamOptions &options = result.options;
  options.input = c.input;
  options.output = output(c);
  options.format = sample_format(c);
  options.cmn = cmn_kind(number(c.cmn));
  options.vtln_warp = c.vtln_warp;
  options.beam = positive_or_unset(c.beam, "asr_stream_config.beam");
  options.acoustic_scale = positive_or_unset(c.acoustic_scale, "asr_stream_config.acoustic_scale");
  if (!std::isnan(c.word_insertion_cost)) {
    check_range(c.word_insertion_cost, -kMaxWordInsertionCost, kMaxWordInsertionCost, "asr_stream_config.word_insertion_cost");
    options.word_insertion_cost = c.word_insertion_cost;
  }
  if (c.max_active != 0) options.max_active = c.max_active;
  options.min_active = c.min_active;
  options.partial_interval_ms = c.partial_interval_ms;
  options.max_backlog_ms = c.max_backlog_ms;
  check_range(c.max_utterance_s, 0u, kMaxUtteranceS, "asr_stream_config.max_utterance_s");
  check_range(c.reserved3, 0u, 0u, "asr_stream_config.reserved3");
  if (c.max_utterance_s != 0) options.max_utterance_s = c.max_utterance_s;
  check_range(c.lattice_beam, 0.0f, kMaxBeam, "asr_stream_config.lattice_beam");
  check_range(c.n_best, 0u, kMaxAlternatives, "asr_stream_config.n_best");
  if (c.n_best > 1 && c.lattice_beam == 0) {
    fail(ASR_INVALID_ARGUMENT, "asr_stream_config.n_best is %u; more than 1 needs a lattice_beam > 0, such as 8", c.n_best);
  }
  options.lattice_beam = c.lattice_beam;
  check_range(c.allow_unknown_boosts, 0u, 1u, "asr_stream_config.allow_unknown_boosts");
  options.boosts_unknown_words = c.allow_unknown_boosts != 0;
  options.n_best = std::max(1u, c.n_best);
  options.endpoint = endpoint_times(c);
  if (c.early_endpoint_ms != 0) {
    check_range(c.early_endpoint_ms, kMinEndpointMs, kMaxEndpointMs, "asr_stream_config.early_endpoint_ms");
    options.early_endpoint_s = c.early_endpoint_ms / 1000.0;
  }
  if (c.no_input_ms != 0) {
    check_range(c.no_input_ms, kMinEndpointMs, kMaxEndpointMs, "asr_stream_config.no_input_ms");
    options.no_input_s = c.no_input_ms / 1000.0;
  }
  if (c.idle_ms != 0) {
    check_range(c.idle_ms, kMinEndpointMs, kMaxEndpointMs, "asr_stream_config.idle_ms");
    if (options.endpoint) options.idle = std::chrono::milliseconds(c.idle_ms);
  }
  if (c.reject_threshold != 0) {
    if (!(c.reject_threshold < 0)) check_range(c.reject_threshold, 0.0f, 1.0f, "asr_stream_config.reject_threshold");
    options.reject_threshold = c.reject_threshold;
  }
  if (!std::isnan(c.blank_penalty)) {
    check_range(c.blank_penalty, -static_cast<float>(kMaxBlankPenalty), static_cast<float>(kMaxBlankPenalty),
                "asr_stream_config.blank_penalty");
    options.blank_penalty = c.blank_penalty;
  }
  if (!std::isnan(c.prior_scale)) {
    check_range(c.prior_scale, 0.0f, static_cast<float>(kMaxPriorScale), "asr_stream_config.prior_scale");
    options.prior_scale = c.prior_scale;
  }
  check_range(c.blank_skip, 0.0f, 1.0f, "asr_stream_config.blank_skip");
  options.blank_skip = c.blank_skip;
  check_range(number(c.rows_memory), 0, static_cast<int>(ASR_MEMORY_OPENCL), "asr_stream_config.rows_memory");
  options.rows_memory = c.rows_memory;
  options.pre_roll_s = pre_roll_s(c, options.is_audio());
  if (c.graph != nullptr) options.graph = c.graph;
  result.speaker = c.speaker;
  if (c.fusion != nullptr) result.fusion = fusion_request(c);
  options.adapts = adapts(c);
  options.learns = c.adaptation != ASR_ADAPTATION_OFF && !options.gives_rows();
  return result;
}

}  // namespace asr::api
