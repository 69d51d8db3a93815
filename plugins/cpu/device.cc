// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu/device.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include "plugins/common/score_checks.h"

namespace asr::cpu {
namespace {

std::string cpu_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const size_t text = line.find_first_not_of(" \t", line.find(':') + 1);
    if (text != std::string::npos) return line.substr(text);
  }
  return "CPU";
}

}  // namespace

Device::Device(const asr_backend_options &options)
    : max_rows_(std::max(1u, options.max_lanes) * std::max(1u, options.window_frames)), pool_(options.n_threads) {
  if (pool_.n_threads() > 1) scorer_ = std::thread([this] { serve(); });
}

Device::~Device() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  job_added_.notify_all();
  if (scorer_.joinable()) scorer_.join();
}

void Device::run(const Job &job) {
  Acoustic &acoustic = *job.acoustic;
  const size_t n = size_t{job.n_rows} * acoustic.gmm.n_states();
  std::vector<float> &scores = acoustic.scores[job.buffer];
  if (scores.size() < n) scores.resize(n);
  acoustic.n_rows[job.buffer] = job.n_rows;
  acoustic.gmm.score(job.features, job.n_rows, scores.data(), pool_);
  if (job.loglikes != nullptr) std::copy_n(scores.data(), n, job.loglikes);
}

void Device::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    job_added_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const Job job = jobs_.front();
    lock.unlock();
    std::exception_ptr failure;
    try {
      run(job);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure && !failure_) failure_ = failure;
    jobs_.pop_front();
    job_done_.notify_all();
  }
}

void Device::score(Acoustic &acoustic, const float *features, uint32_t n_rows, uint32_t buffer, float *loglikes) {
  check_score(n_rows, max_rows_, buffer);
  const Job job{&acoustic, features, n_rows, buffer, loglikes};
  if (!scorer_.joinable()) return run(job);
  std::lock_guard lock(mutex_);
  jobs_.push_back(job);
  job_added_.notify_one();
}

void Device::await(const Acoustic &acoustic, uint32_t buffer) {
  std::unique_lock lock(mutex_);
  job_done_.wait(lock, [&] {
    return std::none_of(jobs_.begin(), jobs_.end(),
                        [&](const Job &job) { return job.acoustic == &acoustic && job.buffer == buffer; });
  });
  if (failure_) std::rethrow_exception(failure_);
}

void Device::drain() {
  std::unique_lock lock(mutex_);
  job_done_.wait(lock, [this] { return jobs_.empty(); });
}

void Device::wait() {
  drain();
  std::lock_guard lock(mutex_);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void describe_cpu(asr_backend_device_info *info) {
  const std::string name = cpu_name();
  memset(info->name, 0, sizeof(info->name));
  name.copy(info->name, sizeof(info->name) - 1);
  info->memory_bytes = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  info->score = 10;
  info->capabilities = ASR_BACKEND_LATTICES | ASR_BACKEND_PIECES | ASR_BACKEND_COMMON_PATH | ASR_BACKEND_PACKED_GRAPH;
  cpu_set_t set;
  CPU_ZERO(&set);
  const bool known = sched_getaffinity(0, sizeof(set), &set) == 0;
  info->n_cores = known ? static_cast<uint32_t>(CPU_COUNT(&set)) : std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace asr::cpu
