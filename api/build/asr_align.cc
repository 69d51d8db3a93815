// SPDX-License-Identifier: Apache-2.0
// The functions asr_align* of asr_build.h: handles, argument checks and calls of builder/align.
#include <algorithm>
#include <memory>
#include <mutex>
#include <sstream>
#include <vector>

#include "api/fill.h"
#include "api/guard.h"
#include "asr_build.h"
#include "builder/align/dictionary_words.h"
#include "builder/align/text_aligner.h"
#include "builder/align/workers.h"
#include "builder/text/unicode.h"
#include "builder/train/sample_rows.h"
#include "core/base/error.h"
#include "core/base/limits.h"

using asr::api::check_range;
using asr::api::fill;
using asr::api::guard;
using asr::api::number;
using asr::api::require;
using asr::api::resized;

namespace {

// Worker is what one thread computes with: a device of the CPU back end without threads of its own.
struct Worker {
  Worker(const asr::AlignmentModel &model, const asr::FeatureTables &tables)
      : device(asr::choose_device("cpu"), asr::TextAligner::options(1, 1)),
        row_maker(device, tables, asr::TextAligner::options(1, 1).window_frames),
        aligner(model, device, asr::TextAligner::kBeam),
        pool(1) {}

  const asr::Device device;
  const asr::train::RowMaker row_maker;
  const asr::TextAligner aligner;
  asr::ThreadPool pool;
};

constexpr size_t kChunkSamples = 16000;

}  // namespace

struct asr_aligner {
  asr_aligner(const char *bundle, const char *lexicon, const asr_aligner_config &config)
      : model(bundle),
        tables(model.bundle.front_end, {1.0}),
        workers([this] { return std::make_unique<Worker>(model, tables); }),
        dictionary(lexicon, model.set, config.g2p == nullptr ? "" : config.g2p, config.n_g2p_best) {}

  // Looks the words of an item's text up.
  void look_up(asr::AlignmentItem *item) const {
    const std::lock_guard<std::mutex> lock(mutex);
    for (const std::string &word : item->transcript.text) item->words.push_back(dictionary.form_of(word));
    item->lexicon = dictionary.lexicon_of(item->words);
  }

  const asr::AlignmentModel model;
  const asr::FeatureTables tables;
  mutable asr::ResampleFilters filters;
  mutable asr::Workers<Worker> workers;
  mutable std::mutex mutex;  // of the dictionary, which notes words that it guesses
  mutable asr::DictionaryWords dictionary;
};

struct asr_alignment {
  explicit asr_alignment(asr::TimedTranscript timed) : transcript(std::move(timed)), not_said(asr::not_said(transcript)) {
    for (const asr::TimedWord &word : transcript.words) {
      first_phones.push_back(phones.size());
      for (const asr::TimedPhone &phone : word.phones) phones.push_back(&phone);
    }
  }

  const asr::TimedTranscript transcript;
  const std::vector<uint32_t> not_said;
  std::vector<size_t> first_phones;             // [words]
  std::vector<const asr::TimedPhone *> phones;  // of the transcript
};

namespace {

asr::SampleType sample_type(int input) {
  switch (input) {
    case ASR_INPUT_FLOAT:
      return asr::SampleType::kFloat;
    case ASR_INPUT_ULAW:
      return asr::SampleType::kUlaw;
    case ASR_INPUT_ALAW:
      return asr::SampleType::kAlaw;
    default:
      return asr::SampleType::kInt16;
  }
}

asr_align_config read_config(const asr_align_config *config, const asr::FrontEnd &front_end) {
  asr_align_config c = resized(config, asr_align_config_default, "asr_align_config");
  check_range<int>(number(c.input), ASR_INPUT_INT16, ASR_INPUT_ALAW, "asr_align_config.input");
  if (number(c.input) == ASR_INPUT_LOGLIKES) {
    asr::fail(ASR_INVALID_ARGUMENT, "asr_align_config.input is ASR_INPUT_LOGLIKES; give samples or features");
  }
  if (c.sample_rate_hz != 0) {
    check_range(c.sample_rate_hz, asr::kMinSampleRateHz, asr::kMaxSampleRateHz, "asr_align_config.sample_rate_hz");
  } else {
    c.sample_rate_hz = static_cast<uint32_t>(front_end.sample_rate_hz);
  }
  check_range(c.n_channels, 1u, asr::kMaxChannels, "asr_align_config.n_channels");
  check_range(c.channel, -1, static_cast<int32_t>(c.n_channels) - 1, "asr_align_config.channel");
  check_range(c.lenient, 0u, 1u, "asr_align_config.lenient");
  check_range(c.skip_cost, 0.0, 1e6, "asr_align_config.skip_cost");
  check_range(c.foreign_cost, 5.0, 1e6, "asr_align_config.foreign_cost");
  return c;
}

std::vector<std::string> words_of(const char *text, size_t n_bytes) {
  if (n_bytes > asr::kMaxTextBytes) {
    asr::fail(ASR_INVALID_ARGUMENT, "asr_align: n_bytes is %zu; the most is %zu", n_bytes, asr::kMaxTextBytes);
  }
  const size_t n_before = std::find(text, text + n_bytes, '\0') - text;
  if (n_before < n_bytes) {
    asr::fail(ASR_INVALID_ARGUMENT,
              "asr_align: text has a zero byte after %zu bytes; n_bytes does not count the one at its end", n_before);
  }
  std::istringstream stream(asr::to_nfc(std::string(text, n_bytes)));
  std::vector<std::string> words;
  for (std::string word; stream >> word;) {
    if (!asr::is_of_signs(word)) words.push_back(word);
  }
  if (words.empty()) asr::fail(ASR_INVALID_ARGUMENT, "asr_align: text has no words; write what is said");
  return words;
}

// Returns a function that makes the rows of the samples a second at a time.
std::function<bool(std::vector<float> *)> reader(const asr_aligner &aligner, const Worker &worker,
                                                 const asr_align_config &config, const void *samples, size_t n_samples) {
  const asr::FrontEnd &front_end = aligner.model.bundle.front_end;
  const asr::SampleFormat format{sample_type(number(config.input)), config.sample_rate_hz, config.n_channels, config.channel};
  const auto rows = std::make_shared<asr::train::SampleRows>(
      worker.row_maker, front_end.cmn, format, aligner.filters.get(config.sample_rate_hz, front_end.sample_rate_hz));
  const size_t sample_bytes = format.n_channels * format.sample_bytes();
  size_t at = 0;
  bool is_done = false;
  return [=](std::vector<float> *out) mutable {
    if (is_done) return false;
    const size_t n = std::min(n_samples - at, kChunkSamples);
    if (n > 0) rows->add(static_cast<const char *>(samples) + at * sample_bytes, n, out);
    at += n;
    is_done = at == n_samples && !rows->finish(out);
    return true;
  };
}

std::vector<float> copied_rows(const void *rows, size_t n, uint32_t n_dims) {
  const auto *const first = static_cast<const float *>(rows);
  const std::string fault = asr::fault_of_rows(first, n, n_dims, false, 0);
  if (!fault.empty()) asr::fail(ASR_BAD_AUDIO, "asr_align: %s", fault.c_str());
  return {first, first + n * n_dims};
}

void check_index(size_t index, size_t n, const char *function, const char *what) {
  if (index >= n) asr::fail(ASR_INVALID_ARGUMENT, "%s: %s %zu of %zu", function, what, index, n);
}

const asr::TimedTranscript &of(const asr_alignment *alignment) { return alignment->transcript; }

}  // namespace

void asr_aligner_config_default(asr_aligner_config *config) {
  if (config == nullptr) return;
  *config = {};
  config->size = sizeof(*config);
  config->n_g2p_best = 1;
}

asr_status asr_aligner_open(const char *bundle_path, const char *lexicon_path, const asr_aligner_config *config,
                            asr_aligner **aligner) {
  return guard([&] {
    require(bundle_path, "asr_aligner_open", "bundle_path");
    require(lexicon_path, "asr_aligner_open", "lexicon_path");
    require(aligner, "asr_aligner_open", "aligner");
    const asr_aligner_config c = resized(config, asr_aligner_config_default, "asr_aligner_config");
    check_range<size_t>(c.n_g2p_best, 1, asr::kMaxPronunciations, "asr_aligner_config.n_g2p_best");
    check_range(c.reserved, 0u, 0u, "asr_aligner_config.reserved");
    *aligner = new asr_aligner(bundle_path, lexicon_path, c);
  });
}

void asr_aligner_close(asr_aligner *aligner) { delete aligner; }

void asr_align_config_default(asr_align_config *config) {
  if (config == nullptr) return;
  const asr::Leniency leniency = asr::kDefaultLeniency;
  *config = {};
  config->size = sizeof(*config);
  config->n_channels = 1;
  config->channel = -1;
  config->skip_cost = leniency.skip_cost;
  config->foreign_cost = leniency.foreign_cost;
}

asr_status asr_align(const asr_aligner *aligner, const void *samples, size_t n_samples, const char *text, size_t n_bytes,
                     const asr_align_config *config, asr_alignment **alignment) {
  return guard([&] {
    require(aligner, "asr_align", "aligner");
    require(samples, "asr_align", "samples");
    require(text, "asr_align", "text");
    require(alignment, "asr_align", "alignment");
    const asr::FrontEnd &front_end = aligner->model.bundle.front_end;
    const asr_align_config c = read_config(config, front_end);
    std::vector<asr::AlignmentItem> items(1);
    asr::AlignmentItem &item = items.front();
    item.transcript.text = words_of(text, n_bytes);
    aligner->look_up(&item);
    std::unique_ptr<Worker> worker = aligner->workers.take();
    if (number(c.input) == ASR_INPUT_FEATURES) {
      item.rows = copied_rows(samples, n_samples, front_end.n_dims());
    } else {
      asr::check_takes_audio(aligner->model.bundle);
      item.more = reader(*aligner, *worker, c, samples, n_samples);
    }
    worker->aligner.align({{c.lenient == 1, c.skip_cost, c.foreign_cost}, true}, &worker->pool, &items);
    item.more = nullptr;  // it uses the worker
    aligner->workers.give_back(std::move(worker));
    if (!item.problem.empty()) asr::fail(ASR_BAD_AUDIO, "asr_align: %s", item.problem.c_str());
    *alignment = new asr_alignment(std::move(item.transcript));
  });
}

asr_status asr_alignment_get_info(const asr_alignment *alignment, asr_alignment_info *info) {
  return guard([&] {
    require(alignment, "asr_alignment_get_info", "alignment");
    require(info, "asr_alignment_get_info", "info");
    asr_alignment_info value{};
    value.duration_s = of(alignment).duration_s;
    value.n_words = of(alignment).words.size();
    value.n_phones = alignment->phones.size();
    value.n_text_words = of(alignment).text.size();
    value.not_said = alignment->not_said.data();
    value.n_not_said = alignment->not_said.size();
    fill(info, value, "asr_alignment_get_info: info->size");
  });
}

asr_status asr_alignment_word(const asr_alignment *alignment, size_t index, asr_aligned_word *word) {
  return guard([&] {
    require(alignment, "asr_alignment_word", "alignment");
    require(word, "asr_alignment_word", "word");
    check_index(index, of(alignment).words.size(), "asr_alignment_word", "word");
    const asr::TimedWord &timed = of(alignment).words[index];
    asr_aligned_word value{};
    value.text = timed.number == asr::kForeign ? asr::kForeignLabel : of(alignment).text[timed.number].c_str();
    value.start_s = timed.begin_s();
    value.end_s = timed.end_s();
    value.confidence = static_cast<float>(timed.confidence());
    value.number = timed.number;
    value.first_phone = alignment->first_phones[index];
    value.n_phones = timed.phones.size();
    fill(word, value, "asr_alignment_word: word->size");
  });
}

asr_status asr_alignment_phone(const asr_alignment *alignment, size_t index, asr_aligned_phone *phone) {
  return guard([&] {
    require(alignment, "asr_alignment_phone", "alignment");
    require(phone, "asr_alignment_phone", "phone");
    check_index(index, alignment->phones.size(), "asr_alignment_phone", "phone");
    const asr::TimedPhone &timed = *alignment->phones[index];
    asr_aligned_phone value{};
    value.name = timed.name.c_str();
    value.likeliest = timed.likeliest.c_str();
    value.start_s = timed.begin_s;
    value.end_s = timed.end_s;
    value.log_likelihood = static_cast<float>(timed.log_likelihood);
    value.goodness = static_cast<float>(timed.goodness.value_or(0));
    fill(phone, value, "asr_alignment_phone: phone->size");
  });
}

void asr_alignment_free(asr_alignment *alignment) { delete alignment; }
