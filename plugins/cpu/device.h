// SPDX-License-Identifier: Apache-2.0
// An opened CPU "device": its threads, and the scorer thread that makes `score` asynchronous. Used by entry.cc only.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/backend/asr_backend.h"
#include "core/base/thread_pool.h"
#include "plugins/cpu/gmm.h"

namespace asr::cpu {

// A model and its two score buffers [n_rows][n_states], which grow to the rows they are given.
struct Acoustic {
  explicit Acoustic(const asr_acoustic_view &view) : gmm(view) {}
  Gmm gmm;
  std::vector<float> scores[2];
  uint32_t n_rows[2] = {0, 0};
};

// Scores windows in the order they come. With one thread a window is scored at once by the caller; with more, by a thread
// that lives as long as the device, so that the caller can advance the window before it.
class Device {
 public:
  explicit Device(const asr_backend_options &options);
  ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  ThreadPool &pool() { return pool_; }
  uint32_t max_rows() const { return max_rows_; }

  void score(Acoustic &acoustic, const float *features, uint32_t n_rows, uint32_t buffer, float *loglikes);
  void await(const Acoustic &acoustic, uint32_t buffer);  // until what was last asked into the buffer is there
  void drain();                                           // until all is done
  void wait();                                            // drain; rethrows the first failure, once

 private:
  struct Job {
    Acoustic *acoustic;
    const float *features;
    uint32_t n_rows, buffer;
    float *loglikes;
  };
  void serve();
  void run(const Job &job);

  const uint32_t max_rows_;
  ThreadPool pool_;
  std::mutex mutex_;
  std::condition_variable job_added_, job_done_;
  std::deque<Job> jobs_;  // the first is being scored
  std::exception_ptr failure_;
  bool stopping_ = false;
  std::thread scorer_;
};

// What probe reports about the machine.
void describe_cpu(asr_backend_device_info *info);

}  // namespace asr::cpu
