// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu/device.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include "core/base/begun_thread.h"
#include "core/base/fused_rows.h"
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

double cluster_share(const asr_backend_options &options) {
  return options.cluster_share > 0 && options.cluster_share < 1 ? double{options.cluster_share} : 1;
}

}  // namespace

Device::Device(const asr_backend_options &options)
    : max_rows_(std::max(1u, options.max_lanes) * std::max(1u, options.window_frames)),
      gmm_options_{options.model_bits == 16, options.n_best_gaussians, cluster_share(options)},
      pool_(options.n_threads) {
  if (pool_.n_threads() > 1) scorer_ = quiet_thread([this] { serve(); });
}

Device::~Device() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  job_added_.notify_all();
  if (scorer_.joinable()) scorer_.join();
}

void Acoustic::check_rows(const char *slot, uint32_t buffer, uint32_t first_row, uint32_t n) const {
  check_buffer(slot, buffer);
  check_scored_rows(slot, first_row, n, n_rows[buffer]);
}

void Device::run(const Job &job) {
  if (job.fusion) return run_fusion(job);
  Acoustic &acoustic = *job.acoustic;
  const size_t n = size_t{job.n_rows} * acoustic.gmm.n_states();
  PagedVector<float> &scores = acoustic.scores[job.buffer];
  if (scores.size() < n) scores.resize(n);
  acoustic.gmm.score(job.features, job.n_rows, scores.data(), pool_, chosen_);
  if (job.loglikes != nullptr) std::copy_n(scores.data(), n, job.loglikes);
}

// Fuses one row a task. The result is copied after the terms have been read, because it may replace the row of a term.
void Device::run_fusion(const Job &job) {
  const FuseCall<Acoustic> &call = *job.fusion;
  const uint32_t n = job.acoustic->n_states();
  PagedVector<float> &to = job.acoustic->scores[job.buffer];
  pool_.run(call.rows.size(), [&](size_t task) {
    const FuseRow row = call.rows[task];
    const FuseJob &fusion = call.jobs[row.job];
    const float *rows[kFuseMostModels];
    float weights[kFuseMostModels], offsets[kFuseMostModels];
    for (uint32_t m = 0; m < fusion.n_terms; ++m) {
      const FuseTerm &term = call.terms[fusion.first_term + m];
      rows[m] = call.models[term.model]->scores[job.buffer].data() + size_t{term.first_row + row.number} * n;
      weights[m] = term.weight, offsets[m] = term.offset;
    }
    std::vector<float> fused(n), scratch(fusion.rule == kFuseLogSum ? n : 0);
    if (fusion.rule == kFuseSum) fuse_sum(rows, weights, fusion.n_terms, n, fused.data());
    if (fusion.rule == kFuseMax) fuse_max(rows, offsets, fusion.n_terms, n, fused.data());
    if (fusion.rule == kFuseLogSum) fuse_log_sum(rows, weights, offsets, fusion.n_terms, n, scratch.data(), fused.data());
    std::copy(fused.begin(), fused.end(), to.data() + size_t{fusion.first_row + row.number} * n);
  });
  if (job.loglikes != nullptr) std::copy_n(to.data(), size_t{job.n_rows} * n, job.loglikes);
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

void Device::add(const Job &job) {
  if (!scorer_.joinable()) return run(job);
  std::lock_guard lock(mutex_);
  jobs_.push_back(job);
  job_added_.notify_one();
}

void Device::score(Acoustic &acoustic, const float *features, uint32_t n_rows, uint32_t buffer, float *loglikes) {
  check_score(n_rows, max_rows_, buffer);
  const bool waits = loglikes == nullptr && acoustic.demanded.is_possible() && acoustic.demand.waits();
  if (waits) {
    if (scorer_.joinable()) await(acoustic, buffer);  // an earlier job may read the features
    acoustic.features[buffer].assign(features, features + size_t{n_rows} * acoustic.gmm.n_dims());
  }
  acoustic.n_rows[buffer] = n_rows;
  acoustic.waiting[buffer] = waits;
  if (!waits) add({&acoustic, features, n_rows, buffer, loglikes, nullptr});
}

void Device::score_waiting(Acoustic &acoustic, uint32_t buffer) {
  if (!acoustic.waiting[buffer]) return;
  add({&acoustic, acoustic.features[buffer].data(), acoustic.n_rows[buffer], buffer, nullptr, nullptr});
  acoustic.waiting[buffer] = false;
}

void Device::fuse(FuseCall<Acoustic> call, Acoustic &to, uint32_t buffer, float *loglikes) {
  for (Acoustic *model : call.models) score_waiting(*model, buffer);
  score_waiting(to, buffer);
  add({&to, nullptr, to.n_rows[buffer], buffer, loglikes, std::make_shared<const FuseCall<Acoustic>>(std::move(call))});
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
  info->capabilities = ASR_BACKEND_LATTICES | ASR_BACKEND_PIECES | ASR_BACKEND_COMMON_PATH | ASR_BACKEND_PACKED_GRAPH |
                       ASR_BACKEND_PLP | ASR_BACKEND_SELECTION | ASR_BACKEND_CLUSTERS | ASR_BACKEND_PATH_PIECES;
  cpu_set_t set;
  CPU_ZERO(&set);
  const bool known = sched_getaffinity(0, sizeof(set), &set) == 0;
  info->n_cores = known ? static_cast<uint32_t>(CPU_COUNT(&set)) : std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace asr::cpu
