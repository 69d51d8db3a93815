// SPDX-License-Identifier: Apache-2.0
// Device is an opened CPU "device": its threads, and the scorer thread that makes `score` asynchronous. Only entry.cc uses it.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/backend/asr_backend.h"
#include "core/base/page_allocator.h"
#include "core/base/thread_pool.h"
#include "plugins/common/fuse_call.h"
#include "plugins/cpu/demand.h"
#include "plugins/cpu/gmm.h"
#include "plugins/cpu/gmm_asked.h"
#include "plugins/cpu/gmm_chosen.h"

namespace asr::cpu {

// A model and its two score buffers [n_rows][n_states], which grow with the number of rows.
struct Acoustic {
  Acoustic(const asr_acoustic_view &view, const GmmOptions &options, size_t n_threads)
      : gmm(view, options), demand(n_threads, gmm.row_cost()), demanded(gmm) {}
  Gmm gmm;
  PagedVector<float> scores[2];
  uint32_t n_rows[2] = {0, 0};       // as soon as they are to be scored
  bool waiting[2] = {false, false};  // the scores wait until an advance makes them from the features
  PagedVector<float> features[2];    // [n_rows][n_dims]
  DemandPolicy demand;
  Demanded demanded;

  uint32_t n_states() const { return gmm.n_states(); }
  void check_rows(const char *slot, uint32_t buffer, uint32_t first_row, uint32_t n) const;
};

// Device scores windows in the order of the calls. With one thread the caller scores a window at once. With more, a thread
// that lives as long as the device scores it, so that the caller can advance the preceding window. Scores that the host does
// not want may wait until an advance makes those that it asks for.
class Device {
 public:
  explicit Device(const asr_backend_options &options);
  ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  ThreadPool &pool() { return pool_; }
  uint32_t max_rows() const { return max_rows_; }
  const GmmOptions &gmm_options() const { return gmm_options_; }

  void score(Acoustic &acoustic, const float *features, uint32_t n_rows, uint32_t buffer, float *loglikes);
  // Fuses rows of score buffers, in the order of the calls of both.
  void fuse(FuseCall<Acoustic> call, Acoustic &to, uint32_t buffer, float *loglikes);
  void await(const Acoustic &acoustic, uint32_t buffer);    // waits for the last `score` into the buffer
  void score_waiting(Acoustic &acoustic, uint32_t buffer);  // starts to score rows that have waited for an advance, if any
  void drain();                                             // waits for all jobs
  void wait();                                              // drains, then rethrows the first failure once

 private:
  struct Job {
    Acoustic *acoustic;
    const float *features;
    uint32_t n_rows, buffer;
    float *loglikes;
    std::shared_ptr<const FuseCall<Acoustic>> fusion;  // nullptr: scores the features
  };
  void add(const Job &job);
  void serve();
  void run(const Job &job);
  void run_fusion(const Job &job);

  const uint32_t max_rows_;
  const GmmOptions gmm_options_;
  ThreadPool pool_;
  std::mutex mutex_;
  std::condition_variable job_added_, job_done_;
  std::deque<Job> jobs_;  // the scorer runs the first one
  ChosenStates chosen_;   // of the job that runs: one at a time
  std::exception_ptr failure_;
  bool stopping_ = false;
  std::thread scorer_;
};

// Fills in the machine's description for `probe`.
void describe_cpu(asr_backend_device_info *info);

}  // namespace asr::cpu
