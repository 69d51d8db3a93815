// SPDX-License-Identifier: Apache-2.0
// The parts of `senone recognize`: its options, what it recognises (utterance_source.h, archive_features.h) and the
// recognition of one utterance through the C ABI (recognize_utterance.cc).
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "api/asr.h"
#include "tools/handles.h"
#include "tools/recognition.h"

namespace asr::tool {

struct RecognizeOptions {
  std::string model, device, fallback, list, hyp, cmn = "model", lattice, endpoint, vad = "on";
  std::vector<std::string> files;
  std::string features, loglikes, cmvn, utt2spk;  // archives: ark:FILE or scp:FILE
  std::string boost;                              // file of phrases
  std::string boosted;                            // its text
  float boost_bonus = 5;
  std::string adapt;                        // "fmllr", or "": not
  std::string transforms, save_transforms;  // archives
  std::string vtln;                         // "search", a factor, or "": as the speakers have it
  uint32_t n_warps = 11;                    // that are searched
  std::string warps, save_warps;            // files of speakers' warps
  asr_speaker *speaker = nullptr;           // of the utterance
  float vtln_warp = 1;                      // of all utterances
  bool learns = false;                      // whether the speaker learns from it
  std::vector<std::string> fuse;            // bundles of models to fuse, with ":weight" where one is given
  std::string fuse_rule = "sum";
  float fuse_own = 1;                  // the weight of the model of --model
  uint32_t fuse_ms = 0;                // of the rules that look back; 0: the rule's own
  const asr_fusion *fusion = nullptr;  // made from these
  std::string reject_text = "-";       // --reject: "" without a value, "-" where it was not given
  float reject = 0;                    // the threshold that it tells; 0: none, below 0: off
  bool json = false, ctm = false, srt = false, confidence = false, resume = false;
  uint32_t n_jobs = 0, n_threads = 0, raw_rate_hz = 16000, n_best = 1, max_active = 0, min_active = 200;
  size_t chunk_samples = 16000;
  float beam = 0, lattice_beam = 0, acoustic_scale = 0, word_insertion_cost = NAN;

  bool searches_warps() const { return vtln == "search"; }
  bool listens_first() const { return !adapt.empty() || searches_warps(); }  // before it recognises
  bool has_speakers() const { return !adapt.empty() || !transforms.empty() || searches_warps() || !warps.empty(); }
};

// One thing to recognise: a recording, or rows of an archive.
struct Utterance {
  std::string id, path;  // path: the recording, or the archive
  size_t number = 0;     // in the source
  asr_input input = ASR_INPUT_FLOAT;
  size_t n_rows = 0, row_length = 0;  // of rows
  std::vector<float> rows;
};

// Returns the preset of that name; ASR_ENDPOINT_OFF for other names.
asr_endpoint endpoint_preset(const std::string &name);

// Throws asr::Error if a call of the C ABI failed.
void check(asr_status status);

// Called as an utterance is fed: so much audio more, which is this share of the whole utterance (0 where its length is
// unknown).
using FedFunction = std::function<void(double audio_s, double share)>;

// Called with the result of each utterance of a recording, as soon as it is there, where --endpoint finds several.
using HeardFunction = std::function<void(Recognition &&part)>;

// Recognises on a stream of its own; may be called on many threads at once.
void recognize_utterance(asr_engine *engine, const RecognizeOptions &options, const Utterance &utterance,
                         const FedFunction &fed, const HeardFunction &heard, Recognition *result);

}  // namespace asr::tool
