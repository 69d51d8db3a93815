// SPDX-License-Identifier: Apache-2.0
// TextAligner finds the times of words and phones in recordings whose text is known: for `senone align` and asr_align.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "builder/align/aligned_words.h"
#include "builder/align/text_graph.h"
#include "builder/train/forced_aligner.h"
#include "core/base/thread_pool.h"
#include "core/model/bundle.h"

namespace asr {

// A word is taken as not said if other phones fit its frames better by this on average. Of the words that were said 0.3 % are
// below (AN4 dev), of others in their place 82 % (docs/alignment.md).
constexpr double kNotSaid = -4;

// The label of a word that is said and that the text does not have.
constexpr const char *kForeignLabel = "[foreign]";

struct TimedPhone {
  std::string name;
  double begin_s, end_s;
  double log_likelihood;                // mean of its frames
  std::optional<double> goodness = {};  // compared with all phones; see builder/align/goodness.h
  std::string likeliest = {};           // the same
};

struct TimedWord {
  uint32_t number;                 // of the text's words, or kForeign
  std::vector<TimedPhone> phones;  // at least one

  double begin_s() const { return phones.front().begin_s; }
  double end_s() const { return phones.back().end_s; }
  // The mean of its phones' frames; 0 if they are not rated.
  double goodness() const;
  // 0..1, and a half for goodness of kNotSaid.
  double confidence() const;
};

struct TimedTranscript {
  std::string id;
  double duration_s;
  std::vector<TimedWord> words;   // as they are said
  std::vector<std::string> text;  // the text's words, some of which may not be said
};

// Returns the numbers of the text's words that are not said.
std::vector<uint32_t> not_said(const TimedTranscript &transcript);

// AlignmentModel is a model's part of alignment, which aligners on several threads share.
struct AlignmentModel {
  explicit AlignmentModel(const std::string &bundle_path, GraphOptions options = {});
  AlignmentModel(const AlignmentModel &) = delete;
  AlignmentModel &operator=(const AlignmentModel &) = delete;

  double shift_s() const { return bundle.front_end.shift_samples / bundle.front_end.sample_rate_hz; }

  const Bundle bundle;
  const HmmSet set;
  const TextGraphs graphs;
  const GraphData phone_loop;
};

struct AlignmentItem {
  std::vector<std::string> words;  // of the text, in the dictionary's form
  Lexicon lexicon;                 // which has them
  std::vector<float> rows;         // [][n_dims]; parts of a long recording are dropped when they are aligned
  std::function<bool(std::vector<float> *rows)> more;  // appends the next rows; false: there are none. May be unset

  // Results. transcript.id and .text are set by the caller.
  TimedTranscript transcript;
  std::vector<size_t> doubtful;  // words of the transcript that do not fit the audio, if the text must be right
  std::string problem;           // why there is no transcript
};

struct AlignmentOptions {
  Leniency leniency;
  bool rates = true;  // phones get a goodness, and texts that are not said are refused; always so without leniency
};

// A recording that is longer than a minute is aligned in pieces, which end where the words before and after leave the longest
// pause, so that memory does not grow with it.
class TextAligner {
 public:
  // The options of a device on which n_items are aligned at once.
  static asr_backend_options options(uint32_t n_threads, uint32_t n_items) {
    return train::ForcedAligner::options(n_threads, 2 * n_items);
  }

  // They must outlive this.
  TextAligner(const AlignmentModel &model, const Device &device, double beam);

  static constexpr size_t kMaxItems = train::ForcedAligner::kMaxJobs / 2;
  static constexpr double kBeam = 200;

  // Aligns at most kMaxItems, or as many as the options say.
  void align(const AlignmentOptions &options, ThreadPool *pool, std::vector<AlignmentItem> *items) const;

 private:
  class Run;

  const AlignmentModel &model_;
  const train::ForcedAligner aligner_;

  void align_pieces(const AlignmentOptions &options, ThreadPool *pool, std::vector<Run *> *runs) const;
  void search(double widening, std::vector<train::AlignmentJob> *jobs) const;
};

}  // namespace asr
