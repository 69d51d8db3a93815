// SPDX-License-Identifier: Apache-2.0
// Implements `senone g2p`: trains a grapheme-to-phoneme model on a dictionary, and pronounces words with it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "builder/g2p/pronounce.h"
#include "builder/g2p/train.h"
#include "builder/graph/letter_case.h"
#include "builder/text/text_file.h"
#include "builder/text/unicode.h"
#include "core/base/file.h"
#include "core/base/limits.h"
#include "tools/progress.h"
#include "tools/tool.h"

namespace asr::tool {
namespace {

struct G2pArguments {
  std::string dictionary, model, out, letter_case = "asis";
  uint32_t order = 8, n_best = 1;
  double holdout = 0;
  bool json = false;
  std::vector<std::string> words;
};

void check(const G2pArguments &arguments) {
  if (arguments.dictionary.empty() == arguments.model.empty()) throw UsageError("g2p: give one of --train and --model");
  if (!arguments.model.empty()) {
    if (arguments.words.empty()) throw UsageError("g2p: name words to pronounce, or - for those of standard input");
    if (!arguments.out.empty() || arguments.holdout > 0) throw UsageError("g2p: --out and --holdout are for --train");
    return;
  }
  if (!arguments.words.empty()) throw UsageError("g2p: words are pronounced with --model; --train takes a dictionary only");
  std::error_code unknown;
  if (std::filesystem::equivalent(arguments.out, arguments.dictionary, unknown)) {
    throw UsageError("g2p: --out " + arguments.out + " would replace the dictionary of --train; name another file");
  }
  if (arguments.out.empty() && arguments.holdout == 0) throw UsageError("g2p: --train needs --out, --holdout or both");
}

size_t n_errors(const std::vector<uint32_t> &ref, const std::vector<uint32_t> &hyp) {
  std::vector<size_t> row(hyp.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= ref.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= hyp.size(); ++j) {
      const size_t substituted = diagonal + (ref[i - 1] != hyp[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[hyp.size()];
}

struct HoldoutErrors {
  size_t n_words = 0, n_wrong = 0, n_phones = 0, n_phone_errors = 0, n_unspoken = 0;
};

// Compares a word with the nearest of its pronunciations.
void add_errors(const G2pModel &model, const PronouncedWord &word, HoldoutErrors *errors) {
  std::vector<uint32_t> best;
  try {
    const std::vector<G2pResult> results = pronounce(model, word.word, {});
    if (!results.empty()) best = results[0].phones;
  } catch (const Error &error) {
    if (error.code() != ASR_INVALID_ARGUMENT) throw;  // letters that occur only in held-out words
  }
  errors->n_unspoken += best.empty();
  size_t least = best.size() + kMaxWordPhones, n_phones = 0;
  for (const auto &ref : word.pronunciations) {
    const size_t n = n_errors(ref, best);
    if (n < least) {
      least = n;
      n_phones = ref.size();
    }
  }
  ++errors->n_words;
  errors->n_wrong += least > 0;
  errors->n_phones += n_phones;
  errors->n_phone_errors += least;
}

void print_errors(const HoldoutErrors &errors, double seconds, bool json) {
  const double word_rate = 100.0 * double(errors.n_wrong) / double(errors.n_words);
  const double phone_rate = 100.0 * double(errors.n_phone_errors) / double(errors.n_phones);
  if (json) {
    printf("%s\n", nlohmann::ordered_json{{"words", errors.n_words},
                                          {"wrong_words", errors.n_wrong},
                                          {"phones", errors.n_phones},
                                          {"phone_errors", errors.n_phone_errors},
                                          {"per_percent", phone_rate},
                                          {"wer_percent", word_rate},
                                          {"unspoken_words", errors.n_unspoken}}
                       .dump(2)
                       .c_str());
    return;
  }
  printf("held out  phone error rate %.2f %%, word error rate %.2f %%: %zu of %zu words wrong, %zu errors in %zu phones\n",
         phone_rate, word_rate, errors.n_wrong, errors.n_words, errors.n_phone_errors, errors.n_phones);
  if (errors.n_unspoken > 0) printf("%zu of these words got no pronunciation\n", errors.n_unspoken);
  printf("%.1f s for these words\n", seconds);
}

void print_training(const G2pModel &model, const G2pTraining &training, double seconds) {
  printf("trained   %zu pronunciations, %zu left out; %zu units of letters and phones, %u n-grams of up to %u\n",
         training.n_pronunciations, training.n_left_out, model.units.size() - kFirstUnit, model.n_nodes() - 1, model.order);
  printf("%.1f s, peak memory %.0f MB\n", seconds, double(peak_memory_bytes()) / 1e6);
}

// Holds out every k-th word, from the first on.
void train(const G2pArguments &arguments) {
  const double start_s = wall_seconds();
  const Pronunciations dictionary =
      parse_pronunciations(read_text(arguments.dictionary, {"a dictionary"}), arguments.dictionary);
  std::vector<bool> trained(dictionary.words.size(), true);
  if (arguments.holdout > 0) {
    const size_t every = std::max(size_t{2}, static_cast<size_t>(std::lround(std::min(1e9, 1 / arguments.holdout))));
    for (size_t i = 0; i < trained.size(); i += every) trained[i] = false;
  }
  G2pTraining training;
  G2pModel model;
  HoldoutErrors errors;
  double trained_s = 0;
  {
    Progress progress("g2p");
    const auto report = [&](double share) { progress.update(share, "aligning letters and phones"); };
    model = train_g2p(dictionary, trained, arguments.order, arguments.dictionary, report, &training);
    if (!arguments.out.empty()) write_g2p_model(model, arguments.out);
    trained_s = wall_seconds();
    for (size_t i = 0; i < trained.size(); ++i) {
      if (i % 256 == 0) progress.update(double(i) / double(trained.size()), "pronouncing the words held out");
      if (!trained[i]) add_errors(model, dictionary.words[i], &errors);
    }
  }
  if (dictionary.had_positions) {
    print_line(stderr,
               "senone: note: %s: the endings _B _I _E _S of its phones were taken off; the model has the phones without",
               arguments.dictionary.c_str());
  }
  if (!arguments.json) print_training(model, training, trained_s - start_s);
  if (errors.n_words > 0) print_errors(errors, wall_seconds() - trained_s, arguments.json);
}

std::string phones_text(const G2pModel &model, const std::vector<uint32_t> &phones) {
  std::string text;
  for (const uint32_t phone : phones) text += (text.empty() ? "" : " ") + model.phones[phone];
  return text;
}

void print_word(const G2pModel &model, const std::string &word, const G2pArguments &arguments) {
  const std::vector<G2pResult> results = pronounce(model, word, {arguments.n_best});
  if (results.empty()) fail(ASR_UNSUPPORTED, "'%s' gets no pronunciation; give one in a dictionary", word.c_str());
  const StdoutLock lock;
  if (arguments.json) {
    nlohmann::ordered_json pronunciations = nlohmann::ordered_json::array();
    for (const G2pResult &result : results) {
      pronunciations.push_back({{"phones", phones_text(model, result.phones)}, {"posterior", result.posterior}});
    }
    printf("%s\n", nlohmann::ordered_json{{"word", word}, {"pronunciations", pronunciations}}.dump().c_str());
    return;
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string variant = i == 0 ? "" : "(" + std::to_string(i + 1) + ")";
    printf("%s%s  %s\n", word.c_str(), variant.c_str(), phones_text(model, results[i].phones).c_str());
  }
}

// Every word is tried; those without a pronunciation are named, and counted at the end.
void pronounce_words(const G2pArguments &arguments) {
  const G2pModel model = read_g2p_model(arguments.model);
  const LetterCase letter_case = letter_case_named(arguments.letter_case);
  size_t n_words = 0, n_failed = 0;
  const auto print = [&](const std::string &word, const std::string &place) {
    ++n_words;
    try {
      print_word(model, fold_case(to_nfc(word), letter_case), arguments);
    } catch (const Error &error) {
      if (error.code() == ASR_OUT_OF_MEMORY || error.code() == ASR_IO) throw;
      ++n_failed;
      std::error_code none;
      const bool is_file = place.empty() && std::filesystem::is_regular_file(word, none);
      print_line(stderr, "senone: %s%s%s", place.c_str(), error.what(),
                 is_file ? "; this is a file: give - and let the words of it be the standard input" : "");
    }
  };
  for (const std::string &word : arguments.words) {
    if (word != "-") {
      print(word, "");
      continue;
    }
    size_t number = 0;
    for (std::string line; std::getline(std::cin, line);) {
      std::istringstream listed(line);
      const std::string place = format("standard input, line %zu: ", ++number);
      for (std::string one; listed >> one;) print(one, place);
    }
  }
  if (n_failed > 0)
    fail(ASR_UNSUPPORTED, "g2p: %zu of %zu words got no pronunciation; see the messages above", n_failed, n_words);
}

void run_g2p(const G2pArguments &arguments) {
  check(arguments);
  if (arguments.model.empty()) return train(arguments);
  pronounce_words(arguments);
}

void add_g2p(Command app) {
  const auto arguments = std::make_shared<G2pArguments>();
  Command g2p = app.command("g2p", "Pronounce words that no dictionary has, by a model trained on one");
  g2p.option("--train", arguments->dictionary, "Dictionary in CMU Sphinx form to train a model on");
  g2p.option("-o,--out", arguments->out, "File for the trained model");
  g2p.option("--order", arguments->order, "Units of letters and phones that an n-gram has")
      .range(1u, kMaxUnitOrder)
      .shows_default();
  g2p.option("--holdout", arguments->holdout, "Share of the words to leave out of training and count errors on, such as 0.1")
      .range(0.0, 0.5);
  g2p.option("--model", arguments->model, "Model to pronounce words with");
  g2p.option("--nbest", arguments->n_best, "Pronunciations of each word, at most")
      .range(1u, static_cast<uint32_t>(kMaxPronunciations))
      .shows_default();
  g2p.option("--case", arguments->letter_case, "Change words to the dictionary's case")
      .one_of({"asis", "lower", "upper"})
      .shows_default();
  g2p.flag("--json", arguments->json, "Print JSON: a line for each word, with posteriors");
  g2p.option("WORD", arguments->words, "Words; -: those of standard input");
  add_quiet(g2p);
  g2p.callback([arguments] { run_g2p(*arguments); });
}

const Subcommand kG2p{"g2p", add_g2p};

}  // namespace
}  // namespace asr::tool
