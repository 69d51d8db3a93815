// SPDX-License-Identifier: Apache-2.0
#include "tools/recognize_batch.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>

#include "core/base/printable.h"
#include "core/model/bundle.h"
#include "tools/batch_progress.h"
#include "tools/lattice_output.h"
#include "tools/tool.h"

namespace asr::tool {
namespace {

using Options = RecognizeOptions;

// Returns true if printing the result writes to the terminal with the progress line.
bool prints_on_terminal(const Recognition &result) {
  return isatty(STDOUT_FILENO) == 1 || !result.error.empty() || (result.flags & ASR_FLAG_FELL_BACK) != 0;
}

// Prints a result. *n_subtitles counts the subtitles printed so far.
void print(const Recognition &result, const Options &options, bool with_id, int *n_subtitles) {
  const StdoutLock lock;
  if (!result.error.empty()) print_line(stderr, "senone: %s", result.error.c_str());
  if ((result.flags & ASR_FLAG_FELL_BACK) != 0) {
    print_line(stderr, "senone: %s: the device was lost; recognised on %s instead",
               (options.features + options.loglikes).empty() ? result.path.c_str() : result.id.c_str(),
               options.fallback.c_str());
  }
  const bool is_whole = result.part == 0 && !options.endpoint.empty();  // its parts are already printed
  if (options.hyp == "-") {
    if (result.error.empty() && result.part == 0) fputs(to_hyp(result).c_str(), stdout);
  } else if (result.error.empty() ? is_whole : !options.json) {
    return;
  } else if (options.json) {
    fputs(to_json(result).c_str(), stdout);
  } else if (options.ctm) {
    fputs(to_ctm(result).c_str(), stdout);
  } else if (options.srt) {
    fputs(to_srt(result, n_subtitles).c_str(), stdout);
  } else {
    std::istringstream lines(to_text(result));
    for (std::string line; std::getline(lines, line);) {
      printf("%s%s%s\n", with_id ? printable(result.id, Unseen::kKeep).c_str() : "", with_id ? "\t" : "", line.c_str());
    }
  }
  flush_stdout();
}

// Batch keeps n_jobs streams in flight. It prints the results in the order of the source, each as early as that order allows.
class Batch {
 public:
  Batch(asr_engine *engine, const Options &options, const BatchOptions &batch, UtteranceSource *source)
      : engine_(engine),
        options_(options),
        source_(source),
        journal_(batch.journal),
        speakers_(batch.speakers),
        prints_(batch.prints),
        progress_(source->size()) {
    info_.size = sizeof(info_);
    check(asr_engine_get_info(engine, &info_));
  }

  std::deque<Recognition> run(size_t n_jobs) {
    std::vector<std::thread> workers = start_workers(std::min(n_jobs, source_->size().value_or(n_jobs)));
    try {
      print_all();
    } catch (...) {
      fail_all(std::current_exception());
    }
    for (std::thread &worker : workers) worker.join();
    if (failure_) std::rethrow_exception(failure_);
    return std::move(results_);
  }

 private:
  // Starts up to n threads. If the system refuses more, fewer threads do all the work.
  std::vector<std::thread> start_workers(size_t n) {
    std::vector<std::thread> workers;
    workers.reserve(n);
    try {
      while (workers.size() < n) workers.emplace_back([this] { work(); });
    } catch (...) {
      if (n > 0 && workers.empty()) fail_without_thread("recognize");
    }
    return workers;
  }

  // Ends the batch with a failure that belongs to no utterance. Utterances in progress are finished first.
  void fail_all(std::exception_ptr failure) noexcept {
    std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
    ended_ = true;
    changed_.notify_all();
  }

  void work() noexcept {
    try {
      recognize_all();
    } catch (...) {  // no memory for a result, or for an error message
      fail_all(std::current_exception());
    }
  }

  void recognize_all() {
    Utterance utterance;
    Options options = options_;
    Reports reports;
    reports.fed = [this](double audio_s, double share) { progress_.fed(audio_s, share); };
    while (Recognition *result = next(&utterance)) {
      try {
        reports.heard = [&](Recognition &&part) { add_part(std::move(part), result); };
        reports.warned = [&](std::string &&warning) { add_warning(std::move(warning), result); };
        if (!utterance.warning.empty()) reports.warned(std::move(utterance.warning));
        if (utterance.error.empty()) {
          source_->prepare(&utterance, info_);
          recognize(utterance, &options, reports, result);
        }
        result->error = std::move(utterance.error);
      } catch (...) {
        const std::string message = current_error().what();
        const std::string &name = utterance.input == ASR_INPUT_FLOAT ? utterance.path : utterance.id;
        result->error = message.rfind(name, 0) == 0 ? message : name + ": " + message;
        if (!utterance.place.empty()) {
          const std::string id = utterance.input == ASR_INPUT_FLOAT ? utterance.id + ": " : "";
          result->error = utterance.place + ": " + id + result->error;
        }
      }
      finish(result);
    }
  }

  // Recognises an utterance, as its speaker's if there are speakers.
  void recognize(const Utterance &utterance, Options *options, const Reports &reports, Recognition *result) {
    if (speakers_ == nullptr) return recognize_utterance(engine_, *options, utterance, reports, result);
    options->speaker = speakers_->of(utterance);
    try {
      recognize_utterance(engine_, *options, utterance, reports, result);
    } catch (...) {
      speakers_->give_back(utterance, options->learns);
      throw;
    }
    speakers_->give_back(utterance, options->learns);
  }

  // Takes the next utterance and returns its empty result; nullptr at the end.
  Recognition *next(Utterance *utterance) {
    std::lock_guard lock(mutex_);
    if (ended_) return nullptr;
    try {
      for (;;) {
        ended_ = !source_->next(utterance);
        if (ended_ || journal_ == nullptr || !journal_->takes(utterance->id)) break;
        progress_.fed(0, 1);
        progress_.done();
      }
    } catch (...) {
      ended_ = true;
      results_.emplace_back();
      results_.back().error = current_error().what();
      results_.back().done = true;
    }
    if (ended_) {
      changed_.notify_all();
      return nullptr;
    }
    results_.emplace_back();
    results_.back().id = utterance->id;
    results_.back().path = utterance->path;
    return &results_.back();
  }

  void add_part(Recognition &&part, Recognition *result) {
    std::lock_guard lock(mutex_);
    result->parts.push_back(std::move(part));
    changed_.notify_all();
  }

  void add_warning(std::string &&warning, Recognition *result) {
    std::lock_guard lock(mutex_);
    result->warnings.push_back(std::move(warning));
    changed_.notify_all();
  }

  // Prints the warnings that came; returns true if there were some.
  bool print_warnings(Recognition *result) {
    std::vector<std::string> warnings;
    {
      std::lock_guard lock(mutex_);
      warnings.swap(result->warnings);
    }
    if (prints_ && !warnings.empty()) progress_.hide();
    const StdoutLock lock;
    for (const std::string &warning : warnings) {
      if (prints_) print_line(stderr, "senone: warning: %s", warning.c_str());
    }
    return !warnings.empty();
  }

  void finish(Recognition *result) {
    std::lock_guard lock(mutex_);
    result->done = true;
    changed_.notify_all();
  }

  // Waits for result number i, its warnings, or its next part after n_parts earlier ones. Returns nullptr if there are only i
  // results.
  // Throws the failure that fail_all() received.
  Recognition *wait(size_t i, size_t n_parts) {
    std::unique_lock lock(mutex_);
    const auto is_there = [&] {
      if (i >= results_.size()) return ended_;
      return results_[i].done || results_[i].parts.size() > n_parts || !results_[i].warnings.empty();
    };
    changed_.wait(lock, [&] { return failure_ || is_there(); });
    if (failure_) std::rethrow_exception(failure_);
    if (i >= results_.size()) return nullptr;
    const bool has_part = results_[i].warnings.empty() && results_[i].parts.size() > n_parts;
    return has_part ? &results_[i].parts[n_parts] : &results_[i];
  }

  void print_all() {
    std::optional<LatticeOutput> lattices;
    if (!options_.lattice.empty()) {
      lattices.emplace(options_.lattice, read_symbols(options_.model + "/words.txt"), info_.frame_shift_ms / 1000);
    }
    const std::optional<size_t> n = source_->size();
    int n_subtitles = 0;
    size_t i = 0, n_parts = 0;
    while (Recognition *result = wait(i, n_parts)) {
      if (print_warnings(result)) continue;
      if (prints_ && prints_on_terminal(*result)) progress_.hide();
      if (prints_) print(*result, options_, n != size_t{1}, &n_subtitles);
      if (result->lattice) {
        const std::string id = result->part > 0 ? format("%s-%u", result->id.c_str(), result->part) : result->id;
        lattices->write(id, *result->lattice, result->acoustic_scale);
        result->lattice.reset();
      }
      if (result->part > 0) {
        ++n_parts;
        continue;
      }
      if (journal_ != nullptr) journal_->append(*result);
      progress_.done();
      ++i;
      n_parts = 0;
    }
    if (lattices) lattices->commit();
  }

  asr_engine *engine_;
  const Options &options_;
  UtteranceSource *source_;
  HypJournal *journal_;
  Speakers *speakers_;
  const bool prints_;
  BatchProgress progress_;
  asr_engine_info info_{};
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::deque<Recognition> results_;
  bool ended_ = false;
  std::exception_ptr failure_;
};

}  // namespace

std::deque<Recognition> recognize_batch(asr_engine *engine, const RecognizeOptions &options, const BatchOptions &batch,
                                        UtteranceSource *source) {
  return Batch(engine, options, batch, source).run(batch.n_jobs);
}

}  // namespace asr::tool
