// SPDX-License-Identifier: Apache-2.0
#include "tools/recognize_usage.h"

#include <cmath>
#include <filesystem>
#include <memory>
#include <set>

#include "builder/import/kaldi_archive.h"
#include "builder/text/text_file.h"
#include "core/base/file.h"
#include "core/base/limits.h"
#include "core/base/printable.h"
#include "core/lattice/boost.h"
#include "core/model/bundle.h"
#include "tools/fused_models.h"
#include "tools/tool.h"

namespace asr::tool {
namespace {

using Options = RecognizeOptions;

// Reads the optional value of --reject. A text other than a number or "off" is the first recording.
void read_reject(Options *options) {
  constexpr float kThreshold = 0.5f;
  const std::string &text = options->reject_text;
  if (text == kNoReject) return;
  char *end = nullptr;
  const float value = strtof(text.c_str(), &end);
  const bool is_number = !text.empty() && *end == '\0';
  options->reject = is_number ? value : text == "off" ? -1 : kThreshold;
  if (is_number && !(value > 0 && value <= 1)) {
    throw UsageError(
        format("recognize: --reject %s: a threshold is above 0 and at most 1, such as 0.5; --reject off compares "
               "nothing with the background",
               text.c_str()));
  }
  if (!is_number && !text.empty() && text != "off") options->files.insert(options->files.begin(), text);
}

void read_selection(Options *options) {
  if (options->selection.empty()) return;
  char *end = nullptr;
  const double value = strtod(options->selection.c_str(), &end);
  const std::string unit = end;
  const auto share = static_cast<float>(value / 100);
  if (unit == "%" && share > 0 && share < 1) {
    options->cluster_share = share;
  } else if (unit.empty() && value >= 1 && value <= kMaxBestGaussians && value == std::floor(value)) {
    options->n_best_gaussians = static_cast<uint32_t>(value);
  } else {
    throw UsageError(
        format("recognize: --selection %s: it is a number of Gaussians from 1 to %u, or a share of the states "
               "such as 25%%",
               options->selection.c_str(), kMaxBestGaussians));
  }
}

void read_vtln(Options *options) {
  if (options->n_warps != 0 && !options->searches_warps()) {
    throw UsageError("recognize: --vtln-factors is the number of warps of a search; give --vtln search, too");
  }
  if (options->n_warps == 0) options->n_warps = 11;
  if (options->vtln.empty()) return;
  if (options->searches_warps()) return;
  char *end = nullptr;
  options->vtln_warp = strtof(options->vtln.c_str(), &end);
  if (*end != '\0' || !(options->vtln_warp >= kMinWarp && options->vtln_warp <= kMaxWarp)) {
    throw UsageError(format("recognize: --vtln %s: it is search, or a factor from %g to %g", options->vtln.c_str(),
                            static_cast<double>(kMinWarp), static_cast<double>(kMaxWarp)));
  }
}

void read_channel(Options *options) {
  if (options->channel == "mix") return;
  char *end = nullptr;
  const unsigned long number = strtoul(options->channel.c_str(), &end, 10);
  if (*end != '\0' || options->channel.find_first_not_of("0123456789") != std::string::npos || number >= kMaxChannels) {
    throw UsageError(format("recognize: --channel %s: it is mix, or the number of a channel, 0 to %u", options->channel.c_str(),
                            kMaxChannels - 1));
  }
  options->audio.channel = static_cast<int32_t>(number);
}

// Warns of phrases that the graph cannot say, and refuses a list of such phrases alone.
void check_boost(const Options &options) {
  const Bundle bundle = read_bundle_index(options.model);
  if (!bundle.has("words.txt")) return;  // loading refuses the bundle
  const std::vector<std::string> words = read_symbols(bundle.file("words.txt"));
  const UnheardPhrases unheard = GraphBoost({boosted_phrases(options.boosted), 0}, WordIndex(words)).unheard;
  if (unheard.phrases.empty()) return;
  const std::string message = options.boost + ": " + unheard.what() +
                              "; write a phrase a line, of words alone: all have the one bonus of --boost-bonus";
  if (unheard.phrases.size() == unheard.n_all) throw Error(ASR_BAD_FILE, message);
  print_line(stderr, "senone: warning: %s", printable(message).c_str());
}

void read_boost(Options *options) {
  if (options->boost.empty()) return;
  options->boosted = read_text(options->boost, {"a list of phrases", {}, Characters::kNormalised, kMaxBoostBytes});
  if (!boosted_phrases(options->boosted).empty()) return check_boost(*options);
  fail(ASR_BAD_FILE, "%s: has no phrases; write a phrase a line, or leave out --boost", options->boost.c_str());
}

// Takes an archive's name in Kaldi's form, too.
void take_archive_name(const char *option, std::string *file) {
  if (file->rfind("ark:", 0) == 0) {
    file->erase(0, 4);
  } else if (file->rfind("ark,", 0) == 0 || file->rfind("scp:", 0) == 0) {
    throw UsageError(format("recognize: %s writes one archive, not \"%s\"; give FILE or ark:FILE", option, file->c_str()));
  } else {
    return;
  }
  if (file->empty()) throw UsageError(format("recognize: %s ark: names no file; give FILE or ark:FILE", option));
}

// Each output needs a file of its own.
void check_outputs(const Options &options) {
  std::set<std::string> files;
  for (const std::string &file :
       {options.hyp, options.lattice, options.save_transforms, options.save_mean_transforms, options.save_warps}) {
    if (file.empty() || files.insert(file).second) continue;
    throw UsageError(format("recognize: two results would be written to %s; name another file for one", file.c_str()));
  }
}

// Returns the files that a run reads: recordings, lists and archives, and those of the bundle.
std::vector<std::string> files_read(const Options &options, const UtteranceSource &source) {
  const auto without_kind = [](const std::string &name) {  // of "ark:FILE" and "scp:FILE"
    return name.rfind("ark:", 0) == 0 || name.rfind("scp:", 0) == 0 ? name.substr(4) : name;
  };
  std::vector<std::string> files;
  for (const Utterance &recording : source.recordings()) files.push_back(recording.path);
  for (const std::string &name : {options.list, options.features, options.cmvn, options.loglikes, options.utt2spk,
                                  options.boost, options.transforms, options.mean_transforms, options.warps}) {
    if (!name.empty()) files.push_back(without_kind(name));
  }
  for (const std::string &name :
       {options.features, options.cmvn, options.loglikes, options.transforms, options.mean_transforms}) {
    if (name.rfind("scp:", 0) != 0) continue;
    const std::vector<std::string> listed = kaldi::ArchiveReader(name).listed_files();
    files.insert(files.end(), listed.begin(), listed.end());
  }
  const auto add_bundle = [&files](const std::string &path) {
    const Bundle bundle = read_bundle_index(path);
    files.push_back(bundle.file("senone.json"));
    for (const auto &[name, file] : bundle.files) files.push_back(bundle.file(name));
  };
  add_bundle(options.model);
  for (std::string fused : options.fuse) {
    take_weight(&fused);
    add_bundle(fused);
  }
  return files;
}

// Returns the input that an option --save-X brings up to date.
std::string update_of(const std::string &option, const Options &options) {
  const std::string &input = option == "--save-warps"             ? options.warps
                             : option == "--save-transforms"      ? options.transforms
                             : option == "--save-mean-transforms" ? options.mean_transforms
                                                                  : std::string();
  return input.rfind("ark:", 0) == 0 ? input.substr(4) : input;
}

// Refuses to write a result over a file that the run reads.
void check_nothing_is_replaced(const Options &options, const UtteranceSource &source) {
  namespace fs = std::filesystem;
  std::vector<std::string> read;
  for (const auto &[option, output] : {std::pair<const char *, const std::string &>{"--hyp", options.hyp},
                                       {"--lattice", options.lattice},
                                       {"--save-transforms", options.save_transforms},
                                       {"--save-mean-transforms", options.save_mean_transforms},
                                       {"--save-warps", options.save_warps}}) {
    std::error_code unknown;
    if (output.empty() || output == "-" || !fs::exists(output, unknown)) continue;
    if (read.empty()) read = files_read(options, source);
    for (const std::string &path : read) {
      if (!fs::equivalent(output, path, unknown)) continue;
      if (path == update_of(option, options)) continue;  // what was learned replaces what it began with
      throw UsageError(format("recognize: %s %s would replace %s, which this run reads; name another file", option,
                              output.c_str(), path.c_str()));
    }
  }
}

void choose_lattice_beam(Options *options) {
  const bool needs_lattice = options->n_best > 1 || options->confidence || !options->lattice.empty() || !options->boost.empty();
  if (options->lattice_beam != 0 && !needs_lattice && !options->json && !options->ctm) {
    throw UsageError(
        "recognize: --lattice-beam is for --nbest, --lattice, --boost and the confidences of --json and --ctm; give one of "
        "them");
  }
  if (options->lattice_beam == 0 && needs_lattice) options->lattice_beam = 8;
}

void check_options(const Options &options) {
  if (options.lattice == "-") throw UsageError("recognize: --lattice writes a file; name one other than -");
  if (options.hyp == "-" && (options.json || options.ctm || options.srt || options.resume))
    throw UsageError("recognize: --hyp - prints words (id); give it without --json, --ctm, --srt and --resume, or name a file");
  if (options.resume && (options.hyp.empty() || !options.lattice.empty()))
    throw UsageError("recognize: --resume continues the file of --hyp; give it, and no --lattice");
  if (options.confidence && !options.json && !options.ctm)
    throw UsageError("recognize: --confidence gives words a confidence in --json and --ctm; give one of them");
  if (options.n_best > 1 && (options.ctm || options.srt || options.hyp == "-"))
    throw UsageError("recognize: --nbest prints alternatives as text or with --json; leave out --ctm, --srt and --hyp -");
  if (options.cmn != "model" && !(options.cmvn + options.loglikes).empty())
    throw UsageError("recognize: --cmn chooses the mean of cepstra, which --cmvn gives and --loglikes lacks; leave it out");
  if (options.max_active != 0 && options.min_active > options.max_active && options.min_active != RecognizeOptions().min_active)
    throw UsageError(format("recognize: --min-active %u is above --max-active %u; lower it, or raise the other",
                            options.min_active, options.max_active));
  if (!options.endpoint.empty() && options.cmn == "batch")
    throw UsageError("recognize: --cmn batch needs the whole recording first; with --endpoint take live");
  if (!options.fuse.empty() && options.has_speakers())
    throw UsageError(
        "recognize: --fuse fuses models, --adapt, --transforms, --mean-transforms, --vtln search and --warps are of one; give "
        "either");
  if (!options.fuse.empty() && !options.loglikes.empty())
    throw UsageError("recognize: --fuse fuses what models make of recordings or --features; leave out --loglikes");
}

}  // namespace

void read_usage(Options *options) {
  read_reject(options);
  read_channel(options);
  read_vtln(options);
  read_selection(options);
  take_archive_name("--lattice", &options->lattice);
  take_archive_name("--save-transforms", &options->save_transforms);
  take_archive_name("--save-mean-transforms", &options->save_mean_transforms);
  check_outputs(*options);
  check_options(*options);
  choose_lattice_beam(options);
  read_boost(options);
}

void check_usage(const Options &options, const UtteranceSource &source) {
  check_nothing_is_replaced(options, source);
  if (options.srt && source.size() != size_t{1}) {
    throw UsageError(
        "recognize: --srt takes one recording at a time, and no file: it prints captions, so redirect them (>FILE)");
  }
  const bool slf = std::filesystem::path(options.lattice).extension() == ".slf";
  if (slf && (source.size() != size_t{1} || !options.endpoint.empty()))
    throw UsageError("recognize: --lattice FILE.slf takes one recording at a time, without --endpoint");
  if (options.audio.raw_rate_hz != AudioOptions().raw_rate_hz && !source.may_be_raw(options.audio)) {
    fprintf(stderr,
            "senone: warning: --raw-rate has no effect: it is the rate of .raw files and raw standard input, and no "
            "recording is one\n");
  }
}

}  // namespace asr::tool
