// SPDX-License-Identifier: Apache-2.0
#include "builder/import/htk_model.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr::htk {
namespace {

struct ContextName {
  std::string base, left, right;
};

ContextName split_name(const std::string &name) {
  ContextName split{name, "", ""};
  const size_t minus = name.find('-');
  if (minus != std::string::npos && minus > 0 && minus + 1 < name.size()) {
    split.left = name.substr(0, minus);
    split.base = name.substr(minus + 1);
  }
  const size_t plus = split.base.find('+');
  if (plus != std::string::npos && plus > 0 && plus + 1 < split.base.size()) {
    split.right = split.base.substr(plus + 1);
    split.base = split.base.substr(0, plus);
  }
  return split;
}

bool is_silence(const std::string &name) { return name == "sil" || name == "SIL" || name == "silB"; }

bool is_filler(const std::string &name) { return is_silence(name) || name == "sp" || name == "SP" || name == "silE"; }

Topology make_topology(const TransitionMatrix &matrix) {
  Topology topology;
  topology.n_states = matrix.n - 2;
  const auto add_row = [&](uint32_t row, uint32_t from) {
    for (uint32_t to = 1; to < matrix.n; ++to) {
      const double p = matrix.probs[size_t{row} * matrix.n + to];
      if (p > 0) topology.arcs.push_back({from, to - 1, static_cast<float>(-std::log(p))});
    }
  };
  for (uint32_t row = 1; row + 1 < matrix.n; ++row) add_row(row, row - 1);
  add_row(0, kEntry);
  return topology;
}

// Adds every Gaussian of a mixture to the model, as a codebook of stream `stream`. A density shared by several mixtures is
// copied for each, so a small file could make a large model: `max_floats` bounds the means.
void add_codebook(const ModelSet &set, const std::vector<uint32_t> &densities, uint32_t stream, uint64_t max_floats,
                  const std::string &source, AcousticModel &model) {
  if (model.means.size() + uint64_t{densities.size()} * set.stream_dims[stream] > max_floats) {
    fail(ASR_UNSUPPORTED, "%s: its mixtures share densities that come to more than %llu numbers; tie them in a codebook",
         source.c_str(), static_cast<unsigned long long>(kMaxSharedFloats));
  }
  model.codebooks.push_back({stream, static_cast<uint32_t>(densities.size()), model.n_gaussians(), model.means.size()});
  for (const uint32_t d : densities) {
    const Density &density = set.densities[d];
    model.covariance_of.push_back(density.covariance);
    model.means.insert(model.means.end(), density.mean.begin(), density.mean.end());
  }
}

void check_lengths(const ModelSet &set, const Mixture &mixture, uint32_t stream, const std::string &source) {
  const uint64_t d = set.stream_dims[stream];
  const bool full = set.covariance == ASR_COVARIANCE_FULL;
  for (const uint32_t k : mixture.codebook == kNone ? mixture.densities : set.codebooks[mixture.codebook]) {
    const Density &density = set.densities[k];
    if (density.mean.size() != d || set.covariances[density.covariance].size() != (full ? d * (d + 1) / 2 : d)) {
      fail(ASR_BAD_FILE, "%s: a mean or variance of stream %u does not have its %u dimensions", source.c_str(), stream + 1,
           set.stream_dims[stream]);
    }
  }
}

}  // namespace

AcousticModel make_acoustic_model(const ModelSet &set, const std::string &source) {
  AcousticModel model;
  model.covariance = set.covariance;
  for (const uint32_t n : set.stream_dims) {
    GmmStream stream;
    for (uint32_t i = 0; i < n; ++i) stream.dims.push_back(model.n_dims++);
    model.streams.push_back(std::move(stream));
  }
  for (const std::vector<float> &precisions : set.covariances) {
    model.precision_at.push_back(model.precisions.size());
    model.precisions.insert(model.precisions.end(), precisions.begin(), precisions.end());
  }
  uint64_t max_floats = 0;  // total size of the densities, at least kMaxSharedFloats
  for (const Density &density : set.densities) max_floats += density.mean.size();
  max_floats = std::max(max_floats, kMaxSharedFloats);
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> shared;  // (codebook of the set, stream) -> codebook of the model
  for (const State &state : set.states) {
    for (uint32_t j = 0; j < set.stream_dims.size(); ++j) {
      const Mixture &mixture = state.streams[j];
      check_lengths(set, mixture, j, source);
      auto number = static_cast<uint32_t>(model.codebooks.size());
      if (mixture.codebook != kNone) number = shared.emplace(std::pair(mixture.codebook, j), number).first->second;
      if (number == model.codebooks.size()) {
        add_codebook(set, mixture.codebook == kNone ? mixture.densities : set.codebooks[mixture.codebook], j, max_floats,
                     source, model);
      }
      model.state_codebook.push_back(number);
      model.state_weight.push_back(model.log_weights.size());
      model.log_weights.insert(model.log_weights.end(), mixture.log_weights.begin(), mixture.log_weights.end());
    }
  }
  model.n_states = static_cast<uint32_t>(set.states.size());
  model.validate(source);
  return model;
}

HmmSet make_hmm_set(const ModelSet &set, const std::vector<std::pair<std::string, std::string>> &logical,
                    const std::string &source) {
  HmmSet hmms;
  hmms.n_pdfs = static_cast<uint32_t>(set.states.size());
  for (const TransitionMatrix &matrix : set.transitions) hmms.topologies.push_back(make_topology(matrix));
  std::map<std::string, uint32_t> hmm_of;
  for (const HmmDefinition &hmm : set.hmms) {
    if (!hmm_of.emplace(hmm.name, static_cast<uint32_t>(hmms.hmms.size())).second) {
      fail(ASR_BAD_FILE, "%s: there are two HMMs %s", source.c_str(), hmm.name.c_str());
    }
    hmms.hmms.push_back({hmm.transitions, hmm.states});
  }
  std::vector<std::pair<std::string, std::string>> names = logical;
  if (names.empty()) {
    for (const HmmDefinition &hmm : set.hmms) names.emplace_back(hmm.name, hmm.name);
  }

  std::map<std::string, uint32_t> phone_of;
  const auto find_or_add = [&](const std::string &name, uint32_t hmm) {
    const auto [found, is_new] = phone_of.emplace(name, static_cast<uint32_t>(hmms.phones.size()));
    if (is_new) hmms.phones.push_back({name, is_filler(name), hmm});
    return found->second;
  };
  for (const auto &[name, physical] : names) {  // the context-independent model, or the first one in any context
    const auto hmm = hmm_of.find(physical);
    if (hmm == hmm_of.end()) {
      fail(ASR_BAD_FILE, "%s: %s stands for the HMM %s, which there is none of", source.c_str(), name.c_str(),
           physical.c_str());
    }
    const ContextName split = split_name(name);
    const uint32_t phone = find_or_add(split.base, hmm->second);
    if (split.left.empty() && split.right.empty()) hmms.phones[phone].hmm = hmm->second;
  }
  for (const auto &[name, physical] : names) {
    const ContextName split = split_name(name);
    if (split.left.empty() && split.right.empty()) continue;
    const auto neighbour = [&, &of = name](const std::string &n) {  // structured bindings cannot be captured in C++17
      if (n.empty()) return kNoPhone;
      const auto found = phone_of.find(n);
      if (found == phone_of.end()) {
        fail(ASR_BAD_FILE, "%s: %s has the neighbour %s, which is no phone of the model", source.c_str(), of.c_str(),
             n.c_str());
      }
      return found->second;
    };
    hmms.contexts.push_back(
        {phone_of.at(split.base), neighbour(split.left), neighbour(split.right), kAnyPosition, hmm_of.at(physical)});
  }
  for (uint32_t i = 0; i < hmms.phones.size() && hmms.silence == kNoPhone; ++i) {
    if (is_silence(hmms.phones[i].name)) hmms.silence = i;
  }
  hmms.validate(source);
  return hmms;
}

bool parse_kind(const std::string &text, uint16_t *kind) {
  static const char *const kBases[] = {"WAVEFORM", "LPC",   "LPREFC",  "LPCEPSTRA", "LPDELCEP", "IREFC",
                                       "MFCC",     "FBANK", "MELSPEC", "USER",      "DISCRETE", "PLP"};
  static const std::map<char, uint16_t> kQualifiers = {
      {'E', kEnergy}, {'N', kNoAbsoluteEnergy}, {'D', kDelta}, {'A', kAcceleration},
      {'C', 02000},   {'Z', kZeroMean},         {'K', 010000}, {'0', kC0},
      {'V', 040000},  {'T', kThirdDelta}};
  const size_t underline = text.find('_');
  const std::string base = text.substr(0, underline);
  const auto *found = std::find(std::begin(kBases), std::end(kBases), base);
  if (found == std::end(kBases)) return false;
  *kind = static_cast<uint16_t>(found - std::begin(kBases));
  for (size_t i = std::min(underline, text.size()); i < text.size(); i += 2) {
    const auto qualifier = i + 1 < text.size() && text[i] == '_' ? kQualifiers.find(text[i + 1]) : kQualifiers.end();
    if (qualifier == kQualifiers.end()) return false;
    *kind |= qualifier->second;
  }
  return true;
}

}  // namespace asr::htk
