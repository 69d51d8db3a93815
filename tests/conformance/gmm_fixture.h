// SPDX-License-Identifier: Apache-2.0
// Common code of the tests of `score`: models on a device, and their scores against the double reference.
#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "reference/gmm.h"
#include "reference/random_gmm.h"
#include "tests/conformance/harness.h"

namespace asr::test {

class GmmTest : public BackendTest {
 protected:
  // Scorer holds a model on the device and scores rows `window` at a time, into poisoned memory.
  class Scorer {
   public:
    Scorer(const GmmTest &test, const AcousticModel &model, const asr_backend_options &options = backend_options(1, 256))
        : test_(test), view_(model), device_(test.open(options)) {
      device_->check(api().load_acoustic(device_->get(), view_.get(), &acoustic_));
    }
    ~Scorer() { api().free_acoustic(acoustic_); }

    std::vector<float> score(const std::vector<float> &features, uint32_t window = 256) const {
      const uint32_t n_dims = view().n_dims, n_states = view().n_states;
      const auto n_rows = uint32_t(features.size() / n_dims);
      std::vector<float> all;
      for (uint32_t t = 0; t < n_rows; t += window) {
        const uint32_t n = std::min(window, n_rows - t);
        Guarded<float> loglikes(size_t{n} * n_states);
        const std::vector<float> rows(features.data() + size_t{t} * n_dims, features.data() + size_t{t + n} * n_dims);
        const asr_score_job job{acoustic_, rows.data(), n, t / window % 2, loglikes.data()};
        device_->check(api().score(device_->get(), &job, 1));
        device_->check(api().wait(device_->get(), 0));
        EXPECT_TRUE(loglikes.bands_intact());
        EXPECT_EQ(loglikes.n_unwritten(), 0u);
        all.insert(all.end(), loglikes.data(), loglikes.data() + loglikes.size());
      }
      return all;
    }
    const asr_acoustic_view &view() const { return *view_.get(); }

   private:
    const asr_backend_api &api() const { return test_.api(); }
    const GmmTest &test_;
    AcousticView view_;
    std::unique_ptr<Device> device_;
    asr_backend_acoustic *acoustic_ = nullptr;
  };

  // Expects every score within 2e-3, or within `relative` of itself if it is too large for float precision.
  void expect_near(const AcousticModel &model, const std::vector<float> &features, double relative = 0) const {
    const Scorer scorer(*this, model);
    const std::vector<float> scores = scorer.score(features);
    const size_t n_rows = features.size() / model.n_dims;
    ASSERT_EQ(scores.size(), n_rows * model.n_states);
    for (size_t t = 0; t < n_rows; ++t) {
      for (uint32_t s = 0; s < model.n_states; ++s) {
        const double expected = reference::log_likelihood(scorer.view(), s, features.data() + t * model.n_dims);
        ASSERT_NEAR(scores[t * model.n_states + s], expected, 2e-3 + relative * std::abs(expected))
            << "row " << t << " state " << s;
      }
    }
  }
  void expect_near(const reference::RandomGmm &options, uint32_t n_rows = 29) const {
    expect_near(reference::random_gmm(options), reference::random_features(options, n_rows));
  }
  static void expect_same_bits(const std::vector<float> &a, const std::vector<float> &b) {
    ASSERT_EQ(a.size(), b.size());
    ASSERT_EQ(memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0);
  }
};

}  // namespace asr::test
