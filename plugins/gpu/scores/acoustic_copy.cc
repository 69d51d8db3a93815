// SPDX-License-Identifier: Apache-2.0
#include "plugins/gpu/scores/acoustic_copy.h"

#include <algorithm>

#include "plugins/common/packing.h"

namespace asr {
namespace {

// Copies the first n elements of an array and points the view at them.
template <typename T>
void copy(uint64_t n, const T **array, std::vector<T> *own) {
  own->assign(*array, *array + n);
  *array = own->data();
}

// The lengths of the arrays that the view gives no number for.
struct Lengths {
  explicit Lengths(const asr_acoustic_view &view) {
    for (uint32_t c = 0; c < view.n_codebooks; ++c) {
      const asr_gmm_codebook &codebook = view.codebooks[c];
      const uint64_t d = view.streams[codebook.stream].n_dims;
      const uint64_t n_values = view.covariance == ASR_COVARIANCE_FULL ? d * (d + 1) / 2 : d;
      means = std::max(means, codebook.first_mean + codebook.n_gaussians * d);
      for (uint32_t k = 0; k < codebook.n_gaussians; ++k) {
        precisions = std::max(precisions, view.precision_at[view.covariance_of[codebook.first_gaussian + k]] + n_values);
      }
    }
    for (uint32_t s = 0; s < view.n_states; ++s) {
      for (uint32_t j = 0; j < view.n_streams; ++j) {
        const uint64_t begin = view.state_weight[size_t{s} * view.n_streams + j];
        log_weights = std::max(log_weights, begin + codebook_of(view, s, j).n_gaussians);
      }
    }
  }
  uint64_t means = 0, precisions = 0, log_weights = 0;
};

}  // namespace

AcousticCopy::AcousticCopy(const asr_acoustic_view &view) : view_(view) {
  const Lengths lengths(view);
  const uint64_t n_cells = uint64_t{view.n_states} * view.n_streams;
  copy(lengths.means, &view_.means, &means_);
  copy(lengths.precisions, &view_.precisions, &precisions_);
  copy(lengths.log_weights, &view_.log_weights, &log_weights_);
  copy(view.n_gaussians, &view_.covariance_of, &covariance_of_);
  copy(view.n_covariances, &view_.precision_at, &precision_at_);
  copy(n_cells, &view_.state_codebook, &state_codebook_);
  copy(n_cells, &view_.state_weight, &state_weight_);
  copy(view.n_codebooks, &view_.codebooks, &codebooks_);
  copy(view.n_streams, &view_.streams, &streams_);
  for (asr_gmm_stream &stream : streams_) {
    dims_.emplace_back(stream.dims, stream.dims + stream.n_dims);
    stream.dims = dims_.back().data();
  }
}

}  // namespace asr
