// SPDX-License-Identifier: Apache-2.0
#include "builder/ctc/prefix_search.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "core/base/error.h"

namespace asr {
namespace {

constexpr double kLn10 = 2.302585092994046;
constexpr double kUsualLetters = 6;  // letters of a word beyond which an unknown beginning costs more
constexpr uint32_t kNone = 0xffffffff;
const std::string kPieceMark = "\xe2\x96\x81";

size_t n_letters(const std::string &text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; });
}

double sum_of(double a, double b) { return a >= b ? a + std::log(1 + std::exp(b - a)) : b + std::log(1 + std::exp(a - b)); }

// Numbers of strings that are parts of words, and what is known of them.
class Parts {
 public:
  uint32_t number_of(const std::string &text) {
    const auto [found, is_new] = numbers_.emplace(text, static_cast<uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(text);
    return found->second;
  }
  // The part that `label` makes of another.
  uint32_t extended(uint32_t part, uint32_t label, const std::string &letters) {
    const auto [found, is_new] = extended_.emplace((static_cast<uint64_t>(part) << 32) | label, 0);
    if (is_new) found->second = number_of(texts_[part] + letters);
    return found->second;
  }
  const std::string &text(uint32_t part) const { return texts_[part]; }
  size_t size() const { return texts_.size(); }

 private:
  std::vector<std::string> texts_;
  std::unordered_map<std::string, uint32_t> numbers_;
  std::unordered_map<uint64_t, uint32_t> extended_;
};

// The times of the words of a beam, the last one first; beams share what they have in common.
struct Times {
  uint32_t before;
  int32_t start, end;
};

// A text that a beam has: the words that are complete.
struct Text {
  uint32_t before, word;  // word: a part; kNone for the empty text
  uint32_t n_hot;         // hotwords among its words
  double lm_score;        // of its words
  uint64_t lm_state;
};

struct Beam {
  uint32_t text, part, last;  // last: a label, or kNone
  uint32_t times;
  int32_t start, end;  // of the part; -1 before it begins
  double logit_score;
  double score;
};

struct BeamKey {
  uint32_t text, part, last;
  bool operator==(const BeamKey &other) const { return text == other.text && part == other.part && last == other.last; }
};
struct KeyHash {
  size_t operator()(const BeamKey &key) const {
    uint64_t h = (static_cast<uint64_t>(key.text) << 32 | key.part) * 0x9e3779b97f4a7c15u;
    h = (h ^ (h >> 29) ^ key.last) * 0xbf58476d1ce4e5b9u;
    return h ^ (h >> 32);
  }
};

class Search {
 public:
  Search(const CtcLabels &labels, const WordLm *lm, const PrefixOptions &options)
      : labels_(labels), lm_(lm), options_(options) {
    empty_ = parts_.number_of("");
    for (const std::string &word : options.hotwords) {
      hotwords_.insert(word);
      hot_beginnings_.push_back(word);
    }
    std::sort(hot_beginnings_.begin(), hot_beginnings_.end());
    for (uint32_t i = 0; i < labels.labels.size(); ++i) {
      first_of_.push_back(label_numbers_.emplace(labels.labels[i], i).first->second);
    }
    uint64_t state = 0;
    if (lm != nullptr) state = options.has_start_state ? options.start_state : lm->start(options.lm_score_boundary);
    texts_.push_back({kNone, kNone, 0, 0, state});
    times_.push_back({kNone, -1, -1});
  }

  std::vector<PrefixBeam> run(const double *log_probs, size_t n_rows);

 private:
  const CtcLabels &labels_;
  const WordLm *const lm_;
  const PrefixOptions &options_;
  Parts parts_;
  uint32_t empty_;
  std::vector<Text> texts_;
  std::unordered_map<uint64_t, uint32_t> text_numbers_;  // by text and word
  std::vector<Times> times_;
  std::unordered_set<std::string> hotwords_;
  std::vector<std::string> hot_beginnings_;
  std::unordered_map<std::string, uint32_t> label_numbers_;
  std::vector<uint32_t> first_of_;  // [labels] the first of equal labels
  std::vector<double> part_scores_;
  std::vector<bool> has_part_score_;
  std::unordered_map<BeamKey, uint32_t, KeyHash> merged_;
  std::vector<Beam> candidates_;
  bool is_break_forced_ = false;

  double word_score(uint64_t state, const std::string &word, bool is_last, uint64_t *next) const;
  double part_score(uint32_t part);
  double hot_part_score(const std::string &part, bool *is_hot) const;
  uint32_t text_with(uint32_t text, uint32_t word);
  size_t add(const Beam &beam);
  void extend(const Beam &beam, uint32_t label, double log_prob, int32_t frame);
  void score_all();
  void prune();
  std::vector<Beam> without_same_history() const;
  std::vector<PrefixBeam> finish(const std::vector<Beam> &beams);
  PrefixBeam output(const Beam &beam, uint64_t lm_state) const;
  uint32_t with_times(const Beam &beam);
};

double Search::word_score(uint64_t state, const std::string &word, bool is_last, uint64_t *next) const {
  double score = lm_->score(state, word, next);
  if (lm_->is_unknown(word)) score += options_.unk_score_offset * kLn10;
  if (is_last && options_.lm_score_boundary) score += lm_->score_end(*next);
  return options_.alpha * score + options_.beta;
}

double Search::hot_part_score(const std::string &part, bool *is_hot) const {
  size_t shortest = 0;
  auto word = std::lower_bound(hot_beginnings_.begin(), hot_beginnings_.end(), part);
  for (; word != hot_beginnings_.end() && word->compare(0, part.size(), part) == 0; ++word) {
    const size_t n = n_letters(*word);
    if (shortest == 0 || n < shortest) shortest = n;
  }
  *is_hot = shortest > 0;
  return *is_hot ? options_.hotword_weight * static_cast<double>(n_letters(part)) / static_cast<double>(shortest) : 0;
}

double Search::part_score(uint32_t part) {
  if (part == empty_) return 0;
  if (part >= part_scores_.size()) {
    part_scores_.resize(parts_.size());
    has_part_score_.resize(parts_.size());
  }
  if (!has_part_score_[part]) {
    const std::string &text = parts_.text(part);
    bool is_hot = false;
    double score = hot_part_score(text, &is_hot);
    if (lm_ != nullptr && !is_hot && lm_->begins_unknown(text)) {
      const double n = static_cast<double>(n_letters(text));
      score = options_.unk_score_offset;
      if (n > kUsualLetters) score = score * n / kUsualLetters;
    }
    part_scores_[part] = score;
    has_part_score_[part] = true;
  }
  return part_scores_[part];
}

// Returns the text that a word makes of another; the empty word leaves it as it is.
uint32_t Search::text_with(uint32_t text, uint32_t word) {
  if (word == empty_) return text;
  const auto [found, is_new] =
      text_numbers_.emplace((static_cast<uint64_t>(text) << 32) | word, static_cast<uint32_t>(texts_.size()));
  if (is_new) {
    const std::string &letters = parts_.text(word);
    Text next{text, word, texts_[text].n_hot + static_cast<uint32_t>(hotwords_.count(letters)), texts_[text].lm_score, 0};
    if (lm_ != nullptr) next.lm_score += word_score(texts_[text].lm_state, letters, false, &next.lm_state);
    texts_.push_back(next);
  }
  return found->second;
}

// Adds a candidate, or its probability to that of the same text, part and last label, which then has its times. Returns its
// place.
size_t Search::add(const Beam &beam) {
  const auto [found, is_new] = merged_.emplace(BeamKey{beam.text, beam.part, beam.last}, candidates_.size());
  if (is_new) {
    candidates_.push_back(beam);
  } else {
    Beam &candidate = candidates_[found->second];
    const double score = sum_of(candidate.logit_score, beam.logit_score);
    candidate = beam;
    candidate.logit_score = score;
  }
  return found->second;
}

uint32_t Search::with_times(const Beam &beam) {
  if (beam.part == empty_) return beam.times;
  times_.push_back({beam.times, beam.start, beam.end});
  return static_cast<uint32_t>(times_.size() - 1);
}

void Search::extend(const Beam &beam, uint32_t label, double log_prob, int32_t frame) {
  const std::string &letters = labels_.labels[label];
  Beam next = beam;
  next.last = first_of_[label];
  next.logit_score += log_prob;
  const bool begins_word = letters.compare(0, kPieceMark.size(), kPieceMark) == 0;
  if (letters.empty() || beam.last == next.last) {
    if (!letters.empty()) next.end = frame + 1;
  } else if (labels_.has_pieces && (begins_word || is_break_forced_)) {
    is_break_forced_ = false;
    std::string clean = begins_word ? letters.substr(kPieceMark.size()) : letters;
    const bool ends_word = letters.size() >= kPieceMark.size() &&
                           letters.compare(letters.size() - kPieceMark.size(), kPieceMark.size(), kPieceMark) == 0;
    if (ends_word) {
      clean = clean.size() >= kPieceMark.size() ? clean.substr(0, clean.size() - kPieceMark.size()) : "";
      is_break_forced_ = true;
    }
    next.times = with_times(beam);
    next.text = text_with(beam.text, beam.part);
    next.part = parts_.number_of(clean);
    next.start = frame;
    next.end = frame + 1;
  } else if (!labels_.has_pieces && letters == " ") {
    next.times = with_times(beam);
    next.text = text_with(beam.text, beam.part);
    next.part = empty_;
    next.start = next.end = -1;
  } else {
    next.part = parts_.extended(beam.part, label, letters);
    if (next.start < 0) next.start = frame;
    next.end = frame + 1;
  }
  add(next);
}

void Search::score_all() {
  for (Beam &beam : candidates_) {
    const Text &text = texts_[beam.text];
    beam.score = beam.logit_score + text.lm_score + options_.hotword_weight * text.n_hot + part_score(beam.part);
  }
}

// Keeps the candidates near the best one, and of those the best, in order.
void Search::prune() {
  double best = candidates_[0].score;
  for (const Beam &beam : candidates_) best = std::max(best, beam.score);
  const double limit = best + options_.beam_prune_logp;
  candidates_.erase(std::remove_if(candidates_.begin(), candidates_.end(), [&](const Beam &b) { return !(b.score >= limit); }),
                    candidates_.end());
  std::stable_sort(candidates_.begin(), candidates_.end(), [](const Beam &a, const Beam &b) { return a.score > b.score; });
  if (candidates_.size() > options_.beam_width) candidates_.resize(options_.beam_width);
}

std::vector<Beam> Search::without_same_history() const {
  const size_t n_words = lm_ == nullptr ? 1 : std::max<size_t>(1, lm_->order() - 1);
  std::vector<Beam> kept;
  std::unordered_set<std::string> seen;
  for (const Beam &beam : candidates_) {
    std::vector<uint32_t> key{beam.part, beam.last};
    uint32_t text = beam.text;
    for (size_t k = 0; k < n_words && texts_[text].word != kNone; ++k) {
      key.push_back(texts_[text].word);
      text = texts_[text].before;
    }
    if (seen.emplace(reinterpret_cast<const char *>(key.data()), key.size() * sizeof(uint32_t)).second) kept.push_back(beam);
  }
  return kept;
}

std::vector<PrefixBeam> Search::run(const double *log_probs, size_t n_rows) {
  const size_t n_labels = labels_.labels.size();
  std::vector<Beam> beams{{0, empty_, kNone, 0, -1, -1, 0, 0}};
  for (size_t t = 0; t < n_rows; ++t) {
    const double *const row = log_probs + t * n_labels;
    const size_t best = std::max_element(row, row + n_labels) - row;
    merged_.clear();
    candidates_.clear();
    for (size_t label = 0; label < n_labels; ++label) {
      if (row[label] < options_.token_min_logp && label != best) continue;
      for (const Beam &beam : beams) extend(beam, static_cast<uint32_t>(label), row[label], static_cast<int32_t>(t));
    }
    score_all();
    prune();
    beams = options_.prune_history ? without_same_history() : candidates_;
  }
  return finish(beams);
}

// Ends the last word of each beam. The language model scores it together with the end of the sentence, also the empty word
// behind a space, as pyctcdecode does.
std::vector<PrefixBeam> Search::finish(const std::vector<Beam> &beams) {
  struct End {
    uint32_t from, word;
    uint64_t lm_state;
  };
  std::vector<End> ends;
  merged_.clear();
  candidates_.clear();
  for (const Beam &beam : beams) {
    Beam end = beam;
    end.times = with_times(beam);
    end.text = text_with(beam.text, beam.part);
    end.part = empty_;
    end.last = kNone;
    const size_t place = add(end);
    if (place == ends.size()) ends.emplace_back();
    ends[place] = {beam.text, beam.part, 0};
  }
  for (size_t i = 0; i < candidates_.size(); ++i) {
    Beam &beam = candidates_[i];
    uint64_t state = 0;
    double lm_score = 0;
    if (lm_ != nullptr) {
      const Text &from = texts_[ends[i].from];
      lm_score = from.lm_score + word_score(from.lm_state, parts_.text(ends[i].word), true, &state);
    }
    beam.score = beam.logit_score + lm_score + options_.hotword_weight * texts_[beam.text].n_hot;
    beam.part = static_cast<uint32_t>(i);  // its place, for the state, as the order changes now
    ends[i].lm_state = state;
  }
  prune();
  std::vector<PrefixBeam> result;
  for (const Beam &beam : candidates_) result.push_back(output(beam, ends[beam.part].lm_state));
  return result;
}

PrefixBeam Search::output(const Beam &beam, uint64_t lm_state) const {
  PrefixBeam result;
  result.logit_score = beam.logit_score;
  result.lm_score = beam.score;
  result.lm_state = lm_state;
  std::vector<uint32_t> words;
  for (uint32_t text = beam.text; texts_[text].word != kNone; text = texts_[text].before) words.push_back(texts_[text].word);
  for (auto word = words.rbegin(); word != words.rend(); ++word) {
    if (!result.text.empty()) result.text += ' ';
    result.text += parts_.text(*word);
  }
  for (uint32_t at = beam.times; at != 0; at = times_[at].before) {
    result.start_frames.push_back(times_[at].start);
    result.end_frames.push_back(times_[at].end);
  }
  std::reverse(result.start_frames.begin(), result.start_frames.end());
  std::reverse(result.end_frames.begin(), result.end_frames.end());
  return result;
}

}  // namespace

std::vector<PrefixBeam> prefix_search(const CtcLabels &labels, const WordLm *lm, const double *log_probs, size_t n_rows,
                                      const PrefixOptions &options) {
  for (size_t i = 0; i < n_rows * labels.labels.size(); ++i) {
    if (!std::isfinite(log_probs[i])) {
      fail(ASR_BAD_AUDIO, "row %zu: value %zu is not a finite log probability; limit it first", i / labels.labels.size(),
           i % labels.labels.size());
    }
  }
  if (lm != nullptr && options.has_start_state && !lm->is_state(options.start_state)) {
    fail(ASR_INVALID_ARGUMENT, "the start state is not of this language model; take one that this decoder returned");
  }
  return Search(labels, lm, options).run(log_probs, n_rows);
}

}  // namespace asr
