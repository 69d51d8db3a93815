// SPDX-License-Identifier: Apache-2.0
// Assembles the files of a CMU Sphinx model: means, variances, mixture_weights or sendump, transition_matrices, mdef,
// feat.params, noisedict and feature_transform.
#include "builder/import/sphinx.h"

#include <cmath>
#include <filesystem>
#include <map>

#include "builder/import/sphinx_dictionary.h"
#include "builder/import/sphinx_feat_params.h"
#include "builder/import/sphinx_mdef.h"
#include "builder/import/sphinx_s3.h"
#include "builder/import/sphinx_sendump.h"
#include "builder/import/sums.h"
#include "builder/text/text_file.h"
#include "core/base/error.h"

namespace asr {
namespace {

using namespace sphinx;

constexpr char kSilence[] = "SIL";

enum class Tying { kContinuous, kSemiContinuous, kPhonetic };

const char *tying_name(Tying tying) {
  switch (tying) {
    case Tying::kContinuous:
      return "continuous";
    case Tying::kSemiContinuous:
      return "semi-continuous";
    case Tying::kPhonetic:
      return "phonetically tied";
  }
  return "";
}

// Infers how senones share codebooks from the number of codebooks, like the reference implementation.
Tying find_tying(const Gaussians &means, const Mdef &mdef, const std::string &source) {
  if (means.n_codebooks == mdef.n_base() && means.n_codebooks > 1) return Tying::kPhonetic;
  if (means.n_codebooks == 1) return Tying::kSemiContinuous;
  if (means.n_codebooks == mdef.n_senones) return Tying::kContinuous;
  fail(ASR_UNSUPPORTED, "%s: has %u codebooks; 1, one for each of %u phones, or one for each of %u senones are supported",
       source.c_str(), means.n_codebooks, mdef.n_base(), mdef.n_senones);
}

std::vector<uint32_t> codebook_of_senones(Tying tying, const Mdef &mdef) {
  std::vector<uint32_t> codebook(mdef.n_senones, 0);
  if (tying == Tying::kContinuous) {
    for (uint32_t s = 0; s < mdef.n_senones; ++s) codebook[s] = s;
  } else if (tying == Tying::kPhonetic) {  // the codebook of the first phone that uses the senone
    for (auto phone = mdef.phones.rbegin(); phone != mdef.phones.rend(); ++phone) {
      for (uint32_t k = 0; k < mdef.n_emitting; ++k)
        codebook[mdef.senones[phone->sequence * mdef.n_emitting + k]] = phone->base;
    }
  }
  return codebook;
}

void check_shapes(const Gaussians &means, const Gaussians &variances, const FeatParams &params, const SphinxOptions &options) {
  if (means.n_codebooks != variances.n_codebooks || means.n_densities != variances.n_densities ||
      means.stream_dims != variances.stream_dims) {
    fail(ASR_BAD_FILE, "%s: means and variances have different sizes; they are not of one model", options.model_dir.c_str());
  }
  std::vector<uint32_t> stream_dims;
  for (const auto &dims : params.streams) stream_dims.push_back(static_cast<uint32_t>(dims.size()));
  if (stream_dims != means.stream_dims) {
    const auto text = [](const std::vector<uint32_t> &dims) {
      std::string joined;
      for (const uint32_t d : dims) joined += (joined.empty() ? "" : "/") + std::to_string(d);
      return joined;
    };
    fail(ASR_BAD_FILE,
         "%s: its means have streams of %s dimensions, but feat.params describes %s; give the right --feat-params",
         options.model_dir.c_str(), text(means.stream_dims).c_str(), text(stream_dims).c_str());
  }
}

// Returns ln w[senone][stream][density]: from the exact weights if present, else from the quantised ones.
std::vector<float> read_log_weights(const SphinxOptions &options, const Gaussians &means, const Mdef &mdef, double floor) {
  const uint32_t n_streams = static_cast<uint32_t>(means.stream_dims.size());
  const std::string exact = options.model_dir + "/mixture_weights", quantised = options.model_dir + "/sendump";
  std::error_code error;
  if (!std::filesystem::exists(exact, error)) {
    if (!std::filesystem::exists(quantised, error)) {
      fail(ASR_NOT_FOUND, "%s: has neither mixture_weights nor sendump; a model needs one of them", options.model_dir.c_str());
    }
    return read_sendump(quantised, mdef.n_senones, n_streams, means.n_densities);
  }
  MixtureWeights weights = read_mixture_weights(exact, floor);
  if (weights.n_senones != mdef.n_senones || weights.n_streams != n_streams || weights.n_densities != means.n_densities) {
    fail(ASR_BAD_FILE, "%s: has %u senones, %u streams and %u densities; mdef and means have %u, %u and %u", exact.c_str(),
         weights.n_senones, weights.n_streams, weights.n_densities, mdef.n_senones, n_streams, means.n_densities);
  }
  for (float &weight : weights.values) weight = static_cast<float>(std::log(double{weight}));
  return std::move(weights.values);
}

AcousticModel assemble_acoustic(Gaussians means, const Gaussians &variances, std::vector<float> log_weights,
                                const std::vector<uint32_t> &codebook_of, const FeatParams &params) {
  AcousticModel model;
  model.n_dims = params.front_end.n_dims();
  model.n_states = static_cast<uint32_t>(codebook_of.size());
  for (const auto &dims : params.streams) model.streams.push_back({dims});
  const uint32_t n_streams = static_cast<uint32_t>(model.streams.size());
  for (uint32_t c = 0, at = 0; c < means.n_codebooks; ++c) {  // one codebook of this project is one stream of a Sphinx codebook
    for (uint32_t j = 0; j < n_streams; ++j) {
      model.codebooks.push_back({j, means.n_densities, model.n_gaussians(), at});
      for (uint32_t k = 0; k < means.n_densities; ++k, at += means.stream_dims[j]) {
        model.covariance_of.push_back(static_cast<uint32_t>(model.precision_at.size()));
        model.precision_at.push_back(at);
      }
    }
  }
  model.means = std::move(means.values);
  for (const float variance : variances.values) {
    model.precisions.push_back(static_cast<float>(1 / std::max<double>(variance, params.variance_floor)));
  }
  for (uint32_t s = 0; s < model.n_states; ++s) {
    for (uint32_t j = 0; j < n_streams; ++j) {
      model.state_codebook.push_back(codebook_of[s] * n_streams + j);
      model.state_weight.push_back((uint64_t{s} * n_streams + j) * means.n_densities);
    }
  }
  model.log_weights = std::move(log_weights);
  return model;
}

Topology make_topology(const TransitionMatrices &matrices, uint32_t number) {
  const uint32_t n = matrices.n_states;
  Topology topology;
  topology.n_states = n;
  for (uint32_t from = 0; from < n; ++from) {
    for (uint32_t to = 0; to <= n; ++to) {
      const double p = matrices.values[(size_t{number} * n + from) * (n + 1) + to];
      if (p > 0) topology.arcs.push_back({from, to, static_cast<float>(-std::log(p))});
    }
  }
  topology.arcs.push_back({kEntry, 0, 0.0f});
  return topology;
}

HmmSet assemble_hmms(const Mdef &mdef, const TransitionMatrices &matrices) {
  HmmSet set;
  set.n_pdfs = mdef.n_senones;
  for (uint32_t i = 0; i < matrices.n_matrices; ++i) set.topologies.push_back(make_topology(matrices, i));
  std::map<std::pair<uint32_t, std::vector<uint32_t>>, uint32_t> known;  // (topology, pdfs) -> HMM
  for (uint32_t i = 0; i < mdef.phones.size(); ++i) {
    const MdefPhone &phone = mdef.phones[i];
    const auto first = mdef.senones.begin() + std::ptrdiff_t{phone.sequence} * mdef.n_emitting;
    const std::vector<uint32_t> pdfs(first, first + mdef.n_emitting);
    const auto [found, is_new] =
        known.emplace(std::pair(phone.transition_matrix, pdfs), static_cast<uint32_t>(set.hmms.size()));
    if (is_new) set.hmms.push_back({phone.transition_matrix, pdfs});
    if (i < mdef.n_base()) {
      set.phones.push_back({mdef.base_names[i], mdef.fillers[i], found->second});
    } else {
      set.contexts.push_back({phone.base, phone.left, phone.right, phone.position, found->second});
    }
  }
  set.silence = set.find_phone(kSilence);
  return set;
}

void apply_feature_transform(const SphinxOptions &options, FeatParams &params) {
  const std::string path = options.model_dir + "/feature_transform";
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return;
  if (params.streams.size() != 1) {
    fail(ASR_UNSUPPORTED, "%s: a transform of features in several streams is not supported", path.c_str());
  }
  FeatureTransform transform = read_feature_transform(path);
  FrontEnd &f = params.front_end;
  if (transform.n_cols != f.n_dims()) {
    fail(ASR_BAD_FILE, "%s: is for %u dimensions, but feat.params describes %u", path.c_str(), transform.n_cols, f.n_dims());
  }
  if (params.lda_dims > 0 && params.lda_dims < transform.n_rows) {  // as PocketSphinx: the first rows count
    transform.n_rows = params.lda_dims;
    transform.values.resize(size_t{transform.n_rows} * transform.n_cols);
  }
  const uint32_t dependent = first_dependent_row(transform.values, transform.n_rows, transform.n_cols, transform.n_cols);
  if (dependent < transform.n_rows) {
    fail(ASR_BAD_FILE,
         "%s: row %u is zero, or a combination of the rows before it (the matrix is singular); give the model's own",
         path.c_str(), dependent);
  }
  f.transform_rows = transform.n_rows;
  f.transform_cols = transform.n_cols;
  f.transform = std::move(transform.values);
  params.streams[0].clear();
  for (uint32_t dim = 0; dim < f.transform_rows; ++dim) params.streams[0].push_back(dim);
}

// Returns a path given by the user, or the file in the model directory.
std::string path_of(const SphinxOptions &options, const std::string &given, const char *name) {
  return given.empty() ? options.model_dir + "/" + name : given;
}

std::string read_noisedict(const SphinxOptions &options, const std::string &path, std::vector<std::string> &notes) {
  std::error_code error;
  if (!options.noisedict.empty() || std::filesystem::exists(path, error))
    return read_text(path, {"a list of fillers (noisedict)"});
  notes.push_back(path + " does not exist; silence is the only filler word");
  return "";
}

// About 1 / the language weight with which CMU Sphinx uses such models; measured on recordings of AN4 and LibriSpeech.
DecodingDefaults decoding_defaults(Tying tying) {
  DecodingDefaults decoding;
  decoding.acoustic_scale = tying == Tying::kContinuous ? 0.1 : 0.15;
  decoding.word_insertion_cost = tying == Tying::kContinuous ? 2 : 1.5;
  decoding.beam = 15;
  return decoding;
}

}  // namespace

ImportedModel import_sphinx(const SphinxOptions &options) {
  const std::string &dir = options.model_dir;
  std::error_code error;
  if (!std::filesystem::is_directory(dir, error)) {
    fail(ASR_NOT_FOUND, "%s: is not a directory; name one with a model", dir.c_str());
  }
  if (!std::filesystem::exists(dir + "/means", error)) {
    fail(ASR_NOT_FOUND, "%s: has no file means, so it is no model of CMU Sphinx; name the directory with means and mdef",
         dir.c_str());
  }
  const std::string mdef_path = path_of(options, options.mdef, "mdef");
  const std::string noisedict_path = path_of(options, options.noisedict, "noisedict");

  FeatParams params = read_feat_params(path_of(options, options.feat_params, "feat.params"), options.sample_rate_hz);
  if (options.noise_removal) params.front_end.noise_removal = *options.noise_removal;
  apply_feature_transform(options, params);
  const Mdef mdef = read_mdef(mdef_path);
  const TransitionMatrices matrices = read_transition_matrices(dir + "/transition_matrices", params.transition_floor);
  if (matrices.n_states != mdef.n_emitting || matrices.n_matrices < mdef.n_transition_matrices) {
    fail(ASR_BAD_FILE, "%s: describes %u matrices of %u states, but transition_matrices has %u of %u", mdef_path.c_str(),
         mdef.n_transition_matrices, mdef.n_emitting, matrices.n_matrices, matrices.n_states);
  }
  Gaussians means = read_gaussians(dir + "/means");
  const Gaussians variances = read_gaussians(dir + "/variances");
  check_shapes(means, variances, params, options);
  const Tying tying = find_tying(means, mdef, dir + "/means");
  std::vector<float> log_weights = read_log_weights(options, means, mdef, params.weight_floor);

  ImportedModel model;
  model.acoustic =
      assemble_acoustic(std::move(means), variances, std::move(log_weights), codebook_of_senones(tying, mdef), params);
  model.acoustic.validate(dir);
  model.hmms = assemble_hmms(mdef, matrices);
  model.hmms.validate(mdef_path);
  model.notes = std::move(params.notes);
  model.bundle.name = std::filesystem::canonical(dir, error).filename().string();
  model.bundle.source = format("CMU Sphinx, %s", tying_name(tying));
  model.bundle.front_end = std::move(params.front_end);
  model.bundle.decoding = decoding_defaults(tying);
  model.bundle.filler_words =
      parse_noisedict(read_noisedict(options, noisedict_path, model.notes), noisedict_path, model.hmms, model.notes);
  return model;
}

}  // namespace asr
