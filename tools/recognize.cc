// SPDX-License-Identifier: Apache-2.0
// `senone recognize`: recordings in, words out, through the C ABI alone: this is also an example of its use.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <sstream>
#include <thread>

#include "core/base/file.h"
#include "tools/audio_file.h"
#include "tools/recognition.h"
#include "tools/tool.h"

namespace asr::tool {
namespace {

struct Options {
  std::string model, device, list, hyp, cmn = "model", lattice;
  std::vector<std::string> files;
  bool json = false, ctm = false, srt = false;
  uint32_t n_jobs = 0, n_threads = 0, raw_rate_hz = 16000, n_best = 1, max_active = 0;
  size_t chunk_samples = 16000;
  float beam = 0, acoustic_scale = 0, word_insertion_cost = NAN;
};

struct Recording {
  std::string path, id;
};

using EnginePointer = std::unique_ptr<asr_engine, void (*)(asr_engine *)>;
using StreamPointer = std::unique_ptr<asr_stream, void (*)(asr_stream *)>;
using EventPointer = std::unique_ptr<asr_event, void (*)(asr_event *)>;

void check(asr_status status) {
  if (status != ASR_OK) fail(status, "%s", asr_last_error());
}

// ---- the recordings --------------------------------------------------------------------------------------------------

// Lines "path [id]"; '#' begins a comment line.
void read_list(const std::string &path, std::vector<Recording> *recordings) {
  std::istringstream lines(read_file(path));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    Recording recording;
    if (!(fields >> recording.path) || recording.path[0] == '#') continue;
    if (!(fields >> recording.id)) recording.id = std::filesystem::path(recording.path).stem();
    recordings->push_back(recording);
  }
}

std::vector<Recording> all_recordings(const Options &options) {
  std::vector<Recording> recordings;
  for (const std::string &file : options.files) recordings.push_back({file, std::filesystem::path(file).stem()});
  if (!options.list.empty()) read_list(options.list, &recordings);
  if (recordings.empty()) throw UsageError("recognize: no recordings; name files or give --list FILE");
  return recordings;
}

// ---- recognising one -------------------------------------------------------------------------------------------------

asr_cmn cmn_kind(const std::string &name) {
  return name == "live" ? ASR_CMN_LIVE : name == "batch" ? ASR_CMN_BATCH : name == "none" ? ASR_CMN_NONE : ASR_CMN_MODEL;
}

StreamPointer open_stream(asr_engine *engine, const Options &options, const AudioFile &audio) {
  asr_stream_config config;
  asr_stream_config_default(&config);
  config.input = ASR_INPUT_FLOAT;
  config.sample_rate_hz = audio.rate_hz();
  config.n_channels = audio.n_channels();
  config.cmn = cmn_kind(options.cmn);
  config.beam = options.beam;
  config.acoustic_scale = options.acoustic_scale;
  config.word_insertion_cost = options.word_insertion_cost;
  config.max_active = options.max_active;
  config.n_best = options.n_best;
  config.lattice_beam = options.lattice.empty() ? 0 : 8;
  asr_stream *stream = nullptr;
  check(asr_open(engine, &config, &stream));
  return {stream, asr_close};
}

void take_words(const asr_event *event, Recognition *result) {
  result->text = asr_event_text(event);
  result->flags = asr_event_flags(event);
  check(asr_event_alternative_costs(event, 0, &result->graph_cost, &result->acoustic_cost));
  for (size_t i = 0; i < asr_event_n_words(event, 0); ++i) {
    asr_word word;
    word.size = sizeof(word);
    check(asr_event_word(event, 0, i, &word));
    result->words.push_back({word.text, word.start_s, word.end_s, word.confidence});
  }
}

void recognize(asr_engine *engine, const Options &options, Recognition *result) {
  AudioFile audio(result->path, options.raw_rate_hz);
  const StreamPointer stream = open_stream(engine, options, audio);
  std::vector<float> samples(options.chunk_samples * audio.n_channels());
  size_t n_samples = 0;
  while (const size_t n = audio.read(samples.data(), options.chunk_samples)) {
    check(asr_feed(stream.get(), samples.data(), n));
    n_samples += n;
  }
  result->audio_s = static_cast<double>(n_samples) / audio.rate_hz();
  check(asr_finish(stream.get()));
  for (bool ended = false; !ended;) {
    check(asr_wait(stream.get(), -1));
    asr_event *taken = nullptr;
    check(asr_result(stream.get(), &taken));
    const EventPointer event(taken, asr_event_free);
    const asr_event_kind kind = asr_event_get_kind(taken);
    if (kind == ASR_EVENT_FINAL) take_words(taken, result);
    if (kind == ASR_EVENT_ERROR) fail(asr_event_status(taken), "%s", asr_event_text(taken));
    ended = kind == ASR_EVENT_END;
  }
}

// ---- recognising all -------------------------------------------------------------------------------------------------

void print(const Recognition &result, const Options &options, bool with_id) {
  if (!result.error.empty()) fprintf(stderr, "senone: %s\n", result.error.c_str());
  if (result.error.empty() && result.audio_s == 0) fprintf(stderr, "senone: %s: no audio in it\n", result.path.c_str());
  if (options.json) {
    fputs(to_json(result).c_str(), stdout);
  } else if (!result.error.empty()) {
    return;
  } else if (options.ctm) {
    fputs(to_ctm(result).c_str(), stdout);
  } else if (options.srt) {
    fputs(to_srt(result).c_str(), stdout);
  } else {
    printf("%s%s%s\n", with_id ? result.id.c_str() : "", with_id ? "\t" : "", result.text.c_str());
  }
  fflush(stdout);
}

// Keeps n_jobs streams in flight and prints the results in the order of the recordings, each as soon as those before it.
class Batch {
 public:
  Batch(asr_engine *engine, const Options &options, const std::vector<Recording> &recordings)
      : engine_(engine), options_(options), done_(recordings.size(), false) {
    for (const Recording &recording : recordings) {
      results_.emplace_back();
      results_.back().path = recording.path;
      results_.back().id = recording.id;
    }
  }

  const std::vector<Recognition> &run(size_t n_jobs) {
    std::vector<std::thread> workers;
    for (size_t j = 0; j < std::min(n_jobs, results_.size()); ++j) workers.emplace_back([this] { work(); });
    print_all();
    for (std::thread &worker : workers) worker.join();
    return results_;
  }

 private:
  void work() {
    for (size_t i; (i = next_++) < results_.size();) {
      try {
        recognize(engine_, options_, &results_[i]);
      } catch (const std::exception &error) {
        const std::string sentence = error.what();
        const bool named = sentence.rfind(results_[i].path, 0) == 0;
        results_[i].error = named ? sentence : results_[i].path + ": " + sentence;
      }
      std::lock_guard lock(mutex_);
      done_[i] = true;
      changed_.notify_all();
    }
  }

  void print_all() {
    Progress progress("recognising");
    for (size_t i = 0; i < results_.size(); ++i) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return done_[i]; });
      lock.unlock();
      print(results_[i], options_, results_.size() > 1);
      progress.update(static_cast<double>(i + 1) / static_cast<double>(results_.size()), results_[i].id);
    }
  }

  asr_engine *engine_;
  const Options &options_;
  std::vector<Recognition> results_;
  std::atomic<size_t> next_{0};
  std::mutex mutex_;  // of done_
  std::condition_variable changed_;
  std::vector<bool> done_;
};

void write_hyp(const std::vector<Recognition> &results, const std::string &path) {
  OutputFile file(path);
  for (const Recognition &result : results) {
    if (result.error.empty()) file.write(to_hyp(result));
  }
  file.commit();
}

uint32_t default_jobs(const Options &options) {
  if (options.n_jobs > 0) return options.n_jobs;
  return options.n_threads > 0 ? options.n_threads : std::max(1u, std::thread::hardware_concurrency());
}

EnginePointer load_engine(const Options &options, uint32_t n_jobs) {
  asr_engine_config config;
  asr_engine_config_default(&config);
  config.device = options.device.c_str();
  config.max_lanes = std::min(n_jobs, 1024u);
  config.n_threads = options.n_threads;
  asr_engine *engine = nullptr;
  check(asr_engine_load(options.model.c_str(), &config, &engine));
  return {engine, asr_engine_close};
}

void print_summary(const asr_engine *engine, const std::vector<Recognition> &results, double seconds) {
  asr_engine_info info;
  info.size = sizeof(info);
  check(asr_engine_get_info(engine, &info));
  double audio_s = 0;
  for (const Recognition &result : results) audio_s += result.audio_s;
  fprintf(stderr, "%zu recordings, %.1f s of audio in %.2f s, real-time factor %.4f, on %s (%s)\n", results.size(), audio_s,
          seconds, audio_s > 0 ? seconds / audio_s : 0.0, info.device_id, info.device_name);
}

void run(const Options &options) {
  const std::vector<Recording> recordings = all_recordings(options);
  if (options.srt && recordings.size() > 1) throw UsageError("recognize: --srt takes one recording at a time");
  const uint32_t n_jobs = default_jobs(options);
  const EnginePointer engine = load_engine(options, n_jobs);
  const double begin_s = wall_seconds();
  Batch batch(engine.get(), options, recordings);
  const std::vector<Recognition> &results = batch.run(n_jobs);
  print_summary(engine.get(), results, wall_seconds() - begin_s);
  if (!options.hyp.empty()) write_hyp(results, options.hyp);
  const auto failed = [](const Recognition &result) { return !result.error.empty(); };
  const auto n_failed = std::count_if(results.begin(), results.end(), failed);
  if (n_failed > 0) fail(ASR_IO, "%td of %zu recordings failed", n_failed, results.size());
}

void add_recognize(CLI::App &app) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand("recognize", "Print the words of recordings");
  command->add_option("--model", options->model, "Bundle: a directory made by `senone import` and `senone graph`")->required();
  command->add_option("files", options->files, "Recordings: flac, wav, NIST SPHERE, ..., .raw");
  command->add_option("--list", options->list, "File of recordings: a line each, path and optional id");
  auto *kind = command->add_option_group("output", "one of");
  kind->add_flag("--json", options->json, "Print a JSON object for each recording, one a line");
  kind->add_flag("--ctm", options->ctm, "Print word times as NIST CTM");
  kind->add_flag("--srt", options->srt, "Print subtitles");
  kind->require_option(0, 1);
  command->add_option("--hyp", options->hyp, "Also write `words (id)` lines, for `senone wer`");
  command->add_option("--device", options->device, "cpu, cuda:0, ... (see `senone devices`); default: the best");
  command->add_option("--jobs", options->n_jobs, "Recordings recognised at a time; default: one for each thread")
      ->check(CLI::Range(1, 1024));
  command->add_option("--threads", options->n_threads, "Host threads of the CPU back end; default: one for each core")
      ->check(CLI::Range(1, 256));
  command->add_option("--beam", options->beam, "Width of the search (natural log); default: the bundle's");
  command->add_option("--acoustic-scale", options->acoustic_scale, "Factor on log-likelihoods; default: the bundle's");
  command->add_option("--word-insertion-cost", options->word_insertion_cost, "Cost of every word; default: the bundle's");
  command->add_option("--max-active", options->max_active, "Most tokens kept a frame; default: the bundle's");
  command->add_option("--cmn", options->cmn, "Cepstral mean: of the model's choice, running, of the recording, none")
      ->check(CLI::IsMember({"model", "live", "batch", "none"}))
      ->capture_default_str();
  command->add_option("--raw-rate", options->raw_rate_hz, "Sample rate of .raw files (16-bit little-endian mono)")
      ->check(CLI::Range(1000, 768000))
      ->capture_default_str();
  command->add_option("--chunk", options->chunk_samples, "Samples fed at a time; does not change the words")
      ->check(CLI::Range(1, 1 << 24))
      ->capture_default_str();
  command->add_option("--nbest", options->n_best, "Alternatives to print; this version has only the best");
  command->add_option("--lattice", options->lattice, "File for lattices; this version has none");
  command->callback([options] { run(*options); });
}

const Subcommand kRegistration{"recognize", add_recognize};

}  // namespace
}  // namespace asr::tool
