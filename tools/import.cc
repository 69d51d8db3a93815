// SPDX-License-Identifier: Apache-2.0
// Implements `senone import KIND MODEL OUT_BUNDLE`: converts an acoustic model of another recogniser to a bundle. The kinds are
// in import_*.cc.
#include "tools/import.h"

#include <cstdio>
#include <map>
#include <memory>
#include <optional>

#include "builder/train/shrink.h"
#include "tools/progress.h"

namespace asr::tool {
namespace {

struct Kind {
  const char *what;
  ReadModel (*add)(Command app);
};

std::map<std::string, Kind> &kinds() {
  static std::map<std::string, Kind> all;
  return all;
}

// User settings that override the importer's choices.
struct DecodingOptions {
  std::optional<double> beam, acoustic_scale, word_insertion_cost;
  std::optional<uint32_t> max_active;

  void apply(DecodingDefaults *decoding) const {
    decoding->beam = beam.value_or(decoding->beam);
    decoding->acoustic_scale = acoustic_scale.value_or(decoding->acoustic_scale);
    decoding->word_insertion_cost = word_insertion_cost.value_or(decoding->word_insertion_cost);
    decoding->max_active = max_active.value_or(decoding->max_active);
  }
};

// Options for models with full covariances.
struct SmoothingOptions {
  std::optional<double> share;
  std::string to = "shared";

  void apply(ImportedModel *model, const std::string &output) const {
    if (!share) return;
    if (model->acoustic.covariance != ASR_COVARIANCE_FULL) {
      throw UsageError("import: --smooth is for full covariances, and the model has diagonal ones; leave it out");
    }
    train::shrink_covariances(*share, to == "shared", output, &model->acoustic);
  }
};

void add_smoothing_options(Command app, SmoothingOptions &smoothing) {
  app.option("--smooth", smoothing.share, "For full covariances: share, 0 to 1, of what --smooth-to says in their correlations")
      .range(0.0, 1.0);
  app.option("--smooth-to", smoothing.to, "Mean correlations of all Gaussians, or none")
      .one_of(std::vector<std::string>{"diagonal", "shared"})
      .needs("--smooth")
      .shows_default();
}

void add_decoding_options(Command app, DecodingOptions &decoding) {
  app.option("--acoustic-scale", decoding.acoustic_scale, "Factor on log-likelihoods; default by kind").range(1e-6, 1e6);
  app.option("--beam", decoding.beam, "Natural-log width of the search; default by kind").range(1e-3, 1e6);
  app.option("--max-active", decoding.max_active, "Most tokens kept a frame; default by kind").range(1, 1000000000);
  app.option("--word-insertion-cost", decoding.word_insertion_cost, "Added to the cost of every word; default by kind")
      .range(-1e6, 1e6);
}

void print_summary(const ImportedModel &model, const std::string &output) {
  const FrontEnd &front_end = model.bundle.front_end;
  if (const auto &scores = model.bundle.scores) {
    return print_line(stdout, "%s: %s, %u states, rows of %u values every %g ms", output.c_str(), model.bundle.source.c_str(),
                      scores->n_states, scores->n_columns(), 1000 * front_end.shift_samples / front_end.sample_rate_hz);
  }
  print_line(stdout, "%s: %s, %zu phones, %zu HMMs for %llu contexts, %u pdfs, %llu Gaussians, %u dimensions, %g Hz",
             output.c_str(), model.bundle.source.c_str(), model.hmms.phones.size(), model.hmms.hmms.size(),
             static_cast<unsigned long long>(model.hmms.n_contexts()), model.acoustic.n_states,
             static_cast<unsigned long long>(model.acoustic.n_gaussians()), model.acoustic.n_dims, front_end.sample_rate_hz);
}

void run_import(const ReadModel &read_model, const DecodingOptions &decoding, const SmoothingOptions &smoothing,
                const std::string &output) {
  ImportedModel model;
  {
    Progress progress("importing");
    progress.update(-1, "reading the model");
    model = read_model();
    decoding.apply(&model.bundle.decoding);
    smoothing.apply(&model, output);
    model.bundle.made_by = {this_step()};
    progress.update(-1, "writing " + output);
    write_imported_model(model, output);
  }
  for (const std::string &note : model.notes) print_line(stderr, "senone: note: %s", note.c_str());
  print_summary(model, output);
}

void add_import(Command app) {
  Command import = app.command("import", "Turn an acoustic model of another recogniser into a bundle");
  import.requires_command();
  for (const auto &[name, kind] : kinds()) {
    Command sub = import.command(name, std::string("Import ") + kind.what);
    const ReadModel read_model = kind.add(sub);
    const auto output = std::make_shared<std::string>();
    const auto decoding = std::make_shared<DecodingOptions>();
    const auto smoothing = std::make_shared<SmoothingOptions>();
    sub.option("OUT_BUNDLE", *output, "Directory to make, or an older bundle to replace").required();
    add_decoding_options(sub, *decoding);
    add_smoothing_options(sub, *smoothing);
    add_quiet(sub);
    sub.callback([=] { run_import(read_model, *decoding, *smoothing, *output); });
  }
}

const Subcommand kImport{"import", add_import};

}  // namespace

ImportKind::ImportKind(const char *name, const char *what, ReadModel (*add)(Command app)) { kinds()[name] = {what, add}; }

}  // namespace asr::tool
