// SPDX-License-Identifier: Apache-2.0
#include "tools/speakers.h"

#include <sstream>

#include "core/base/error.h"
#include "core/base/file.h"
#include "tools/recognize.h"

namespace asr::tool {

std::map<std::string, std::string> read_utt2spk(const std::string &path) {
  std::map<std::string, std::string> speaker_of;
  std::istringstream lines(read_file(path));
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream fields(line);
    std::string utterance, speaker, more;
    if (!(fields >> utterance >> speaker) || fields >> more) {
      fail(ASR_BAD_FILE, "%s:%zu: is not an utterance and its speaker", path.c_str(), number);
    }
    speaker_of[utterance] = speaker;
  }
  return speaker_of;
}

Speakers::Speakers(asr_engine *engine, const std::string &utt2spk) : engine_(engine), path_(utt2spk) {
  if (!utt2spk.empty()) speaker_of_ = read_utt2spk(utt2spk);
}

asr_speaker *Speakers::of(const std::string &utterance) {
  const auto named = speaker_of_.find(utterance);
  if (!path_.empty() && named == speaker_of_.end()) {
    fail(ASR_NOT_FOUND, "%s: names no speaker of the utterance; add a line \"%s SPEAKER\"", path_.c_str(), utterance.c_str());
  }
  const std::lock_guard lock(mutex_);
  Pointer &speaker =
      speakers_.emplace(path_.empty() ? utterance : named->second, Pointer(nullptr, asr_speaker_free)).first->second;
  if (!speaker) {
    asr_speaker *made = nullptr;
    check(asr_speaker_new(engine_, &made));
    speaker.reset(made);
  }
  return speaker.get();
}

size_t Speakers::adapt() {
  size_t n_adapted = 0;
  for (const auto &[name, speaker] : speakers_) {
    const asr_status status = asr_adapt(speaker.get());
    if (status == ASR_INVALID_STATE) continue;  // too little was heard
    check(status);
    ++n_adapted;
  }
  return n_adapted;
}

}  // namespace asr::tool
