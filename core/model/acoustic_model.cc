// SPDX-License-Identifier: Apache-2.0
#include "core/model/acoustic_model.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr {
namespace {

using ull = unsigned long long;

// Validator implements AcousticModel::validate; each check reads only values that earlier checks found in range. Codebooks and
// states have their own Gaussians and weights, so checking and packing a model is linear in its arrays.
class Validator {
 public:
  Validator(const AcousticModel &model, const std::string &source) : model_(model), source_(source.c_str()) {}

  void run() const {
    check_sizes();
    check_streams();
    check_codebooks();
    check_numbers();
    check_states();
  }

 private:
  const AcousticModel &model_;
  const char *source_;

  void check_sizes() const {
    const uint64_t cells = uint64_t(model_.n_states) * model_.streams.size();
    if (model_.n_states == 0) fail(ASR_BAD_FILE, "%s: n_states is 0", source_);
    if (model_.n_states > kMaxPdfs) {
      fail(ASR_BAD_FILE, "%s: n_states is %u; up to %u are possible", source_, model_.n_states, kMaxPdfs);
    }
    if (model_.n_dims == 0) fail(ASR_BAD_FILE, "%s: n_dims is 0", source_);
    if (model_.n_dims > kMaxDims) {
      fail(ASR_BAD_FILE, "%s: n_dims is %u; up to %u are possible", source_, model_.n_dims, kMaxDims);
    }
    if (model_.streams.empty()) fail(ASR_BAD_FILE, "%s: n_streams is 0", source_);
    if (model_.streams.size() > kMaxStreams) {
      fail(ASR_BAD_FILE, "%s: n_streams is %zu; up to %u are possible", source_, model_.streams.size(), kMaxStreams);
    }
    if (model_.state_codebook.size() != cells || model_.state_weight.size() != cells) {
      fail(ASR_BAD_FILE, "%s: state_codebook and state_weight do not have n_states * n_streams = %llu entries", source_,
           static_cast<ull>(cells));
    }
  }

  void check_streams() const {
    for (size_t j = 0; j < model_.streams.size(); ++j) {
      const std::vector<uint32_t> &dims = model_.streams[j].dims;
      if (dims.empty()) fail(ASR_BAD_FILE, "%s: stream %zu has no dimensions", source_, j);
      const uint32_t most = model_.covariance == ASR_COVARIANCE_FULL ? kMaxFullDims : kMaxDims;
      if (dims.size() > most) {
        fail(ASR_BAD_FILE, "%s: stream %zu has %zu dimensions; up to %u are possible with its kind of covariance", source_, j,
             dims.size(), most);
      }
      for (const uint32_t dim : dims) {
        if (dim >= model_.n_dims) {
          fail(ASR_BAD_FILE, "%s: stream %zu uses dimension %u of %u", source_, j, dim, model_.n_dims);
        }
      }
    }
  }

  void check_codebooks() const {
    const uint64_t n_gaussians = model_.n_gaussians();
    uint64_t gaussians_used = 0, means_used = 0, precisions_used = 0;
    for (size_t c = 0; c < model_.codebooks.size(); ++c) {
      const asr_gmm_codebook &codebook = model_.codebooks[c];
      if (codebook.stream >= model_.streams.size()) {
        fail(ASR_BAD_FILE, "%s: codebook %zu is of stream %u of %zu", source_, c, codebook.stream, model_.streams.size());
      }
      const uint64_t d = model_.streams[codebook.stream].dims.size();
      const uint64_t n = codebook.n_gaussians;
      if (n == 0) fail(ASR_BAD_FILE, "%s: codebook %zu has no Gaussians", source_, c);
      if (n > n_gaussians || codebook.first_gaussian > n_gaussians - n) {
        fail(ASR_BAD_FILE, "%s: codebook %zu uses Gaussians beyond the %llu there are", source_, c,
             static_cast<ull>(n_gaussians));
      }
      if (n * d > model_.means.size() || codebook.first_mean > model_.means.size() - n * d) {
        fail(ASR_BAD_FILE, "%s: codebook %zu uses means beyond the %zu there are", source_, c, model_.means.size());
      }
      gaussians_used += n;
      means_used += n * d;
      precisions_used += n * precisions_of(d);
      if (gaussians_used > n_gaussians || means_used > model_.means.size()) {
        fail(ASR_BAD_FILE, "%s: codebook %zu has Gaussians or means of another codebook; import the model again", source_, c);
      }
      if (precisions_used > std::max<uint64_t>(model_.precisions.size(), kMaxSharedFloats)) {
        fail(ASR_BAD_FILE, "%s: its Gaussians share covariances that come to more than %llu numbers; use diagonal ones",
             source_, static_cast<ull>(kMaxSharedFloats));
      }
      for (uint64_t k = 0; k < n; ++k) check_covariance(c, codebook.first_gaussian + k, d);
    }
  }

  uint64_t precisions_of(uint64_t d) const { return model_.covariance == ASR_COVARIANCE_FULL ? d * (d + 1) / 2 : d; }

  // Checks Gaussian g of d dimensions: its precision lies inside the array, and variances are positive.
  void check_covariance(size_t c, uint64_t g, uint64_t d) const {
    const uint32_t number = model_.covariance_of[g];
    if (number >= model_.precision_at.size()) {
      fail(ASR_BAD_FILE, "%s: Gaussian %llu of codebook %zu uses covariance %u of %zu", source_, static_cast<ull>(g), c, number,
           model_.precision_at.size());
    }
    const bool full = model_.covariance == ASR_COVARIANCE_FULL;
    const uint64_t size = precisions_of(d);
    const uint64_t at = model_.precision_at[number];
    if (size > model_.precisions.size() || at > model_.precisions.size() - size) {
      fail(ASR_BAD_FILE, "%s: covariance %u lies beyond the %zu precisions there are", source_, number,
           model_.precisions.size());
    }
    for (uint64_t i = 0, diagonal = 0; i < d; ++i, diagonal += full ? i + 1 : 1) {
      if (!(model_.precisions[at + diagonal] > 0)) {
        fail(ASR_BAD_FILE, "%s: covariance %u has a precision that is not positive", source_, number);
      }
    }
  }

  void check_numbers() const {
    const auto finite = [](float value) { return std::isfinite(value); };
    if (!std::all_of(model_.means.begin(), model_.means.end(), finite)) {
      fail(ASR_BAD_FILE, "%s: a mean is not finite", source_);
    }
    if (!std::all_of(model_.precisions.begin(), model_.precisions.end(), finite)) {
      fail(ASR_BAD_FILE, "%s: a precision is not finite", source_);
    }
    for (const float weight : model_.log_weights) {
      if (!(weight < INFINITY)) fail(ASR_BAD_FILE, "%s: a log weight is neither finite nor -inf", source_);
    }
  }

  void check_states() const {
    const size_t n_streams = model_.streams.size();
    uint64_t weights_used = 0;
    for (size_t cell = 0; cell < model_.state_codebook.size(); ++cell) {
      const size_t state = cell / n_streams, stream = cell % n_streams;
      const uint32_t c = model_.state_codebook[cell];
      if (c >= model_.codebooks.size() || model_.codebooks[c].stream != stream) {
        fail(ASR_BAD_FILE, "%s: state %zu uses codebook %u, which is not one of stream %zu", source_, state, c, stream);
      }
      const uint64_t n = model_.codebooks[c].n_gaussians, at = model_.state_weight[cell];
      if (n > model_.log_weights.size() || at > model_.log_weights.size() - n) {
        fail(ASR_BAD_FILE, "%s: state %zu uses log weights beyond the %zu there are", source_, state,
             model_.log_weights.size());
      }
      weights_used += n;
      if (weights_used > model_.log_weights.size()) {
        fail(ASR_BAD_FILE, "%s: state %zu has the log weights of another state; import the model again", source_, state);
      }
      const auto first = model_.log_weights.begin() + static_cast<std::ptrdiff_t>(at);
      if (std::all_of(first, first + static_cast<std::ptrdiff_t>(n), [](float weight) { return weight == -INFINITY; })) {
        fail(ASR_BAD_FILE, "%s: all weights of state %zu are zero in stream %zu", source_, state, stream);
      }
    }
  }
};

}  // namespace

void AcousticModel::validate(const std::string &source) const { Validator(*this, source).run(); }

AcousticView::AcousticView(const AcousticModel &model, const std::vector<float> &means) {
  for (const GmmStream &stream : model.streams) {
    streams_.push_back({static_cast<uint32_t>(stream.dims.size()), stream.dims.data()});
  }
  view_.size = sizeof(view_);
  view_.covariance = model.covariance;
  view_.n_dims = model.n_dims;
  view_.n_states = model.n_states;
  view_.n_streams = static_cast<uint32_t>(streams_.size());
  view_.n_codebooks = static_cast<uint32_t>(model.codebooks.size());
  view_.n_covariances = static_cast<uint32_t>(model.precision_at.size());
  view_.n_gaussians = model.n_gaussians();
  view_.streams = streams_.data();
  view_.codebooks = model.codebooks.data();
  view_.means = means.data();
  view_.covariance_of = model.covariance_of.data();
  view_.precision_at = model.precision_at.data();
  view_.precisions = model.precisions.data();
  view_.state_codebook = model.state_codebook.data();
  view_.state_weight = model.state_weight.data();
  view_.log_weights = model.log_weights.data();
}

}  // namespace asr
