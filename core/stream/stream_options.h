// SPDX-License-Identifier: Apache-2.0
// StreamOptions is a checked asr_stream_config: the type of a stream's input, its decoding, and the acoustic models that it
// fuses.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/audio/resample_filter.h"
#include "core/audio/sample_format.h"
#include "core/base/limits.h"
#include "core/decode/endpointer.h"
#include "core/engine/added_model.h"
#include "core/feature/front_end.h"
#include "core/stream/event.h"

namespace asr {

// What a stream gives: words, or rows for the user's own decoder.
enum class Output { kWords, kFeatures, kLoglikes };

enum class FusionRule { kSum, kLogSum, kMax, kFollow, kSelect };

struct FusionSettings {
  FusionRule rule = FusionRule::kSum;
  std::vector<float> weights;    // one a model, all positive; only their ratios matter
  double follow_frames = 50;     // time constant of kFollow
  uint64_t select_frames = 200;  // frames of speech that kSelect decides after
};

// A checked asr_fusion.
struct FusionRequest {
  std::vector<std::string> models;
  FusionSettings settings;  // without follow_frames and select_frames, which depend on the model's frame shift
  double follow_s = 1, select_s = 1;
};

// The models of a stream; nullptr means the engine's own model. Does not change.
struct FusionOptions {
  struct Model {
    std::shared_ptr<AddedModel> model;
    size_t front_end;  // whose rows it scores
  };
  FusionSettings settings;
  std::vector<Model> models;
  std::vector<std::shared_ptr<AddedModel>> front_ends;  // a model of each front end; no two of them are equal

  // Returns true if all rows belong to the engine's own model.
  bool has_own_rows_only() const { return front_ends.size() == 1 && front_ends[0] == nullptr; }
};

class LoadedGraph;
class Speaker;

struct StreamOptions {
  asr_input input = ASR_INPUT_INT16;
  Output output = Output::kWords;
  SampleFormat format;                                    // format of audio; rate_hz 0 = the model's
  std::shared_ptr<const ResampleFilter> resample_filter;  // to the model's rate; nullptr if the rates are equal
  std::optional<CmnKind> cmn;
  float vtln_warp = 1;
  std::string graph;  // name of the first graph
  // Unset: the graph's values.
  std::optional<float> beam, acoustic_scale, word_insertion_cost;
  std::optional<uint32_t> max_active;
  uint32_t min_active = 200;
  uint32_t partial_interval_ms = 0;  // 0 = no partial events
  uint32_t max_backlog_ms = 30000;   // 0 = feeding never blocks
  uint32_t max_utterance_s = kUsualUtteranceS;
  float lattice_beam = 0;  // 0 = no lattice
  uint32_t n_best = 1;
  bool boosts_unknown_words = false;              // phrases with words that the graph lacks are left out; else refused
  std::optional<EndpointTimes> endpoint;          // unset: the stream is one utterance
  std::optional<double> early_endpoint_s;         // silence after which an endpoint is probable; unset: no such events
  std::optional<double> no_input_s;               // audio without words that is reported; unset: it is not
  std::optional<std::chrono::milliseconds> idle;  // time without a feed after which an utterance ends; unset: any
  std::optional<double> pre_roll_s;               // unset: everything is decoded, also background
  // Results with a higher out_of_grammar are rejected. Unset: the graph's; below 0: results are not compared.
  std::optional<float> reject_threshold;
  std::shared_ptr<const FusionOptions> fusion;  // options for fusing acoustic models; nullptr: the engine's own model alone
  std::shared_ptr<LoadedGraph> background;      // background graph of the engine; nullptr: it has none
  std::shared_ptr<Speaker> speaker;             // whose rows they are; nullptr: nobody's
  bool adapts = false;                          // adapts the speaker between utterances
  bool learns = true;                           // keeps the rows of utterances for the speaker
  // For models of tokens. Unset: the bundle's.
  std::optional<float> blank_penalty, prior_scale;
  float blank_skip = 0;                        // probability of a blank beyond which frames are skipped; 0: none is
  asr_memory rows_memory = ASR_MEMORY_HOST;    // of rows of log-likelihoods; another one: of the engine's device
  std::function<void(EventPointer)> callback;  // empty: events are polled

  // Returns true if results may be compared with the background.
  bool compares() const { return background != nullptr && reject_threshold.value_or(0) >= 0; }
  bool is_given_rows() const { return rows_memory != ASR_MEMORY_HOST; }  // by asr_feed_device alone
  bool is_audio() const { return input != ASR_INPUT_FEATURES && input != ASR_INPUT_LOGLIKES; }
  bool gives_rows() const { return output != Output::kWords; }
  bool has_floats() const { return !is_audio() || input == ASR_INPUT_FLOAT; }  // is fed floats, which may not be finite
  // Returns the number of input values per frame: samples, or the length of a fed row.
  size_t values_per_frame(const LoadedModel &model) const {
    if (is_audio()) return model.tables().front_end().shift_samples;
    return input == ASR_INPUT_LOGLIKES ? model.n_columns() : model.n_dims();
  }

  // Returns the kind of normalisation of a front end. The mean of a whole endless stream is known too late, and partial
  // results are wanted while audio is fed. So a front end that asks for this mean is live then.
  CmnKind cmn_of(const FrontEnd &front_end) const {
    if (cmn) return *cmn;
    const bool wants_live = endpoint || (partial_interval_ms > 0 && !front_end.cmn_variance);
    return wants_live && front_end.cmn == CmnKind::kBatch ? CmnKind::kLive : front_end.cmn;
  }
  // Calls action(front_end) for that of each of the stream's models, once for each that differs.
  template <typename Action>
  void for_each_front_end(const FrontEnd &own, Action action) const {
    if (!fusion) return action(own);
    for (const auto &model : fusion->front_ends) action(model ? model->tables().front_end() : own);
  }
  // Returns true if a model's mean is taken over all audio.
  bool is_batch(const FrontEnd &own) const {
    bool result = false;
    for_each_front_end(own, [&](const FrontEnd &front_end) { result = result || cmn_of(front_end) == CmnKind::kBatch; });
    return result;
  }
};

}  // namespace asr
