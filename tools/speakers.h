// SPDX-License-Identifier: Apache-2.0
// Speakers maps utterances to speakers, by a file of Kaldi's form utt2spk, for `senone recognize --adapt`. Transforms are read
// from and written to Kaldi's archives.
#pragma once

#include <deque>
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

class HypJournal;

// Reads lines `utterance speaker`; returns the speaker of each utterance.
std::map<std::string, std::string> read_utt2spk(const std::string &path);

// Throws an error that counts the utterances without a speaker in --utt2spk and names the first. Reads an archive to its end,
// or up to its first damage. journal: of --resume, whose utterances need none; or nullptr.
void check_speakers_are_named(const RecognizeOptions &options, const HypJournal *journal);

class Speakers {
 public:
  // Files that speakers begin with; "": none. Speakers that a file lacks begin without.
  struct Files {
    std::string utt2spk;                      // "": every utterance has its own speaker
    std::string transforms, mean_transforms;  // archives, "ark:FILE" or "scp:FILE"
    std::string warps;
    bool saves = false;  // files of speakers will be written
  };
  // warp: of speakers that the file of warps lacks. The engine must outlive this.
  Speakers(asr_engine *engine, const Files &files, float warp);

  void set_methods(uint32_t methods, uint32_t n_warps);  // asr_speaker_set_methods for all speakers

  // Return the speaker of an utterance, and take it back. Of speakers without a user only the last kMaxIdle keep a handle,
  // whose means and model take memory, and those that have `learned`. of() throws if utt2spk lacks the utterance, or if two
  // utterances that are their own speakers have one name and speakers are saved. Any thread.
  asr_speaker *of(const Utterance &utterance);
  void give_back(const Utterance &utterance, bool learned);
  // Adapts each speaker by the methods set, then discards its adaptation data. Returns the number of adapted speakers. Speakers
  // with too little speech stay unchanged.
  size_t adapt();
  size_t size() const { return speakers_.size(); }
  void warn_of_unused_files() const;  // that name none of the speakers

  // Write an archive of all transforms, of rows or of means; return their number.
  size_t write_transforms(OutputFile *file) const { return write(of_rows_, &State::of_rows, file); }
  size_t write_mean_transforms(OutputFile *file) const { return write(of_means_, &State::of_means, file); }
  size_t write_warps(OutputFile *file) const;  // writes lines `speaker warp`; returns their number

 private:
  using Pointer = std::unique_ptr<asr_speaker, void (*)(asr_speaker *)>;

  // The transforms of one kind: functions of the C ABI, and an archive.
  struct Transforms {
    decltype(&asr_speaker_get_transform) get;
    decltype(&asr_speaker_set_transform) set;
    std::string path;
    std::map<std::string, std::vector<float>> initial;  // by speaker
    size_t n_used = 0;                                  // speakers that began with one of these

    std::vector<float> of(asr_speaker *speaker) const;
    void begin(asr_speaker *speaker, const std::string &name);
  };

  asr_engine *const engine_;
  const std::string path_;
  std::map<std::string, std::string> speaker_of_;
  Transforms of_rows_, of_means_;
  const std::string warps_path_;
  const float warp_;
  std::map<std::string, float> warps_;  // initial warps by speaker
  size_t n_warps_used_ = 0;
  const bool saves_;
  uint32_t methods_ = ASR_SPEAKER_FMLLR, n_warps_ = 0;
  using Key = std::pair<std::string, size_t>;  // name, and the utterance's number without utt2spk
  struct State {
    float warp = 1;
    std::vector<float> of_rows, of_means;  // transforms
  };
  struct Speaker {
    Pointer handle;  // nullptr: made from `state` when an utterance needs it
    State state;
    size_t n_users = 0;
  };
  static constexpr size_t kMaxIdle = 16;
  std::mutex mutex_;  // guards what follows
  std::map<Key, Speaker> speakers_;
  std::deque<Key> idle_;  // speakers with a handle and without a user, the first for the longest time

  Key key_of(const Utterance &utterance) const;
  Pointer make(const std::string &name);
  Pointer make(const State &state) const;
  State state_of(asr_speaker *speaker) const;
  State state_of(const Speaker &speaker) const { return speaker.handle ? state_of(speaker.handle.get()) : speaker.state; }
  void let_go(Speaker *speaker) const;  // keeps the state alone, not the adaptation data
  size_t write(const Transforms &transforms, std::vector<float> State::*own, OutputFile *file) const;
};

}  // namespace asr::tool
