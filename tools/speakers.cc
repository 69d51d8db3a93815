// SPDX-License-Identifier: Apache-2.0
#include "tools/speakers.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <sstream>

#include "builder/import/kaldi_archive.h"
#include "builder/text/text_file.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/parallel.h"
#include "tools/hyp_file.h"
#include "tools/tool.h"
#include "tools/utterance_source.h"

namespace asr::tool {

namespace {

float warp_of(asr_speaker *speaker) {
  float warp = 1;
  check(asr_speaker_get_warp(speaker, &warp));
  return warp;
}

// Reads lines of a name and a value; `what` describes a line in error messages.
template <typename Value>
std::map<std::string, Value> read_pairs(const std::string &path, const char *what) {
  std::map<std::string, Value> values;
  std::istringstream lines(read_text(path, {"lines of a name and a value", {}, Characters::kAsTheyAre}));
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    std::istringstream fields(line);
    std::string name, more;
    Value value;
    if (!(fields >> name >> value) || fields >> more) fail(ASR_BAD_FILE, "%s:%zu: is not %s", path.c_str(), number, what);
    if (!values.emplace(name, value).second) {
      fail(ASR_BAD_FILE, "%s:%zu: '%s' is there twice; remove one of them", path.c_str(), number, name.c_str());
    }
  }
  return values;
}

}  // namespace

std::map<std::string, std::string> read_utt2spk(const std::string &path) {
  return read_pairs<std::string>(path, "an utterance and its speaker");
}

void check_speakers_are_named(const RecognizeOptions &options, const HypJournal *journal) {
  const std::map<std::string, std::string> speaker_of = read_utt2spk(options.utt2spk);
  UtteranceSource source(options);
  size_t n = 0, n_missing = 0;
  std::string first;
  for (Utterance utterance; source.next(&utterance); ++n) {
    if (!utterance.error.empty()) continue;  // recognition reports it
    if (speaker_of.count(utterance.id) > 0 || (journal != nullptr && journal->has(utterance.id))) continue;
    if (n_missing++ == 0) first = utterance.id;
  }
  const char *const path = options.utt2spk.c_str();
  if (n_missing == 1) {
    fail(ASR_NOT_FOUND, "%s: names no speaker of \"%s\"; add a line \"%s SPEAKER\"", path, first.c_str(), first.c_str());
  }
  if (n_missing > 1) {
    fail(ASR_NOT_FOUND, "%s: names no speaker of %zu of the %zu utterances; add a line for each, such as \"%s SPEAKER\"", path,
         n_missing, n, first.c_str());
  }
}

Speakers::Speakers(asr_engine *engine, const Files &files, float warp)
    : engine_(engine),
      path_(files.utt2spk),
      of_rows_{asr_speaker_get_transform, asr_speaker_set_transform, files.transforms, {}},
      of_means_{asr_speaker_get_mean_transform, asr_speaker_set_mean_transform, files.mean_transforms, {}},
      warps_path_(files.warps),
      warp_(warp),
      saves_(files.saves) {
  if (!path_.empty()) speaker_of_ = read_utt2spk(path_);
  if (!warps_path_.empty()) warps_ = read_pairs<float>(warps_path_, "a speaker and a warp of 0.8 to 1.25");
  for (Transforms *transforms : {&of_rows_, &of_means_}) {
    if (transforms->path.empty()) continue;
    for (auto &[name, matrix] : kaldi::read_archive<float>(transforms->path)) {
      if (transforms->initial.emplace(name, std::move(matrix.values)).second) continue;
      fail(ASR_BAD_FILE, "%s: '%s' is there twice; remove one of them", transforms->path.c_str(), name.c_str());
    }
  }
}

std::vector<float> Speakers::Transforms::of(asr_speaker *speaker) const {
  size_t n_values = 0;
  check(get(speaker, nullptr, 0, &n_values));
  std::vector<float> values(n_values);
  check(get(speaker, values.data(), values.size(), &n_values));
  return values;
}

void Speakers::Transforms::begin(asr_speaker *speaker, const std::string &name) {
  const auto found = initial.find(name);
  if (found == initial.end()) return;
  ++n_used;
  if (set(speaker, found->second.data(), found->second.size()) == ASR_OK) return;
  fail(ASR_BAD_FILE, "%s: '%s' is no transform for the model: %s", path.c_str(), name.c_str(), asr_last_error());
}

void Speakers::set_methods(uint32_t methods, uint32_t n_warps) {
  methods_ = methods;
  n_warps_ = n_warps;
  make(State());  // reports methods that the engine does not support, even without speakers
  for (auto &[key, speaker] : speakers_) {
    if (speaker.handle) check(asr_speaker_set_methods(speaker.handle.get(), methods, n_warps));
  }
}

Speakers::Pointer Speakers::make(const std::string &name) {
  Pointer speaker = make(State{warp_, {}, {}});
  const auto warp = warps_.find(name);
  n_warps_used_ += warp != warps_.end() ? 1 : 0;
  if (warp != warps_.end() && asr_speaker_set_warp(speaker.get(), warp->second) != ASR_OK) {
    fail(ASR_BAD_FILE, "%s: '%s': %s", warps_path_.c_str(), name.c_str(), asr_last_error());
  }
  for (Transforms *transforms : {&of_rows_, &of_means_}) transforms->begin(speaker.get(), name);
  return speaker;
}

Speakers::Key Speakers::key_of(const Utterance &utterance) const {
  const auto named = speaker_of_.find(utterance.id);
  if (!path_.empty() && named == speaker_of_.end()) {
    fail(ASR_NOT_FOUND, "%s: names no speaker of the utterance; add a line \"%s SPEAKER\"", path_.c_str(),
         utterance.id.c_str());
  }
  return path_.empty() ? Key(utterance.id, utterance.number) : Key(named->second, 0);
}

asr_speaker *Speakers::of(const Utterance &utterance) {
  const Key key = key_of(utterance);
  const std::lock_guard lock(mutex_);
  auto found = speakers_.find(key);
  if (found == speakers_.end()) {
    const auto namesake = speakers_.lower_bound({key.first, 0});
    if (saves_ && namesake != speakers_.end() && namesake->first.first == key.first) {
      fail(ASR_INVALID_ARGUMENT,
           "two recordings have this name, but a file of speakers can have it once; give them ids in --list, or --utt2spk");
    }
    found = speakers_.emplace(key, Speaker{make(key.first), {}, 0}).first;
  }
  if (!found->second.handle) found->second.handle = make(found->second.state);
  idle_.erase(std::remove(idle_.begin(), idle_.end(), key), idle_.end());
  ++found->second.n_users;
  return found->second.handle.get();
}

void Speakers::give_back(const Utterance &utterance, bool learned) {
  const Key key = key_of(utterance);
  const std::lock_guard lock(mutex_);
  if (--speakers_.at(key).n_users > 0 || learned) return;
  idle_.push_back(key);
  if (idle_.size() <= kMaxIdle) return;
  let_go(&speakers_.at(idle_.front()));
  idle_.pop_front();
}

void Speakers::let_go(Speaker *speaker) const {
  speaker->state = state_of(speaker->handle.get());
  speaker->handle.reset();
}

void Speakers::warn_of_unused_files() const {
  const auto warn = [&](const std::string &path, size_t n_used) {
    if (path.empty() || n_used > 0) return;
    print_line(stderr, "senone: warning: %s: names none of the speakers, who began without; their names are %s", path.c_str(),
               path_.empty() ? "those of the recordings; give --utt2spk for others" : ("those of " + path_).c_str());
  };
  warn(of_rows_.path, of_rows_.n_used);
  warn(of_means_.path, of_means_.n_used);
  warn(warps_path_, n_warps_used_);
}

Speakers::State Speakers::state_of(asr_speaker *speaker) const {
  return {warp_of(speaker), of_rows_.of(speaker), of_means_.of(speaker)};
}

Speakers::Pointer Speakers::make(const State &state) const {
  asr_speaker *made = nullptr;
  check(asr_speaker_new(engine_, &made));
  Pointer speaker(made, asr_speaker_free);
  check(asr_speaker_set_methods(made, methods_, n_warps_));
  check(asr_speaker_set_warp(made, state.warp));
  check(of_rows_.set(made, state.of_rows.data(), state.of_rows.size()));
  check(of_means_.set(made, state.of_means.data(), state.of_means.size()));
  return speaker;
}

size_t Speakers::adapt() {
  std::vector<Speaker *> all;
  for (auto &[key, speaker] : speakers_) {
    if (speaker.handle) all.push_back(&speaker);
  }
  std::atomic<size_t> n_adapted{0};
  run_in_parallel(all.size(), [&](size_t i) {
    const asr_status status = asr_adapt(all[i]->handle.get());
    if (status == ASR_INVALID_STATE) return;  // too little speech
    check(status);
    let_go(all[i]);
    ++n_adapted;
  });
  return n_adapted;
}

// Speakers of the archive read without an utterance keep their transform. Kaldi's binary form: the name, 0 'B', "FM ", and the
// numbers of rows and columns, each after its size.
size_t Speakers::write(const Transforms &transforms, std::vector<float> State::*own, OutputFile *file) const {
  std::map<std::string, std::vector<float>> all = transforms.initial;
  for (const auto &[key, speaker] : speakers_) all[key.first] = state_of(speaker).*own;
  size_t n_written = 0;
  for (const auto &[name, values] : all) {
    if (values.empty()) continue;
    const auto n_rows = static_cast<int32_t>(std::sqrt(static_cast<double>(values.size())));  // a row has n_rows + 1 values
    file->write(name + ' ');
    file->write(std::string_view("\0BFM ", 5));
    for (const int32_t n : {n_rows, n_rows + 1}) {
      file->write("\4");
      file->write(&n, sizeof(n));
    }
    file->write(values.data(), values.size() * sizeof(float));
    ++n_written;
  }
  return n_written;
}

// Speakers of --warps without an utterance keep their warp.
size_t Speakers::write_warps(OutputFile *file) const {
  std::map<std::string, float> warps = warps_;
  for (const auto &[key, speaker] : speakers_) warps[key.first] = state_of(speaker).warp;
  for (const auto &[name, warp] : warps) file->write(format("%s %.2f\n", name.c_str(), static_cast<double>(warp)));
  return warps.size();
}

}  // namespace asr::tool
