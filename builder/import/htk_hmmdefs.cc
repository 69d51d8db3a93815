// SPDX-License-Identifier: Apache-2.0
// Reads HTK's text form of HMMs and their macros: ~o options, ~h HMMs, ~s states, ~m mixtures, ~u means, ~v variances, ~t
// transition matrices, ~w stream weights. A macro's name may replace its content anywhere. Regression classes for adaptation
// (~r and ~b) are skipped, because recognition has no use for them.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string_view>

#include "builder/import/htk_model.h"
#include "builder/text/text_file.h"
#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr::htk {
namespace {

constexpr uint32_t kMaxMatrixStates = kMaxHmmStates + 2;  // an entry and an exit
constexpr double kMaxSumError = 0.01;                     // of probabilities that were written with few digits

// Splits the file into words: "<KEYWORD>" in upper case, "~x", names without their quotes and escapes, numbers. HTK quotes with
// " or '; a backslash stands before three octal digits of a byte, or before a character that is taken as it is.
class Tokens {
 public:
  Tokens(std::string_view text, std::string source) : text_(text), source_(std::move(source)) {}

  const std::string &peek() {
    if (!peeked_) read();
    return token_;
  }
  std::string next(const char *what) {
    if (peek().empty() && !quoted_) fail_here(format("ends before its %s; the file is damaged or truncated", what));
    peeked_ = false;
    return token_;
  }
  bool skip(const char *wanted) {
    if (peek() != wanted || quoted_) return false;
    peeked_ = false;
    return true;
  }
  void expect(const char *wanted) {
    if (!skip(wanted)) fail_here(format("has \"%s\" where %s must be", peek().substr(0, 40).c_str(), wanted));
  }
  bool at_end() { return peek().empty() && !quoted_; }
  void skip_to_macro() {
    while (!at_end() && (quoted_ || token_[0] != '~')) peeked_ = false;
  }

  double number(const char *what) {
    const std::string word = next(what);
    double value = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    const bool tiny = error == std::errc::result_out_of_range && std::abs(value) < 1;
    if ((error != std::errc() && !tiny) || stop != word.data() + word.size() || !std::isfinite(value)) {
      fail_here(format("%s is \"%s\", not a number", what, word.substr(0, 40).c_str()));
    }
    return value;
  }
  uint32_t count(const char *what, uint32_t most) {
    const double value = number(what);
    if (value < 1 || value > most || value != std::floor(value)) {
      fail_here(format("%s is %g; it must be a whole number from 1 to %u", what, value, most));
    }
    return static_cast<uint32_t>(value);
  }
  std::vector<float> numbers(uint64_t n, const char *what) {
    std::vector<float> values;
    for (uint64_t i = 0; i < n; ++i) values.push_back(static_cast<float>(number(what)));
    return values;
  }

  [[noreturn]] void fail_here(const std::string &what) const {
    const auto line =
        1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size())), '\n');
    fail(ASR_BAD_FILE, "%s:%lld: %s", source_.c_str(), static_cast<long long>(line), what.c_str());
  }

 private:
  std::string_view text_;
  std::string source_, token_;
  size_t at_ = 0;
  bool peeked_ = false, quoted_ = false;

  void read() {
    constexpr std::string_view kBlanks = " \t\r\n\f\v", kEndsOfWords = " \t\r\n\f\v<";
    peeked_ = true;
    quoted_ = false;
    token_.clear();
    at_ = std::min(text_.find_first_not_of(kBlanks, at_), text_.size());
    if (at_ == text_.size()) return;
    const char first = text_[at_];
    if (first == ':') fail_here("is in HTK's binary form; write it as text with HHEd");
    if (first == '<') {
      const size_t end = text_.find('>', at_ + 1);
      if (end == std::string_view::npos) fail_here("has a < without its end");
      token_ = text_.substr(at_, end + 1 - at_);
      at_ = end + 1;
      std::transform(token_.begin(), token_.end(), token_.begin(),
                     [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    } else if (first == '~') {
      token_ = text_.substr(at_, 2);
      at_ = std::min(at_ + 2, text_.size());
    } else if (first == '"' || first == '\'') {
      quoted_ = true;
      ++at_;
      while (at_ < text_.size() && text_[at_] != first) token_ += read_character();
      if (at_ == text_.size()) fail_here(format("has a %c without its end", first));
      ++at_;
    } else {
      while (at_ < text_.size() && kEndsOfWords.find(text_[at_]) == std::string_view::npos) token_ += read_character();
    }
  }

  char read_character() {
    if (text_[at_] != '\\' || at_ + 1 == text_.size()) return text_[at_++];
    ++at_;
    constexpr size_t kOctalDigits = 3;
    const std::string_view digits = text_.substr(at_, kOctalDigits);
    unsigned byte = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 8);
    if (error != std::errc() || stop != digits.data() + kOctalDigits || byte > 0xff) return text_[at_++];
    at_ += kOctalDigits;
    return static_cast<char>(byte);
  }
};

class Parser {
 public:
  void parse(std::string_view text, const std::string &path) {
    Tokens tokens(text, path);
    t_ = &tokens;
    while (!tokens.at_end()) macro();
  }

  ModelSet finish(const std::string &source) {
    if (set_.hmms.empty()) fail(ASR_BAD_FILE, "%s: defines no HMMs; name the file that has their ~h macros", source.c_str());
    return std::move(set_);
  }

 private:
  Tokens *t_ = nullptr;
  ModelSet set_;
  bool covariance_seen_ = false;
  std::vector<bool> is_full_;  // [covariance]
  std::map<std::string, uint32_t> states_, densities_, covariances_, matrices_;
  std::map<std::string, std::vector<float>> means_;
  uint64_t n_copied_ = 0;  // floats copied for means used by name
  std::set<std::string> weights_;

  void macro() {
    const std::string kind = t_->next("macro");
    if (kind == "~o") return options();
    if (kind.size() != 2 || kind[0] != '~')
      t_->fail_here("has \"" + kind.substr(0, 40) + "\" where a macro (~h, ~s ...) must be");
    const std::string name = t_->next("name of a macro");
    switch (kind[1]) {
      case 'h':
        return hmm(name);
      case 's':
        return define(states_, name, state());
      case 'm':
        return define(densities_, name, density());
      case 'v':
        return define(covariances_, name, covariance());
      case 't':
        return define(matrices_, name, matrix());
      case 'u':
        means_[name] = mean();
        return;
      case 'w':
        stream_weights();
        weights_.insert(name);
        return;
      case 'r':
      case 'b':
        return t_->skip_to_macro();
      default:
        t_->fail_here("has the macro " + kind + ", which cannot be imported");
    }
  }

  void define(std::map<std::string, uint32_t> &macros, const std::string &name, uint32_t number) { macros[name] = number; }

  template <typename Map>
  const typename Map::mapped_type &use(const Map &macros, const char *what) {
    const std::string name = t_->next(what);
    const auto found = macros.find(name);
    if (found == macros.end()) t_->fail_here(format("uses the %s \"%s\", which is not defined before", what, name.c_str()));
    return found->second;
  }

  void options() {
    for (;;) {
      const std::string option = t_->peek();
      if (option == "<STREAMINFO>") {
        t_->next("option");
        std::vector<uint32_t> dims(t_->count("number of streams", kMaxStreams));
        for (uint32_t &d : dims) d = t_->count("length of a stream", kMaxDims);
        if (!set_.stream_dims.empty() && set_.stream_dims != dims) t_->fail_here("has other streams than the options before");
        set_.stream_dims = dims;
      } else if (option == "<VECSIZE>") {
        t_->next("option");
        const uint32_t n = t_->count("vector size", kMaxDims);
        if (set_.stream_dims.empty()) set_.stream_dims = {n};
      } else if (option == "<HMMSETID>") {
        t_->next("option");
        t_->next("name of the set");
      } else if (option == "<NULLD>" || option == "<DIAGC>" || option == "<FULLC>" ||
                 (option.size() > 2 && option[0] == '<' && parse_kind(option.substr(1, option.size() - 2), &set_.kind))) {
        t_->next("option");
      } else {
        return;
      }
    }
  }

  std::vector<float> mean() {
    if (t_->skip("~u")) {
      const std::vector<float> &named = use(means_, "mean");
      n_copied_ += named.size();
      if (n_copied_ > kMaxSharedFloats) {
        t_->fail_here(format("uses means by name for more than %llu numbers; such models cannot be imported",
                             static_cast<unsigned long long>(kMaxSharedFloats)));
      }
      return named;
    }
    t_->expect("<MEAN>");
    return t_->numbers(t_->count("length of a mean", kMaxDims), "mean");
  }

  uint32_t covariance() {
    if (t_->skip("~v")) return use(covariances_, "variance");
    const bool full = t_->peek() == "<INVCOVAR>";
    if (!t_->skip("<INVCOVAR>")) t_->expect("<VARIANCE>");
    const uint64_t n = t_->count("length of a variance", full ? kMaxFullDims : kMaxDims);
    std::vector<float> precision;
    if (full) {  // the file has the upper triangle by rows, the model the lower one
      const std::vector<float> upper = t_->numbers(n * (n + 1) / 2, "covariance");
      for (uint64_t r = 0; r < n; ++r) {
        for (uint64_t c = 0; c <= r; ++c) precision.push_back(upper[c * n - c * (c + 1) / 2 + r]);
      }
    } else {
      for (uint64_t i = 0; i < n; ++i) {
        const double variance = t_->number("variance");
        if (!(variance > 0)) t_->fail_here(format("a variance is %g; it must be positive", variance));
        precision.push_back(static_cast<float>(1 / variance));
      }
    }
    set_.covariances.push_back(std::move(precision));
    is_full_.push_back(full);
    return static_cast<uint32_t>(set_.covariances.size() - 1);
  }

  uint32_t density() {
    if (t_->skip("~m")) return use(densities_, "mixture");
    Density density;
    density.mean = mean();
    density.covariance = covariance();
    if (t_->skip("<GCONST>")) t_->number("constant of a Gaussian");  // recomputed for scoring
    const asr_covariance kind = is_full_[density.covariance] ? ASR_COVARIANCE_FULL : ASR_COVARIANCE_DIAGONAL;
    if (covariance_seen_ && kind != set_.covariance)
      t_->fail_here("has diagonal and full covariances; such models cannot be imported");
    set_.covariance = kind;
    covariance_seen_ = true;
    if (set_.stream_dims.empty()) set_.stream_dims = {static_cast<uint32_t>(density.mean.size())};
    set_.densities.push_back(std::move(density));
    return static_cast<uint32_t>(set_.densities.size() - 1);
  }

  void stream_weights() {
    if (t_->skip("~w")) {
      const std::string name = t_->next("stream weights");
      if (weights_.count(name) == 0) t_->fail_here("uses the stream weights \"" + name + "\", which are not defined before");
      return;
    }
    t_->expect("<SWEIGHTS>");
    for (const float weight : t_->numbers(t_->count("number of stream weights", kMaxStreams), "stream weight")) {
      if (weight != 1) t_->fail_here("has a stream weight other than 1; such models cannot be imported");
    }
  }

  void skip_mixture_counts() {
    if (!t_->skip("<NUMMIXES>")) return;
    const size_t n = std::max<size_t>(set_.stream_dims.size(), 1);
    for (size_t i = 0; i < n; ++i) t_->number("number of mixtures");
  }

  uint32_t state() {
    if (t_->skip("~s")) return use(states_, "state");
    skip_mixture_counts();
    std::vector<Mixture> streams(std::max<size_t>(set_.stream_dims.size(), 1));
    const auto add = [&](size_t stream, uint32_t density, double weight) {
      if (!(weight >= 0)) t_->fail_here("has a negative weight");
      streams[stream].densities.push_back(density);
      streams[stream].log_weights.push_back(static_cast<float>(std::log(weight)));
    };
    for (size_t stream = 0;;) {
      const std::string token = t_->peek();
      if (t_->skip("<STREAM>")) {
        stream = t_->count("number of a stream", static_cast<uint32_t>(streams.size())) - 1;
      } else if (t_->skip("<MIXTURE>")) {
        t_->number("number of a mixture");
        const double weight = t_->number("weight of a mixture");
        add(stream, density(), weight);
      } else if (token == "<SWEIGHTS>" || token == "~w") {
        stream_weights();
      } else if ((token == "<MEAN>" || token == "~u" || token == "~m") && streams[stream].densities.empty()) {
        add(stream, density(), 1);
      } else {
        break;
      }
    }
    for (const Mixture &mixture : streams) {
      if (mixture.densities.empty())
        t_->fail_here("has a state that lacks the mixtures of a stream (tied mixtures, <TMIX>, cannot be imported)");
      double sum = 0;
      for (const float log_weight : mixture.log_weights) sum += std::exp(double{log_weight});
      if (std::abs(sum - 1) > kMaxSumError)
        t_->fail_here(format("the weights of a state add up to %g, not 1; the file is damaged", sum));
    }
    set_.states.push_back({std::move(streams)});
    return static_cast<uint32_t>(set_.states.size() - 1);
  }

  uint32_t matrix() {
    if (t_->skip("~t")) return use(matrices_, "transition matrix");
    t_->expect("<TRANSP>");
    TransitionMatrix matrix;
    matrix.n = t_->count("size of a transition matrix", kMaxMatrixStates);
    if (matrix.n < 3) t_->fail_here("has a transition matrix of fewer than 3 states");
    for (uint64_t i = 0; i < uint64_t{matrix.n} * matrix.n; ++i) {
      matrix.probs.push_back(t_->number("transition probability"));
      if (!(matrix.probs.back() >= 0 && matrix.probs.back() <= 1.001))
        t_->fail_here("has a transition probability outside 0 ... 1");
      if ((i + 1) % matrix.n == 0) check_row(matrix);
    }
    set_.transitions.push_back(std::move(matrix));
    return static_cast<uint32_t>(set_.transitions.size() - 1);
  }

  // Checks the last row: probabilities of the transitions from a state add up to 1, and nothing leads out of the exit.
  void check_row(const TransitionMatrix &matrix) {
    const size_t row = matrix.probs.size() / matrix.n;
    const double sum = std::accumulate(matrix.probs.end() - matrix.n, matrix.probs.end(), 0.0);
    const double right = row == matrix.n ? 0 : 1;
    if (std::abs(sum - right) > kMaxSumError)
      t_->fail_here(format("row %zu of a transition matrix adds up to %g, not %g; the file is damaged", row, sum, right));
  }

  void hmm(const std::string &name) {
    HmmDefinition hmm;
    hmm.name = name;
    t_->expect("<BEGINHMM>");
    options();
    t_->expect("<NUMSTATES>");
    const uint32_t n = t_->count("number of states", kMaxMatrixStates);
    if (n < 3) t_->fail_here("has an HMM without emitting states");
    hmm.states.assign(n - 2, kNone);
    while (t_->skip("<STATE>")) {
      const uint32_t k = t_->count("number of a state", n);
      if (k < 2 || k >= n) t_->fail_here(format("state %u of %u does not emit; it can have no mixtures", k, n));
      hmm.states[k - 2] = state();
    }
    if (std::count(hmm.states.begin(), hmm.states.end(), kNone) != 0) t_->fail_here("has an HMM that lacks a state");
    hmm.transitions = matrix();
    if (set_.transitions[hmm.transitions].n != n) t_->fail_here("has a transition matrix of another size than its HMM");
    t_->expect("<ENDHMM>");
    set_.hmms.push_back(std::move(hmm));
  }
};

}  // namespace

ModelSet read_hmmdefs(const std::vector<std::string> &paths) {
  Parser parser;
  for (const std::string &path : paths) {
    const std::string text = read_text(path, {"HMMs of HTK in text", {Format::kHtkHmms}});
    parser.parse(text, path);
  }
  return parser.finish(paths.empty() ? "no files" : paths.back());
}

}  // namespace asr::htk
