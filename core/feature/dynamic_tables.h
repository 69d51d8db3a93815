// SPDX-License-Identifier: Apache-2.0
// DynamicTables expresses all steps from cepstra to rows as tables (asr_dynamics_view): every kind of dynamic features, and the
// constants of noise removal and live normalisation. They implement equations F6, F9 and F10 of docs/equations.md.
// FeatureTables makes them; DynamicFeatures and the back ends evaluate them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/backend/asr_backend_signals.h"
#include "core/feature/front_end.h"

namespace asr {

class DynamicTables {
 public:
  // `noise_dct` as in asr_dynamics_view; it must outlive this.
  explicit DynamicTables(const FrontEnd &front_end, const float *noise_dct = nullptr);
  DynamicTables(const DynamicTables &) = delete;
  DynamicTables &operator=(const DynamicTables &) = delete;

  const asr_dynamics_view *view() const { return &view_; }  // valid until this is destroyed

 private:
  void add_value(const std::vector<asr_dynamic_tap> &taps);
  void add_sphinx(const FrontEnd &front_end);
  void add_regression(const FrontEnd &front_end);

  std::vector<float> prior_mean_, slope_, transform_;
  std::vector<uint32_t> tap_begin_ = {0};
  std::vector<asr_dynamic_tap> taps_;
  asr_dynamics_view view_{};
};

// Returns the number of frames before its own that a row needs.
uint32_t lookback(const asr_dynamics_view &view);

}  // namespace asr
