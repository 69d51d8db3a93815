// SPDX-License-Identifier: Apache-2.0
#include "tools/scorer.h"

#include <algorithm>

#include "core/model/acoustic_model.h"

namespace asr::tool {

Scorer::Scorer(const Device &device, const Bundle &bundle) : device_(device) {
  check_has_gaussians(bundle);
  const AcousticModel model = read_acoustic_model(bundle.file("acoustic.bin"));
  n_dims_ = model.n_dims;
  n_pdfs_ = model.n_states;
  asr_backend_acoustic *acoustic = nullptr;
  const asr_status status = device.api()->load_acoustic(device.get(), AcousticView(model).get(), &acoustic);
  acoustic_ = device.made(status, acoustic, "load_acoustic");
}

std::vector<float> Scorer::score(const std::vector<float> &rows) const {
  const size_t n_rows = rows.size() / n_dims_;
  std::vector<float> scores(n_rows * n_pdfs_);
  for (size_t row = 0; row < n_rows; row += kRowsAtOnce) {
    const auto n = static_cast<uint32_t>(std::min<size_t>(kRowsAtOnce, n_rows - row));
    const asr_score_job job{acoustic_, rows.data() + row * n_dims_, n, 0, scores.data() + row * n_pdfs_};
    device_.check(device_.api()->score(device_.get(), &job, 1));
    device_.check(device_.api()->wait(device_.get(), 0));
  }
  return scores;
}

}  // namespace asr::tool
