// SPDX-License-Identifier: Apache-2.0
#include "builder/graph/trie_lm.h"

#include <cmath>
#include <cstring>

#include "builder/graph/arpa.h"
#include "builder/text/text_file.h"
#include "builder/text/unicode.h"
#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr {
namespace {

constexpr char kMagic[] = "Trie Language Model";
constexpr size_t kMagicBytes = sizeof(kMagic) - 1;
constexpr size_t kCodebookSize = 65536;
const double kLogBase = std::log(1.0001);  // values are logarithms in base 1.0001

uint32_t bit_length(uint32_t value) {
  uint32_t n = 0;
  for (; value != 0; value >>= 1) ++n;
  return n;
}

// Entries of one order above the first: bit fields word, back-off index, cost index and first child, low bits first.
struct PackedArray {
  const uint8_t *data = nullptr;
  uint32_t word_bits = 0, backoff_bits = 0, next_bits = 0;
  uint64_t size = 0;  // number of entries; an additional entry marks the end of the last one's children

  uint32_t entry_bits() const { return word_bits + backoff_bits + 16 + next_bits; }
  uint64_t bits(uint64_t entry, uint32_t offset, uint32_t n) const {
    const uint64_t at = entry * entry_bits() + offset;
    uint64_t chunk;  // eight bytes are readable after every entry
    std::memcpy(&chunk, data + at / 8, sizeof chunk);
    return chunk >> (at % 8) & ((uint64_t(1) << n) - 1);
  }
  uint32_t word(uint64_t i) const { return static_cast<uint32_t>(bits(i, 0, word_bits)); }
  uint32_t backoff_index(uint64_t i) const { return static_cast<uint32_t>(bits(i, word_bits, backoff_bits)); }
  uint32_t cost_index(uint64_t i) const { return static_cast<uint32_t>(bits(i, word_bits + backoff_bits, 16)); }
  uint64_t next(uint64_t i) const { return bits(i, word_bits + backoff_bits + 16, next_bits); }
};

struct Unigram {
  float log_prob, log_backoff;
  uint32_t next;
};

class TrieReader {
 public:
  TrieReader(const UnpackedFile &file, const std::string &path) : path_(path), file_(file) {}

  NgramModel read() {
    read_layout();
    read_words();
    NgramBuilder builder(std::move(words_), counts_.size(), path_);
    for (uint32_t i = 0; i < counts_[0]; ++i) {
      const Unigram unigram = unigram_at(i);
      builder.add(0, &i, cost(unigram.log_prob, true), cost(unigram.log_backoff, false));
    }
    for (size_t level = 1; level < counts_.size(); ++level) builder.reserve(level, arrays_[level].size);
    std::vector<uint32_t> reversed(1);
    for (uint32_t i = 0; i < counts_[0] && counts_.size() > 1; ++i) {
      reversed[0] = i;
      add_children(1, unigram_at(i).next, unigram_at(i + 1).next, &reversed, &builder);
    }
    return builder.finish();
  }

 private:
  const std::string &path_;
  const UnpackedFile &file_;
  size_t at_ = 0;
  std::vector<uint32_t> counts_;
  std::vector<const uint8_t *> prob_tables_, backoff_tables_;  // [level]
  const uint8_t *unigrams_ = nullptr;
  std::vector<PackedArray> arrays_;  // [level], [0] unused
  std::vector<std::string> words_;

  [[noreturn]] void bad(const char *what) const {
    fail(ASR_BAD_FILE, "%s: %s; the file is damaged or no trie language model", path_.c_str(), what);
  }

  const uint8_t *take(uint64_t n_bytes, const char *what) {
    if (n_bytes > file_.size() - at_)
      fail(ASR_BAD_FILE, "%s: the file ends in %s; it is truncated or damaged", path_.c_str(), what);
    at_ += n_bytes;
    return file_.data() + at_ - n_bytes;
  }
  template <typename T>
  T take_value(const char *what) {
    T value;
    std::memcpy(&value, take(sizeof value, what), sizeof value);
    return value;
  }

  Unigram unigram_at(uint32_t i) const {
    Unigram unigram;
    std::memcpy(&unigram, unigrams_ + size_t(i) * sizeof unigram, sizeof unigram);
    return unigram;
  }

  float cost(float log, bool is_probability) const {
    if (!(std::abs(log) <= kMaxLogProbability)) bad("a probability is not a number, or beyond a logarithm's limit of 1e10");
    return static_cast<float>(-kLogBase * (is_probability ? std::min(log, 0.0f) : log));
  }
  float table_value(const uint8_t *table, uint32_t index) const {
    float value;
    std::memcpy(&value, table + index * sizeof value, sizeof value);
    return value;
  }

  void read_layout() {
    if (file_.size() < kMagicBytes || std::memcmp(take(kMagicBytes, "the magic"), kMagic, kMagicBytes) != 0)
      bad("the magic is missing");
    const size_t order = take_value<uint8_t>("the header");
    if (order < 1 || order > kMaxNgramOrder) bad("the order is out of range");
    for (size_t level = 0; level < order; ++level) counts_.push_back(take_value<uint32_t>("the header"));
    if (counts_[0] == 0) bad("there are no words");
    if (order > 1) take_value<int32_t>("the header");
    prob_tables_.assign(order, nullptr);
    backoff_tables_.assign(order, nullptr);
    for (size_t level = 1; level < order; ++level) {
      prob_tables_[level] = take(kCodebookSize * sizeof(float), "the probability tables");
      if (level + 1 < order) backoff_tables_[level] = take(kCodebookSize * sizeof(float), "the back-off tables");
    }
    unigrams_ = take((uint64_t(counts_[0]) + 1) * sizeof(Unigram), "the 1-grams");
    arrays_.resize(order);
    for (size_t level = 1; level < order; ++level) read_array(level);
  }

  void read_array(size_t level) {
    PackedArray &array = arrays_[level];
    const bool last = level + 1 == counts_.size();
    array.word_bits = bit_length(counts_[0]);
    array.backoff_bits = last ? 0 : 16;
    array.next_bits = last ? 0 : bit_length(counts_[level + 1]);
    array.data = take(((1 + uint64_t(counts_[level])) * array.entry_bits() + 7) / 8 + 8, "the n-grams");
    // The header may announce more than the file contains; the end of the last shorter n-gram's children is reliable.
    array.size = level == 1 ? unigram_at(counts_[0]).next : arrays_[level - 1].next(arrays_[level - 1].size);
    if (array.size > counts_[level]) bad("there are more n-grams than announced");
  }

  void read_words() {
    const int32_t n_bytes = take_value<int32_t>("the words");
    if (n_bytes < 0) bad("the size of the words is negative");
    const char *text = reinterpret_cast<const char *>(take(static_cast<uint64_t>(n_bytes), "the words"));
    const char *end = text + n_bytes;
    while (text < end && words_.size() <= counts_[0]) {
      const char *nul = static_cast<const char *>(std::memchr(text, 0, static_cast<size_t>(end - text)));
      if (nul == nullptr) bad("a word does not end");
      words_.push_back(to_nfc(std::string(text, nul)));
      text = nul + 1;
    }
    if (words_.size() != counts_[0] || text != end || at_ != file_.size()) bad("the number of words is not the one announced");
  }

  // Adds the n-grams of `level` with the last words `reversed` (last word first), and all longer ones.
  void add_children(size_t level, uint64_t begin, uint64_t end, std::vector<uint32_t> *reversed, NgramBuilder *builder) {
    const PackedArray &array = arrays_[level];
    if (begin > end || end > array.size) bad("an n-gram points outside its table");
    const bool last = level + 1 == counts_.size();
    for (uint64_t i = begin; i < end; ++i) {
      if (array.word(i) >= counts_[0]) bad("an n-gram has an unknown word");
      reversed->push_back(array.word(i));
      const std::vector<uint32_t> words(reversed->rbegin(), reversed->rend());
      const float backoff = last ? 0.0f : cost(table_value(backoff_tables_[level], array.backoff_index(i)), false);
      builder->add(level, words.data(), cost(table_value(prob_tables_[level], array.cost_index(i)), true), backoff);
      if (!last) add_children(level + 1, array.next(i), array.next(i + 1), reversed, builder);
      reversed->pop_back();
    }
  }
};

}  // namespace

NgramModel read_trie_lm(const std::string &path) { return TrieReader(UnpackedFile(path), path).read(); }

NgramModel read_language_model(const std::string &path, Characters characters) {
  UnpackedFile file(path);
  if (file.bytes().substr(0, kMagicBytes) == kMagic) return TrieReader(file, path).read();
  return parse_arpa(text_of(file.take(), path, {"a language model", {Format::kArpa}, characters}), path);
}

}  // namespace asr
