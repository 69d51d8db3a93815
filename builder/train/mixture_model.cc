// SPDX-License-Identifier: Apache-2.0
#include "builder/train/mixture_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "builder/train/precisions.h"
#include "core/base/error.h"

namespace asr::train {
namespace {

constexpr uint32_t kNoGroup = 0xffffffffu;

// Numbers of the covariances that groups of Gaussians have in common, by stream and group.
using SharedCovariances = std::map<std::pair<uint32_t, size_t>, uint32_t>;

size_t group_of(const MixtureModel &model, size_t mixture, size_t k) {
  if (model.sharing == CovarianceSharing::kState) return mixture;
  return model.sharing == CovarianceSharing::kClasses ? model.mixtures[mixture].classes[k] : 0;
}

void add_mixture(const MixtureModel &model, size_t number, SharedCovariances *shared, AcousticModel *out,
                 const std::string &source) {
  const bool shares = model.sharing != CovarianceSharing::kNone && !model.shares_correlations;
  const Mixture &mixture = model.mixtures[number];
  const size_t d = model.n_values(mixture), size = model.covariance_size(mixture);
  out->codebooks.push_back(
      {mixture.stream, static_cast<uint32_t>(mixture.n_gaussians()), out->covariance_of.size(), out->means.size()});
  out->means.insert(out->means.end(), mixture.means.begin(), mixture.means.end());
  for (size_t k = 0; k < mixture.n_gaussians(); ++k) {
    const auto next = static_cast<uint32_t>(out->precision_at.size());
    if (shares) {
      const auto [known, is_new] = shared->try_emplace({mixture.stream, group_of(model, number, k)}, next);
      out->covariance_of.push_back(known->second);
      if (!is_new) continue;
    } else {
      out->covariance_of.push_back(next);
    }
    const auto first = mixture.covariances.begin() + static_cast<ptrdiff_t>(k * size);
    const std::vector<float> precision = rounded_precision({first, first + static_cast<ptrdiff_t>(size)}, d, model.full);
    if (precision.empty()) fail(ASR_BAD_FILE, "%s: a covariance is not positive definite; raise --smooth", source.c_str());
    out->precision_at.push_back(out->precisions.size());
    out->precisions.insert(out->precisions.end(), precision.begin(), precision.end());
  }
}

}  // namespace

uint64_t MixtureModel::n_gaussians() const {
  uint64_t n = 0;
  for (const Mixture &mixture : mixtures) n += mixture.n_gaussians();
  return n;
}

uint64_t MixtureModel::n_parameters() const {
  uint64_t n = 0;
  for (const Mixture &mixture : mixtures) n += mixture.means.size() + mixture.covariances.size() + mixture.weights.size();
  return n;
}

MixtureModel to_mixtures(const AcousticModel &model) {
  MixtureModel result;
  result.full = model.covariance == ASR_COVARIANCE_FULL;
  result.n_dims = model.n_dims;
  result.streams = model.streams;
  for (const asr_gmm_codebook &codebook : model.codebooks) {
    Mixture mixture;
    mixture.stream = codebook.stream;
    const size_t d = model.streams[codebook.stream].dims.size();
    const float *const means = model.means.data() + codebook.first_mean;
    mixture.means.assign(means, means + codebook.n_gaussians * d);
    mixture.occupancies.assign(codebook.n_gaussians, 0);
    for (uint32_t k = 0; k < codebook.n_gaussians; ++k) {
      const uint64_t at = model.precision_at[model.covariance_of[codebook.first_gaussian + k]];
      const std::vector<double> covariance = read_covariance(model.precisions.data() + at, d, result.full);
      mixture.covariances.insert(mixture.covariances.end(), covariance.begin(), covariance.end());
    }
    result.mixtures.push_back(std::move(mixture));
  }
  for (size_t cell = 0; cell < model.state_codebook.size(); ++cell) {
    Mixture &mixture = result.mixtures[model.state_codebook[cell]];
    result.state_mixture.push_back(model.state_codebook[cell]);
    result.state_weight_row.push_back(static_cast<uint32_t>(mixture.n_weight_rows()));
    const float *const log_weights = model.log_weights.data() + model.state_weight[cell];
    double sum = 0;
    for (size_t k = 0; k < mixture.n_gaussians(); ++k) sum += std::exp(static_cast<double>(log_weights[k]));
    for (size_t k = 0; k < mixture.n_gaussians(); ++k) {
      mixture.weights.push_back(std::exp(static_cast<double>(log_weights[k])) / sum);
    }
  }
  for (Mixture &mixture : result.mixtures) {
    if (mixture.n_weight_rows() > 1) mixture.prior_weights = mixture.weights;
  }
  return result;
}

AcousticModel to_acoustic_model(const MixtureModel &model, const std::string &source) {
  AcousticModel result;
  result.covariance = model.full ? ASR_COVARIANCE_FULL : ASR_COVARIANCE_DIAGONAL;
  result.n_dims = model.n_dims;
  result.n_states = model.n_states();
  result.streams = model.streams;
  SharedCovariances shared;
  for (size_t i = 0; i < model.mixtures.size(); ++i) add_mixture(model, i, &shared, &result, source);
  result.state_codebook = model.state_mixture;
  for (size_t cell = 0; cell < model.state_mixture.size(); ++cell) {
    const Mixture &mixture = model.mixtures[model.state_mixture[cell]];
    const double *const weights = mixture.weights.data() + model.state_weight_row[cell] * mixture.n_gaussians();
    result.state_weight.push_back(result.log_weights.size());
    for (size_t k = 0; k < mixture.n_gaussians(); ++k) {
      result.log_weights.push_back(static_cast<float>(std::log(weights[k])));
    }
  }
  result.validate(source);
  return result;
}

MixtureModel flat_start(const AcousticModel &model, const std::vector<uint32_t> &groups, const std::vector<double> &mean,
                        const std::vector<double> &variance) {
  MixtureModel result;
  result.n_dims = model.n_dims;
  result.streams = model.streams;
  const uint32_t n_groups = *std::max_element(groups.begin(), groups.end()) + 1;
  const auto n_streams = static_cast<uint32_t>(model.streams.size());
  for (uint32_t group = 0; group < n_groups; ++group) {
    for (uint32_t stream = 0; stream < n_streams; ++stream) {
      Mixture mixture{stream, {}, {}, {1}, {0}, {}, {}};
      for (const uint32_t dim : model.streams[stream].dims) {
        mixture.means.push_back(mean[dim]);
        mixture.covariances.push_back(variance[dim]);
      }
      result.mixtures.push_back(std::move(mixture));
    }
  }
  for (const uint32_t group : groups) {
    for (uint32_t stream = 0; stream < n_streams; ++stream) result.state_mixture.push_back(group * n_streams + stream);
  }
  result.state_weight_row.assign(result.state_mixture.size(), 0);
  return result;
}

void untie(MixtureModel *model) {
  std::vector<Mixture> mixtures;
  for (size_t cell = 0; cell < model->state_mixture.size(); ++cell) {
    Mixture mixture = model->mixtures[model->state_mixture[cell]];
    const size_t n = mixture.n_gaussians();
    const auto first = mixture.weights.begin() + static_cast<ptrdiff_t>(model->state_weight_row[cell] * n);
    mixture.weights = {first, first + static_cast<ptrdiff_t>(n)};
    mixture.prior_weights.clear();
    model->state_mixture[cell] = static_cast<uint32_t>(cell);
    model->state_weight_row[cell] = 0;
    mixtures.push_back(std::move(mixture));
  }
  model->mixtures = std::move(mixtures);
}

void make_full(MixtureModel *model) {
  if (model->full) return;
  for (Mixture &mixture : model->mixtures) {
    const size_t d = model->n_values(mixture);
    std::vector<double> covariances(mixture.n_gaussians() * d * (d + 1) / 2);
    for (size_t k = 0; k < mixture.n_gaussians(); ++k) {
      double *const triangle = &covariances[k * d * (d + 1) / 2];
      for (size_t i = 0; i < d; ++i) triangle[i * (i + 3) / 2] = mixture.covariances[k * d + i];
    }
    mixture.covariances = std::move(covariances);
  }
  model->full = true;
}

std::vector<uint32_t> phone_groups(const HmmSet &set) {
  std::vector<uint32_t> first_of(set.n_pdfs, kNoGroup);  // by pdf: the pdf that names its group
  const auto join = [&](const Hmm &hmm, const Hmm &base) {
    for (size_t i = 0; i < hmm.pdfs.size(); ++i) {
      uint32_t &first = first_of[hmm.pdfs[i]];
      if (first == kNoGroup) first = base.pdfs[std::min(i, base.pdfs.size() - 1)];
    }
  };
  for (const BasePhone &phone : set.phones) join(set.hmms[phone.hmm], set.hmms[phone.hmm]);
  for (const ContextPhone &context : set.contexts) {
    join(set.hmms[context.hmm], set.hmms[set.phones[context.base].hmm]);
  }
  for (const PhoneContexts &contexts : set.phone_contexts) {
    for (const uint32_t hmm : contexts.hmms) join(set.hmms[hmm], set.hmms[set.phones[contexts.base].hmm]);
  }
  std::vector<uint32_t> number_of(set.n_pdfs, kNoGroup), groups(set.n_pdfs);
  uint32_t n_groups = 0;
  for (uint32_t pdf = 0; pdf < set.n_pdfs; ++pdf) {
    const uint32_t first = first_of[pdf] == kNoGroup ? pdf : first_of[first_of[pdf]];
    uint32_t &number = number_of[first == kNoGroup ? pdf : first];
    if (number == kNoGroup) number = n_groups++;
    groups[pdf] = number;
  }
  return groups;
}

std::vector<bool> filler_pdfs(const HmmSet &set) {
  std::vector<bool> fillers(set.n_pdfs), others(set.n_pdfs);
  const auto mark = [&](uint32_t phone, uint32_t hmm) {
    std::vector<bool> &marked = set.phones[phone].filler || phone == set.silence ? fillers : others;
    for (const uint32_t pdf : set.hmms[hmm].pdfs) marked[pdf] = true;
  };
  for (uint32_t phone = 0; phone < set.phones.size(); ++phone) mark(phone, set.phones[phone].hmm);
  for (const ContextPhone &context : set.contexts) mark(context.base, context.hmm);
  for (const PhoneContexts &contexts : set.phone_contexts) {
    for (const uint32_t hmm : contexts.hmms) mark(contexts.base, hmm);
  }
  for (size_t pdf = 0; pdf < fillers.size(); ++pdf) fillers[pdf] = fillers[pdf] && !others[pdf];
  return fillers;
}

std::vector<bool> silent_mixtures(const MixtureModel &model, const std::vector<bool> &filler_pdfs) {
  std::vector<bool> silent(model.mixtures.size(), true);
  for (size_t cell = 0; cell < model.state_mixture.size(); ++cell) {
    if (!filler_pdfs[cell / model.streams.size()]) silent[model.state_mixture[cell]] = false;
  }
  return silent;
}

}  // namespace asr::train
