// SPDX-License-Identifier: Apache-2.0
// The threads that run callbacks. There are as many as callbacks have run at once, so a slow one delays nobody else's.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace asr {

class EventQueue;

class CallbackPool {
 public:
  CallbackPool() = default;
  ~CallbackPool();  // after what was submitted has been delivered
  CallbackPool(const CallbackPool &) = delete;
  CallbackPool &operator=(const CallbackPool &) = delete;

  void require_thread();                           // starts the first thread; throws if it cannot
  void submit(std::shared_ptr<EventQueue> queue);  // calls queue->deliver() on a thread of the pool

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable work_;
  std::deque<std::shared_ptr<EventQueue>> queues_;
  std::vector<std::thread> threads_;
  size_t n_idle_ = 0;
  bool stopping_ = false;
};

}  // namespace asr
