// SPDX-License-Identifier: Apache-2.0
// Reads Kaldi's mixtures of diagonal or full Gaussians. Kaldi stores inverse covariances and means multiplied by them; the
// means are recovered here, in double.
#include <cmath>

#include "builder/import/kaldi_model.h"
#include "builder/import/sums.h"
#include "builder/text/text_file.h"
#include "core/base/cholesky.h"
#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr::kaldi {
namespace {

// Reads consecutive mixtures into an AcousticModel whose states each have a codebook of their own.
class GmmReader {
 public:
  GmmReader(ObjectReader &reader, AcousticModel &model) : reader_(reader), model_(model) {}

  void read_pdf(bool first) {
    const bool full = reader_.peek_token("mixture").compare(0, 8, "<FullGMM") == 0;
    if (first) model_.covariance = full ? ASR_COVARIANCE_FULL : ASR_COVARIANCE_DIAGONAL;
    if (full && model_.n_dims > kMaxFullDims) {  // factorising takes the cube of n_dims
      reader_.fail_here(format("has %u dimensions; full covariances can have up to %u of them", model_.n_dims, kMaxFullDims));
    }
    if (full != (model_.covariance == ASR_COVARIANCE_FULL)) reader_.fail_here("mixtures are diagonal in part and full in part");
    const std::string name = full ? "FullGMM" : "DiagGMM";
    const bool old = reader_.skip(("<" + name + "Begin>").c_str());
    if (!old) reader_.expect(("<" + name + ">").c_str());
    if (reader_.skip("<GCONSTS>")) reader_.vector<float>("constants of a mixture");  // recomputed for scoring
    reader_.expect("<WEIGHTS>");
    const std::vector<float> weights = reader_.vector<float>("weights of a mixture");
    add_weights(weights);
    if (full) {
      read_full(weights.size());
    } else {
      read_diagonal(weights.size());
    }
    reader_.expect((old ? "<" + name + "End>" : "</" + name + ">").c_str());
  }

 private:
  ObjectReader &reader_;
  AcousticModel &model_;

  void add_weights(const std::vector<float> &weights) {
    asr_gmm_codebook codebook{};
    codebook.n_gaussians = static_cast<uint32_t>(weights.size());
    codebook.first_gaussian = model_.n_gaussians();
    codebook.first_mean = model_.means.size();
    model_.state_codebook.push_back(static_cast<uint32_t>(model_.codebooks.size()));
    model_.state_weight.push_back(model_.log_weights.size());
    model_.codebooks.push_back(codebook);
    double sum = 0;
    for (const float weight : weights) sum += double{weight};
    for (const float weight : weights) {
      if (!(weight >= 0 && weight < 1e10f)) reader_.fail_here("a weight is negative or not a number; the file is damaged");
      model_.log_weights.push_back(static_cast<float>(std::log(static_cast<double>(weight))));
    }
    if (!adds_up_to_one(sum)) {
      reader_.fail_here(
          format("the weights of pdf %zu add up to %g, not 1; the file is damaged", model_.state_weight.size() - 1, sum));
    }
  }

  Matrix<float> rows(const char *token, size_t n, const char *what) {
    reader_.expect(token);
    Matrix<float> m = reader_.matrix<float>(what);
    if (m.n_rows != n || m.n_cols != model_.n_dims) {
      reader_.fail_here(
          format("%s are %u x %u where %zu x %u must be; the file is damaged", what, m.n_rows, m.n_cols, n, model_.n_dims));
    }
    return m;
  }

  void begin_gaussian() {
    model_.covariance_of.push_back(static_cast<uint32_t>(model_.precision_at.size()));
    model_.precision_at.push_back(model_.precisions.size());
  }

  void read_diagonal(size_t n) {
    const Matrix<float> means = rows("<MEANS_INVVARS>", n, "means of a mixture");
    const Matrix<float> precisions = rows("<INV_VARS>", n, "variances of a mixture");
    for (size_t k = 0; k < n; ++k) {
      begin_gaussian();
      for (size_t d = 0; d < model_.n_dims; ++d) {
        const float precision = precisions.row(k)[d];
        if (!(precision > 0)) reader_.fail_here("a variance is not positive; the file is damaged");
        model_.precisions.push_back(precision);
        model_.means.push_back(static_cast<float>(static_cast<double>(means.row(k)[d]) / precision));
      }
    }
  }

  void read_full(size_t n) {
    const Matrix<float> means = rows("<MEANS_INVCOVARS>", n, "means of a mixture");
    reader_.expect("<INV_COVARS>");
    for (size_t k = 0; k < n; ++k) {
      uint32_t n_rows = 0;
      const std::vector<float> precision = reader_.packed<float>("covariance of a Gaussian", &n_rows);
      if (n_rows != model_.n_dims)
        reader_.fail_here(format("a covariance has %u rows for %u dimensions", n_rows, model_.n_dims));
      begin_gaussian();
      model_.precisions.insert(model_.precisions.end(), precision.begin(), precision.end());
      std::vector<double> factor(precision.begin(), precision.end());
      if (!factorise(&factor, n_rows)) reader_.fail_here("a covariance is not positive definite; the file is damaged");
      std::vector<double> mean(means.row(k), means.row(k) + n_rows);
      solve(factor, n_rows, &mean);
      for (const double value : mean) model_.means.push_back(static_cast<float>(value));
    }
  }
};

}  // namespace

AcousticModel read_gmms(ObjectReader &reader, const std::string &path) {
  AcousticModel model;
  reader.expect("<DIMENSION>");
  model.n_dims = reader.count("number of dimensions");
  if (model.n_dims == 0 || model.n_dims > kMaxDims)
    reader.fail_here(format("has %u dimensions; 1 to %u are possible", model.n_dims, kMaxDims));
  reader.expect("<NUMPDFS>");
  const uint32_t n_pdfs = reader.count("number of pdfs");
  GmmStream stream;
  for (uint32_t d = 0; d < model.n_dims; ++d) stream.dims.push_back(d);
  model.streams.push_back(stream);
  GmmReader gmms(reader, model);
  for (uint32_t i = 0; i < n_pdfs; ++i) gmms.read_pdf(i == 0);
  model.n_states = n_pdfs;
  model.validate(path);
  return model;
}

TransitionModel read_transitions(const std::string &path) {
  const std::string bytes = read_unpacked(path, "a model of Kaldi (.mdl)", {Format::kKaldiModel});
  ObjectReader reader(bytes, path);
  reader.begin_object();
  return read_transition_model(reader);
}

Model read_model(const std::string &path) {
  const std::string bytes = read_unpacked(path, "a model of Kaldi (.mdl)", {Format::kKaldiModel});
  ObjectReader reader(bytes, path);
  reader.begin_object();
  Model model;
  model.transitions = read_transition_model(reader);
  if (!reader.at_end() && reader.peek_token("model") != "<DIMENSION>") {
    reader.fail_here(
        "holds no Gaussian mixtures after its transition model (a neural network?); of those import --transitions-only, and recognise log-likelihoods");
  }
  model.acoustic = read_gmms(reader, path);
  if (!reader.at_end()) reader.fail_here("has data after its last mixture; the file is damaged");
  if (model.transitions.n_pdfs > model.acoustic.n_states) {
    fail(ASR_BAD_FILE, "%s: its transitions use pdf %u, but there are %u; the file is damaged", path.c_str(),
         model.transitions.n_pdfs - 1, model.acoustic.n_states);
  }
  model.transitions.n_pdfs = model.acoustic.n_states;
  return model;
}

}  // namespace asr::kaldi
