// SPDX-License-Identifier: Apache-2.0
#include "builder/align/text_aligner.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "builder/align/goodness.h"
#include "builder/graph/bundle_parts.h"
#include "builder/graph/phone_loop.h"
#include "core/base/error.h"
#include "core/model/acoustic_model.h"

namespace asr {
namespace {

using train::AlignmentJob;
using train::ForcedAligner;

// Widths of the searches for a path, one after another until one is found.
constexpr double kWidenings[] = {1, 4, 16};

// The search for any phones is this much narrower, since it has no text that it must keep to.
constexpr float kFreeShare = 0.25f;

// A text is taken as another one if its frames fit worse by this on average. Right texts have -1.2 and more (AN4 dev), texts of
// which one word in ten is wrong -2.8 and more.
constexpr double kOtherText = -3;

// The rows of a piece. Shorter recordings are aligned whole.
constexpr uint32_t kPieceRows = 6000;
// Words that end in the last rows of a piece are aligned again with what follows them.
constexpr uint32_t kMarginRows = 1000;
// Words are longer than this on average, so a piece needs no more of the text.
constexpr uint32_t kMinWordRows = 12;

// The field that allows a text to have errors, in the terms of asr_build.h.
constexpr const char *kLenientField = "asr_align_config.lenient";

GraphOptions with_fillers(GraphOptions options, const Bundle &bundle, const HmmSet &set) {
  options.filler_phones = filler_phones(bundle, set);
  return options;
}

HmmSet checked_hmms(const Bundle &bundle) {
  HmmSet set = read_hmms(bundle);
  check_contexts(bundle, set);
  return set;
}

}  // namespace

double TimedWord::goodness() const {
  double sum = 0;
  for (const TimedPhone &phone : phones) sum += phone.goodness.value_or(0) * (phone.end_s - phone.begin_s);
  return sum / (end_s() - begin_s());
}

double TimedWord::confidence() const { return 1 / (1 + std::exp(kNotSaid - goodness())); }

std::vector<uint32_t> not_said(const TimedTranscript &transcript) {
  std::vector<bool> said(transcript.text.size());
  for (const TimedWord &word : transcript.words) {
    if (word.number != kForeign) said[word.number] = true;
  }
  std::vector<uint32_t> numbers;
  for (uint32_t i = 0; i < said.size(); ++i) {
    if (!said[i]) numbers.push_back(i);
  }
  return numbers;
}

AlignmentModel::AlignmentModel(const std::string &bundle_path, GraphOptions options)
    : bundle(read_bundle(bundle_path)),
      set(checked_hmms(bundle)),
      graphs(set, with_fillers(std::move(options), bundle, set)),
      phone_loop(make_phone_loop(set, {})) {}

// The way of an item through its pieces.
class TextAligner::Run {
 public:
  Run(const AlignmentModel &model, AlignmentItem *item) : model_(model), item_(item) {
    item->transcript.words.clear();
    item->transcript.duration_s = 0;
  }

  bool is_done() const { return is_done_ || !item_->problem.empty(); }

  // Reads the rows of the next piece.
  void read() {
    const uint32_t n_dims = model_.bundle.front_end.n_dims();
    try {
      const auto n_read = [&] { return item_->rows.size() / n_dims; };
      while (n_read() <= kPieceRows && item_->more && item_->more(&item_->rows)) continue;
      is_last_ = n_read() <= kPieceRows;
      n_rows_ = static_cast<uint32_t>(std::min<size_t>(n_read(), kPieceRows));
      if (n_rows_ == 0 && first_row_ == 0) fail(ASR_BAD_AUDIO, "it has no frames; check that it is not empty");
    } catch (const Error &error) {
      if (error.code() == ASR_OUT_OF_MEMORY || error.code() == ASR_DEVICE_LOST) throw;
      item_->problem = error.what();
    }
  }

  // Returns the search for the text of the piece; one without rows if there is a problem.
  AlignmentJob job(const Leniency &leniency) const {
    AlignmentJob job;
    if (is_last_ && item_->problem.empty()) check_is_possible(leniency);
    if (!item_->problem.empty()) return job;
    job.rows = item_->rows.data();
    job.n_rows = n_rows_;
    const auto first = item_->words.begin() + first_word_;
    const size_t n_left = item_->words.size() - first_word_;
    const size_t n = is_last_ ? std::min<size_t>(n_left, n_rows_) : std::min<size_t>(n_left, n_rows_ / kMinWordRows);
    const std::vector<std::string> words(first, first + static_cast<std::ptrdiff_t>(n));
    job.graph = model_.graphs.graph(words, item_->lexicon, leniency, is_last_ ? TextEnd::kLastWord : TextEnd::kAnyWord);
    return job;
  }

  // Takes the words of a piece. free_path: the job of the same rows with any phones, or one without a path.
  void take(const ForcedAligner &aligner, const Leniency &leniency, const AlignmentJob &job, const AlignmentJob &free_path) {
    if (!item_->problem.empty()) return;
    if (!job.problem.empty()) {
      item_->problem = first_row_ == 0 && is_last_ ? "" : at_time(first_row_);
      item_->problem += format("no path says its words in its %u frames; check that the text is that of the recording%s",
                               n_rows_, or_let_it_differ(leniency).c_str());
      return;
    }
    const std::vector<AlignedWord> words = aligned_words(job, model_.set);
    Cut cut{words.size(), n_rows_};
    if (!is_last_) cut = cut_of(words);
    if (cut.row == 0) {
      item_->problem = at_time(first_row_) + "no word ends within a minute; check that the text is that of the recording";
      return;
    }
    offsets_ = offsets_within_frames(aligner, job, words);
    for (size_t i = 0; i < cut.n_words; ++i) {
      const uint32_t before = i > 0 ? words[i - 1].end() : 0;
      const uint32_t after = i + 1 < words.size() ? words[i + 1].begin() : n_rows_;
      TimedWord word = timed(words[i], free_path);
      if (words[i].begin() > before) shorten(&word.phones.front(), &TimedPhone::begin_s, pause_shift_s());
      if (words[i].end() < after) shorten(&word.phones.back(), &TimedPhone::end_s, -pause_shift_s());
      item_->transcript.words.push_back(std::move(word));
    }
    for (size_t i = cut.n_words; i-- > 0;) {
      if (words[i].is_foreign()) continue;
      first_word_ += words[i].number + 1;
      break;
    }
    const size_t n_dims = model_.bundle.front_end.n_dims();
    item_->rows.erase(item_->rows.begin(), item_->rows.begin() + static_cast<std::ptrdiff_t>(cut.row * n_dims));
    first_row_ += cut.row;
    item_->transcript.duration_s = first_row_ * model_.shift_s();
    is_done_ = is_last_;
  }

  // Notes the words that other phones fit better, or refuses the whole text.
  void check_is_said() {
    if (!item_->problem.empty()) return;
    const TimedTranscript &transcript = item_->transcript;
    double sum = 0, spoken_s = 0;
    for (size_t i = 0; i < transcript.words.size(); ++i) {
      const TimedWord &word = transcript.words[i];
      if (word.goodness() < kNotSaid) item_->doubtful.push_back(i);
      sum += word.goodness() * (word.end_s() - word.begin_s());
      spoken_s += word.end_s() - word.begin_s();
    }
    if (sum >= kOtherText * spoken_s) return;
    const TimedWord &first = transcript.words[item_->doubtful.empty() ? 0 : item_->doubtful.front()];
    item_->problem = format(
        "its text does not seem to be said: %zu of %zu words do not fit the audio, the first '%s' at %.2f s; "
        "correct the text, or let it differ (%s), which finds where",
        std::max<size_t>(1, item_->doubtful.size()), transcript.words.size(), transcript.text[first.number].c_str(),
        first.begin_s(), kLenientField);
  }

 private:
  struct Cut {
    size_t n_words;
    size_t row;
  };

  const AlignmentModel &model_;
  AlignmentItem *const item_;
  size_t first_row_ = 0;  // of the recording, where the piece begins
  std::ptrdiff_t first_word_ = 0;
  uint32_t n_rows_ = 0;
  bool is_last_ = false, is_done_ = false;
  std::map<uint32_t, double> offsets_;  // of the times of boundaries in the piece from the begins of their rows, in rows

  // A boundary lies where the states on both sides are equally likely. That place is interpolated between the rows before and
  // after it.
  std::map<uint32_t, double> offsets_within_frames(const ForcedAligner &aligner, const AlignmentJob &job,
                                                   const std::vector<AlignedWord> &words) const {
    std::set<uint32_t> boundaries;
    for (const AlignedWord &word : words) {
      for (const AlignedPhone &phone : word.phones) boundaries.insert({phone.begin, phone.end});
    }
    boundaries.erase(0);
    boundaries.erase(job.n_rows);
    std::vector<const float *> rows;
    std::vector<uint32_t> states;
    const size_t n_dims = model_.bundle.front_end.n_dims();
    for (const uint32_t row : boundaries) {
      const float *const after = job.rows + row * n_dims, *const before = after - n_dims;
      rows.insert(rows.end(), {before, before, after, after});
      const uint32_t left = job.states[row - 1], right = job.states[row];
      states.insert(states.end(), {left, right, left, right});
    }
    const std::vector<float> scores = aligner.log_likelihoods(rows, states);
    std::map<uint32_t, double> offsets;
    const float *score = scores.data();
    for (const uint32_t row : boundaries) {
      const double before = std::max(0.0f, score[0] - score[1]), after = std::max(0.0f, score[3] - score[2]);
      if (before + after > 0) offsets[row] = before / (before + after) - 0.5;
      score += 4;
    }
    return offsets;
  }

  // Speech is louder than pauses, so a frame is like speech if any part of its window is. The rows of words beside a pause
  // therefore reach half a window into it.
  double pause_shift_s() const { return model_.bundle.front_end.window_samples / model_.bundle.front_end.sample_rate_hz / 2; }

  // Moves the begin or the end of a phone inwards, at most by half of the phone.
  static void shorten(TimedPhone *phone, double TimedPhone::*boundary, double shift_s) {
    const double half_s = (phone->end_s - phone->begin_s) / 2;
    phone->*boundary += std::clamp(shift_s, -half_s, half_s);
  }

  static std::string or_let_it_differ(const Leniency &leniency) {
    return leniency.allowed ? "" : format(", or let it differ (%s)", kLenientField);
  }

  // Refuses a text that cannot be said, before a graph of it is made: each phone takes at least a frame. In a lenient text
  // words may be left out, but there cannot be more than frames.
  void check_is_possible(const Leniency &leniency) const {
    const size_t first = leniency.allowed ? 0 : static_cast<size_t>(first_word_), n_words = item_->words.size() - first;
    const size_t n_rows = leniency.allowed ? first_row_ + n_rows_ : n_rows_;
    size_t n_needed = n_words;
    if (!leniency.allowed) {
      n_needed = 0;
      for (size_t i = first; i < item_->words.size(); ++i) n_needed += min_phones(i);
    }
    if (n_needed <= n_rows) return;
    item_->problem = format("%s %zu words, which cannot be said in %.1f s; check that it is the text of the recording",
                            first == 0 ? "its text has" : (at_time(first_row_) + "the rest of its text has").c_str(), n_words,
                            static_cast<double>(n_rows) * model_.shift_s());
  }

  // Returns the phones of the shortest pronunciation of a word of the text.
  size_t min_phones(size_t word) const {
    const Lexicon &lexicon = item_->lexicon;
    size_t n = SIZE_MAX;
    for (const uint32_t p : lexicon.pronunciations_of.at(item_->words[word])) n = std::min(n, lexicon.pronunciations[p].size());
    return n;
  }

  std::string at_time(size_t row) const { return format("at %.1f s: ", static_cast<double>(row) * model_.shift_s()); }

  // The words that stay, and the row where the next piece begins: in the longest pause of the second half before the margin,
  // or after the last word before it.
  Cut cut_of(const std::vector<AlignedWord> &words) const {
    const uint32_t limit = n_rows_ - kMarginRows;
    Cut best{0, words.empty() || words.front().begin() > limit ? limit : 0};
    uint32_t longest = 0;
    for (size_t i = 0; i < words.size() && words[i].end() <= limit; ++i) {
      const uint32_t next = i + 1 < words.size() ? words[i + 1].begin() : n_rows_;
      const uint32_t pause = next - words[i].end();
      const bool is_late = words[i].end() >= n_rows_ / 2;
      if (is_late && pause < longest) continue;
      if (is_late) longest = pause;
      best = {i + 1, words[i].end() + pause / 2};
    }
    return best;
  }

  TimedWord timed(const AlignedWord &word, const AlignmentJob &free_path) const {
    TimedWord timed_word{word.is_foreign() ? kForeign : static_cast<uint32_t>(first_word_) + word.number, {}};
    const auto time = [&](uint32_t row) {
      const auto offset = offsets_.find(row);
      return (static_cast<double>(first_row_ + row) + (offset == offsets_.end() ? 0 : offset->second)) * model_.shift_s();
    };
    for (const AlignedPhone &phone : word.phones) {
      timed_word.phones.push_back(
          {model_.set.phones[phone.phone].name, time(phone.begin), time(phone.end), phone.log_likelihood});
    }
    if (free_path.transition_ids.empty()) return timed_word;
    const std::vector<PhoneGoodness> rated = rate(word, free_path);
    for (size_t i = 0; i < rated.size(); ++i) {
      timed_word.phones[i].goodness = rated[i].goodness;
      timed_word.phones[i].likeliest = model_.set.phones[rated[i].likeliest].name;
    }
    return timed_word;
  }
};

TextAligner::TextAligner(const AlignmentModel &model, const Device &device, double beam)
    : model_(model), aligner_(device, read_acoustic_model(model.bundle.file("acoustic.bin")), beam) {}

void TextAligner::align(const AlignmentOptions &options, ThreadPool *pool, std::vector<AlignmentItem> *items) const {
  std::vector<Run> runs;
  runs.reserve(items->size());
  for (AlignmentItem &item : *items) runs.emplace_back(model_, &item);
  for (;;) {
    std::vector<Run *> pending;
    for (Run &run : runs) {
      if (!run.is_done()) pending.push_back(&run);
    }
    if (pending.empty()) break;
    align_pieces(options, pool, &pending);
  }
  if (options.leniency.allowed) return;
  for (Run &run : runs) run.check_is_said();
}

// Aligns the next piece of each. The jobs of its text and of any phones follow each other, so that its rows are scored once.
void TextAligner::align_pieces(const AlignmentOptions &options, ThreadPool *pool, std::vector<Run *> *runs) const {
  for (Run *run : *runs) run->read();
  const bool rates = options.rates || !options.leniency.allowed;
  std::vector<AlignmentJob> jobs(2 * runs->size());
  pool->run(runs->size(), [&](size_t i) {
    jobs[2 * i] = (*runs)[i]->job(options.leniency);
    AlignmentJob &free_job = jobs[2 * i + 1];
    if (!rates) return;
    free_job.rows = jobs[2 * i].rows;
    free_job.n_rows = jobs[2 * i].n_rows;
    free_job.beam_share = kFreeShare;
    if (free_job.n_rows > 0) free_job.graph = model_.phone_loop;
  });
  for (const double widening : kWidenings) search(widening, &jobs);
  for (size_t i = 0; i < runs->size(); ++i) (*runs)[i]->take(aligner_, options.leniency, jobs[2 * i], jobs[2 * i + 1]);
}

// Searches the jobs that have rows and no path yet.
void TextAligner::search(double widening, std::vector<AlignmentJob> *jobs) const {
  std::vector<AlignmentJob> tried;
  std::vector<size_t> which;
  for (size_t i = 0; i < jobs->size(); ++i) {
    AlignmentJob &job = (*jobs)[i];
    if (job.n_rows == 0 || !job.transition_ids.empty()) continue;
    job.problem.clear();
    which.push_back(i);
    tried.push_back(std::move(job));
  }
  if (tried.empty()) return;
  aligner_.align(&tried, widening);
  for (size_t i = 0; i < which.size(); ++i) (*jobs)[which[i]] = std::move(tried[i]);
}

}  // namespace asr
