// SPDX-License-Identifier: Apache-2.0
// Speakers maps utterances to speakers, by a file of Kaldi's form utt2spk, for `senone recognize --adapt`. Transforms are read
// from and written to Kaldi's archives.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "api/asr.h"
#include "core/base/file.h"
#include "tools/recognize.h"

namespace asr::tool {

// Reads lines `utterance speaker`; returns the speaker of each utterance.
std::map<std::string, std::string> read_utt2spk(const std::string &path);

class Speakers {
 public:
  // utt2spk: a file, or "": every utterance has its own speaker. transforms: an archive of initial transforms, "ark:FILE" or
  // "scp:FILE", or "". warps: a file of initial warps; speakers not in it, or all if "", begin with `warp`. The engine must
  // outlive this.
  Speakers(asr_engine *engine, const std::string &utt2spk, const std::string &transforms, const std::string &warps, float warp);

  void set_methods(uint32_t methods, uint32_t n_warps);  // asr_speaker_set_methods for all speakers

  asr_speaker *of(const Utterance &utterance);  // throws if utt2spk lacks the utterance; any thread
  // Adapts each speaker by the methods set, then discards its adaptation data. Returns the number of adapted speakers. Speakers
  // with too little speech stay unchanged.
  size_t adapt();
  size_t size() const { return speakers_.size(); }

  size_t write_transforms(OutputFile *file) const;  // writes an archive of all transforms; returns their number
  size_t write_warps(OutputFile *file) const;       // writes lines `speaker warp`; returns their number

 private:
  using Pointer = std::unique_ptr<asr_speaker, void (*)(asr_speaker *)>;

  asr_engine *const engine_;
  const std::string path_;
  std::map<std::string, std::string> speaker_of_;
  const std::string transforms_path_;
  std::map<std::string, std::vector<float>> transforms_;  // initial transforms by speaker
  const std::string warps_path_;
  const float warp_;
  std::map<std::string, float> warps_;  // initial warps by speaker
  uint32_t methods_ = ASR_SPEAKER_FMLLR, n_warps_ = 0;
  std::mutex mutex_;                                            // guards speakers_
  std::map<std::pair<std::string, size_t>, Pointer> speakers_;  // key: name, and the utterance's number without utt2spk

  Pointer make(const std::string &name) const;
  Pointer make_like(asr_speaker *speaker) const;  // same warp and transform, without adaptation data
};

}  // namespace asr::tool
