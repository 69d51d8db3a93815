// SPDX-License-Identifier: Apache-2.0
// The parts of `senone recognize`: its options, an utterance (from utterance_source.h, archive_features.h) and the
// recognition of one utterance through the C ABI (recognize_utterance.cc).
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "api/asr.h"
#include "tools/audio_file.h"
#include "tools/handles.h"
#include "tools/recognition.h"

namespace asr::tool {

constexpr char kNoReject[] = "\n";  // no command line has this text

struct RecognizeOptions {
  std::string model, device, search_device, fallback, list, hyp, cmn = "model", lattice, endpoint, vad = "on";
  std::vector<std::string> files;
  std::string features, loglikes, cmvn, utt2spk;  // archives: ark:FILE or scp:FILE
  std::string boost;                              // file of phrases
  std::string boosted;                            // text of that file
  float boost_bonus = 5;
  std::string matrices;                     // archive that `senone features` and `senone score` write
  std::string adapt;                        // "fmllr", "mllr", "fmllr+mllr", or "": no adaptation
  std::string transforms, save_transforms;  // archives
  std::string mean_transforms, save_mean_transforms;
  std::string vtln;                // "search", a factor, or "": each speaker's own warp
  uint32_t n_warps = 0;            // number of warps that a search tries; 0: 11
  std::string warps, save_warps;   // files of speakers' warps
  asr_speaker *speaker = nullptr;  // speaker of the utterance
  float vtln_warp = 1;             // warp of all utterances
  bool learns = false;             // true: utterances become adaptation data of their speaker
  std::vector<std::string> fuse;   // bundles of models to fuse, each with an optional ":weight"
  std::string fuse_rule = "sum";
  float fuse_own = 1;                   // weight of --model
  uint32_t fuse_ms = 0;                 // time of the rules follow and select; 0: the rule's default
  const asr_fusion *fusion = nullptr;   // made from the options above
  std::string reject_text = kNoReject;  // --reject: "" without a value, kNoReject if not given
  float reject = 0;                     // threshold of reject_text; 0: none, below 0: off
  bool keep_rejected = false, strict = false;
  bool json = false, ctm = false, srt = false, confidence = false, resume = false;
  std::string selection;  // "N" or "P%", the old name of the last two here; or ""
  uint32_t model_bits = 32, n_best_gaussians = 0;
  float cluster_share = 0;
  AudioOptions audio;
  std::string channel = "mix";  // text of audio.channel
  uint32_t n_jobs = 0, n_threads = 0, n_best = 1, max_active = 0, min_active = 200;
  size_t chunk_samples = 16000;
  double max_hours = 24;  // of a recording, without --endpoint
  float beam = 0, lattice_beam = 0, acoustic_scale = 0, word_insertion_cost = NAN;
  float blank_penalty = NAN, prior_scale = NAN, blank_skip = 0;

  bool searches_warps() const { return vtln == "search"; }
  bool listens_first() const { return !adapt.empty() || searches_warps(); }  // true: passes for adaptation come first
  bool estimates(const char *method) const { return adapt == method || adapt == "fmllr+mllr"; }
  bool saves_speakers() const { return !(save_transforms + save_mean_transforms + save_warps).empty(); }
  bool has_speakers() const { return !(adapt + transforms + mean_transforms + warps).empty() || searches_warps(); }
};

// An utterance to recognise: a recording, or rows of an archive.
struct Utterance {
  std::string id, path;  // path: the recording, or the archive
  size_t number = 0;     // index in the source
  asr_input input = ASR_INPUT_FLOAT;
  size_t n_rows = 0, row_length = 0;  // shape of `rows`
  std::vector<float> rows;
  std::string place;    // "FILE:line" of the list that names it; empty for others
  std::string error;    // a message if it could not be read: it fails, the others do not
  std::string warning;  // a message about how it was read
};

// Returns the preset of the given name; ASR_ENDPOINT_OFF for other names.
asr_endpoint endpoint_preset(const std::string &name);

// Throws asr::Error if a call of the C ABI failed.
void check(asr_status status);

// Called after each chunk of an utterance is fed, with the chunk's length and its share of the whole utterance. The share is 0
// if the utterance's length is unknown.
using FedFunction = std::function<void(double audio_s, double share)>;

// Called with --endpoint as soon as an utterance of the recording has its result.
using HeardFunction = std::function<void(Recognition &&part)>;

// Called with a warning about the recording, as soon as it is known.
using WarnedFunction = std::function<void(std::string &&warning)>;

struct Reports {
  FedFunction fed;
  HeardFunction heard;
  WarnedFunction warned;
};

// Recognises an utterance on its own stream. Many threads may call it at once.
void recognize_utterance(asr_engine *engine, const RecognizeOptions &options, const Utterance &utterance,
                         const Reports &reports, Recognition *result);

}  // namespace asr::tool
