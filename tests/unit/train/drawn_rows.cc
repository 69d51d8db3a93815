// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/train/drawn_rows.h"

#include <random>

#include "reference/gmm.h"

namespace asr::test {

void draw_rows(const AcousticModel &model, uint64_t n, uint64_t seed, DrawnRows *drawn) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  drawn->values.assign(n * model.n_dims, 0);
  drawn->rows.n_dims = model.n_dims;
  drawn->rows.states.clear();
  for (uint64_t i = 0; i < n; ++i) {
    const auto state = static_cast<uint32_t>(random() % model.n_states);
    drawn->rows.states.push_back(state);
    for (size_t j = 0; j < model.streams.size(); ++j) {
      const std::vector<uint32_t> &dims = model.streams[j].dims;
      const asr_gmm_codebook &codebook = model.codebooks[model.state_codebook[state * model.streams.size() + j]];
      const float *const mean = &model.means[codebook.first_mean + random() % codebook.n_gaussians * dims.size()];
      const double common = normal(random);  // so that the dimensions are correlated
      for (size_t k = 0; k < dims.size(); ++k) {
        drawn->values[i * model.n_dims + dims[k]] = mean[k] + static_cast<float>(0.7 * common + normal(random));
      }
    }
  }
  drawn->rows.values = drawn->values.data();
}

double log_likelihood(const train::MixtureModel &model, const train::TrainingRows &rows) {
  const AcousticModel written = to_acoustic_model(model, "model");
  const AcousticView view(written);
  double sum = 0;
  for (uint64_t i = 0; i < rows.n_shares(); ++i) {
    const auto [row, state, share] = rows.share(i);
    if (state == train::kNoState) continue;
    sum += static_cast<double>(share) * reference::log_likelihood(*view.get(), state, rows.row(row));
  }
  return sum;
}

train::EstimateOptions loose_options(uint32_t n_dims) {
  train::EstimateOptions options;
  options.min_frames = 1e-3;
  options.min_weight = 1e-9;
  options.variance_floor.assign(n_dims, 1e-3);
  return options;
}

}  // namespace asr::test
