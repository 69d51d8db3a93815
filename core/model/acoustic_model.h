// SPDX-License-Identifier: Apache-2.0
// AcousticModel is a Gaussian mixture acoustic model in memory and owns the arrays of asr_acoustic_view. Importers fill one,
// the bundle stores one (acoustic.bin), back ends get its view.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/backend/asr_backend.h"
#include "core/base/file.h"

namespace asr {

struct GmmStream {
  std::vector<uint32_t> dims;
};

struct AcousticModel {
  asr_covariance covariance = ASR_COVARIANCE_DIAGONAL;
  uint32_t n_dims = 0;
  uint32_t n_states = 0;
  std::vector<GmmStream> streams;
  std::vector<asr_gmm_codebook> codebooks;
  std::vector<float> means;
  std::vector<uint32_t> covariance_of;  // [n_gaussians]
  std::vector<uint64_t> precision_at;   // [n_covariances]
  std::vector<float> precisions;
  std::vector<uint32_t> state_codebook;  // [n_states][n_streams]
  std::vector<uint64_t> state_weight;    // [n_states][n_streams]
  std::vector<float> log_weights;

  uint64_t n_gaussians() const { return covariance_of.size(); }

  // Throws asr::Error naming `source` and the field if any index or number is out of range. n_states >= 1, and every codebook
  // is non-empty with Gaussians of its own. Precisions are finite and, if diagonal, positive. Log weights belong to one state
  // and are finite or -inf, with at least one finite per state. The limits of docs/limits.md apply.
  void validate(const std::string &source) const;
};

// AcousticView points into the model and its means, and into itself, so it is constructed in place and kept as long as it is
// used.
class AcousticView {
 public:
  explicit AcousticView(const AcousticModel &model) : AcousticView(model, model.means) {}
  AcousticView(const AcousticModel &model, const std::vector<float> &means);  // with other means than the model's own
  AcousticView(const AcousticView &) = delete;
  AcousticView &operator=(const AcousticView &) = delete;
  const asr_acoustic_view *get() const { return &view_; }

 private:
  std::vector<asr_gmm_stream> streams_;
  asr_acoustic_view view_{};
};

void write_acoustic_model(const AcousticModel &model, const FileAt &place);  // acoustic.bin
AcousticModel read_acoustic_model(const std::string &path);                  // validated

}  // namespace asr
