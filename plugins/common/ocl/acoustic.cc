// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/ocl/acoustic.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "plugins/common/ocl/gmm_tuning.h"

namespace asr::ocl {
namespace {

constexpr size_t kCopyFloats = size_t{1} << 18;  // of one task of a copy on the host

}  // namespace

Acoustic::Acoustic(Device &device, const asr_acoustic_view &view)
    : device_(device),
      gmm_(device, view, chosen_tuning(device, view.covariance == ASR_COVARIANCE_FULL), tensor_target(device, view.covariance)),
      buffers_{Buffer(device.context()), Buffer(device.context())} {}

Acoustic::~Acoustic() {
  api().Finish(device_.compute().get());
  api().Finish(device_.copies().get());
}

const DeviceArray<float> &Acoustic::prepare(uint32_t n_rows, uint32_t buffer) {
  if (buffer > 1) fail(ASR_INVALID_ARGUMENT, "score: there is no score buffer %u; give 0 or 1", buffer);
  if (n_rows > device_.max_rows()) {
    fail(ASR_INVALID_ARGUMENT, "score: %u rows are more than max_lanes * window_frames = %u", n_rows, device_.max_rows());
  }
  Buffer &b = buffers_[buffer];
  deliver(b);
  b.n_rows = n_rows;
  b.on_host = false;
  b.features.reserve(size_t{n_rows} * n_dims());
  b.scores.reserve(size_t{n_rows} * n_states());
  return b.features;
}

void Acoustic::score_prepared(uint32_t buffer) {
  Buffer &b = buffers_[buffer];
  if (b.n_rows == 0) return;
  device_.compute().wait_for(b.fetched);
  gmm_.score(b.features, b.n_rows, b.scores);
  b.scored = device_.compute().mark();
}

void Acoustic::score(const float *features, uint32_t n_rows, uint32_t buffer, float *loglikes) {
  const DeviceArray<float> &rows = prepare(n_rows, buffer);
  if (n_rows == 0) return;
  Buffer &b = buffers_[buffer];
  b.scored.wait();  // then host_features may be written
  const size_t n_features = size_t{n_rows} * n_dims();
  b.host_features.reserve(n_features);
  std::copy_n(features, n_features, b.host_features.data());
  device_.compute().write(rows.get(), 0, b.host_features.data(), n_features * sizeof(float));
  score_prepared(buffer);
  if (loglikes != nullptr) {
    fetch(b);
    b.loglikes = loglikes;
  }
}

// Starts the copy of a buffer's scores to the host.
void Acoustic::fetch(Buffer &b) {
  const size_t n = size_t{b.n_rows} * n_states();
  b.host_scores.reserve(n);
  device_.copies().wait_for(b.scored);
  device_.copies().read(b.scores.get(), 0, b.host_scores.data(), n * sizeof(float));
  b.fetched = device_.copies().mark();
  b.on_host = true;
}

// Brings a buffer's scores to where they were wanted.
void Acoustic::deliver(Buffer &b) {
  float *const loglikes = std::exchange(b.loglikes, nullptr);
  if (loglikes == nullptr) return;
  b.fetched.wait();
  const size_t n = size_t{b.n_rows} * n_states();
  device_.pool().run((n + kCopyFloats - 1) / kCopyFloats, [&](size_t i) {
    const size_t begin = i * kCopyFloats;
    std::copy_n(b.host_scores.data() + begin, std::min(kCopyFloats, n - begin), loglikes + begin);
  });
}

void Acoustic::finish() {
  for (Buffer &b : buffers_) deliver(b);
}

// A buffer that holds such rows.
Acoustic::Buffer &Acoustic::scored(uint32_t buffer, uint32_t first_row, uint32_t n_rows) {
  if (buffer > 1) fail(ASR_INVALID_ARGUMENT, "advance: there is no score buffer %u; give 0 or 1", buffer);
  Buffer &b = buffers_[buffer];
  if (uint64_t{first_row} + n_rows > b.n_rows) {
    fail(ASR_INVALID_ARGUMENT, "advance: rows %u to %u are asked for but only %u were scored", first_row, first_row + n_rows,
         b.n_rows);
  }
  return b;
}

const float *Acoustic::rows(uint32_t buffer, uint32_t first_row, uint32_t n_rows) {
  Buffer &b = scored(buffer, first_row, n_rows);
  if (b.n_rows == 0) return nullptr;
  if (!b.on_host) fetch(b);
  b.fetched.wait();
  return b.host_scores.data() + size_t{first_row} * n_states();
}

const DeviceArray<float> &Acoustic::device_rows(uint32_t buffer, uint32_t first_row, uint32_t n_rows) {
  return scored(buffer, first_row, n_rows).scores;
}

}  // namespace asr::ocl
