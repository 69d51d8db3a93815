// SPDX-License-Identifier: Apache-2.0
// FeatureTables computes a back end's tables in double from a FrontEnd. For cepstra (asr_features_view) these are the
// window, the mel bands for a list of VTLN warp factors, and the cosine transform with lifter. For PLP the tables of
// linear prediction take the transform's part. The tables from cepstra to rows follow. Equations F2, F4, F5, F7, F8 and
// F11 of docs/equations.md.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/backend/asr_backend.h"
#include "core/backend/asr_backend_banks.h"
#include "core/feature/dynamic_tables.h"
#include "core/feature/front_end.h"

namespace asr {

// Returns 1, then 0.80, 0.81 ... 1.25. The engine loads all of them, so that a stream may choose any warp without cost. Only 1
// if the filter bank is too narrow to bend (see warp_bends_fit).
std::vector<double> standard_warps(const FrontEnd &front_end);

class FeatureTables {
 public:
  // Throws asr::Error if front_end is invalid or a warp factor does not fit its filter bank.
  FeatureTables(const FrontEnd &front_end, const std::vector<double> &warps);
  explicit FeatureTables(const FrontEnd &front_end) : FeatureTables(front_end, standard_warps(front_end)) {}
  // Tells back ends that frames are wanted under many of the filter banks (core/backend/asr_backend_banks.h).
  FeatureTables &for_many_banks();
  FeatureTables(const FeatureTables &) = delete;
  FeatureTables &operator=(const FeatureTables &) = delete;

  const FrontEnd &front_end() const { return front_end_; }
  const std::vector<double> &warps() const { return warps_; }
  // Valid until this is destroyed. Its "cepstra" are view()->n_ceps values per frame. With noise removal these are the log mel
  // energies, which dct() [n_ceps][n_mel] converts to the front end's cepstra.
  const asr_features_view *view() const { return &view_; }
  const std::vector<float> &dct() const { return dct_; }

  // Returns the filter bank with the nearest factor. Throws ASR_INVALID_ARGUMENT if none is within 0.005.
  uint32_t warp_index(double warp) const;

 private:
  void make_window();
  void make_bank(double warp);
  void make_dct();
  void make_prediction();

  FrontEnd front_end_;
  std::vector<double> warps_;
  std::vector<float> window_, mel_weights_, dct_, identity_, loudness_, autocorrelation_, gains_;
  std::vector<double> positions_, edges_;
  std::vector<asr_mel_band> bands_;
  std::optional<DynamicTables> dynamics_;
  asr_mel_triangles triangles_{};
  asr_features_view view_{};
};

}  // namespace asr
