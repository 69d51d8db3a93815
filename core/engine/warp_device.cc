// SPDX-License-Identifier: Apache-2.0
#include "core/engine/warp_device.h"

#include <algorithm>

#include "core/base/error.h"

namespace asr {
namespace {

// The limits of a batch: its rows, which are copied together, and its rows of cepstra.
constexpr size_t kMaxBatchRows = size_t{1} << 18, kMaxBatchFrames = size_t{1} << 20;

asr_backend_options device_options(const EngineOptions &options) {
  asr_backend_options result{};
  result.size = sizeof(result);
  result.max_lanes = 1;
  result.window_frames = 32;
  result.n_threads = options.n_threads;
  result.timeout_ms = options.device_timeout_ms;
  return result;
}

const DeviceEntry &with_forced_states(const DeviceEntry &entry, const AcousticModel &model) {
  const bool scores = model.covariance == ASR_COVARIANCE_FULL ||
                      extension_of<asr_backend_forced_api>(*entry.api, ASR_BACKEND_FORCED) != nullptr;
  if (scores && makes_features(*entry.api)) return entry;
  fail(ASR_UNSUPPORTED, "its back end makes no features, or scores no forced states");
}

}  // namespace

WarpDevice::WarpDevice(const DeviceEntry &entry, const EngineOptions &options, const FeatureTables &tables,
                       const AcousticModel &model)
    : device_(with_forced_states(entry, model), device_options(options)),
      api_(extension_of<asr_backend_forced_api>(*entry.api, ASR_BACKEND_FORCED)),
      features_(load_features(device_, tables)),
      forced_(nullptr, api_ != nullptr ? api_->free : nullptr),
      extractions_(&mutex_, kMaxBatchFrames, [this](const auto &batch) { extract_batch(batch); }),
      scores_(&mutex_, kMaxBatchRows, [this](const auto &batch) { score_batch(batch); }) {
  if (model.covariance == ASR_COVARIANCE_FULL) {
    on_host_.emplace(model);
    return;
  }
  asr_backend_forced *forced = nullptr;
  const asr_status status = api_->load(device_.get(), AcousticView(model).get(), &forced);
  forced_.reset(device_.made(status, forced, "load"));
}

size_t WarpDevice::Extraction::size() const {
  size_t n_frames = 0;
  for (const asr_extract_job &job : jobs) n_frames += job.n_frames;
  return n_frames;
}

void WarpDevice::extract(const std::vector<asr_extract_job> &jobs) {
  device_.begin_thread();
  extractions_.run({jobs});
}

void WarpDevice::extract_batch(const std::vector<const Extraction *> &batch) const {
  std::vector<asr_extract_job> jobs;
  for (const Extraction *extraction : batch) jobs.insert(jobs.end(), extraction->jobs.begin(), extraction->jobs.end());
  device_.check(device_.api()->extract(device_.get(), features_.get(), jobs.data(), jobs.size()));
}

std::vector<float> WarpDevice::score(const std::vector<float> &rows, const std::vector<uint32_t> &states) {
  std::vector<float> loglikes(states.size());
  if (on_host_) {
    score_on_host(rows, states, loglikes.data());
    return loglikes;
  }
  device_.begin_thread();
  scores_.run({rows, states, loglikes});
  return loglikes;
}

// A back end would score full covariances in all states.
void WarpDevice::score_on_host(const std::vector<float> &rows, const std::vector<uint32_t> &states, float *loglikes) const {
  const AcousticModel &model = on_host_->model();
  std::vector<double> shares;
  for (size_t i = 0; i < states.size(); ++i) {
    double sum = 0;
    for (uint32_t s = 0; s < model.streams.size(); ++s) sum += on_host_->of(&rows[i * model.n_dims], states[i], s, &shares);
    loglikes[i] = static_cast<float>(sum);
  }
}

void WarpDevice::score_batch(const std::vector<const Scores *> &batch) const {
  if (batch.size() == 1) return score_rows(batch[0]->rows, batch[0]->states, batch[0]->loglikes.data());
  std::vector<float> rows;
  std::vector<uint32_t> states;
  for (const Scores *part : batch) {
    rows.insert(rows.end(), part->rows.begin(), part->rows.end());
    states.insert(states.end(), part->states.begin(), part->states.end());
  }
  std::vector<float> loglikes(states.size());
  score_rows(rows, states, loglikes.data());
  auto from = loglikes.begin();
  for (const Scores *part : batch) {
    std::copy_n(from, part->size(), part->loglikes.begin());
    from += static_cast<std::ptrdiff_t>(part->size());
  }
}

void WarpDevice::score_rows(const std::vector<float> &rows, const std::vector<uint32_t> &states, float *loglikes) const {
  device_.check(api_->score(device_.get(), forced_.get(), rows.data(), states.data(), states.size(), loglikes));
}

}  // namespace asr
