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
  // Files that speakers begin with; "": none. Speakers that a file lacks begin without.
  struct Files {
    std::string utt2spk;                      // "": every utterance has its own speaker
    std::string transforms, mean_transforms;  // archives, "ark:FILE" or "scp:FILE"
    std::string warps;
  };
  // warp: of speakers that the file of warps lacks. The engine must outlive this.
  Speakers(asr_engine *engine, const Files &files, float warp);

  void set_methods(uint32_t methods, uint32_t n_warps);  // asr_speaker_set_methods for all speakers

  asr_speaker *of(const Utterance &utterance);  // throws if utt2spk lacks the utterance; any thread
  // Adapts each speaker by the methods set, then discards its adaptation data. Returns the number of adapted speakers. Speakers
  // with too little speech stay unchanged.
  size_t adapt();
  size_t size() const { return speakers_.size(); }

  // Write an archive of all transforms, of rows or of means; return their number.
  size_t write_transforms(OutputFile *file) const { return write(of_rows_, file); }
  size_t write_mean_transforms(OutputFile *file) const { return write(of_means_, file); }
  size_t write_warps(OutputFile *file) const;  // writes lines `speaker warp`; returns their number

 private:
  using Pointer = std::unique_ptr<asr_speaker, void (*)(asr_speaker *)>;

  // The transforms of one kind: functions of the C ABI, and an archive.
  struct Transforms {
    decltype(&asr_speaker_get_transform) get;
    decltype(&asr_speaker_set_transform) set;
    std::string path;
    std::map<std::string, std::vector<float>> initial;  // by speaker

    std::vector<float> of(asr_speaker *speaker) const;
    void begin(asr_speaker *speaker, const std::string &name) const;
  };

  asr_engine *const engine_;
  const std::string path_;
  std::map<std::string, std::string> speaker_of_;
  Transforms of_rows_, of_means_;
  const std::string warps_path_;
  const float warp_;
  std::map<std::string, float> warps_;  // initial warps by speaker
  uint32_t methods_ = ASR_SPEAKER_FMLLR, n_warps_ = 0;
  std::mutex mutex_;                                            // guards speakers_
  std::map<std::pair<std::string, size_t>, Pointer> speakers_;  // key: name, and the utterance's number without utt2spk

  Pointer make(const std::string &name) const;
  Pointer make_like(asr_speaker *speaker) const;  // same warp and transforms, without adaptation data
  size_t write(const Transforms &transforms, OutputFile *file) const;
};

}  // namespace asr::tool
