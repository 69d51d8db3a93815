// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/acoustic.h"

namespace asr::cuda {

Acoustic::Acoustic(Device &device, const asr_acoustic_view &view) : ScoreBuffers(device, view), gmm_(device, view) {}

Acoustic::~Acoustic() {
  if (is_hung()) return;
  cudaStreamSynchronize(device_.compute().get());
  cudaStreamSynchronize(device_.copies().get());
}

void Acoustic::score_prepared(Device &device, const std::vector<Acoustic *> &acoustics, const std::vector<uint32_t> &buffers) {
  Stream &stream = device.compute();
  std::vector<Gmm::Job> jobs;
  for (size_t i = 0; i < acoustics.size(); ++i) {
    Buffer &b = acoustics[i]->buffers_[buffers[i]];
    stream.wait_for(b.fetched);
    if (b.n_rows > 0) jobs.push_back({&acoustics[i]->gmm_, b.features.data(), b.n_rows, b.scores.data()});
  }
  if (!jobs.empty()) device.clock().time(stream.get(), [&] { Gmm::score(device, jobs, stream.get()); });
  for (size_t i = 0; i < acoustics.size(); ++i) stream.mark(&acoustics[i]->buffers_[buffers[i]].scored);
  // The scores before these, while the kernels run.
  for (size_t i = 0; i < acoustics.size(); ++i) acoustics[i]->deliver(acoustics[i]->buffers_[buffers[i]]);
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
  for (const Job &job : jobs) job.acoustic->fetch(job.buffer, job.loglikes);
}

const float *Acoustic::device_rows(uint32_t buffer, uint32_t first_row, uint32_t n_rows, Stream &stream) const {
  const Buffer &b = scored(buffer, first_row, n_rows);
  stream.wait_for(b.scored);
  return b.scores.data() + size_t{first_row} * n_states();
}

}  // namespace asr::cuda
