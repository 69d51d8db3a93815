// SPDX-License-Identifier: Apache-2.0
// WarpDevice makes the cepstra of frames under all warps, with one FFT a frame (Kou et al. 2013), and scores rows in the states
// that an alignment forces on them; rows of full covariances are scored by the host. It opens the device for itself, so that
// streams do not wait for it. Any thread may call; calls that come while the device is busy are carried out together.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/adapt/gaussian_posteriors.h"
#include "core/backend/asr_backend_forced.h"
#include "core/backend/registry.h"
#include "core/engine/call_batches.h"
#include "core/engine/loaded_model.h"
#include "core/feature/mfcc_tables.h"
#include "core/model/acoustic_model.h"

namespace asr {

class WarpDevice {
 public:
  // Throws if the device has no extension "forced", which full covariances do not need, or not for this front end or model. The
  // tables are for many banks. The model must outlive this.
  WarpDevice(const DeviceEntry &entry, const EngineOptions &options, const FeatureTables &tables, const AcousticModel &model);
  WarpDevice(const WarpDevice &) = delete;
  WarpDevice &operator=(const WarpDevice &) = delete;

  const std::string &id() const { return device_.entry().id; }

  void extract(const std::vector<asr_extract_job> &jobs);
  // rows: [states.size()][n_dims], all finite. Returns their log-likelihoods.
  std::vector<float> score(const std::vector<float> &rows, const std::vector<uint32_t> &states);

 private:
  struct Extraction {
    const std::vector<asr_extract_job> &jobs;
    size_t size() const;  // cepstra
  };
  struct Scores {
    const std::vector<float> &rows;
    const std::vector<uint32_t> &states;
    std::vector<float> &loglikes;
    size_t size() const { return states.size(); }
  };
  void extract_batch(const std::vector<const Extraction *> &batch) const;
  void score_batch(const std::vector<const Scores *> &batch) const;
  void score_on_host(const std::vector<float> &rows, const std::vector<uint32_t> &states, float *loglikes) const;
  void score_rows(const std::vector<float> &rows, const std::vector<uint32_t> &states, float *loglikes) const;

  const Device device_;
  const asr_backend_forced_api *const api_;
  BackendPointer<asr_backend_features> features_;
  BackendPointer<asr_backend_forced> forced_;
  std::optional<GaussianPosteriors> on_host_;  // scores rows of full covariances
  std::mutex mutex_;                           // guards the device
  CallBatches<Extraction> extractions_;
  CallBatches<Scores> scores_;
};

}  // namespace asr
