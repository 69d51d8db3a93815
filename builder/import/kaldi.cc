// SPDX-License-Identifier: Apache-2.0
// Assembles an imported model from a .mdl file, the list of phones, mfcc.conf or plp.conf, a feature transform and CMVN
// statistics.
#include "builder/import/kaldi.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "builder/import/kaldi_archive.h"
#include "builder/import/kaldi_model.h"
#include "builder/import/kaldi_tree.h"
#include "builder/import/silence_phones.h"
#include "builder/import/sums.h"
#include "builder/import/tokens.h"
#include "builder/text/text_file.h"
#include "core/base/error.h"

namespace asr {
namespace {

using kaldi::Matrix;

// Returns a front end for features made elsewhere: rows of the model's own length, without any processing.
FrontEnd features_front_end(uint32_t n_dims) {
  FrontEnd f = kaldi_front_end();
  f.from_archives = true;
  f.n_ceps = n_dims;
  f.n_mel = std::max(f.n_mel, n_dims);
  f.use_energy = false;
  return f;
}

// Infers the deltas from the number of dimensions if there is no matrix.
void choose_deltas(const KaldiOptions &options, uint32_t n_dims, FrontEnd &f) {
  const uint32_t static_dims = f.n_ceps;
  if (options.deltas || n_dims == 3 * static_dims) f.dynamic = DynamicKind::kRegressionSquared;
  if (f.n_dims() == n_dims) return;
  fail(ASR_INVALID_ARGUMENT,
       "%s: its Gaussians have %u dimensions, its features %u; give --mfcc-conf or --plp-conf, --lda and --deltas as the model "
       "was trained, "
       "or --features-only if they come from archives",
       options.model.c_str(), n_dims, f.n_dims());
}

// Chooses the splicing that gives `n` inputs to the matrix: as configured, or the same number of frames on both sides.
void choose_splice(const KaldiOptions &options, const Matrix<float> &m, FrontEnd &f) {
  f.dynamic = DynamicKind::kSplice;
  if (options.splice_left >= 0) {
    f.splice_left = static_cast<uint32_t>(options.splice_left);
    f.splice_right = static_cast<uint32_t>(options.splice_right);
    return;
  }
  for (const uint32_t n : {m.n_cols, m.n_cols - 1}) {
    const uint32_t frames = n / f.n_ceps;
    if (n % f.n_ceps == 0 && frames % 2 == 1 && frames < 100) {
      f.splice_left = f.splice_right = frames / 2;
      return;
    }
  }
  fail(ASR_BAD_FILE, "%s: %u columns are no whole number of frames of %u cepstra; give --splice or the right --mfcc-conf",
       options.lda.c_str(), m.n_cols, f.n_ceps);
}

void apply_transform(const KaldiOptions &options, uint32_t n_dims, FrontEnd &f) {
  Matrix<float> m = kaldi::read_matrix<float>(options.lda);
  if (m.n_rows != n_dims) {
    fail(ASR_BAD_FILE, "%s: makes %u dimensions, but the Gaussians of %s have %u", options.lda.c_str(), m.n_rows,
         options.model.c_str(), n_dims);
  }
  if (options.deltas) {
    f.dynamic = DynamicKind::kRegressionSquared;
  } else {
    choose_splice(options, m, f);
  }
  const uint32_t n_inputs = f.n_dims();
  if (m.n_cols != n_inputs && m.n_cols != n_inputs + 1) {
    fail(ASR_BAD_FILE, "%s: has %u columns for features of %u dimensions; give the right --splice, --deltas or --mfcc-conf",
         options.lda.c_str(), m.n_cols, n_inputs);
  }
  const uint32_t dependent = first_dependent_row(m.values, m.n_rows, m.n_cols, n_inputs);
  if (dependent < m.n_rows) {
    fail(ASR_BAD_FILE,
         "%s: row %u is zero, or a combination of the rows before it (the matrix is singular); give the model's own",
         options.lda.c_str(), dependent);
  }
  f.transform_rows = m.n_rows;
  f.transform_cols = m.n_cols;
  f.transform = std::move(m.values);
}

// Computes the mean of all frames in the statistics: rows of sums, with the number of frames last.
void read_prior(const KaldiOptions &options, FrontEnd &f) {
  std::vector<double> sums(f.n_ceps, 0);
  double count = 0;
  const auto add = [&](const Matrix<double> &stats) {
    if (stats.n_rows < 1 || stats.n_cols != f.n_ceps + 1) {
      fail(ASR_BAD_FILE, "%s: is not CMVN statistics of %u cepstra", options.cmvn_stats.c_str(), f.n_ceps);
    }
    for (uint32_t i = 0; i < f.n_ceps; ++i) sums[i] += stats.row(0)[i];
    count += stats.row(0)[f.n_ceps];
  };
  const std::string kind = options.cmvn_stats.substr(0, 4);
  if (kind == "ark:" || kind == "scp:") {
    for (const auto &[key, stats] : kaldi::read_archive<double>(options.cmvn_stats)) add(stats);
  } else {
    add(kaldi::read_matrix<double>(options.cmvn_stats));
  }
  if (!(count > 0)) fail(ASR_BAD_FILE, "%s: counts no frames", options.cmvn_stats.c_str());
  for (const double sum : sums) f.cmn_prior.push_back(static_cast<float>(sum / count));
}

FrontEnd front_end_of_conf(const KaldiOptions &options) {
  if (!options.plp_conf.empty() && !options.mfcc_conf.empty()) {
    fail(ASR_INVALID_ARGUMENT, "%s: a model has MFCC or PLP; give --mfcc-conf or --plp-conf", options.model.c_str());
  }
  if (!options.plp_conf.empty()) return read_plp_conf(options.plp_conf);
  return options.mfcc_conf.empty() ? kaldi_front_end() : read_mfcc_conf(options.mfcc_conf);
}

FrontEnd make_front_end(const KaldiOptions &options, uint32_t n_dims) {
  if (options.features_only) return features_front_end(n_dims);
  FrontEnd f = front_end_of_conf(options);
  f.cmn = options.cmn;
  f.cmn_variance = options.cmn_variance;
  if (!options.cmvn_stats.empty()) read_prior(options, f);
  if (options.lda.empty()) {
    choose_deltas(options, n_dims, f);
  } else {
    apply_transform(options, n_dims, f);
  }
  return f;
}

}  // namespace

namespace {

// Reads phones.txt. What it lists beyond the model's phones are symbols such as #0; words there are those of words.txt.
std::vector<std::string> read_phone_table(const std::string &path, const kaldi::TransitionModel &model) {
  std::vector<std::string> symbols = parse_symbols(read_text(path, {"a list of phones"}), path);
  const std::vector<int32_t> &entry_of = model.entry_of;
  for (size_t number = 1; number < symbols.size(); ++number) {
    const bool is_phone = number < entry_of.size() && entry_of[number] >= 0;
    if (is_phone ? symbols[number] != "<s>" && symbols[number] != "</s>" : symbols[number][0] == '#') continue;
    fail(ASR_INVALID_ARGUMENT,
         "%s: its symbol %zu, \"%s\", is no phone of the model; if this is a words.txt, give the phones.txt beside it",
         path.c_str(), number, symbols[number].c_str());
  }
  return symbols;
}

}  // namespace

ImportedModel import_kaldi(const KaldiOptions &options) {
  kaldi::Model source;
  if (options.transitions_only) {
    source.transitions = kaldi::read_transitions(options.model);
  } else {
    source = kaldi::read_model(options.model);
  }
  std::vector<std::string> phones;
  if (!options.phones.empty()) phones = read_phone_table(options.phones, source.transitions);

  ImportedModel model;
  model.acoustic = std::move(source.acoustic);
  std::optional<kaldi::Tree> tree;
  if (!options.tree.empty()) tree.emplace(options.tree);
  std::optional<kaldi::WordBoundaries> boundaries;
  if (!options.word_boundary.empty()) {
    if (phones.empty()) {
      fail(ASR_INVALID_ARGUMENT, "%s: --word-boundary is about the phones of --phones; give that, too", options.model.c_str());
    }
    boundaries = kaldi::read_word_boundaries(options.word_boundary, phones);
  }
  model.hmms = kaldi::make_hmm_set(source.transitions, phones, options.model, tree ? &*tree : nullptr,
                                   boundaries ? &*boundaries : nullptr);
  if (!options.silence.empty()) {
    name_silence(&model.hmms, read_silence_names(options.silence, phones), options.model);
  } else if (model.hmms.silence == kNoPhone) {
    model.notes.push_back(
        "no phone is known as silence (SIL, sil), so that graphs have no pauses between words; name it with --silence, such as "
        "--silence pau or --silence data/lang/phones/silence.csl");
  }
  if (options.transitions_only) {
    ScoreModel &scores = model.bundle.scores.emplace();
    scores.n_states = model.hmms.n_pdfs;
    model.bundle.front_end = front_end_of_rows(options.frame_shift_ms);
  } else {
    model.bundle.front_end = make_front_end(options, model.acoustic.n_dims);
  }
  model.bundle.name = std::filesystem::path(options.model).stem().string();
  const char *const kind = options.transitions_only                           ? "transitions only"
                           : model.acoustic.covariance == ASR_COVARIANCE_FULL ? "full covariance"
                                                                              : "diagonal";
  model.bundle.source = format("Kaldi, %s", kind);
  for (const BasePhone &phone : model.hmms.phones) {
    if (phone.filler) model.bundle.filler_words.push_back({"<" + phone.name + ">", {phone.name}});
  }
  if (phones.empty())
    model.notes.push_back("without --phones the phones are named by their numbers and have no word positions");
  if (options.mfcc_conf.empty() && options.plp_conf.empty() && !options.features_only && !options.transitions_only) {
    model.notes.push_back("without --mfcc-conf the front end is compute-mfcc-feats at its defaults (16 kHz, use-energy)");
  }
  const std::vector<kaldi::TransitionState> &states = source.transitions.states;
  if (std::any_of(states.begin(), states.end(), [](const auto &s) { return s.forward_pdf != s.self_loop_pdf; })) {
    model.notes.push_back(
        "its HMM states have two pdfs, one for the first frame and one for the others, as chain models have; use it with a "
        "graph "
        "of Kaldi made for it (senone graph --hclg)");
  } else if (!model.hmms.knows_contexts()) {
    model.notes.push_back(
        "the model has contexts and no --tree was given; use it with a graph made for it (senone graph --hclg)");
  }
  return model;
}

}  // namespace asr
