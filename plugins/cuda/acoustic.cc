// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/acoustic.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/error.h"

namespace asr::cuda {
namespace {

constexpr size_t kCopyFloats = size_t{1} << 18;  // of one task of a copy on the host

}  // namespace

Acoustic::Acoustic(Device &device, const asr_acoustic_view &view) : device_(device), gmm_(device, view) {}

Acoustic::~Acoustic() {
  cudaStreamSynchronize(device_.compute());
  cudaStreamSynchronize(device_.copies());
}

float *Acoustic::prepare(uint32_t n_rows, uint32_t buffer) {
  if (buffer > 1) fail(ASR_INVALID_ARGUMENT, "score: there is no score buffer %u; give 0 or 1", buffer);
  if (n_rows > device_.max_rows()) {
    fail(ASR_INVALID_ARGUMENT, "score: %u rows are more than max_lanes * window_frames = %u", n_rows, device_.max_rows());
  }
  Buffer &b = buffers_[buffer];
  b.n_rows = n_rows;
  b.on_host = false;
  b.features.reserve(size_t{n_rows} * n_dims());
  b.scores.reserve(size_t{n_rows} * n_states());
  return b.features.data();
}

void Acoustic::score_prepared(Device &device, const std::vector<Acoustic *> &acoustics, const std::vector<uint32_t> &buffers) {
  const cudaStream_t stream = device.compute();
  std::vector<Gmm::Job> jobs;
  for (size_t i = 0; i < acoustics.size(); ++i) {
    Buffer &b = acoustics[i]->buffers_[buffers[i]];
    check(cudaStreamWaitEvent(stream, b.fetched.get()), "ordering the work of the device");
    if (b.n_rows > 0) jobs.push_back({&acoustics[i]->gmm_, b.features.data(), b.n_rows, b.scores.data()});
  }
  if (!jobs.empty()) device.clock().time(stream, [&] { Gmm::score(device, jobs, stream); });
  for (size_t i = 0; i < acoustics.size(); ++i) {
    check(cudaEventRecord(acoustics[i]->buffers_[buffers[i]].scored.get(), stream), "ordering the work of the device");
  }
  // The scores before these, while the kernels run.
  for (size_t i = 0; i < acoustics.size(); ++i) acoustics[i]->deliver(acoustics[i]->buffers_[buffers[i]]);
}

void Acoustic::upload(const float *features, uint32_t n_rows, uint32_t buffer) {
  float *const rows = prepare(n_rows, buffer);
  Buffer &b = buffers_[buffer];
  check(cudaEventSynchronize(b.scored.get()), "waiting for scores");  // then host_features may be written
  if (n_rows == 0) return;
  const size_t n_features = size_t{n_rows} * n_dims();
  b.host_features.reserve(n_features);
  std::copy_n(features, n_features, b.host_features.data());
  check(cudaMemcpyAsync(rows, b.host_features.data(), n_features * sizeof(float), cudaMemcpyHostToDevice, device_.compute()),
        "copying features to the device");
}

void Acoustic::score(Device &device, const std::vector<Job> &jobs) {
  std::vector<Acoustic *> acoustics;
  std::vector<uint32_t> buffers;
  for (const Job &job : jobs) {
    job.acoustic->upload(job.features, job.n_rows, job.buffer);
    acoustics.push_back(job.acoustic);
    buffers.push_back(job.buffer);
  }
  score_prepared(device, acoustics, buffers);
  for (const Job &job : jobs) {
    if (job.loglikes == nullptr || job.n_rows == 0) continue;
    Buffer &b = job.acoustic->buffers_[job.buffer];
    job.acoustic->fetch(b);
    b.loglikes = job.loglikes;
    b.n_loglikes = size_t{job.n_rows} * job.acoustic->n_states();
  }
}

// Starts the copy of a buffer's scores to the host.
void Acoustic::fetch(Buffer &b) {
  const size_t n = size_t{b.n_rows} * n_states();
  b.host_scores.reserve(n);
  check(cudaStreamWaitEvent(device_.copies(), b.scored.get()), "ordering the work of the device");
  check(cudaMemcpyAsync(b.host_scores.data(), b.scores.data(), n * sizeof(float), cudaMemcpyDeviceToHost, device_.copies()),
        "copying scores to the host");
  check(cudaEventRecord(b.fetched.get(), device_.copies()), "ordering the work of the device");
  b.on_host = true;
}

// Brings a buffer's scores to where they were wanted.
void Acoustic::deliver(Buffer &b) {
  float *const loglikes = std::exchange(b.loglikes, nullptr);
  if (loglikes == nullptr) return;
  check(cudaEventSynchronize(b.fetched.get()), "waiting for scores");
  const size_t n = b.n_loglikes;
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
  check(cudaEventSynchronize(b.fetched.get()), "waiting for scores");
  return b.host_scores.data() + size_t{first_row} * n_states();
}

const float *Acoustic::device_rows(uint32_t buffer, uint32_t first_row, uint32_t n_rows, cudaStream_t stream) {
  const Buffer &b = scored(buffer, first_row, n_rows);
  check(cudaStreamWaitEvent(stream, b.scored.get()), "ordering the work of the device");
  return b.scores.data() + size_t{first_row} * n_states();
}

}  // namespace asr::cuda
