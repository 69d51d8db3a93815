// SPDX-License-Identifier: Apache-2.0
// Implements `senone recognize`: recordings or archives of features in, words out.
#include <algorithm>
#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <thread>

#include "core/base/file.h"
#include "core/base/limits.h"
#include "core/base/printable.h"
#include "tools/batch_progress.h"
#include "tools/command_terms.h"
#include "tools/fused_models.h"
#include "tools/installed_models.h"
#include "tools/recognize_batch.h"
#include "tools/recognize_usage.h"
#include "tools/tool.h"

namespace asr::tool {
namespace {

using Options = RecognizeOptions;

uint32_t default_jobs(const Options &options) {
  if (options.n_jobs > 0) return options.n_jobs;
  return options.n_threads > 0 ? options.n_threads : std::max(1u, std::thread::hardware_concurrency());
}

// Prints the library's warnings about a bundle while it loads. Those about devices that are not used are left to `senone
// devices`.
class BundleWarnings {
 public:
  explicit BundleWarnings(const std::string &path) : prefix_(printable(path) + ": ") {
    asr_set_log(print, ASR_LOG_WARNING, this);
  }
  ~BundleWarnings() { asr_set_log(nullptr, ASR_LOG_WARNING, nullptr); }
  BundleWarnings(const BundleWarnings &) = delete;
  BundleWarnings &operator=(const BundleWarnings &) = delete;

 private:
  static void print(asr_log_level, const char *message, void *warnings) {
    const std::string &prefix = static_cast<const BundleWarnings *>(warnings)->prefix_;
    if (strncmp(message, prefix.c_str(), prefix.size()) == 0)
      print_line(stderr, "senone: warning: %s%s", prefix.c_str(), in_command_terms(message + prefix.size()).c_str());
  }
  const std::string prefix_;
};

asr_engine_info info_of(const asr_engine *engine) {
  asr_engine_info info;
  info.size = sizeof(info);
  check(asr_engine_get_info(engine, &info));
  return info;
}

EnginePointer load_engine(const Options &options, uint32_t n_jobs) {
  asr_engine_config config;
  asr_engine_config_default(&config);
  config.device = options.device.c_str();
  config.fallback = options.fallback.c_str();
  config.search_device = options.search_device.c_str();
  config.model_bits = options.model_bits;
  config.n_best_gaussians = options.n_best_gaussians;
  config.cluster_share = options.cluster_share;
  config.max_lanes = std::min(n_jobs, kMaxLanes);
  config.n_threads = options.n_threads;
  const BundleWarnings warnings(options.model);
  asr_engine *engine = nullptr;
  check(asr_engine_load(options.model.c_str(), &config, &engine));
  EnginePointer loaded(engine, asr_engine_close);
  if (info_of(engine).n_graph_states == 0) {
    fail(ASR_NOT_FOUND, "%s: the bundle has no graph.bin; make it with `senone graph`", options.model.c_str());
  }
  return loaded;
}

std::string counted(size_t n, const char *thing) { return format("%zu %s%s", n, thing, n == 1 ? "" : "s"); }

std::string searched_on(const asr_engine_info &info) {
  if (std::string(info.search_device_id) == info.device_id) return "";
  return format(", searched on %s (%s)", info.search_device_id, info.search_device_name);
}

// Counts what a user should know of the results before relying on their words.
struct Doubts {
  size_t n_utterances = 0, n_unfinished = 0, n_unfinished_printed = 0, n_rejected = 0, n_narrow = 0;
  double min_beam = 0;

  void add(const Recognition &result) {
    ++n_utterances;
    n_unfinished += result.stops_early();
    n_unfinished_printed += result.stops_early() && !result.is_left_out;
    n_rejected += result.has(ASR_FLAG_REJECTED);
    if (!result.has(ASR_FLAG_BEAM_NARROWED)) return;
    const double beam = result.lattice_beam.value_or(0);
    min_beam = n_narrow++ == 0 ? beam : std::min(min_beam, beam);
  }
};

void print_doubts(const std::deque<Recognition> &results, const Options &options) {
  Doubts doubts;
  for (const Recognition &result : results) {
    if (options.endpoint.empty() && result.error.empty()) doubts.add(result);
    for (const Recognition &part : result.parts) doubts.add(part);
  }
  if (doubts.n_unfinished > 0) {
    fprintf(stderr, "%zu of %zu utterances did not reach the end of a sentence%s\n", doubts.n_unfinished, doubts.n_utterances,
            doubts.n_unfinished_printed > 0 ? "; --strict leaves their words out" : ": their words are left out");
  }
  if (doubts.n_rejected > 0) {
    fprintf(stderr, "%zu of %zu utterances were rejected: the grammar probably does not hold what was said%s\n",
            doubts.n_rejected, doubts.n_utterances, options.keep_rejected ? "" : "; --keep-rejected prints their words");
  }
  if (doubts.n_narrow > 0) {
    fprintf(stderr, "%zu of %zu lattices are narrower than %g, at least %g, as wider ones take too much time or memory\n",
            doubts.n_narrow, doubts.n_utterances, static_cast<double>(options.lattice_beam), doubts.min_beam);
  }
}

// With --endpoint the recordings' utterances are counted, too.
void print_summary(const asr_engine *engine, const std::deque<Recognition> &results, bool has_parts, double seconds) {
  const asr_engine_info info = info_of(engine);
  double audio_s = 0;
  size_t n_parts = 0;
  for (const Recognition &result : results) {
    audio_s += result.audio_s;
    n_parts += result.parts.size();
  }
  const std::string count = has_parts ? counted(n_parts, "utterance") + " in " + counted(results.size(), "recording")
                                      : format("%zu utterances", results.size());
  print_line(stderr, "%s, %.1f s of audio in %.2f s, real-time factor %.4f, on %s (%s)%s", count.c_str(), audio_s, seconds,
             audio_s > 0 ? seconds / audio_s : 0.0, info.device_id, info.device_name, searched_on(info).c_str());
}

// Runs a pass that collects the speakers' adaptation data, then adapts them. Prints only the number of adapted speakers.
void hear_speakers(asr_engine *engine, Options options, uint32_t n_jobs, Speakers *speakers) {
  options.lattice_beam = 0;
  options.n_best = 1;
  for (std::string *unused : {&options.lattice, &options.hyp}) unused->clear();
  UtteranceSource source(options);
  options.learns = true;
  recognize_batch(engine, options, {n_jobs, nullptr, speakers, false}, &source);
  const size_t n_adapted = speakers->adapt();
  fprintf(stderr, "adapted to %zu of %zu speakers\n", n_adapted, speakers->size());
}

void run(Options options) {
  UtteranceSource source(options);
  check_usage(options, source);
  std::optional<HypJournal> journal;
  if (options.resume) journal.emplace(options.hyp);
  if (!options.utt2spk.empty()) check_speakers_are_named(options, journal ? &*journal : nullptr);
  const bool prints_hyp = options.hyp == "-";
  std::optional<OutputFile> hyp;  // opened first, so that an unwritable file fails before any recognition
  if (!options.resume && !options.hyp.empty() && !prints_hyp) hyp.emplace(options.hyp);
  std::optional<OutputFile> transforms;
  if (!options.save_transforms.empty()) transforms.emplace(options.save_transforms);
  std::optional<OutputFile> mean_transforms;
  if (!options.save_mean_transforms.empty()) mean_transforms.emplace(options.save_mean_transforms);
  std::optional<OutputFile> warps;
  if (!options.save_warps.empty()) warps.emplace(options.save_warps);
  const uint32_t n_jobs = default_jobs(options);
  const FusedModels fused(options);
  const EnginePointer engine = load_engine(options, n_jobs);
  fused.add_to(engine.get());
  if (!options.boost.empty()) {  // read_usage() has warned of phrases that the graph lacks
    check(asr_engine_boost(engine.get(), "", options.boosted.data(), options.boosted.size(), options.boost_bonus, 1));
  }
  options.fusion = fused.fusion();
  const double begin_s = wall_seconds();
  std::optional<Speakers> speakers;
  if (options.has_speakers()) {
    const Speakers::Files files{options.utt2spk, options.transforms, options.mean_transforms, options.warps,
                                options.saves_speakers()};
    speakers.emplace(engine.get(), files, options.vtln_warp);
  }
  if (options.searches_warps()) {
    speakers->set_methods(ASR_SPEAKER_VTLN, options.n_warps);
    hear_speakers(engine.get(), options, n_jobs, &*speakers);
  }
  if (!options.adapt.empty()) {
    const uint32_t fmllr = options.estimates("fmllr") ? ASR_SPEAKER_FMLLR : 0;
    speakers->set_methods(fmllr | (options.estimates("mllr") ? ASR_SPEAKER_MLLR : 0), 0);
    hear_speakers(engine.get(), options, n_jobs, &*speakers);
  }
  const BatchOptions batch{n_jobs, journal ? &*journal : nullptr, speakers ? &*speakers : nullptr, true};
  const std::deque<Recognition> results = recognize_batch(engine.get(), options, batch, &source);
  print_summary(engine.get(), results, !options.endpoint.empty(), wall_seconds() - begin_s);
  print_doubts(results, options);
  if (speakers) speakers->warn_of_unused_files();
  if (journal && journal->n_older() > 0)
    print_line(stderr, "%zu older results are in %s", journal->n_older(), options.hyp.c_str());
  if (hyp) write_hyp(results, &*hyp);
  if (transforms) {
    const size_t n_written = speakers->write_transforms(&*transforms);
    transforms->commit();
    print_line(stderr, "%zu transforms are in %s", n_written, options.save_transforms.c_str());
  }
  if (mean_transforms) {
    const size_t n_written = speakers->write_mean_transforms(&*mean_transforms);
    mean_transforms->commit();
    print_line(stderr, "%zu transforms of means are in %s", n_written, options.save_mean_transforms.c_str());
  }
  if (warps) {
    const size_t n_written = speakers->write_warps(&*warps);
    warps->commit();
    print_line(stderr, "%zu warps are in %s", n_written, options.save_warps.c_str());
  }
  const auto failed = [](const Recognition &result) { return !result.error.empty(); };
  const auto n_failed = std::count_if(results.begin(), results.end(), failed);
  const char *const things = options.endpoint.empty() ? "utterances" : "recordings";
  if (results.empty() && !(journal && journal->n_older() > 0)) {
    fail(ASR_BAD_FILE, "%s: has no utterances; check how it was written", (options.features + options.loglikes).c_str());
  }
  if (n_failed > 0) fail(ASR_IO, "%td of %zu %s failed", n_failed, results.size(), things);
}

void add_recognize(Command app) {
  auto options = std::make_shared<Options>();
  Command command = app.command("recognize", "Print the words of recordings");
  command.option("--model", options->model,
                 "Bundle: a directory made by `senone import` and `senone graph`, or the name of an installed one; default: "
                 "the only one that is installed (`senone models`)");
  command.option("files", options->files,
                 "Recordings: flac, wav, NIST SPHERE, ..., .raw; -: standard input, one of these or raw");
  command.option("--list", options->list, "File of recordings: a line each, path and optional id");
  command.option("--features", options->features, "Archive of Kaldi instead of recordings: features, or MFCCs");
  command.option("--cmvn", options->cmvn, "Archive of CMVN statistics for the MFCCs of --features, instead of --cmn");
  command.option("--utt2spk", options->utt2spk,
                 "Lines `utterance speaker`: who speaks, for --cmvn and --adapt; every utterance needs one");
  command
      .option(
          "--adapt", options->adapt,
          "Recognise twice, the second time with each speaker's features (fmllr) or the model's means (mllr) transformed by "
          "what was heard the first time; without --utt2spk every recording has a speaker of its own")
      .one_of({"fmllr", "mllr", "fmllr+mllr"});
  command.option(
      "--vtln", options->vtln,
      "Warp of the frequency axis, 0.8 to 1.25; search: recognise once more, to choose each speaker's by likelihood");
  command.option("--vtln-factors", options->n_warps, "How many warps from 0.80 to 1.20 a search tries; default: 11")
      .one_of({11u, 21u});
  command.option("--warps", options->warps,
                 "File of the warps that speakers begin with: lines `speaker warp`, as Kaldi has them");
  command.option("--save-warps", options->save_warps, "Write the speakers' warps as such a file");
  command.option("--transforms", options->transforms,
                 "Archive of Kaldi with the transforms that speakers begin with, by their names: ark:FILE or scp:FILE");
  command.option("--save-transforms", options->save_transforms, "Write the speakers' transforms as an archive of Kaldi");
  command.option("--mean-transforms", options->mean_transforms, "As --transforms, of the model's means");
  command.option("--save-mean-transforms", options->save_mean_transforms, "As --save-transforms, of the model's means");
  command
      .option("--fuse", options->fuse,
              "Bundle of another acoustic model of the same states, whose log-likelihoods are fused with those of --model; "
              "BUNDLE:WEIGHT gives it another weight than 1, unless a directory has that name; once for each model")
      .one_each_time();
  command.option("--fuse-own", options->fuse_own, "The weight of --model itself; 0: leave it out")
      .range(0.0, static_cast<double>(kMaxModelWeight))
      .shows_default()
      .needs("--fuse");
  command
      .option("--fuse-rule", options->fuse_rule,
              "Sum of log-likelihoods, of likelihoods; the largest of each state; weights that follow the likelier models; the "
              "likeliest model after a second of speech")
      .one_of({"sum", "log-sum", "max", "follow", "select"})
      .shows_default()
      .needs("--fuse");
  command
      .option("--fuse-ms", options->fuse_ms,
              "Time constant of --fuse-rule follow, speech that select decides after; default: 1000")
      .range(kMinFusionMs, kMaxFusionMs)
      .needs("--fuse");
  command.option("--loglikes", options->loglikes, "Archive of Kaldi instead of recordings: log-likelihoods of the states");
  Command kind = command.at_most_one("output");
  kind.flag("--json", options->json, "Print a JSON object for each recording, one a line");
  kind.flag("--ctm", options->ctm, "Print word times as NIST CTM");
  kind.flag("--srt", options->srt, "Print subtitles");
  command.option("--hyp", options->hyp, "Also write `words (id)` lines, for `senone wer`; -: print them instead");
  command.flag("--resume", options->resume,
               "Go on with an interrupted run: recognise what the file of --hyp lacks, and append to it");
  command.option("--device", options->device, "cpu, cuda:0, ... (see `senone devices`); default: the best");
  command.option("--search-device", options->search_device,
                 "Device that searches what --device has scored, such as cpu for graphs larger than a GPU; default: --device");
  command
      .option("--model-bits", options->model_bits,
              "Of a Gaussian's parameters on the device; 16: half the memory, and scores that differ by up to a few hundredths")
      .one_of({16u, 32u})
      .shows_default();
  command
      .option("--n-best-gaussians", options->n_best_gaussians,
              "Of the Gaussians that states share, mix only so many, the likeliest of a frame; 0: all. CPU only")
      .range(0u, kMaxBestGaussians)
      .shows_default();
  command
      .option("--cluster-share", options->cluster_share,
              "Of the states with Gaussians of their own, score the share nearest to a frame, such as 0.25, and estimate the "
              "others; 0 or 1: score all. CPU only")
      .range(0.0f, 1.0f)
      .shows_default();
  command
      .option("--selection", options->selection,
              "Old name: --selection N is --n-best-gaussians N, --selection 25% is --cluster-share 0.25")
      .excludes("--n-best-gaussians")
      .excludes("--cluster-share");
  command.option("--fallback", options->fallback, "cpu: recognises what a lost device did not finish; default: that fails")
      .one_of({"cpu"});
  command.option("--jobs", options->n_jobs, "Recordings recognised at a time; default: one for each thread")
      .range(1u, kMaxLanes);
  command.option("--threads", options->n_threads, "Host threads of the CPU back end; default: one for each core")
      .range(1u, kMaxThreads);
  command.option("--beam", options->beam, "Width of the search (natural log); default: the bundle's")
      .range(1e-3, static_cast<double>(kMaxBeam));
  command.option("--acoustic-scale", options->acoustic_scale, "Factor on log-likelihoods; default: the bundle's")
      .range(1e-6, static_cast<double>(kMaxBeam));
  command.option("--word-insertion-cost", options->word_insertion_cost, "Cost of every word; default: the bundle's");
  command
      .option("--blank-penalty", options->blank_penalty,
              "Of models of tokens: subtracted from the log-likelihoods of the blank; default: the bundle's")
      .needs("--loglikes");
  command
      .option("--prior-scale", options->prior_scale,
              "Share of the tokens' log priors that is subtracted; default: the bundle's")
      .needs("--loglikes");
  command
      .option("--blank-skip", options->blank_skip,
              "Probability of the blank, such as 0.99, beyond which only the first of several frames is searched; 0: all are")
      .range(0.0, 1.0)
      .needs("--loglikes");
  command.option("--max-active", options->max_active, "Most tokens kept a frame; default: the bundle's")
      .range(1u, std::numeric_limits<uint32_t>::max());
  command.option("--min-active", options->min_active, "Fewest tokens kept a frame, where there are as many").shows_default();
  command.option("--cmn", options->cmn, "Cepstral mean: of the model's choice, running, of the recording, none")
      .one_of({"model", "live", "batch", "none"})
      .shows_default();
  command
      .option(
          "--raw-rate", options->audio.raw_rate_hz,
          "Sample rate of .raw files and raw standard input (16-bit little-endian mono, unless --raw-format says otherwise)")
      .range(kMinSampleRateHz, kMaxSampleRateHz)
      .shows_default()
      .excludes("--features")
      .excludes("--loglikes");
  command
      .option("--raw-format", options->audio.raw_format,
              "All recordings are such samples without a header, whatever they look like; default: found out")
      .one_of({"s16le", "s16be", "f32le", "mulaw", "alaw"})
      .excludes("--features")
      .excludes("--loglikes");
  command.option("--raw-channels", options->audio.raw_channels, "Channels of the samples of --raw-format, interleaved")
      .range(1u, kMaxChannels)
      .shows_default()
      .needs("--raw-format");
  command.option("--channel", options->channel, "Channel to recognise, from 0, or mix: the mean of all")
      .shows_default()
      .excludes("--features")
      .excludes("--loglikes");
  command.option("--chunk", options->chunk_samples, "Samples fed at a time; does not change the words")
      .range(1, 1 << 24)
      .shows_default();
  command
      .option("--max-hours", options->max_hours,
              "Longest recording; the rest of a longer one is left out, with a warning. No limit with --endpoint")
      .range(0.001, kMaxUtteranceS / 3600.0)
      .shows_default();
  command
      .option(
          "--endpoint", options->endpoint,
          "Find the utterances of each recording, and print each as it is found; silence as in commands, dictation, captions")
      .one_of({"command", "dictation", "captions"});
  command.option("--vad", options->vad, "With --endpoint: decode only what is taken for speech, or everything")
      .one_of(std::vector<std::string>{"on", "off"})
      .shows_default()
      .needs("--endpoint")
      .excludes("--features")
      .excludes("--loglikes");
  command
      .option("--reject", options->reject_text,
              "Probability from which on something else than the grammar holds was said, so that an empty line is printed; "
              "0.5 if none is given. Default: the bundle's, 0.5 for grammars; off: do not compare with the background")
      .may_lack_value();
  command.flag("--keep-rejected", options->keep_rejected, "Print the words of rejected utterances, too");
  command.flag("--strict", options->strict,
               "Print an empty line, no words, for utterances that stop in the middle of a sentence");
  command.option("--boost", options->boost, "File of phrases, a phrase a line, that are likelier than the graph says");
  command.option("--boost-bonus", options->boost_bonus, "What a path that says one gains (natural log); 3..8 is usual")
      .range(-kMaxBoostBonus, kMaxBoostBonus)
      .shows_default()
      .needs("--boost");
  command.option("--nbest", options->n_best, "Most alternatives to print").range(1u, kMaxAlternatives);
  command.flag("--confidence", options->confidence, "Give words a confidence in --json and --ctm");
  command.option("--lattice", options->lattice,
                 "Write lattices as an archive of Kaldi, in text if FILE ends in .txt; if in .slf, one in HTK's form");
  command
      .option("--lattice-beam", options->lattice_beam,
              "Width of lattices (natural log); default: 8 where something asked for needs one, else none")
      .range(1e-3, 1000.0);
  add_quiet(command);
  command.callback([options] {
    options->model = find_model(options->model);
    read_usage(options.get());
    run(*options);
  });
}

const Subcommand kRecognize{"recognize", add_recognize};

}  // namespace
}  // namespace asr::tool
