// SPDX-License-Identifier: Apache-2.0
// Who says which utterance: a file of Kaldi's form utt2spk, and the speakers that `senone recognize --adapt` brings the model
// closer to, with their transforms in Kaldi's archives.
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

// Lines `utterance speaker`: the speaker of each utterance.
std::map<std::string, std::string> read_utt2spk(const std::string &path);

class Speakers {
 public:
  // utt2spk: a file, or "": every utterance has a speaker of its own. transforms: an archive of those that speakers begin with,
  // "ark:FILE" or "scp:FILE", or "". warps: a file of those that speakers begin with, or "": all begin with `warp`. The engine
  // must outlive this.
  Speakers(asr_engine *engine, const std::string &utt2spk, const std::string &transforms, const std::string &warps, float warp);

  void set_methods(uint32_t methods, uint32_t n_warps);  // of all speakers, as asr_speaker_set_methods

  asr_speaker *of(const Utterance &utterance);  // throws where the file names none; any thread
  // Estimates what was set, and forgets what they are made of; returns of how many something was known. The others stay as
  // they are.
  size_t adapt();
  size_t size() const { return speakers_.size(); }

  size_t write_transforms(OutputFile *file) const;  // an archive of the transforms that there are; returns how many
  size_t write_warps(OutputFile *file) const;       // lines `speaker warp`; returns how many

 private:
  using Pointer = std::unique_ptr<asr_speaker, void (*)(asr_speaker *)>;

  asr_engine *const engine_;
  const std::string path_;
  std::map<std::string, std::string> speaker_of_;
  const std::string transforms_path_;
  std::map<std::string, std::vector<float>> transforms_;  // that speakers begin with
  const std::string warps_path_;
  const float warp_;
  std::map<std::string, float> warps_;  // that speakers begin with
  uint32_t methods_ = ASR_SPEAKER_FMLLR, n_warps_ = 0;
  std::mutex mutex_;                                            // of what follows
  std::map<std::pair<std::string, size_t>, Pointer> speakers_;  // by name, and where each utterance has its own by its number

  Pointer make(const std::string &name) const;
  Pointer make_like(asr_speaker *speaker) const;  // with its warp and transform, but nothing said
};

}  // namespace asr::tool
